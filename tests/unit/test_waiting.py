"""A step that met an error and is tried again: said at once, journalled once, taken back when it goes on (R09, R11, R12)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from actum.limits import LOOK_AGAIN_S, PUBLISH_RETRY_S, STORE_RETRY_S
from actum.model.changes import RecordRow, RefusalKind
from actum.model.evidence import ClaimSeen, HostSeen, PackageSeen, TreeSeen
from actum.model.status import Contact, Phase, Status
from actum.supervise import effects, events

from tests.helpers.supervised import DAEMON, HOST, METHOD, Bench, computing

WHY = "Operation not permitted"


def told(bench: Bench, kind: str) -> str:
    """What the open alert of this kind says."""
    return str(bench.store.alerts[f"{kind}:{bench.row().attempt}"].data["message"])


def waits(bench: Bench) -> list[str]:
    return [str(entry["step"]) for entry in bench.journal("step_waits")]


# Records


def last_records() -> Bench:
    """Host and tree are gone; its records are read to their end."""
    bench = Bench()
    bench.admit()
    attempt = bench.to_cleaning_up().attempt
    bench.tell(events.HostGone(attempt, "pidfd", True))
    assert bench.kinds(effects.ReadRecords)
    return bench


def test_r12_records_that_cannot_be_read_are_waited_for_with_words() -> None:
    bench = last_records()
    attempt = bench.row().attempt
    for _ in range(5):
        bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
        assert (bench.alerts(), told(bench, "records")) == ({"records"}, WHY)
        assert bench.kinds(effects.ReadRecords, bench.wait(LOOK_AGAIN_S + 0.1))
    assert waits(bench) == ["records"]
    assert bench.pair() == (Status.RUNNING, Phase.CLEANING_UP)
    bench.tell(events.RecordsRead(attempt, (), 0, False))
    assert (bench.pair(), bench.alerts()) == ((Status.RUNNING, Phase.VERIFYING), set())


def test_it_is_said_while_the_work_computes_and_taken_back() -> None:
    bench = computing()
    attempt = bench.row().attempt
    bench.wait(2)
    bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
    assert bench.alerts() == {"records"}
    bench.wait(2)
    bench.tell(events.RecordsRead(attempt, (), 0, False))
    assert bench.alerts() == set()
    assert bench.pair() == (Status.RUNNING, Phase.COMPUTING)


def test_another_error_of_the_same_step_is_told_in_its_alert() -> None:
    bench = last_records()
    attempt = bench.row().attempt
    for why in (WHY, "Input/output error"):
        bench.tell(events.RecordsRead(attempt, (), 0, False, error=why))
        assert told(bench, "records") == why
    assert waits(bench) == ["records"], "the journal has the step once"


def test_r12_lines_that_are_no_records_are_passed_over_and_journalled() -> None:
    """The first is journalled at once and all together at the end; a batch that could not be written is not counted twice."""
    bench = last_records()
    attempt = bench.row().attempt
    first, second = ({"lines": n, "bytes": 10 * n, "offset": n, "why": "it is not JSON"} for n in (2, 3))
    bench.tell(events.RecordsRead(attempt, (), 20, True, skipped=first))
    assert bench.row().records_offset == 20, "nothing is read again"
    bench.refusals = [RefusalKind.STORAGE]
    for _ in range(2):
        bench.tell(events.RecordsRead(attempt, (RecordRow(1, 0, "trade", {}),), 60, True, skipped=second))
        bench.wait(STORE_RETRY_S + 1)
    bench.tell(events.RecordsRead(attempt, (), 60, False))
    assert bench.pair() == (Status.RUNNING, Phase.VERIFYING)
    assert [(entry["lines"], entry["bytes"], entry["offset"]) for entry in bench.journal("records_skipped")] == [
        (2, 20, 2),
        (5, 50, 2),
    ]
    assert len(bench.store.records) == 1


# The claim


def unrevokable() -> Bench:
    """Launched by an instance that is gone; no host, no trace, and nobody can write into the spool."""
    bench = Bench()
    bench.admit()
    bench.to_starting()
    bench.open()
    bench.looked()
    bench.wait(LOOK_AGAIN_S + 0.1)
    bench.looked()
    assert bench.kinds(effects.RevokeClaim)
    bench.tell(events.ClaimAnswered(bench.row().attempt, False, error=WHY))
    return bench


def test_r09_a_claim_that_cannot_be_revoked_is_a_hold_that_says_so() -> None:
    bench = unrevokable()
    assert (bench.alerts(), bench.row().contact) == ({"cannot_tell"}, Contact.CANNOT_TELL)
    waiting_for = bench.store.alerts[f"cannot_tell:{bench.row().attempt}"].data["waiting_for"]
    assert WHY in waiting_for
    assert "late host" in waiting_for
    bench.done.clear()
    for _ in range(4):
        bench.wait(LOOK_AGAIN_S + 0.1)
        bench.looked()
        bench.tell(events.ClaimAnswered(bench.row().attempt, False, error=WHY))
    assert bench.pair() == (Status.STARTING, Phase.LAUNCHING)
    assert bench.alerts() == {"cannot_tell"}
    assert waits(bench) == ["claim"]
    assert len(bench.journal("cannot_tell")) == 1
    assert bench.machine().verdict is not None
    assert bench.machine().verdict["verdict"] == "cannot_tell"
    assert WHY in bench.machine().verdict["evidence"]["why"]["claim"]


def test_it_goes_on_when_the_claim_can_be_revoked() -> None:
    bench = unrevokable()
    bench.wait(LOOK_AGAIN_S + 0.1)
    bench.tell(events.ClaimAnswered(bench.row().attempt, True))
    assert bench.row().pair.status is Status.START_FAILED
    assert bench.alerts() == set()


def test_p01_a_host_that_has_claimed_after_all_is_no_hold() -> None:
    bench = unrevokable()
    bench.wait(LOOK_AGAIN_S + 0.1)
    bench.hello(claimed=True)
    assert (bench.pair(), bench.row().contact) == ((Status.RUNNING, Phase.COMPUTING), Contact.OK)
    assert bench.alerts() == set()
    assert bench.machine().held is None


def test_r09_a_person_may_attest_that_no_host_will_begin() -> None:
    """A disk that stays read-only would keep the run open for ever."""
    bench = unrevokable()
    command = bench.command()
    bench.tell(events.Attested(bench.row().attempt, command, "somebody"))
    answer = next(each for each in bench.kinds(effects.Reply) if each.command == command)
    assert answer.error is None
    for _ in range(3):
        bench.looked()
        bench.wait(LOOK_AGAIN_S + 0.1)
    bench.no_records()
    assert (bench.row().pair.status, bench.row().released) == (Status.START_FAILED, True)
    assert bench.alerts() == set()


def test_a_stop_waits_likewise_and_says_so() -> None:
    """P01: STOPPING of a launch whose claim cannot be revoked; two empty looks do not end the hold."""
    bench = unrevokable()
    bench.stop()
    for _ in range(3):
        bench.looked()
        bench.wait(LOOK_AGAIN_S + 0.1)
        bench.tell(events.ClaimAnswered(bench.row().attempt, False, error=WHY))
    assert bench.pair() == (Status.STOPPING, Phase.CLEANING_UP)
    assert "cannot_tell" in bench.alerts()
    assert not bench.row().released


# Quarantine


def test_a_quarantine_that_cannot_be_written_is_said_and_tried_again() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    bench.tell(events.Published(attempt, failure="differs", message="It differs."))
    for _ in range(3):
        assert bench.kinds(effects.Quarantine)
        bench.done.clear()
        bench.tell(events.Quarantined(attempt, error=WHY))
        assert (bench.alerts(), told(bench, "quarantine")) == ({"quarantine"}, WHY)
        bench.wait(PUBLISH_RETRY_S + 1)
    assert waits(bench) == ["quarantine"]
    assert bench.pair() == (Status.RUNNING, Phase.PUBLISHING)
    bench.tell(events.Quarantined(attempt))
    assert bench.row().pair.status is Status.FAILED
    assert bench.alerts() == {"rejected"}


# Stops and signals


def test_a_stop_that_cannot_be_written_is_said() -> None:
    bench = computing()
    bench.stop()
    bench.tell(events.StopWritten(bench.row().attempt, "ask", WHY))
    assert (bench.alerts(), told(bench, "stop_file")) == ({"stop_file"}, WHY)
    bench.wait(LOOK_AGAIN_S + 0.1)
    bench.tell(events.StopWritten(bench.row().attempt, "ask"))
    assert bench.alerts() == set()


def test_signals_that_are_refused_are_said() -> None:
    bench = computing(grace="10s")
    attempt = bench.row().attempt
    bench.stop()
    for _ in range(30):
        bench.looked(host=HostSeen.ALIVE, tree=TreeSeen.LEFT, members=(DAEMON,), host_identity=HOST)
        if bench.kinds(effects.EndTree, bench.wait(1)):
            break
    for _ in range(3):
        bench.tell(events.Signalled(attempt, "insist", ({"pid": 101, "command": "daemon", "result": "refused:permission"},)))
    assert (bench.alerts(), told(bench, "signals")) == ({"signals"}, "101: permission")
    assert len(bench.journal("signalled")) == 1
    bench.tell(events.Signalled(attempt, "insist", ({"pid": 101, "command": "daemon", "result": "sent"},)))
    assert bench.alerts() == set()


# The disk


@pytest.mark.parametrize("failure", ["unsure", "rename"])
def test_r11_each_error_that_is_tried_again_is_journalled_once(failure: str) -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_publishing().attempt
    before = len(bench.store.journal)
    for _ in range(6):
        bench.tell(events.Published(attempt, failure=failure, message="no space is left"))
        bench.wait(PUBLISH_RETRY_S + 1)
        bench.looked(package=PackageSeen.STAGING)
        bench.tell(bench.verified())
    assert len(bench.store.journal) - before == 1
    assert bench.alerts() == {"publish_pending"}
    bench.tell(events.Published(attempt, METHOD))
    assert (bench.row().pair.status, bench.alerts()) == (Status.SUCCEEDED, set())


def test_r11_a_helper_that_the_disk_does_not_serve_is_journalled_once() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_verifying().attempt
    for _ in range(6):
        bench.tell(events.Derived(attempt, error="no space is left", code="disk_full"))
        assert bench.alerts() == {"helper"}
        bench.wait(PUBLISH_RETRY_S + 1)
    assert [entry["step"] for entry in bench.journal("step_waits")] == ["derive"]


# The store, and instances that come and go


def test_what_the_store_refuses_is_said_as_soon_as_it_takes_it_and_not_asked_for_at_once() -> None:
    bench = last_records()
    attempt = bench.row().attempt
    bench.refusals = [RefusalKind.STORAGE]
    bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
    for _ in range(3):
        bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
    assert bench.alerts() == set()
    bench.wait(STORE_RETRY_S + 0.1)
    assert bench.alerts() == {"records"}


def test_an_alert_that_an_earlier_instance_raised_is_closed_when_the_step_goes_on() -> None:
    bench = computing()
    attempt = bench.row().attempt
    bench.wait(2)
    bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
    bench.open()
    bench.looked(host=HostSeen.ALIVE, host_identity=HOST, claim=ClaimSeen.HOST)
    bench.hello(channel="c2", claimed=True)
    assert bench.alerts() == {"records"}
    bench.wait(2)
    bench.tell(events.RecordsRead(attempt, (), 0, False))
    assert bench.alerts() == set()
    commits = bench.store.version
    bench.wait(2)
    bench.tell(events.RecordsRead(attempt, (), 0, False))
    assert bench.store.version == commits, "once"


def test_what_failed_is_over_with_the_attempt() -> None:
    bench = last_records()
    attempt = bench.row().attempt
    m = bench.machine()
    bench.tell(events.RecordsRead(attempt, (), 0, False, error=WHY))
    m.take(replace(m.row, pair=m.row.pair._replace(phase=Phase.VERIFYING)), bench.now())
    assert not m.failing
