"""The supervisor by hand: the good run, deadlines, stops, the queue (R01, R04, R06, R08, R09, P04, P07, P10)."""

from __future__ import annotations

from typing import Any

import pytest
from actum import limits
from actum.clock import US
from actum.model.changes import Change, RefusalKind
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, TreeSeen
from actum.model.facts import FACTS
from actum.model.status import Contact, Phase, RunStatus, Status
from actum.supervise import deadlines, effects, events

from tests.helpers.supervised import DAEMON, HOST, METHOD, RETRY, Bench, computing


def test_r01_a_good_run_establishes_the_fourteen_facts_in_order() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.to_publishing()
    bench.tell(events.Published(attempt, METHOD))
    assert bench.facts() == [name.value for name in FACTS]
    assert bench.pair() == (Status.SUCCEEDED, Phase.CLOSED)
    assert bench.supervisor.idle
    order = [type(each).__name__ for each in bench.done]
    for earlier, later in (("Freeze", "Prepare"), ("Prepare", "Launch"), ("Derive", "Verify"), ("Verify", "Publish")):
        assert order.index(earlier) < order.index(later)


def test_r01_nothing_is_launched_before_starting_is_committed() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.tell(events.Frozen(attempt, evidence=METHOD))
    bench.hold_commits()
    assert not bench.kinds(effects.Launch, bench.tell(events.Prepared(attempt)))
    assert bench.kinds(effects.Launch, bench.release_commits())


def test_r04_the_outcome_is_acknowledged_only_after_its_commit() -> None:
    bench = computing()
    bench.hold_commits()
    said = bench.frame("failed", outcome=bench.outcome("failed", code="work_failed"), digest="d")
    assert not [each for each in bench.kinds(effects.Send, said) if each.type == "ack"]
    said = bench.release_commits()
    assert [each.body for each in bench.kinds(effects.Send, said) if each.type == "ack"] == [{"digest": "d"}]


# Deadlines and warnings


def test_p19_a_deadline_counts_while_the_host_is_silent_only_after_its_outcome_was_read() -> None:
    bench = computing(deadline="60s")
    bench.frame("heartbeat", activity={}, active_s=0.0, processes=1, last_progress_active_s=0.0)
    bench.live(50)
    bench.live(19)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "the grace is not over"
    assert bench.kinds(effects.Look, bench.live(2))
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "nothing is concluded before the look"
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, outcome=OutcomeSeen.UNKNOWN)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "an unreadable outcome is no absent one"
    assert bench.kinds(effects.Look, bench.live(2))
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.TIMEOUT, Phase.CLEANING_UP)
    assert bench.row().failure_code == "overall_deadline"
    assert bench.kinds(effects.WriteStop)[-1].cause == "overall_deadline"


def test_p19_a_host_that_never_counted_may_have_begun_as_late_as_its_start_deadline() -> None:
    """Contact comes before the claim: the deadline of the work is not counted from the earlier of the two."""
    bench = computing(deadline="60s", start_deadline="20s")
    bench.live(85)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "60 s + 20 s + the grace of 10 s are not over"
    assert bench.kinds(effects.Look, bench.live(6))
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.TIMEOUT, Phase.CLEANING_UP)


def test_p19_a_host_that_speaks_before_the_look_is_answered_keeps_its_deadline_to_itself() -> None:
    bench = computing(deadline="60s")
    assert bench.kinds(effects.Look, bench.live(95))
    bench.frame("heartbeat", activity={}, active_s=95.0, processes=1, last_progress_active_s=0.0)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)


def test_p19_a_time_without_ticks_is_no_silence_of_the_host() -> None:
    """Halted, swapped out, a machine that stood still: what the hosts said meanwhile is yet to be read."""
    for missed_s, silent_s in ((limits.TICK_LATE_S, limits.TICK_LATE_S), (limits.TICK_LATE_S + 500, limits.TICK_LATE_S)):
        bench = computing(deadline="60s")
        bench.frame("heartbeat", activity={}, active_s=59.0, processes=1, last_progress_active_s=0.0)
        bench.live(1)
        bench.wait(missed_s)
        assert deadlines.silent_s(bench.machine(), bench.now()) == 1 + silent_s
        bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
        assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
        bench.live(22)
        bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
        bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
        assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "the grace of 10 s after 15 s of silence is not over"
        bench.live(2)
        bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
        assert bench.pair() == (Status.TIMEOUT, Phase.CLEANING_UP)


def test_p19_time_between_opening_and_the_first_tick_is_no_silence_either() -> None:
    bench = computing(deadline="20s")
    bench.open()
    bench.wait(40)
    assert deadlines.silent_s(bench.machine(), bench.now()) == limits.TICK_LATE_S


