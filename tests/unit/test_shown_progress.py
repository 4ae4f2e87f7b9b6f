"""How far a run has come, as the window shows it: under 100 % until the reference is on record, each phase its own (R10)."""

from __future__ import annotations

import pytest
from actum.model.status import PAIRS, Pair, RunStatus, Status
from actum.supervise import events
from actum_desktop import ledgertext, measures
from actum_desktop.models.runcells import fraction_of

from tests.helpers.supervised import Bench

WHOLE = {"done": 10, "total": 10, "unit": "rows"}


OPEN = [pair for pair in PAIRS if pair.status is not Status.SUCCEEDED]


@pytest.mark.parametrize("pair", OPEN, ids=str)
def test_r10_nothing_that_is_not_on_record_shows_100(pair: Pair) -> None:
    """Whatever the work and the helpers say: all of it is done."""
    show = {"status": pair.status.value, "phase": pair.phase.value, "progress": WHOLE, "step": {**WHOLE, "verb": "verify"}}
    assert fraction_of(show) == 0.99
    assert measures.percent(fraction_of(show)) == "99 %"
    for key in ("work_completed", "content_verified", "published"):
        assert ledgertext.step_fraction(show, key) == 0.99


def test_r10_what_the_work_said_is_no_measure_of_verifying() -> None:
    """10 of 10 rows computed, and nothing read back yet: no bar, and not one that is full."""
    show = {"status": "RUNNING", "progress": WHOLE, "step": None}
    assert [fraction_of({**show, "phase": phase}) for phase in ("COMPUTING", "VERIFYING", "PUBLISHING")] == [0.99, None, None]
    assert fraction_of({**show, "phase": "VERIFYING", "step": {"done": 3, "total": 10}}) == 0.3


def test_r10_a_success_on_record_is_whole() -> None:
    assert measures.percent(fraction_of({"status": RunStatus.SUCCEEDED.value, "phase": "CLOSED"})) == "100 %"


def test_r10_what_a_helper_measured_is_over_with_its_phase() -> None:
    """Else publishing would begin with the last measure of verifying, and sealing with that of freezing."""
    bench = Bench()
    bench.admit()
    row = bench.to_verifying()
    bench.tell(events.Step(row.attempt, "derive", 3, 3, "rows"))
    machine = bench.supervisor.machines[row.attempt]
    assert machine.live["step"]["done"] == 3
    bench.tell(events.Derived(row.attempt))
    assert machine.live["step"]["done"] == 3, "the same phase goes on"
    bench.tell(bench.verified())
    assert machine.row.pair.phase == "PUBLISHING"
    assert machine.live.get("step") is None
