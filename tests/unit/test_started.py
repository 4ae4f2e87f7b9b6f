"""Whether the work was ever started, where its host is gone and no claim is there: one life at a time, by hand (R05, P01)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from actum import limits
from actum.model.changes import RecordRow
from actum.model.evidence import ClaimSeen, HostSeen
from actum.model.status import Phase, RunStatus, Status
from actum.supervise import events

from tests.helpers.supervised import RETRY, Bench

ACTIVITY: dict[str, Any] = {"cpu_s": 1.0, "rss_bytes": 1, "peak_rss_bytes": 1, "read_bytes": 0, "written_bytes": 0}
HEARTBEAT: dict[str, Any] = {
    "activity": ACTIVITY,
    "active_s": 1.0,
    "processes": 1,
    "phase": "computing",
    "last_progress_active_s": 0.0,
}
STATE: dict[str, Any] = {"seq": 1, "heartbeat_at": 1, "progress": None, "stage": None, "ended": None, **HEARTBEAT}
ENDED = {"exit_code": 3, "signal": None, "descendants_left": 0, "at": 1}


def test_r05_a_host_that_ended_before_its_claim_computed_nothing_and_may_be_retried() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=False)
    bench.admit()
    bench.to_computing()
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.looked()
    assert bench.row().failure_code == "host_lost"
    assert bench.row().run_status is RunStatus.RETRYING


def test_r05_work_that_may_have_started_is_not_repeated_unless_that_is_safe() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=False)
    bench.admit()
    bench.to_computing()
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.looked(claim=ClaimSeen.HOST)
    assert bench.row().run_status is RunStatus.FAILED


def state(bench: Bench) -> events.StateRead:
    row = bench.row()
    return events.StateRead(row.attempt, {**STATE, "session": row.session, "at": bench.utc_us})


SHOWN: dict[str, Callable[[Bench], object]] = {
    "a heartbeat": lambda bench: bench.frame("heartbeat", **HEARTBEAT),
    "a state in its place": lambda bench: bench.wait(1) + bench.tell(state(bench)),
    "the end of its root": lambda bench: bench.frame("ended", ended=ENDED),
    "records": lambda bench: bench.tell(events.RecordsRead(bench.row().attempt, (RecordRow(1, 1, "trade", {}),), 9, False)),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_r05_a_claim_that_is_missing_says_nothing_where_the_host_was_heard_to_work(shown: str) -> None:
    """The work can delete that file. Whatever else shows that it was started counts, and the words say which."""
    bench = Bench(retry=RETRY, safe_to_repeat=False)
    bench.admit()
    bench.to_computing()
    SHOWN[shown](bench)
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.looked()
    row = bench.row()
    assert (row.failure_code, row.run_status) == ("host_lost", RunStatus.FAILED)
    said = bench.journal("failed")[-1]["message"]
    assert ("nothing was computed" in said, "the work had started" in said) == (False, True)


@pytest.mark.parametrize("claim", [ClaimSeen.NONE, ClaimSeen.REVOKED])
@pytest.mark.parametrize("traces", [("tree.json",), ("log", "staging/files")])
def test_r05_nor_where_the_work_left_traces(claim: ClaimSeen, traces: tuple[str, ...]) -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=False)
    bench.admit()
    bench.to_computing()
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.looked(claim=claim, traces=traces)
    assert bench.row().run_status is RunStatus.FAILED
    assert f"the work had started: {', '.join(traces)} show it" in bench.journal("failed")[-1]["message"]


def test_r05_nor_where_the_first_sign_was_the_claim_itself() -> None:
    """Known to an earlier instance; the file is gone by now, and so is all that was heard."""
    bench = Bench(retry=RETRY, safe_to_repeat=False)
    bench.admit()
    bench.to_starting()
    bench.looked(host=HostSeen.ALIVE, claim=ClaimSeen.HOST)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    bench.open()
    bench.looked()
    assert (bench.row().failure_code, bench.row().run_status) == ("host_lost", RunStatus.FAILED)


def test_r05_a_launch_without_a_claim_is_not_lost_where_its_work_left_traces() -> None:
    """Row 17: it is taken as RUNNING and then judged, not begun again as if it had never started."""
    bench = Bench(retry=RETRY | {"codes": ["launch_lost", "host_lost"]}, safe_to_repeat=False)
    bench.admit()
    bench.to_starting()
    bench.wait(limits.LAUNCH_DOUBTED_S + 1)
    for _ in range(3):
        bench.looked(traces=("log",))
        bench.wait(limits.ABSENCE_APART_S + 0.1)
    assert "contact_made" in bench.facts()
    assert (bench.row().failure_code, bench.row().run_status) == ("host_lost", RunStatus.FAILED)
