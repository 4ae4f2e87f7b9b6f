"""Small forms of the long runs: a race for one workspace, and many runs at once (`python -m tests.stress` runs them long)."""

from __future__ import annotations

from pathlib import Path

from tests.stress.concurrent import concurrent
from tests.stress.race import race


def test_r02_two_apps_and_a_command_line_race_for_one_workspace(tmp_path: Path) -> None:
    found = race(tmp_path, rounds=2)
    assert found.problems == []
    assert found.rounds == 2


def test_many_runs_at_once_meet_no_locked_database(tmp_path: Path) -> None:
    found = concurrent(tmp_path, seconds=2, at_once=6, steps=3)
    assert found.problems == []
    assert set(found.runs) == {"SUCCEEDED"}
    assert sum(found.runs.values()) >= 6
    assert found.reads >= 1
