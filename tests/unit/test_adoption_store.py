"""Adoption in the store: one per attempt, only of what may be adopted, refused by the database too (R02, R03, R05, P16)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from actum.model.changes import Persisted, RefusalKind, Refused
from actum.model.facts import FACTS, FactName
from actum.model.run import AttemptRow
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store import adoptable
from actum.store.queries import Reader
from actum.store.rows import Adopter
from actum.store.writer import Writer
from actum.supervise import advancing
from actum.supervise.machine import Machine
from actum.workspace import Workspace

from tests.helpers import adoptions
from tests.helpers import workspaces as w

STOPPED = Pair(Status.STOPPED, Phase.CLOSED)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


def ended(writer: Writer, digest: str, pair: Pair = STOPPED) -> AttemptRow:
    return w.bring_to(writer, w.admit(writer, digest), pair)


@pytest.mark.parametrize("key_lookup", [True, False])
def test_r05_adopting_twice_is_one_run(place: Workspace, key_lookup: bool) -> None:
    """The unique index alone gives the same answer; another key for the same attempt is refused, not run."""
    with w.writing(place, key_lookup=key_lookup) as writer:
        digest = w.add_task(writer)
        old = ended(writer, digest)
        first, second = (writer.ask(adoptions.asking(digest, old)) for _ in range(2))
        assert isinstance(first, Persisted)
        assert first.created
        assert isinstance(second, Persisted)
        assert (second.created, w.row_of(second).run) == (False, w.row_of(first).run)
        other = writer.ask(adoptions.asking(digest, old, key="another"))
        assert isinstance(other, Refused)
        assert "has adopted it already" in other.message


def test_p16_an_adoption_that_was_stopped_or_refused_bars_no_other_and_one_that_stands_does(place: Workspace) -> None:
    """Each has a key of its own; whoever asks twice finds one run; in the end one has succeeded, and no other is made."""
    with w.writing(place) as writer, Reader(place) as reader:
        digest = w.add_task(writer)
        old = ended(writer, digest)
        for ends in ((AttemptEvent.STOP_ASKED,), (AttemptEvent.ADOPTED, AttemptEvent.REJECTED)):
            asked = adoptions.asking(digest, old, key=adoptable.key_of(old.attempt, reader.adopted_by(old.attempt)))
            first, again = writer.ask(asked), writer.ask(replace(asked, run_id="again", attempt="again"))
            row = w.row_of(first)
            assert (again.created, w.row_of(again).run) == (False, row.run)  # type: ignore[union-attr]
            assert reader.adopted_by(old.attempt) == Adopter(row.run, row.run_id, "CREATED", row.request_digest)
            refused = writer.ask(adoptions.asking(digest, old, key="another"))
            assert isinstance(refused, Refused)
            assert f"Run {row.run} has adopted it already" in refused.message
            for event in ends:
                row = w.move(writer, row, event)
        key = adoptable.key_of(old.attempt, reader.adopted_by(old.attempt))
        last = adoptions.succeed(place, writer, digest, old, key=key)
        newest = reader.adopted_by(old.attempt)
        assert newest is not None
        assert (newest.number, newest.status, newest.stands) == (last.run, "SUCCEEDED", True)
        assert isinstance(writer.ask(adoptions.asking(digest, old, key="another")), Refused)
    connection = sqlite3.connect(place.database)
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: run\.adopted_attempt"):
        connection.execute(ADOPTED_ONCE_MORE, (old.attempt,))
    connection.close()


ADOPTED_ONCE_MORE = (
    "INSERT INTO run (id, task, task_version, key, request_digest, request, parameters, trigger, created_at_us,"
    " adopted_attempt, admitted_epoch, epoch) SELECT 'x', task, task_version, 'x', request_digest, request, parameters,"
    " 'adoption', 1, ?, 1, 1 FROM run WHERE number = 1"
)


@pytest.mark.parametrize(
    ("pair", "word"), [(Pair(Status.RUNNING, Phase.VERIFYING), "RUNNING"), (Pair(Status.FAILED, Phase.CLEANING_UP), "FAILED")]
)
def test_p16_only_a_released_attempt_without_a_result_is_adopted(place: Workspace, pair: Pair, word: str) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        answer = writer.ask(adoptions.asking(digest, ended(writer, digest, pair)))
        assert isinstance(answer, Refused)
        assert (answer.kind, word in answer.message) == (RefusalKind.CONDITION, True)
        succeeded = w.succeed(writer, w.admit(writer, digest))
        assert isinstance(writer.ask(adoptions.asking(digest, succeeded)), Refused)


def test_r03_what_was_established_is_taken_over_with_its_time_and_its_observer(place: Workspace) -> None:
    """Each fact from inputs_frozen to released names run and attempt; the others follow from the package and say so."""
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        old = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.COMPUTING))
        known = w.Fact(FactName.INPUTS_FROZEN, 123, {"method": "copied", "inputs": []})
        w.persisted(writer.ask(w.Change(old.attempt, old.run, facts=(known,))))
        for event in (AttemptEvent.STOP_ASKED, AttemptEvent.TREE_CLEAR):
            old = w.move(writer, w.row_of(writer.ask(w.Change(old.attempt, old.run))), event)
        row = adoptions.begin(writer, digest, old)
        assert (row.pair, row.released) == (Pair(Status.RUNNING, Phase.VERIFYING), True)
        assert list(row.facts) == list(FACTS[:9])
        frozen, sealed = row.facts[FactName.INPUTS_FROZEN], row.facts[FactName.SEALED]
        assert (frozen["method"], frozen["then"], frozen["at_us"], frozen["inputs"]) == ("adopted", "copied", 123, [])
        assert frozen["from"] == {"run": old.run, "n": 1, "attempt": old.attempt, "observer": frozen["observer"]}
        assert (sealed["then"], sealed["at_us"], sealed["manifest_sha256"]) == (None, 7, "ab" * 32)
        assert "manifest" in sealed["seen"]
        assert row.place == (old.run, old.n)


def test_r06_a_run_that_adopts_needs_no_slot_and_is_never_repeated(place: Workspace) -> None:
    """It starts no work: it does not wait in the queue, and its failure is not followed by another attempt."""
    with w.writing(place) as writer:
        retry = {"maximum": 3, "codes": ["result_rejected"], "first_delay": "1s"}
        digest = w.add_task(writer, retry=retry, safe_to_repeat=True)
        row = w.row_of(writer.ask(adoptions.asking(digest, ended(writer, digest))))
        m = Machine(row, lambda: 1, 1)
        assert not advancing.is_queued(m)
        assert advancing.is_queued(Machine(replace(row, adopts=None), lambda: 1, 1))
        now = w.clock.read()
        [asked] = advancing.advance(m, now)
        assert asked.request.arrow.event is AttemptEvent.ADOPTED  # type: ignore[union-attr]
        verifying = Machine(adoptions.begin(writer, digest, ended(writer, digest)), lambda: 1, 1)
        verifying.fail(now, AttemptEvent.REJECTED, "result_rejected", "no")
        assert verifying.change is not None
        assert verifying.change.retry_at_us is None


ILLEGAL: list[tuple[str, str, Callable[[AttemptRow], str]]] = [
    ("begins at verification", "arrow", lambda row: "UPDATE attempt SET status = 'RUNNING', phase = 'VERIFYING' WHERE run = 2"),
    (
        "kept",
        "adoption",
        lambda row: (
            "INSERT INTO run (id, task, task_version, key, request_digest, request, parameters, trigger, created_at_us,"
            " adopted_attempt, admitted_epoch, epoch) SELECT 'x', task, task_version, 'x', request_digest, request, parameters,"
            " 'adoption', 1, (SELECT current_attempt FROM run WHERE number = 2), 1, 1 FROM run WHERE number = 1"
        ),
    ),
    ("open adoption", "deletion", lambda row: f"UPDATE run SET deletion = 'soft' WHERE number = {row.run}"),
]


@pytest.mark.parametrize(("words", "what", "sql"), ILLEGAL, ids=[what for _, what, _ in ILLEGAL])
def test_r02_the_database_refuses_it_too(place: Workspace, words: str, what: str, sql: Callable[[AttemptRow], str]) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        old = ended(writer, digest)
        w.admit(writer, digest)
        adoptions.begin(writer, digest, old)
    connection = sqlite3.connect(place.database)
    try:
        with pytest.raises(sqlite3.IntegrityError, match=words):
            connection.execute(sql(old))
    finally:
        connection.close()