def test_p19_an_old_state_file_ends_no_work_that_this_instance_has_not_listened_to_itself() -> None:
    """R08: while the machine stood still the host could write nothing either; what it did since is yet to be read."""
    bench = computing(deadline="20s")
    bench.tell(events.ChannelClosed(bench.row().attempt, "c1", "the channel was closed"))
    bench.wait(300)
    at = {"at": bench.utc_us - 300 * US, "monotonic_at": bench.monotonic_us - 300 * US}
    state = {"session": bench.row().session, "seq": 4, "active_s": 19.0, "activity": {}, "processes": 1, **at}
    bench.machine().live.pop("heard_us")  # this instance was told nothing yet
    bench.tell(events.StateRead(bench.row().attempt, state))
    for _ in range(3):
        bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    bench.live(20)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    bench.live(8)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.TIMEOUT, Phase.CLEANING_UP)


def test_p19_a_deadline_confirmed_by_a_look_is_void_when_the_host_speaks_before_it_is_recorded() -> None:
    bench = computing(deadline="60s")
    bench.frame("heartbeat", activity={}, active_s=0.0, processes=1, last_progress_active_s=0.0)
    bench.live(80)
    bench.machine().pending = -1  # something else is being recorded
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    bench.frame("heartbeat", activity={}, active_s=80.0, processes=1, last_progress_active_s=0.0)
    bench.machine().pending = None
    bench.wait(0.1)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)


def test_p19_a_host_that_never_spoke_to_this_instance_is_silent_since_it_took_over() -> None:
    bench = computing(deadline="20s")
    bench.open()
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    bench.live(56)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST)
    assert bench.pair() == (Status.TIMEOUT, Phase.CLEANING_UP)


def test_r08_a_stall_is_said_and_goes_away_by_itself() -> None:
    bench = computing(stall_after="30s")
    beat = {"activity": {}, "processes": 1}
    bench.wait(40)
    bench.frame("heartbeat", active_s=40.0, last_progress_active_s=0.0, **beat)
    assert bench.alerts() == {"stall"}
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    bench.frame("progress", done=1, total=2, unit="rows", stage=None, message=None)
    assert bench.alerts() == set()


def test_r08_an_explicit_null_means_no_stall_warning() -> None:
    bench = computing(stall_after=None)
    bench.wait(100_000)
    assert bench.alerts() == set()


def test_r08_silence_is_contact_lost_and_nothing_else() -> None:
    bench = computing()
    bench.live(16)
    assert bench.row().contact is Contact.LOST
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    bench.frame("heartbeat", activity={}, active_s=16.0, processes=1, last_progress_active_s=0.0)
    assert bench.row().contact is Contact.OK


# Stops


def test_p07_a_stop_while_publishing_is_kept_and_answered_finishing() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.to_publishing()
    answer = bench.stop()
    assert answer is not None
    assert answer.ok == {"run": 1, "answer": "finishing"}
    assert bench.row().stop_requested_at_us is not None
    bench.tell(events.Published(attempt, METHOD))
    assert bench.row().run_status is RunStatus.SUCCEEDED


def test_p10_a_stop_between_two_attempts_stops_the_run_and_the_attempt_keeps_its_status() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=True)
    attempt = bench.admit().attempt
    bench.tell(events.Frozen(attempt, code="input_unreadable", message="gone"))
    assert bench.row().run_status is RunStatus.RETRYING
    answer = bench.stop()
    assert answer is not None
    assert answer.ok == {"run": 1, "answer": "accepted"}
    assert (bench.row().run_status, bench.row().pair.status) == (RunStatus.STOPPED, Status.START_FAILED)
    bench.wait(100)
    assert bench.row().n == 1
    assert bench.supervisor.idle


def test_p10_a_stop_before_the_failed_attempt_is_released_forbids_the_retry_too() -> None:
    bench = computing(retry=RETRY, safe_to_repeat=True)
    bench.frame("failed", outcome=bench.outcome("failed", code="work_failed"), digest="d")
    assert bench.row().run_status is RunStatus.RETRYING
    answer = bench.stop()
    assert answer is not None
    assert answer.ok == {"run": 1, "answer": "accepted"}
    assert bench.row().run_status is RunStatus.STOPPED
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.no_records()
    bench.wait(100)
    assert (bench.row().n, bench.row().pair.status) == (1, Status.FAILED)


def test_p10_a_stop_that_crosses_the_commit_that_closes_the_attempt_forbids_the_retry() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=True)
    attempt = bench.admit().attempt
    bench.hold_commits()
    bench.tell(events.Frozen(attempt, code="input_unreadable", message="gone"))
    assert bench.stop() is None, "not answered before it is on record"
    said = bench.release_commits()
    assert [each.ok for each in bench.kinds(effects.Reply, said)] == [{"run": 1, "answer": "accepted"}]
    assert (bench.row().run_status, bench.row().pair.status) == (RunStatus.STOPPED, Status.START_FAILED)
    assert bench.supervisor.idle


