"""R11: the supervisor's times, each at its bound and a thousandth of a second beside it, by clocks that the test moves."""

from __future__ import annotations

import pytest
from actum import limits
from actum.model.changes import RefusalKind
from actum.model.evidence import ClaimSeen, HostSeen
from actum.model.status import Contact, Phase, Status
from actum.supervise import deadlines, effects, events
from actum.supervise.opening import LATE_START_GRACE_S

from tests.helpers.supervised import HOST, METHOD, Bench, computing

INSTANT_S = 0.001
ALIVE = {"host": HostSeen.ALIVE, "host_identity": HOST}


def test_contact_is_lost_only_above_the_silence() -> None:
    bench = computing()
    bench.live(limits.HOST_SILENT_S)
    assert bench.row().contact is Contact.OK
    assert deadlines.warnings(bench.machine(), bench.now()) == ()
    bench.wait(INSTANT_S)
    assert bench.row().contact is Contact.LOST
    assert [each["code"] for each in deadlines.warnings(bench.machine(), bench.now())] == ["lost_contact"]
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING), "nothing else follows (R08)"


def test_two_absences_count_only_this_far_apart() -> None:
    """R07: a process between two forks is missed by one look, and by two in the same instant."""
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    bench.open()
    bench.looked(claim=ClaimSeen.HOST)
    bench.wait(limits.ABSENCE_APART_S - INSTANT_S)
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" not in bench.facts()
    bench.wait(INSTANT_S)
    bench.looked(claim=ClaimSeen.HOST)
    assert "tree_gone" in bench.facts()


def test_a_host_that_stays_after_its_outcome_is_ended_above_its_grace() -> None:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    bench.looked(**ALIVE)
    assert not bench.kinds(effects.EndTree, bench.wait(limits.HOST_EXIT_GRACE_S))
    ended = bench.kinds(effects.EndTree, bench.wait(INSTANT_S))
    assert [(each.level, each.host) for each in ended] == [("insist", HOST)]


def test_a_host_is_looked_for_only_this_often() -> None:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    assert not bench.kinds(effects.Look, bench.wait(limits.LOOK_AGAIN_S)), "it is given that long to leave"
    assert bench.kinds(effects.Look, bench.wait(INSTANT_S))
    bench.looked(**ALIVE)
    assert not bench.kinds(effects.Look, bench.wait(limits.LOOK_AGAIN_S - INSTANT_S))
    assert bench.kinds(effects.Look, bench.wait(INSTANT_S))


def test_r09_everything_open_is_looked_at_again_each_minute() -> None:
    bench = computing()
    assert not bench.kinds(effects.Look, bench.wait(limits.RECONCILE_EVERY_S - INSTANT_S))
    assert bench.kinds(effects.Look, bench.wait(INSTANT_S))


def test_records_are_read_this_often() -> None:
    bench = computing()
    bench.no_records()
    bench.wait(limits.RECORDS_EVERY_S)
    bench.no_records()
    assert not bench.kinds(effects.ReadRecords, bench.wait(limits.RECORDS_EVERY_S - INSTANT_S))
    assert bench.kinds(effects.ReadRecords, bench.wait(INSTANT_S))


def test_a_rename_that_failed_is_tried_again_after_its_time() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.to_publishing()
    bench.tell(events.Published(attempt, failure="rename", message="no room"))
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISH_PENDING)
    bench.wait(limits.PUBLISH_RETRY_S - INSTANT_S)
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISH_PENDING)
    bench.wait(INSTANT_S)
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISHING)


def test_a_store_that_could_not_commit_is_asked_again_after_its_time() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.refusals = [RefusalKind.STORAGE]
    bench.tell(events.Frozen(attempt, evidence=METHOD))
    bench.wait(limits.STORE_RETRY_S - INSTANT_S)
    assert "inputs_frozen" not in bench.facts()
    bench.wait(INSTANT_S)
    assert "inputs_frozen" in bench.facts()


def test_a_helper_that_crashes_is_tried_this_often_and_again_when_a_person_asks() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.to_verifying()
    for _ in range(limits.HELPER_TRIES_MAX):
        bench.tell(events.Derived(attempt, crashed=True))
    bench.wait(limits.RECONCILE_EVERY_S)
    assert len(bench.kinds(effects.Derive)) == limits.HELPER_TRIES_MAX
    assert bench.pair() == (Status.RUNNING, Phase.VERIFYING), "a crash rejects nothing"
    assert bench.alerts() == {"helper"}
    bench.tell(events.ReconcileAsked(bench.command(), False))
    bench.wait(INSTANT_S)
    assert len(bench.kinds(effects.Derive)) == limits.HELPER_TRIES_MAX + 1


