"""One set of situations before the simulated port and before the real one: they answer alike (store, spool, evidence, files,
channel). What is compared is what the supervisor gets to see; each expectation is written once, for both ends."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest
from actum import clock
from actum.ipc import framing, messages
from actum.ipc.framing import Violation
from actum.ipc.session import Accepted, Expected, Guard
from actum.model.changes import Answer, Change, NextAttempt, Persisted, Refused, Request, StopRun
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.model.run import AttemptRow
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.results import publish
from actum.store.writer import Writer
from actum.workspace import Workspace
from actum_desktop.controller import steps

from tests.helpers import adoptions
from tests.helpers import workspaces as w
from tests.simulation.checks import Ledger
from tests.simulation.helpers import rename
from tests.simulation.store import Store
from tests.simulation.twins import PLACES, SITUATIONS, Desk, RealDesk, SimulatedDesk, Situation

E = AttemptEvent
ENDS = ("simulated", "real")
DIGEST = "contract"


# Store


class StoreEnd(Protocol):
    def ask(self, request: Request) -> Answer: ...
    def newer(self) -> None: ...


class SimulatedStore:
    """The store of the simulated world, with no world around it."""

    def __init__(self) -> None:
        from tests.simulation.files import Machine

        self.store = Store(w.CONTRACT, Ledger(Machine(), {}, armed=False))
        self.epoch = self.store.open()

    def ask(self, request: Request) -> Answer:
        return self.store.submit(self.epoch, request)

    def newer(self) -> None:
        self.store.open()


class RealStore:
    """The real writer on a disk."""

    def __init__(self, ws: Workspace, writer: Writer) -> None:
        self.ws, self.writer = ws, writer

    def ask(self, request: Request) -> Answer:
        return self.writer.ask(request)

    def newer(self) -> None:
        with w.writing(self.ws):
            pass


@pytest.fixture(params=ENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreEnd]:
    if request.param == "simulated":
        yield SimulatedStore()
        return
    ws = w.make(tmp_path / "ws")
    with w.writing(ws) as writer:
        end = RealStore(ws, writer)
        global DIGEST
        DIGEST = w.add_task(writer)
        yield end


def admitted(store: StoreEnd, key: str | None = None) -> AttemptRow:
    return w.row_of(store.ask(w.admission(DIGEST, key)))


def brought(store: StoreEnd, *events: AttemptEvent, **last: Any) -> AttemptRow:
    row = admitted(store)
    for number, event in enumerate(events, 1):
        row = w.row_of(store.ask(w.moving(row, event, **(last if number == len(events) else {}))))
    return row


TO_COMPUTING = (E.SLOT_GRANTED, E.INPUTS_FROZEN, E.CONTACT_MADE)


def said(answer: Answer) -> tuple[Any, ...]:
    """What a supervisor sees of an answer."""
    row = answer.row
    about = None if row is None else (str(row.pair), row.run_status.value, row.released, row.current, row.n)
    return (type(answer).__name__, answer.kind.value if isinstance(answer, Refused) else None, about)


def test_store_one_key_is_one_run_and_another_request_is_refused(store: StoreEnd) -> None:
    """R05"""
    first = store.ask(w.admission(DIGEST, "k"))
    again = store.ask(w.admission(DIGEST, "k"))
    other = store.ask(w.admission(DIGEST, "k", words="other"))
    assert isinstance(first, Persisted)
    assert isinstance(again, Persisted)
    assert (first.created, again.created, w.row_of(again).run) == (True, False, w.row_of(first).run)
    assert said(other)[:2] == ("Refused", "key")


@pytest.mark.parametrize("pair", [Pair(Status.CREATED, Phase.QUEUED), Pair(Status.RUNNING, Phase.COMPUTING)], ids=str)
def test_store_every_event_in_a_pair(store: StoreEnd, pair: Pair) -> None:
    """R02: legal arrows write what the table answers, others are refused with the row and change nothing."""
    from actum.model.status import ARROWS, after

    for event in AttemptEvent:
        if event is E.ADOPTED:
            continue
        row = brought(store, *w.way_to(pair))
        answer = store.ask(w.moving(row, event))
        if event in ARROWS[pair]:
            assert w.row_of(answer).pair == after(pair, event)
        else:
            assert said(answer) == ("Refused", "condition", said(Persisted(None, row))[2])  # type: ignore[arg-type]


def test_store_a_change_that_believes_in_another_pair_is_refused(store: StoreEnd) -> None:
    row = brought(store, *TO_COMPUTING)
    old = replace(row, pair=Pair(Status.STARTING, Phase.LAUNCHING))
    assert said(store.ask(w.moving(old, E.CONTACT_MADE)))[:2] == ("Refused", "condition")
    note = Change(row.attempt, row.run, expects=old.pair, columns={"contact": "lost"})
    assert said(store.ask(note))[:2] == ("Refused", "condition")


def test_store_a_fact_is_written_once(store: StoreEnd) -> None:
    row = brought(store, *TO_COMPUTING)
    for method in ("first", "second"):
        fact = Fact(FactName.COMPUTATION_ENDED, clock.utc_us(), {"method": method})
        row = w.row_of(store.ask(Change(row.attempt, row.run, expects=row.pair, facts=(fact,))))
    assert row.facts[FactName.COMPUTATION_ENDED]["method"] == "first"


def test_store_a_retry_is_part_of_the_failure_and_waits_for_release(store: StoreEnd) -> None:
    """P09, R06"""
    due = clock.utc_us()
    row = brought(store, *TO_COMPUTING, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"}, retry_at_us=due)
    assert (row.run_status.value, row.released, row.retry_at_us) == ("RETRYING", False, due)
    assert said(store.ask(following(row)))[:2] == ("Refused", "condition"), "it is not released"
    row = w.row_of(store.ask(w.moving(row, E.TREE_CLEAR)))
    assert row.released
    after = w.row_of(store.ask(following(row)))
    assert (after.n, str(after.pair), after.run_status.value, after.current) == (2, "CREATED / QUEUED", "CREATED", True)
    assert said(store.ask(w.moving(row, E.TREE_CLEAR)))[:2] == ("Refused", "condition"), "attempt 1 is not current"


def test_store_a_stop_on_record_drops_the_retry(store: StoreEnd) -> None:
    row = brought(store, *TO_COMPUTING)
    stop = Change(row.attempt, row.run, expects=row.pair, run_columns={"stop_requested_at_us": 7})
    row = w.row_of(store.ask(stop))
    failed = w.moving(row, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"}, retry_at_us=clock.utc_us())
    row = w.row_of(store.ask(failed))
    assert (row.run_status.value, row.retry_at_us, row.stop_requested_at_us) == ("FAILED", None, 7)


def test_store_a_stop_between_two_attempts(store: StoreEnd) -> None:
    """P10: the run is STOPPED, its attempt keeps its status; twice is refused."""
    row = brought(store, *TO_COMPUTING, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"}, retry_at_us=clock.utc_us())
    row = w.row_of(store.ask(w.moving(row, E.TREE_CLEAR)))
    stopped = w.row_of(store.ask(StopRun(row.run, 9)))
    assert (stopped.run_status.value, str(stopped.pair), stopped.stop_requested_at_us) == ("STOPPED", "FAILED / CLOSED", 9)
    assert said(store.ask(StopRun(row.run, 10)))[:2] == ("Refused", "condition")
    assert said(store.ask(following(row)))[:2] == ("Refused", "condition")


def test_store_an_older_epoch_is_refused(store: StoreEnd) -> None:
    """P23: every request, and nothing is written."""
    row = brought(store, *TO_COMPUTING)
    store.newer()
    assert said(store.ask(w.moving(row, E.WORK_COMPLETED)))[:2] == ("Refused", "epoch")
    assert said(store.ask(w.admission(DIGEST)))[:2] == ("Refused", "epoch")


def test_store_one_adoption_of_an_attempt_stands(store: StoreEnd) -> None:
    """P16: only of what is released without a result; while one is open no other is; one that was stopped bars no other."""
    row = brought(store, *TO_COMPUTING, E.OUTCOME_FAILED)
    assert said(taken_up(store, row))[:2] == ("Refused", "condition"), "it is not released"
    row = w.row_of(store.ask(w.moving(row, E.TREE_CLEAR)))
    for ends in ((E.STOP_ASKED,), (E.ADOPTED, E.STOP_ASKED, E.TREE_CLEAR), (E.ADOPTED, E.REJECTED)):
        new = w.row_of(taken_up(store, row))
        assert said(taken_up(store, row))[:2] == ("Refused", "condition"), "one is open"
        for event in ends:
            new = w.row_of(store.ask(w.moving(new, event)))
        assert new.released
        assert said(taken_up(store, new))[:2] == ("Refused", "condition"), "it is an adoption itself"
    assert isinstance(taken_up(store, row), Persisted)


def taken_up(store: StoreEnd, row: AttemptRow) -> Answer:
    """Somebody asks for its adoption, under a key of their own."""
    return store.ask(adoptions.asking(DIGEST, row, key=uuid7(clock.utc_us())))


def following(row: AttemptRow) -> NextAttempt:
    now = clock.utc_us()
    return NextAttempt(row.run, uuid7(now), row.attempt, row.n + 1, now, (Fact(FactName.ADMITTED, now, {"method": "retry"}),))


# Evidence and spool


@pytest.fixture(params=ENDS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    made: Desk = SimulatedDesk() if request.param == "simulated" else RealDesk(tmp_path)
    yield made
    made.clear()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_evidence_of_a_situation(desk: Desk, situation: Situation) -> None:
    """R07, R09, P08, P17, P18: what one look sees, and by which method."""
    situation.arrange(desk)
    seen = desk.look()
    assert (seen.host.value, seen.outcome.value, seen.tree.value, seen.claim.value) == situation.seen
    assert (seen.host_method, seen.tree_method) == situation.methods
    assert set(seen.why) == set(situation.unknown)


def test_spool_the_claim_comes_into_being_once(desk: Desk) -> None:
    """P01: whoever comes second finds it there."""
    assert desk.claim() is True
    assert desk.revoke() == (False, "host")


def test_spool_a_revoked_claim_is_not_taken(desk: Desk) -> None:
    assert desk.revoke() == (True, "supervisor")
    assert desk.claim() is False


def test_spool_an_outcome_is_durable_before_it_is_told(desk: Desk) -> None:
    """P12: file, name and folder have reached the disk when the host goes on."""
    assert desk.write_outcome() == ["written", "on the disk", "told"]


# Publication


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@pytest.mark.parametrize("end", ENDS)
def test_files_publish(end: str, place: Any, tmp_path: Path) -> None:
    """R13, P11, P24: where the package is, what publishing it comes to, where it is then, and whether it is durable."""
    found = place.simulated() if end == "simulated" else place.real(tmp_path, publish, steps)
    assert found == (place.before, place.failure, place.after, place.durable)


@pytest.mark.parametrize("end", ENDS)
def test_files_the_rename_replaces_nothing(end: str, tmp_path: Path) -> None:
    """P24: not even an empty folder that came to the target after somebody looked."""
    if end == "simulated":
        folder = SimulatedDesk().folder
        folder.package, folder.published = "right", "empty"
        assert rename(folder) is False
        assert (folder.package, folder.published) == ("right", "empty")
        return
    staging, target = tmp_path / "staging", tmp_path / "target"
    (staging / "files").mkdir(parents=True)
    target.mkdir()
    with pytest.raises(FileExistsError):
        publish.publish(staging, target)
    assert (staging / "files").is_dir()


# Channel


EXPECTED = Expected(17, "attempt", "a" * 32, "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b")  # "secret"
IDENTITY = {"machine": "m", "boot": "b", "pid_namespace": "n", "pid": 1, "start_ticks": 2}
HELLO = {"secret": "secret", "protocol": 1, "identity": IDENTITY, "claimed": True}
STAGE = {"name": "load", "total": None}
CONVERSATIONS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "proven": (
        [{"type": "hello", "seq": 1, **HELLO}, {"type": "stage", "seq": 2, **STAGE}],
        ["hello", "stage"],
    ),
    "a stage before the hello": ([{"type": "stage", "seq": 1, **STAGE}], ["violation, closed"]),
    "a wrong secret": ([{"type": "hello", "seq": 1, **HELLO, "secret": "guessed"}], ["violation, closed"]),
    "an old session": (
        [{"type": "hello", "seq": 1, **HELLO}, {"type": "stage", "seq": 2, **STAGE, "session": "b" * 32}],
        ["hello", "violation"],
    ),
    "the third violation closes": (
        [
            {"type": "hello", "seq": 5, **HELLO},
            {"type": "stage", "seq": 5, **STAGE},
            {"type": "stage", "seq": 6, **STAGE, "extra": 1},
            {"type": "stage", "seq": 7, **STAGE, "run": 18},
            {"type": "stage", "seq": 8, **STAGE},
        ],
        ["hello", "violation", "violation", "violation, closed"],
    ),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize("end", ENDS)
def test_channel_what_the_guard_makes_of_a_conversation(end: str, name: str) -> None:
    """R03, R07: documents in a queue, and the same as bytes through a socket."""
    frames, wanted = CONVERSATIONS[name]
    about = {"v": messages.VERSION, "run": 17, "attempt": "attempt", "session": "a" * 32, "channel": "c", "at": 1}
    documents = [{**about, **frame} for frame in frames]
    guard = Guard(lambda hello: EXPECTED)
    seen = []
    if end == "simulated":
        for document in documents:
            if not guard.closed:
                seen.append(guard.feed(document))
    else:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for document in documents:
                theirs.sendall(framing.encode(document))
            theirs.shutdown(socket.SHUT_WR)
            while data := ours.recv(50):
                seen += guard.receive(data)
    closed_by = len(seen) - 1 if guard.closed else -1
    words = []
    for number, each in enumerate(seen):
        word = each.frame["type"] if isinstance(each, Accepted) else "violation" if isinstance(each, Violation) else "unknown"
        words.append(f"{word}, closed" if number == closed_by else word)
    assert words == wanted
