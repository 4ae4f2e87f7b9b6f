"""The task's deadlines as arithmetic on active time (R08, §12)."""

from __future__ import annotations

from typing import Any

from actum.host.deadlines import Deadlines
from actum.host.launch import Launch


def launch(**changes: Any) -> Launch:
    values: dict[str, Any] = dict.fromkeys(Launch._fields)
    return Launch(**{**values, "start_s": 60.0, "stages": {}, **changes})


def test_the_start_deadline_runs_until_the_claim() -> None:
    clock = Deadlines(launch(overall_s=10.0), 100.0)
    assert not clock.start_passed(159.9)
    assert clock.start_passed(160.0)
    assert clock.passed(1000.0) is None  # without a claim nothing computes
    clock.claim(150.0)
    assert not clock.start_passed(1000.0)
    assert clock.active_s(151.5) == 1.5


def test_the_overall_deadline_counts_from_the_claim() -> None:
    clock = Deadlines(launch(overall_s=10.0), 0.0)
    clock.claim(5.0)
    assert clock.passed(14.9) is None
    assert clock.passed(15.0) == "overall_deadline"


def test_a_stage_deadline_counts_from_its_stage_and_ends_with_it() -> None:
    clock = Deadlines(launch(stages={"load": 10.0}), 0.0)
    clock.claim(0.0)
    clock.enter_stage("load", 5.0)
    clock.enter_stage("load", 12.0)  # said again: the same stage
    assert clock.passed(14.9) is None
    assert clock.passed(15.0) == "stage_deadline"
    clock.enter_stage("compute", 15.0)
    assert clock.passed(100.0) is None
    clock.enter_stage("load", 100.0)
    assert clock.passed(109.0) is None


def test_stop_after_counts_from_the_last_time_a_supervisor_was_there() -> None:
    clock = Deadlines(launch(stop_after_s=10.0), 0.0)
    clock.claim(0.0)
    clock.supervised(False, 1.0)
    clock.supervised(True, 5.0)
    clock.supervised(False, 20.0)
    clock.supervised(False, 25.0)
    assert clock.passed(29.9) is None
    assert clock.passed(30.0) == "supervisor_lost"
    clock.supervised(True, 31.0)
    assert clock.passed(100.0) is None