def test_a_freeze_whose_helper_crashes_holds_with_an_alert_and_goes_on_when_a_person_asks() -> None:
    """No input was found to be unreadable; the run keeps its slot, and the alert names what happened."""
    bench = Bench()
    attempt = bench.admit().attempt
    bench.tell(events.Frozen(attempt, code="io_error", message="There was too little memory.", crashed=True))
    bench.wait(limits.RECONCILE_EVERY_S)
    assert bench.pair() == (Status.CREATED, Phase.FREEZING)
    (alert,) = bench.store.alerts.values()
    assert (alert.code, alert.data["message"]) == ("helper_crashed", "There was too little memory.")
    assert len(bench.kinds(effects.Freeze)) == 1
    bench.tell(events.ReconcileAsked(bench.command(), False))
    bench.wait(INSTANT_S)
    assert len(bench.kinds(effects.Freeze)) == 2
    bench.to_starting()
    assert bench.alerts() == set()


def test_a_freeze_that_no_helper_takes_is_asked_again_until_one_does() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    for count in range(1, limits.HELPER_TRIES_MAX + 3):
        bench.tell(events.Frozen(attempt, code="busy", message="Too much waits."))
        assert bench.alerts() == {"helper"}
        bench.wait(limits.PUBLISH_RETRY_S - INSTANT_S)
        assert len(bench.kinds(effects.Freeze)) == count
        bench.wait(2 * INSTANT_S)
        assert len(bench.kinds(effects.Freeze)) == count + 1
    bench.to_starting()
    assert bench.alerts() == set()


def test_a_crash_that_came_while_something_else_was_recorded_is_said_too() -> None:
    bench = Bench()
    attempt = bench.admit().attempt
    bench.hold_commits()
    bench.tell(events.StopWritten(attempt, "ask"))
    assert bench.machine().pending is not None
    bench.tell(events.Frozen(attempt, message="It ended.", crashed=True))
    bench.release_commits()
    bench.wait(INSTANT_S)
    assert bench.alerts() == {"helper"}
    assert bench.pair() == (Status.CREATED, Phase.FREEZING)


def test_a_task_that_does_not_say_stalls_after_the_default() -> None:
    bench = computing()
    bench.live(limits.STALL_AFTER_S_DEFAULT)
    assert bench.alerts() == set()
    bench.wait(INSTANT_S)
    assert bench.alerts() == {"stall"}


def test_a_task_that_does_not_say_has_the_default_start_deadline() -> None:
    """The host ends itself at its deadline, so the supervisor gives it a little more."""
    bench = Bench()
    bench.admit()
    bench.to_starting()
    assert not bench.kinds(effects.RevokeClaim, bench.wait(limits.START_DEADLINE_S_DEFAULT + LATE_START_GRACE_S))
    assert bench.kinds(effects.RevokeClaim, bench.wait(INSTANT_S))


def test_a_task_that_does_not_say_is_insisted_on_after_the_default_grace() -> None:
    bench = computing(grace=None)
    bench.stop()
    assert [each.level for each in bench.kinds(effects.WriteStop)] == ["ask"]
    bench.wait(limits.STOP_GRACE_S_DEFAULT - INSTANT_S)
    assert [each.level for each in bench.kinds(effects.WriteStop)] == ["ask"]
    bench.wait(INSTANT_S)
    assert [each.level for each in bench.kinds(effects.WriteStop)] == ["ask", "insist"]


@pytest.mark.parametrize("slept_s", [1.0, 3_600.0])
def test_r08_sleep_is_no_silence(slept_s: float) -> None:
    """A laptop that slept has heard nothing, and nobody was silent: monotonic time stood still (§12)."""
    bench = computing()
    bench.utc_us += int(slept_s * 1e6)
    bench.tell(events.Woke(int(slept_s * 1e6)))
    bench.tell(events.Tick())
    assert bench.row().contact is Contact.OK
    assert [entry["slept_us"] for entry in bench.journal("slept")] == [int(slept_s * 1e6)]
