"""What the supervisor and the screens make of clocks that are set: silence, back-off, pace (§12, R08)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from actum import clock, limits
from actum.clock import US
from actum.model.status import Pair, Phase, Status
from actum.store.queries import Reader
from actum.store.show import show_document
from actum.supervise import deadlines, effects, events
from actum_desktop import measures
from actum_desktop.models import runcells
from actum_desktop.models.history import Sample, estimate
from actum_desktop.models.source import RunItem

from tests.helpers import workspaces as w
from tests.helpers.supervised import Bench, computing

DAY_US = 86_400 * US
HOURS_US = 3 * 3600 * US


@pytest.mark.parametrize(
    ("wall_us", "monotonic_us", "silent_s"),
    [(DAY_US, 2 * US, 2), (2 * US, DAY_US, 2), (-DAY_US, 9 * US, 0), (30 * US, 30 * US, 30), (DAY_US, None, 0)],
    ids=["wall clock set forth", "another monotonic time", "wall clock set back", "really silent", "an older host"],
)
def test_r08_a_state_that_was_there_is_as_old_as_both_clocks_say(wall_us: int, monotonic_us: int | None, silent_s: int) -> None:
    """A silence that one clock alone knows of ends nothing: the deadline is not due, and nothing is looked for (P19)."""
    bench = computing(deadline="1h", stall_after="1h")
    session, attempt = bench.row().session, bench.row().attempt
    bench.monotonic_us += DAY_US
    bench.open()
    written = {} if monotonic_us is None else {"monotonic_at": bench.monotonic_us - monotonic_us}
    state = {"session": session, "seq": 9, "at": bench.utc_us - wall_us, "active_s": 60.0, **written}
    bench.tell(events.StateRead(attempt, state))
    now = bench.now()
    assert deadlines.silent_s(bench.machine(), now) == silent_s
    assert deadlines.deadline_due(bench.machine(), now) is None
    said = {warning["code"] for warning in deadlines.warnings(bench.machine(), now)}
    assert ("lost_contact" in said) is (silent_s > limits.HOST_SILENT_S)


def test_r08_a_clock_set_back_by_a_day_delays_no_retry_beyond_its_back_off() -> None:
    """retry_at is never further than the longest back-off from now."""
    from tests.helpers.supervised import RETRY

    bench = Bench(retry=RETRY, safe_to_repeat=True)
    attempt = bench.admit().attempt
    bench.tell(events.Frozen(attempt, code="input_unreadable", message="gone"))
    assert bench.row().retry_at_us is not None
    bench.utc_us -= DAY_US
    bench.open()
    bench.wait(60)
    assert bench.row().n == 2
    assert bench.kinds(effects.Freeze)[-1].row.n == 2


def sample(at_s: float, fraction: float, active_s: float | None) -> Sample:
    return Sample(int(at_s * US), fraction, None, None, None, None, "", False, active_s)


@pytest.mark.parametrize("jump_s", [86_400, -86_400, 0])
def test_an_estimate_is_made_of_active_time(jump_s: int) -> None:
    """Half was done in a minute of work; whatever the wall clock says, the other half takes about as long."""
    samples = [sample(0, 0.0, 10), sample(30, 0.25, 40), sample(60 + jump_s, 0.5, 70)]
    assert "1 min" in estimate(samples)


@pytest.mark.parametrize(
    ("span_us", "active_s", "told"),
    [(3 * US, 1.0, 3.0), (-1, 1.0, 0.0), (-HOURS_US, 12.5, 12.5), (-HOURS_US, None, None), (-HOURS_US, "x", None)],
)
def test_r08_a_clock_set_back_while_nobody_lived_gives_no_negative_time_and_no_nought(
    span_us: int, active_s: object, told: float | None
) -> None:
    """The active time that was counted stands in for it; without one it cannot be told, and is shown as a dash."""
    began = clock.utc_us()
    assert clock.passed_s(began, began + span_us, active_s=active_s) == told
    activity = None if active_s is None else {"active_s": active_s}
    item = RunItem(1, "t", "T", "manual", "FAILED", "CLOSED", True, "none", 1, started_us=began, finished_us=began + span_us)
    shown = runcells.cells(replace(item, activity=activity), None, (), began).time.text
    assert shown == measures.duration(told, narrow=True)


def test_r08_what_was_recorded_in_the_future_is_shown_without_nonsense(tmp_path: Path) -> None:
    """A run that began, and a stop that was asked, by a clock three hours ahead: the countdown is no longer than its grace."""
    ws = w.make(tmp_path / "ws")
    ahead = clock.utc_us() + HOURS_US
    with w.writing(ws) as writer:
        row = w.bring_to(writer, w.admit(writer, w.add_task(writer)), Pair(Status.RUNNING, Phase.COMPUTING))
        stage = {"stage": "asked", "at_us": ahead, "next_in_s": 10.0}
        columns = {"started_at_us": ahead, "stop_stage": stage}
        change = w.Change(row.attempt, row.run, columns=columns, run_columns={"stop_requested_at_us": ahead})
        w.persisted(writer.ask(change))
    with Reader(ws) as reader:
        shown = show_document(reader, ws, 1)
    assert shown["stop"]["next_in_s"] == 10.0
    assert shown["duration_s"] is None or shown["duration_s"] >= 0
    assert measures.age(shown["stop"]["at"]) == "0 s"