def test_p10_a_stop_that_crosses_the_next_attempts_commit_reaches_that_attempt() -> None:
    bench = Bench(retry=RETRY, safe_to_repeat=True)
    bench.tell(events.Frozen(bench.admit().attempt, code="input_unreadable", message="gone"))
    bench.hold_commits()
    bench.wait(20)
    assert bench.stop() is None, "not answered before it is on record"
    said = bench.release_commits()
    assert bench.row().n == 2
    assert bench.row().run_status is RunStatus.STOPPED
    assert [each.ok for each in bench.kinds(effects.Reply, said)] == [{"run": 1, "answer": "accepted"}]


def test_p04_a_stop_recorded_and_not_delivered_is_delivered_by_the_next_instance() -> None:
    bench = computing()
    bench.supervisor.handle(events.Tick(), bench.now())
    bench.stop()
    bench.done.clear()
    bench.open()
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST)
    assert [each.level for each in bench.kinds(effects.WriteStop)] == ["ask"]
    said = bench.hello(channel="c2", claimed=True)
    assert [(each.type, each.body["level"]) for each in bench.kinds(effects.Send, said)] == [("stop", "ask")]
    bench.done.clear()
    bench.wait(11)
    assert [each.level for each in bench.kinds(effects.WriteStop)] == ["insist"]
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST, tree=TreeSeen.LEFT, members=(DAEMON,))
    assert not bench.kinds(effects.EndTree), "it has its grace to obey"
    bench.wait(11)
    ended = bench.kinds(effects.EndTree)
    assert ended
    assert (ended[0].members, ended[0].host) == ((DAEMON,), HOST)


def test_a_stop_file_that_cannot_be_written_is_not_tried_in_a_tight_loop() -> None:
    bench = computing()
    bench.stop()
    attempt = bench.row().attempt
    said = bench.tell(events.StopWritten(attempt, "ask", "no space is left"))
    assert not bench.kinds(effects.WriteStop, said)
    assert bench.kinds(effects.WriteStop, bench.wait(1.1))


def test_p04_a_host_that_no_stop_file_can_reach_is_ended_by_identity_all_the_same() -> None:
    """The time to obey is counted though the file cannot be written; what was tried in vain is said once."""
    bench = computing(grace="10s")
    bench.stop()
    attempt = bench.row().attempt
    ended: list[effects.Effect] = []
    for _ in range(60):
        bench.tell(events.StopWritten(attempt, "ask", "no such folder"))
        bench.tell(events.StopWritten(attempt, "insist", "no such folder"))
        bench.looked(host=HostSeen.ALIVE, tree=TreeSeen.LEFT, members=(DAEMON,), host_identity=HOST)
        ended += bench.kinds(effects.EndTree, bench.wait(1))
    assert ended
    stages = [entry["stage"] for entry in bench.journal("stop_stage")]
    assert stages.count("not_delivered") == 1


def test_r08_a_host_that_waits_for_the_disk_is_said_while_it_waits() -> None:
    bench = computing()
    bench.frame("notice", code="log_waits", text="The log cannot be written.", data={"holds": True})
    assert bench.alerts() == {"waits"}
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    bench.frame("notice", code="log_waits", text="It goes on.", data={"holds": False})
    assert bench.alerts() == set()


def test_r04_a_stop_that_cannot_be_recorded_is_answered_so_and_not_done_later() -> None:
    bench = computing()
    bench.refusals = [RefusalKind.STORAGE]
    answer = bench.stop()
    assert answer is not None
    assert answer.error is not None
    assert answer.error.code == "stop_not_recorded"
    bench.wait(60)
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)
    assert bench.row().stop_requested_at_us is None


def test_r08_no_stop_names_a_cause_that_the_channel_does_not_know() -> None:
    bench = computing()
    bench.frame("failed", outcome=bench.outcome("failed", code="work_failed"), digest="d")
    assert bench.kinds(effects.WriteStop)[-1].cause == "dismissed"


# The queue


def test_r06_the_next_run_starts_at_release_before_verification() -> None:
    bench = Bench()
    bench.admit()
    bench.admit()
    bench.to_cleaning_up()
    assert bench.pair(2) == (Status.CREATED, Phase.QUEUED)
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.no_records()
    assert bench.pair(1) == (Status.RUNNING, Phase.VERIFYING)
    assert bench.pair(2) == (Status.CREATED, Phase.FREEZING)
    assert bench.supervisor.slots_taken == 1


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"kind": "failed", "code": "work_failed", "message": "It ended with 3."}, Status.FAILED, "work_failed"),
        ({"kind": "stopped", "cause": "overall_deadline", "code": "overall_deadline"}, Status.TIMEOUT, "overall_deadline"),
    ],
)
def test_r03_what_an_attempt_failed_with_stands_when_it_is_released(members: dict[str, Any], status: Status, code: str) -> None:
    """The code, the words and the details are those that were committed with the status."""
    bench = computing()
    ended = bench.outcome(**members)
    bench.frame(ended["kind"], outcome=ended, digest="d")
    assert (bench.pair(), bench.row().failure_code, bench.row().released) == ((status, Phase.CLEANING_UP), code, False)
    bench.requests.clear()
    bench.tell(events.HostGone(bench.row().attempt, "pidfd", True))
    bench.no_records()
    assert (bench.pair(), bench.row().failure_code, bench.row().released) == ((status, Phase.CLOSED), code, True)
    assert failures_written(bench) == set()


