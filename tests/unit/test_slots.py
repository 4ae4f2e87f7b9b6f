"""R06, R11: who holds a slot or an exclusive resource, who may begin next, and what an event costs with much open."""

from __future__ import annotations

import pytest
from actum import limits
from actum.model.changes import Admit, JournalEntry, RefusalKind
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, TreeSeen
from actum.model.facts import Fact, FactName
from actum.model.status import Phase
from actum.supervise import effects, events
from actum.supervise.machine import Machine

from tests.helpers.supervised import HOST, METHOD, Bench, computing


def phases(bench: Bench) -> list[Phase]:
    return [bench.row(run).pair.phase for run in bench.store.runs]


def admit(bench: Bench, task: str) -> None:
    number = bench.command()
    fact = Fact(FactName.ADMITTED, bench.utc_us, METHOD)
    names = (f"run-{number}", f"attempt-{number}", task, "1", "contract", f"key-{number}", "request", "{}")
    bench.tell(events.AdmitAsked(number, Admit(*names, {}, (), "manual", (), bench.utc_us, fact)))


def sharing(slots: int) -> Bench:
    bench = Bench(slots=slots)
    of = bench.store.contract["policies"]
    resources = {"plain": [], "licence": ["licence"], "both": ["licence", "card"], "card": ["card"]}
    bench.store.tasks |= {task: {"policies": {**of, "resources": names}} for task, names in resources.items()}
    return bench


def test_r06_a_resource_has_one_holder_and_lets_others_pass() -> None:
    bench = sharing(slots=3)
    for task in ("licence", "both", "plain", "card"):
        admit(bench, task)
    assert phases(bench) == [Phase.FREEZING, Phase.QUEUED, Phase.FREEZING, Phase.FREEZING]


def test_r06_a_resource_is_free_only_when_its_holder_is_released() -> None:
    bench = sharing(slots=2)
    admit(bench, "licence")
    admit(bench, "both")
    bench.to_computing(1)
    bench.stop(1)
    assert phases(bench) == [Phase.CLEANING_UP, Phase.QUEUED], "a status frees nothing"
    for _ in range(2):
        bench.looked(host=HostSeen.GONE, outcome=OutcomeSeen.NONE, tree=TreeSeen.CLEAR, claim=ClaimSeen.HOST)
        bench.wait(2)
    bench.tell(events.RecordsRead(bench.row(1).attempt, (), 0, False))
    assert phases(bench) == [Phase.CLOSED, Phase.FREEZING]


def test_r06_a_grant_whose_answer_was_lost_keeps_its_slot_until_the_store_says_how_it_is() -> None:
    bench = Bench(slots=1)
    bench.refusals = [None, RefusalKind.LOST]  # type: ignore[list-item]
    bench.admit()
    bench.admit()
    assert phases(bench) == [Phase.FREEZING, Phase.QUEUED], "it is on record, and nobody has said so"
    assert bench.supervisor.slots_taken == 1
    bench.refusals = [RefusalKind.STORAGE]
    bench.wait(limits.STORE_RETRY_S + 1)
    assert phases(bench) == [Phase.FREEZING, Phase.QUEUED], "that one could not be written says nothing about the first"
    bench.wait(limits.STORE_RETRY_S + 1)
    assert phases(bench) == [Phase.FREEZING, Phase.QUEUED]
    assert bench.kinds(effects.Freeze), "asked again, the store says that it was granted"


def test_r06_a_grant_that_could_not_be_written_is_asked_again_in_its_time_only() -> None:
    bench = Bench(slots=1)
    bench.refusals = [None, RefusalKind.STORAGE]  # type: ignore[list-item]
    bench.admit()
    assert phases(bench) == [Phase.QUEUED]
    assert bench.supervisor.slots_taken == 0
    bench.tell(events.Tick())
    assert phases(bench) == [Phase.QUEUED], "a full disk is not asked without a pause"
    bench.wait(limits.STORE_RETRY_S)
    assert phases(bench) == [Phase.FREEZING]


def test_the_queue_goes_by_run_number_also_after_a_pause() -> None:
    bench = Bench(slots=1)
    bench.tell(events.QueuePaused(bench.command()))
    for _ in range(3):
        bench.admit()
    assert phases(bench) == [Phase.QUEUED] * 3
    bench.tell(events.QueueResumed(bench.command()))
    assert phases(bench) == [Phase.FREEZING, Phase.QUEUED, Phase.QUEUED]
    bench.stop(1)
    assert phases(bench) == [Phase.CLOSED, Phase.FREEZING, Phase.QUEUED]


