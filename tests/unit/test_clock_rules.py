"""What the supervisor and the screens make of clocks that are set: silence, back-off, pace (§12, R08)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.clock import US
from actum.supervise import deadlines, effects, events
from actum_desktop.models.history import Sample, estimate

from tests.helpers.supervised import Bench, computing

DAY_US = 86_400 * US


@pytest.mark.parametrize(
    ("wall_us", "monotonic_us", "silent_s"),
    [(DAY_US, 2 * US, 2), (2 * US, DAY_US, 2), (-DAY_US, 9 * US, 0), (30 * US, 30 * US, 30), (DAY_US, None, 0)],
    ids=["wall clock set forth", "another monotonic time", "wall clock set back", "really silent", "an older host"],
)
def test_r08_a_state_that_was_there_is_as_old_as_both_clocks_say(
    wall_us: int, monotonic_us: int | None, silent_s: int
) -> None:
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
