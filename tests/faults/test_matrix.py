"""How the fault matrix is made and judged, and a few of its cases that are always run (R01, R18, §5).

The pairwise cover is run by test_pairs.py, the whole by `python -m tests.faults --all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.faults import CATALOGUE

from tests.faults import checks, matrix
from tests.faults.matrix import Case, Passing, Worker
from tests.faults.scenarios import SCENARIOS

CASES = (
    ("succeeds", "store.commit.before", 10, "error=SQLITE_FULL"),
    ("succeeds", "spool.outcome.link.after", 1, "kill-host"),
    ("succeeds", "publish.rename.after", 1, "kill-app"),
    ("fails", "host.terminal.before", 1, "kill-all"),
    ("stopped", "processes.signal.after", 1, "kill-host"),
    ("exports", "export.file.fsync.before", 1, "error=ENOSPC"),
)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    made = Worker(tmp_path_factory.mktemp("matrix"))
    yield made
    made.close()


@pytest.mark.parametrize(("scenario", "point", "nth", "action"), CASES, ids=lambda value: str(value))
def test_after_a_fault_and_a_restart_all_accounts_agree(
    worker: Worker, scenario: str, point: str, nth: int, action: str
) -> None:
    """R01, R18: no false success, nothing finished lost, nothing computes twice; record, files, trace and processes agree."""
    verdict = worker.judge(Case(scenario, point, nth, action))
    assert verdict.found == ()
    assert verdict.reached == "struck", "the fault never happened, so the case shows nothing"


def test_every_point_meets_every_action() -> None:
    """§5: the matrix is generated from the catalogue: a point that is added is struck in every way."""
    passing = Passing(2, {1: frozenset({"app", "host", "work"}), 2: frozenset({"app"})})
    passages = {name: dict.fromkeys(CATALOGUE, passing) for name in SCENARIOS}
    made = set(matrix.generate(passages))
    for scenario in ("succeeds", "fails", "stopped"):
        for point in CATALOGUE:
            struck = {case.action for case in made if (case.scenario, case.point, case.nth) == (scenario, point, 1)}
            left_out = {action for place, action in matrix.HELD_FOR_EVER if place == point}
            assert struck == set(matrix.actions(point)) - left_out
            assert struck >= {*matrix.KILLS, matrix.DELAY} - left_out
    assert not any(case.nth == 2 and case.action in ("kill-host", "kill-work") for case in made)


def test_who_lives_at_a_passage_is_read_from_a_trace(tmp_path: Path) -> None:
    """Only where somebody lives is there somebody to kill."""
    trace = tmp_path / "passed"
    words = "store.commit.before 1\ncontroller.spawn.after 1\nhost.spawn.after 2\nstore.commit.before 1\nhost.ended.before 2\n"
    trace.write_text(words + "host.terminal.after 2\nstore.commit.before 1\n")
    found = matrix.passed(trace)["store.commit.before"]
    assert (found.often, found.alive) == (3, {1: frozenset({"app"}), 3: frozenset({"app"})})
    assert matrix.passed(trace)["host.spawn.after"].alive == {1: frozenset({"app", "host", "work"})}
    assert matrix.passed(trace)["host.ended.before"].alive == {1: frozenset({"app", "host"})}


def test_what_the_checks_refuse() -> None:
    """The checks can fail: a fault excuses what it explains, and nothing else."""
    assert checks.allowed("kill-host", "host_lost", started=True)
    assert not checks.allowed("kill-app", "host_lost", started=True)
    assert not checks.allowed("error=ENOSPC", "host_lost", started=True)
    assert not checks.allowed("error=ENOSPC", "work_failed", started=False)
    assert not checks.allowed("delay=1500", "launch_lost", started=False)
