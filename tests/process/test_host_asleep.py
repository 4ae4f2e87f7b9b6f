"""A machine that slept: the host counts active time alone, so no time asleep trips a deadline or holds one up (R08, §12).

The clock that counts sleep (CLOCK_BOOTTIME) is a day ahead in the host's process, and leaps by another day when it is told to:
what a night with the lid closed does to a clock, without the night. Everything else is the real host.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.ipc import spool

from tests.helpers.hosts import Attempt, Server, make_attempt, write_endpoint
from tests.helpers.waiting import wait_until

DAY_S = 86_400
SLEPT = """
import os, runpy, sys, time
leap, day_s = sys.argv[1], int(sys.argv[2])
seconds, nanoseconds = time.clock_gettime, time.clock_gettime_ns
def asleep_s(clock):
    return day_s * (2 if os.path.exists(leap) else 1) if clock == time.CLOCK_BOOTTIME else 0
time.clock_gettime = lambda clock: seconds(clock) + asleep_s(clock)
time.clock_gettime_ns = lambda clock: nanoseconds(clock) + asleep_s(clock) * 10**9
del sys.argv[:3]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
WAITS = """
import json, os, time
with open(os.environ["ACTUM_MESSAGES"], "a") as messages:
    messages.write(json.dumps({"stage": "load", "total": 2}) + "\\n" + json.dumps({"progress": [1, 2]}) + "\\n")
while not os.path.exists(os.environ["ACTUM_OUTPUT"] + "/../../go"):
    time.sleep(0.01)
"""


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Attempt]:
    made = make_attempt(tmp_path, WAITS)
    yield made
    made.end_all()


def spawn(attempt: Attempt, **deadlines: object) -> Path:
    """Start the host; the file that makes the machine have slept for another day."""
    attempt.set_deadlines({**attempt.launch["deadlines"], **deadlines})
    leap = attempt.workspace / "leap"
    attempt.spawn(under=("-c", SLEPT, str(leap), str(DAY_S)))
    return leap


def test_r08_a_day_asleep_trips_no_deadline_and_is_not_counted(attempt: Attempt) -> None:
    """Overall, stage and lost supervisor; nor is it counted as time that the work was active, or was silent."""
    with Server(attempt, acknowledge=False) as server:
        leap = spawn(attempt, overall_s=3_600, stages={"load": 3_600})
        server.wait_for("hello")
        server.wait_for("progress")
        leap.touch()
        before = server.serve_until(lambda: attempt.state().get("seq"), "a state")
        server.serve_until(lambda: attempt.state()["seq"] > before, "a state of after the leap")
        state = attempt.state()
        assert state["phase"] == "computing"
        assert 0 <= state["last_progress_active_s"] <= state["active_s"] < 60
        (attempt.folder / "go").touch()
        server.serve_until(lambda: server.types().count("sealed") == 2, "the outcome once more, after ACK_AGAIN_S and no day")
        server.acknowledge = True
        server.serve_until_exit()
    assert attempt.outcome()["kind"] == "sealed"


@pytest.mark.parametrize("leaps", [False, True])
def test_r08_a_deadline_is_kept_in_active_time_however_long_the_machine_slept(attempt: Attempt, leaps: bool) -> None:
    """A clock that is ahead since before the start, or leaps meanwhile, holds no deadline up: work without a supervisor."""
    leap = spawn(attempt, overall_s=1)
    if leaps:
        wait_until(lambda: attempt.state().get("phase") == "computing", what="the computation")
        leap.touch()
    attempt.wait()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["cause"], outcome["code"]) == ("stopped", "overall_deadline", "overall_deadline")


def test_r08_the_start_deadline_is_kept_in_active_time(attempt: Attempt) -> None:
    """P03: nobody is there to say hello to; a day asleep neither ends the wait at once nor makes it a day."""
    write_endpoint(attempt.workspace, "/nowhere/socket")
    spawn(attempt, start_s=1)
    attempt.wait()
    assert "the start deadline passed without a claim" in attempt.host_log()
    assert isinstance(spool.read_claim(attempt.folder), spool.Absent)