def test_an_event_about_one_attempt_looks_at_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many open, what follows an event is what it touched."""
    bench = Bench(slots=1)
    for _ in range(50):
        bench.admit()
    bench.to_computing(1)
    asked: set[int] = set()
    closed = Machine.closed

    def counted(m: Machine) -> bool:
        asked.add(m.row.run)
        return bool(closed.fget(m))  # type: ignore[attr-defined]

    monkeypatch.setattr(Machine, "closed", property(counted))
    bench.frame("heartbeat", activity={}, active_s=1.0, processes=1, last_progress_active_s=0.0)
    assert asked == {1}
    bench.tell(events.Tick())
    assert asked == {1}, "who only waits for a slot is not asked each tick either"


def test_r09_a_long_hold_is_looked_at_each_minute_and_a_fresh_one_sooner() -> None:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    bench.open()
    unknown = {"host": HostSeen.UNKNOWN, "outcome": OutcomeSeen.UNKNOWN, "tree": TreeSeen.UNKNOWN}
    waited = []
    for _ in range(limits.HOLD_DOUBLINGS_MAX + 3):
        bench.looked(**unknown)
        seconds = 0
        while not bench.kinds(effects.Look, bench.wait(1)):
            seconds += 1
            assert seconds < 2 * limits.RECONCILE_EVERY_S
        waited.append(seconds + 1)
    assert waited[:4] == [1, 2, 4, 8]
    assert waited[-2:] == [limits.RECONCILE_EVERY_S] * 2


def test_r09_whoever_asks_is_not_kept_waiting_by_a_long_hold() -> None:
    bench = Bench()
    bench.admit()
    bench.to_cleaning_up()
    bench.open()
    for _ in range(limits.HOLD_DOUBLINGS_MAX + 2):
        bench.looked(host=HostSeen.UNKNOWN, outcome=OutcomeSeen.UNKNOWN, tree=TreeSeen.UNKNOWN)
        bench.wait(limits.RECONCILE_EVERY_S + 1)
    bench.looked(host=HostSeen.UNKNOWN, outcome=OutcomeSeen.UNKNOWN, tree=TreeSeen.UNKNOWN)
    assert bench.kinds(effects.Look, bench.tell(events.ReconcileAsked(bench.command(), resume=False)))


@pytest.mark.parametrize("above", [0, 1, 5])
def test_r11_journal_rows_that_wait_for_the_store_are_bounded_and_the_oldest_counted(above: int) -> None:
    m = computing().machine()
    for number in range(limits.NOTICES_WAITING_MAX + above):
        m.note(JournalEntry("asked", number))
    waiting = m.live["notices"]
    assert len(waiting) == limits.NOTICES_WAITING_MAX
    assert waiting[-1].at_us == limits.NOTICES_WAITING_MAX + above - 1, "the newest is kept"
    dropped = [entry.data["count"] for entry in waiting if entry.kind == "notices_dropped"]
    assert dropped == ([above + 1] if above else [])


def test_p01_a_hello_while_the_claim_is_being_settled_is_answered_afterwards() -> None:
    """Whether the host or the revocation has the claim decides whether it goes on; until then it is told nothing."""
    bench = Bench(start_deadline="10s")
    bench.admit()
    row = bench.to_starting()
    assert bench.kinds(effects.RevokeClaim, bench.wait(20))
    said = bench.tell(events.Hello(row.attempt, "c1", HOST.to_json(), claimed=False))
    assert not bench.kinds(effects.WriteStop, said)
    assert not bench.kinds(effects.Send, said)
    claim = {"by": "host", "identity": HOST.to_json(), "at": 1}
    said = bench.tell(events.ClaimAnswered(row.attempt, False, claim))
    assert [each.type for each in bench.kinds(effects.Send, said)] == ["hello-ack"], "it has won"


def test_r04_a_stop_of_a_run_whose_admission_is_not_known_is_never_answered_closed() -> None:
    bench = Bench()
    bench.hold_commits()
    number = bench.command()
    fact = Fact(FactName.ADMITTED, bench.utc_us, METHOD)
    names = ("run-1", "attempt-1", "simulated", "1", "contract", "key-1", "request", "{}")
    bench.tell(events.AdmitAsked(number, Admit(*names, {}, (), "manual", (), bench.utc_us, fact)))
    assert bench.stop(1) is None
    bench.refusals = [RefusalKind.LOST]
    bench.release_commits()
    said = bench.wait(2 * limits.STORE_RETRY_S)  # both come due in one tick
    assert not [each for each in bench.kinds(effects.Reply, said) if each.ok and each.ok.get("answer") == "closed"]
    bench.wait(2 * limits.LOOK_AGAIN_S)
    assert bench.row().pair.phase is Phase.CLOSED
    assert bench.row().run_status.value == "STOPPED"


def test_p10_a_stop_of_a_run_whose_next_attempt_may_be_on_record_stops_that_attempt() -> None:
    """The answer to attempt 2 was lost; the stop finds it on record, takes it up and stops it, and forgets nothing."""
    retry = {"maximum": 1, "codes": ["input_unreadable"], "first_delay": "1s", "longest_delay": "1s"}
    bench = Bench(retry=retry)
    bench.admit()
    bench.tell(events.Frozen(bench.row().attempt, code="input_unreadable", message="gone"))
    bench.refusals = [RefusalKind.LOST]
    bench.wait(2)
    reply = bench.stop(1)
    assert reply is not None
    assert reply.ok == {"run": 1, "answer": "accepted"}
    assert (bench.row().n, bench.row().run_status.value) == (2, "STOPPED")
    assert bench.supervisor.idle


def test_p13_a_hello_that_crosses_the_release_is_dismissed() -> None:
    bench = Bench()
    bench.admit()
    attempt = bench.to_cleaning_up().attempt
    bench.tell(events.HostGone(attempt, "pidfd", True))
    bench.hold_commits()
    bench.no_records()
    bench.hello(channel="c2", claimed=True)
    assert not bench.row().released
    said = bench.release_commits()
    assert bench.row().released
    assert [each.type for each in bench.kinds(effects.Send, said)] == ["dismiss"]