def test_r03_what_a_launch_failed_with_stands_when_it_is_released() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_starting().attempt
    bench.open()
    bench.looked()
    bench.wait(61)
    bench.looked()
    bench.tell(events.ClaimAnswered(attempt, True))
    assert (bench.pair(), bench.row().failure_code) == ((Status.START_FAILED, Phase.CLEANING_UP), "launch_lost")
    bench.requests.clear()
    for _ in range(3):
        bench.wait(2)
        bench.looked(claim=ClaimSeen.REVOKED)
        bench.no_records()
    assert (bench.pair(), bench.row().failure_code) == ((Status.START_FAILED, Phase.CLOSED), "launch_lost")
    assert failures_written(bench) == set()


def failures_written(bench: Bench) -> set[str]:
    """The columns of the failure that any change has written."""
    changes = [each for each in bench.requests if isinstance(each, Change)]
    assert changes
    return {name for each in changes for name in each.columns if name.startswith("failure")}


def test_r06_a_terminal_status_alone_frees_no_slot() -> None:
    bench = Bench()
    bench.admit()
    bench.admit()
    bench.to_computing()
    bench.frame("failed", outcome=bench.outcome("failed", code="work_failed"), digest="d")
    assert bench.pair(1) == (Status.FAILED, Phase.CLEANING_UP)
    assert bench.pair(2) == (Status.CREATED, Phase.QUEUED)
    assert bench.supervisor.slots_taken == 1


def test_r09_leftovers_without_a_verdict_hold_the_queue() -> None:
    bench = Bench(slots=2)
    bench.admit()
    bench.to_computing()
    bench.open()
    bench.admit()
    bench.wait(5)
    assert bench.pair(2) == (Status.CREATED, Phase.QUEUED)
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST)
    assert bench.pair(2) == (Status.CREATED, Phase.FREEZING)


def test_r09_a_run_that_was_freezing_is_not_launched_before_the_leftovers_are_judged() -> None:
    bench = Bench(slots=2)
    bench.admit()
    bench.to_computing()
    bench.admit()
    bench.tell(events.Frozen(bench.row(2).attempt, evidence=METHOD))
    bench.open()
    assert not bench.kinds(effects.Prepare, bench.wait(5))
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST)
    assert bench.kinds(effects.Freeze, bench.wait(1))


def test_r09_after_a_crash_the_queue_of_earlier_instances_waits_for_a_person() -> None:
    bench = Bench()
    bench.admit()
    bench.open(paused=True)
    bench.wait(5)
    assert not bench.kinds(effects.Prepare)
    bench.tell(events.QueueResumed(bench.command()))
    bench.wait(1)
    bench.tell(events.Frozen(bench.row().attempt, evidence=METHOD))
    assert bench.kinds(effects.Prepare)


def test_a_queue_that_a_person_paused_lets_nothing_pass_until_a_person_resumes_it() -> None:
    bench = Bench(slots=2)
    bench.tell(events.QueuePaused(bench.command()))
    bench.admit()
    bench.wait(5)
    assert not bench.kinds(effects.Prepare)
    bench.tell(events.QueueResumed(bench.command(), held=False))
    bench.wait(1)
    assert bench.pair(1) == (Status.CREATED, Phase.QUEUED), "what resumes after a crash does not lift a person's pause"
    bench.tell(events.QueueResumed(bench.command()))
    bench.wait(1)
    assert bench.pair(1) == (Status.CREATED, Phase.FREEZING)


def test_r09_a_paused_queue_lets_new_runs_pass() -> None:
    bench = Bench(slots=1)
    bench.admit()
    bench.admit()
    bench.to_computing()
    bench.open(paused=True)
    bench.looked(claim=ClaimSeen.HOST)
    bench.admit()
    for _ in range(4):
        bench.wait(2)
        bench.looked(claim=ClaimSeen.HOST)
        bench.no_records()
    assert bench.pair(1) == (Status.FAILED, Phase.CLOSED)
    assert bench.pair(2) == (Status.CREATED, Phase.QUEUED)
    assert bench.pair(3) == (Status.CREATED, Phase.FREEZING)
