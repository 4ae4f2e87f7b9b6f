"""Transitions in the database: every (pair, event), through the store and as raw SQL (R01, R02, R03, R06, P09, P10)."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator

import pytest
from actum import clock
from actum.model.changes import Arrow, Change, JournalEntry, Persisted, RefusalKind, Refused, StopRun
from actum.model.facts import FACTS, Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import ARROWS, LEGAL, PAIRS, RELEASING, AttemptEvent, Pair, Phase, RunStatus, Status, after
from actum.store import database
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import workspaces as w

E = AttemptEvent
COMPUTING = Pair(Status.RUNNING, Phase.COMPUTING)
FAILED = Pair(Status.FAILED, Phase.CLEANING_UP)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return w.make(tmp_path_factory.mktemp("runs") / "ws")


@pytest.fixture
def writer(place: Workspace) -> Iterator[Writer]:
    with w.writing(place) as writer:
        yield writer


@pytest.fixture
def digest(writer: Writer) -> str:
    return w.add_task(writer)


def fail(writer: Writer, row: AttemptRow, **more: object) -> AttemptRow:
    """RUNNING / COMPUTING → FAILED / CLEANING_UP."""
    return w.move(writer, row, E.OUTCOME_FAILED, columns={"failure_code": "work_failed"}, **more)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_r02_every_event_in_every_pair(writer: Writer, digest: str, pair: Pair) -> None:
    """Legal arrows write what the table answers; the others are refused by the look-up and change nothing."""
    for event in AttemptEvent:
        row = w.bring_to(writer, w.admit(writer, digest), pair)
        answer = writer.ask(w.moving(row, event))
        if event in ARROWS[pair] and event is not E.ADOPTED:  # which only a run that adopts may take
            moved = w.row_of(answer)
            assert moved.pair == after(pair, event)
            assert moved.released >= (moved.pair in RELEASING)
            assert moved.run_status.value == moved.pair.status.value
        else:
            assert isinstance(answer, Refused)
            assert answer.kind is RefusalKind.CONDITION
            assert answer.row == row


def test_r02_the_database_refuses_every_illegal_arrow(writer: Writer, digest: str, place: Workspace) -> None:
    """Raw SQL: all pairs of words, legal or not, from each legal pair; what is no row of `arrow` is refused by the trigger."""
    rows = {pair: w.bring_to(writer, w.admit(writer, digest), pair) for pair in PAIRS}
    ways = [(before, event, target) for before, arrows in ARROWS.items() for event, target in arrows.items()]
    legal = {(before, target) for before, event, target in ways if event is not E.ADOPTED}  # a trigger of its own refuses that
    connection = database.open_writer(place)
    try:
        for before, status, phase in itertools.product(PAIRS, Status, Phase):
            target = Pair(status, phase)
            connection.execute("BEGIN IMMEDIATE")
            values = (status, phase, phase is Phase.CLOSED or target in RELEASING, rows[before].attempt)
            sql = "UPDATE attempt SET status = ?, phase = ?, released = max(released, ?) WHERE id = ?"
            if before == target or ((before, target) in legal and status is not Status.SUCCEEDED):
                connection.execute(sql, values)
            else:
                with pytest.raises(sqlite3.IntegrityError, match=r"illegal arrow|unproven success"):
                    connection.execute(sql, values)
            connection.execute("ROLLBACK")
    finally:
        connection.close()


def test_r02_the_trigger_leaves_other_columns_alone(writer: Writer, digest: str) -> None:
    row = w.bring_to(writer, w.admit(writer, digest), FAILED)
    answer = writer.ask(Change(row.attempt, row.run, columns={"contact": "lost", "contact_why": "no heartbeat"}))
    assert w.row_of(answer).contact == "lost"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("UPDATE attempt SET released = 0 WHERE released = 1", "illegal release"),
        ("INSERT INTO attempt (id, run, n, status, created_at_us, epoch) VALUES ('x', 1, 9, 'RUNNING', 0, 1)", "illegal arrow"),
        ("UPDATE run SET status = 'RUNNING' WHERE status = 'SUCCEEDED'", "final"),
        ("UPDATE fact SET at_us = 0", "never edited"),
        ("DELETE FROM fact", "never deleted"),
        ("UPDATE journal SET kind = 'x'", "never edited"),
        ("DELETE FROM journal", "never deleted"),
        ("DELETE FROM run", "never deleted"),
    ],
)
def test_the_database_guards_history(writer: Writer, digest: str, place: Workspace, sql: str, why: str) -> None:
    """R01, R03, R12: facts and journal stay, release and terminal statuses are final, whatever statement comes."""
    w.succeed(writer, w.admit(writer, digest))
    connection = database.open_writer(place)
    try:
        with pytest.raises(sqlite3.IntegrityError, match=why):
            connection.execute(sql)
    finally:
        connection.close()


@pytest.mark.parametrize("missing", FACTS[1:], ids=lambda name: name.value)
def test_r01_no_success_without_each_of_its_facts(writer: Writer, digest: str, place: Workspace, missing: FactName) -> None:
    """All others given (`admitted` comes with the run): the database itself refuses, and nothing of the transaction stays."""
    row = w.admit(writer, digest)
    for event, names in w.STRAIGHT[:-1]:
        facts = tuple(Fact(name, 1, {"method": "test"}) for name in names if name is not missing)
        row = w.move(writer, row, event, facts=facts)
    last = tuple(Fact(name, 1, {"method": "test"}) for name in w.STRAIGHT[-1][1] if name is not missing)
    answer = writer.ask(w.moving(row, E.RECORDED, facts=last, result=w.result_row(row.run, 1)))
    assert isinstance(answer, Refused)
    assert "unproven success" in answer.message
    with Reader(place) as reader:
        assert reader.result(row.run) is None
        assert FactName.SUCCEEDED not in {fact.fact for fact in reader.facts(row.run)}


def test_r01_no_success_without_a_result_row(writer: Writer, digest: str) -> None:
    row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.PUBLISHING))
    answer = writer.ask(w.moving(row, E.RECORDED, result=None))
    assert isinstance(answer, Refused)
    assert "unproven success" in answer.message


def test_r01_a_fact_is_written_once_and_a_second_look_is_journalled(writer: Writer, digest: str, place: Workspace) -> None:
    row = w.admit(writer, digest)
    for method in ("first", "first", "second"):
        fact = Fact(FactName.LAUNCHED, 5, {"method": method})
        w.persisted(writer.ask(Change(row.attempt, row.run, facts=(fact,))))
    with Reader(place) as reader:
        launched = [fact for fact in reader.facts(row.run) if fact.fact == "launched"]
        again = [entry.data for entry in reader.journal(row.run) if entry.kind == "fact_observed_again"]
    assert [fact.evidence for fact in launched] == [{"method": "first"}]
    assert launched[0].observer == writer.opened.instance
    assert again == [{"fact": "launched", "recorded": {"method": "first"}, "seen": {"method": "second"}}]


def test_r02_a_belief_that_is_wrong_changes_nothing(writer: Writer, digest: str) -> None:
    row = w.admit(writer, digest)
    answer = writer.ask(Change(row.attempt, row.run, Arrow(COMPUTING, E.WORK_COMPLETED), columns={"contact": "ok"}))
    assert isinstance(answer, Refused)
    assert answer.row == row
    answer = writer.ask(Change(row.attempt, row.run, expects=COMPUTING, columns={"contact": "ok"}))
    assert isinstance(answer, Refused)
    assert answer.row == row


def test_r03_an_attempt_that_is_not_current_moves_no_more(writer: Writer, digest: str, place: Workspace) -> None:
    """A late message of an old attempt changes nothing, even where its own row has an arrow, as by damage."""
    row = fail(writer, w.bring_to(writer, w.admit(writer, digest), COMPUTING), retry_at_us=9)
    row = w.move(writer, row, E.TREE_CLEAR)
    second = w.next_attempt(writer, row)
    late = Change(row.attempt, row.run, Arrow(FAILED, E.TREE_CLEAR))
    assert isinstance(writer.ask(late), Refused)
    connection = database.open_writer(place)
    for trigger in ("attempt_arrow", "attempt_released"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("UPDATE attempt SET phase = 'CLEANING_UP', released = 0 WHERE id = ?", (row.attempt,))
    connection.close()
    refused = writer.ask(late)
    assert isinstance(refused, Refused), "the old attempt's row was written"
    assert "not the current one" in refused.message
    assert w.row_of(writer.ask(Change(second.attempt, row.run, expects=second.pair))).n == 2


def test_p09_retrying_comes_with_the_failure_and_leads_to_the_next_attempt(writer: Writer, digest: str) -> None:
    row = fail(writer, w.bring_to(writer, w.admit(writer, digest), COMPUTING), retry_at_us=77)
    assert (row.run_status, row.retry_at_us, row.pair) == (RunStatus.RETRYING, 77, FAILED)
    assert not row.released
    released = w.move(writer, row, E.TREE_CLEAR)
    assert (released.run_status, released.released) == (RunStatus.RETRYING, True)
    second = w.next_attempt(writer, released)
    assert (second.n, second.run_status, second.retry_at_us) == (2, RunStatus.CREATED, None)
    assert second.facts[FactName.ADMITTED]["from"] == 1
    assert w.succeed(writer, second).run_status is RunStatus.SUCCEEDED


def test_p09_no_next_attempt_before_the_release(writer: Writer, digest: str) -> None:
    row = fail(writer, w.bring_to(writer, w.admit(writer, digest), COMPUTING), retry_at_us=77)
    with pytest.raises(AssertionError, match="not released"):
        w.next_attempt(writer, row)


def test_p09_a_stop_on_the_run_forbids_the_retry(writer: Writer, digest: str) -> None:
    """Also one that came in the same transaction; the first stop's time stays."""
    row = w.bring_to(writer, w.admit(writer, digest), COMPUTING)
    w.persisted(writer.ask(Change(row.attempt, row.run, run_columns={"stop_requested_at_us": 5})))
    w.persisted(writer.ask(Change(row.attempt, row.run, run_columns={"stop_requested_at_us": 6})))
    ended = fail(writer, row, retry_at_us=77)
    assert (ended.run_status, ended.retry_at_us, ended.stop_requested_at_us) == (RunStatus.FAILED, None, 5)
    other = w.bring_to(writer, w.admit(writer, digest), COMPUTING)
    ended = fail(writer, other, retry_at_us=77, run_columns={"stop_requested_at_us": 8})
    assert ended.run_status is RunStatus.FAILED


def test_p10_a_stop_while_retrying_stops_the_run_and_not_the_attempt(writer: Writer, digest: str) -> None:
    row = fail(writer, w.bring_to(writer, w.admit(writer, digest), COMPUTING), retry_at_us=77)
    now = clock.utc_us()
    stopped = w.row_of(writer.ask(StopRun(row.run, now, (JournalEntry("stop_asked", now, {}),))))
    assert (stopped.run_status, stopped.pair, stopped.stop_requested_at_us) == (RunStatus.STOPPED, FAILED, now)
    assert isinstance(writer.ask(StopRun(row.run, now)), Refused)
    released = w.move(writer, stopped, E.TREE_CLEAR)
    assert (released.run_status, released.released) == (RunStatus.STOPPED, True)
    with pytest.raises(AssertionError, match="not waiting"):
        w.next_attempt(writer, released)


def test_r06_release_comes_before_verification_and_stays(writer: Writer, digest: str) -> None:
    row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.CLEANING_UP))
    assert not row.released
    verifying = w.move(writer, row, E.TREE_CLEAR)
    assert verifying.released
    assert w.move(writer, verifying, E.STOP_ASKED).released


def test_the_inputs_are_frozen_with_their_fact(writer: Writer, digest: str) -> None:
    """R17: the rows written with inputs_frozen are the run's inputs from then on, for later attempts too."""
    row = w.move(writer, w.admit(writer, digest), E.SLOT_GRANTED)
    frozen = (w.frozen_input("prices"), w.frozen_input("calendar"))
    fact = Fact(FactName.INPUTS_FROZEN, 5, {"method": "copy"})
    row = w.move(writer, row, E.INPUTS_FROZEN, facts=(fact,), inputs=frozen)
    assert row.inputs == frozen


def test_a_column_that_no_request_may_set_is_a_bug_of_the_caller(writer: Writer, digest: str) -> None:
    row = w.admit(writer, digest)
    for column in ("status", "phase", "released"):
        with pytest.raises(ValueError, match=column):
            writer.ask(Change(row.attempt, row.run, columns={column: "RUNNING"}))


def test_every_pair_can_be_reached() -> None:
    assert {pair for pair in PAIRS if w.way_to(pair) is not None} == set(PAIRS)
    assert sum(len(phases) for phases in LEGAL.values()) == len(PAIRS)


def test_answers_are_persisted_rows(writer: Writer, digest: str) -> None:
    answer = writer.ask(w.admission(digest))
    assert isinstance(answer, Persisted)
    assert answer.created
    assert answer.row is not None
    assert answer.changes.runs == {answer.row.run}
