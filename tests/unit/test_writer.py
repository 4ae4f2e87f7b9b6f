"""The store writer: group commit, admission by key, epochs, failures of the disk (R04, R05, P23)."""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from actum import clock, faults, limits
from actum.errors import StorageFailed
from actum.generation import folder_identity, read_generation, write_generation
from actum.model.changes import (
    AddExport,
    AddResultCheck,
    AddTask,
    Answer,
    Change,
    Changes,
    ClearAlert,
    JournalEntry,
    NextAttempt,
    Note,
    Persisted,
    RaiseAlert,
    RecordRow,
    RefusalKind,
    Refused,
    Request,
    SetSetting,
    StopRun,
)
from actum.model.facts import Fact, FactName
from actum.model.status import AttemptEvent, Pair, Phase, RunStatus, Status
from actum.store import admission, facts, inputs, journal, results, runs, tasks
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.store.writing import Refusal, Session
from actum.workspace import Workspace, create_folders

from tests.helpers import workspaces as w
from tests.helpers.waiting import wait_until


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    faults.arm("")


def test_r05_one_key_is_one_run(place: Workspace) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        first = w.persisted(writer.ask(w.admission(digest, "k", window=12)))
        again = w.persisted(writer.ask(w.admission(digest, "k", window=12)))
        other = writer.ask(w.admission(digest, "k", window=13))
        assert (first.created, again.created) == (True, False)
        assert first.row == again.row
        assert isinstance(other, Refused)
        assert other.kind is RefusalKind.KEY
        assert other.details["request_digest"] != other.details["other_request_digest"]
        with Reader(place) as reader:
            assert reader.counts() == {"CREATED": 1}


def test_r05_the_unique_index_alone_holds(place: Workspace) -> None:
    """The look-up disabled: twenty admissions of one key at once make one run; another request is a conflict."""
    with w.writing(place, key_lookup=False) as writer:
        digest = w.add_task(writer)
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: writer.ask(w.admission(digest, "k", window=12)), range(20)))
        kept = [w.persisted(answer) for answer in answers]
        assert sum(answer.created for answer in kept) == 1
        assert len({w.row_of(answer).run for answer in answers}) == 1
        other = writer.ask(w.admission(digest, "k", window=13))
        assert isinstance(other, Refused)
        assert other.kind is RefusalKind.KEY
        with Reader(place) as reader:
            assert len(reader.facts(1)) == 1
            assert len(reader.runs_page()) == 1


def test_p25_the_key_of_a_purged_run_is_never_free_again(place: Workspace) -> None:
    """A tombstone stays for ever: the same request finds it, another one is a conflict that says what it is."""
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        first = w.row_of(writer.ask(w.admission(digest, "k", window=12)))
        with sqlite3.connect(place.database) as connection:  # no command purges yet
            connection.execute("UPDATE run SET deletion = 'purged' WHERE number = ?", (first.run,))
        connection.close()
        again = writer.ask(w.admission(digest, "k", window=12))
        other = writer.ask(w.admission(digest, "k", window=13))
        assert isinstance(again, Persisted), again
        assert (again.created, w.row_of(again).run) == (False, first.run)
        assert isinstance(other, Refused), other
        assert (other.kind, other.details["deletion"]) == (RefusalKind.KEY, "purged")


def test_a_number_is_never_used_again_and_a_refused_admission_leaves_nothing(place: Workspace) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        assert w.admit(writer, digest).run == 1
        refused = writer.ask(replace(w.admission(digest), task="unknown"))
        assert isinstance(refused, Refused)
        assert refused.kind is RefusalKind.TASK
        assert w.admit(writer, digest).run == 2


def test_a_task_version_has_one_contract(place: Workspace) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        same = AddTask("sample", "1", digest, {}, False, 1)
        assert not w.persisted(writer.ask(same)).created
        other = writer.ask(replace(same, contract_digest="0" * 64))
        assert isinstance(other, Refused)
        assert other.kind is RefusalKind.TASK
        assert w.persisted(writer.ask(replace(same, contract_digest="0" * 64, built_in=True))).created
        w.add_task(writer, version="2")
        with Reader(place) as reader:
            assert reader.task("sample").version == "2"
            assert [task.version for task in reader.tasks()] == ["2"]


def test_sixteen_producers_each_get_their_own_answer(place: Workspace) -> None:
    """R04: a savepoint for each request of a group; a refused neighbour changes nothing for the others."""
    with w.writing(place) as writer:
        digest = w.add_task(writer)

        def produce(_: int) -> tuple[int, int]:
            row = w.admit(writer, digest)
            refused = writer.ask(StopRun(row.run, 1))
            assert isinstance(refused, Refused)
            return row.run, w.succeed(writer, row).run

        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(produce, range(48)))
        assert {first for first, _ in found} == {second for _, second in found} == set(range(1, 49))
        with Reader(place) as reader:
            assert reader.counts() == {"SUCCEEDED": 48}
            assert all(len(reader.facts(run)) == 14 for run in range(1, 49))


def test_a_group_has_a_bound_and_so_has_the_queue(place: Workspace) -> None:
    """R11: GROUP_COMMIT_REQUESTS_MAX in one commit, one more in the next; above WRITER_QUEUE_REQUESTS_MAX it refuses."""
    commits: list[Changes] = []
    held, go = threading.Event(), threading.Event()
    answers: list[Answer] = []

    def hold(answer: Answer) -> None:
        held.set()
        go.wait()

    with w.writing(place) as writer:
        writer.subscribe(commits.append)
        writer.submit(SetSetting("slots", 2, 1), hold)
        held.wait()
        for _ in range(limits.GROUP_COMMIT_REQUESTS_MAX + 1):
            writer.submit(SetSetting("slots", 3, 1), answers.append)
        for _ in range(limits.WRITER_QUEUE_REQUESTS_MAX - limits.GROUP_COMMIT_REQUESTS_MAX - 1):
            writer._queue.append((Note(), lambda answer: None))
        late: list[Answer] = []
        writer.submit(SetSetting("slots", 4, 1), late.append)
        assert isinstance(late[0], Refused)
        assert late[0].kind is RefusalKind.STORAGE
        while len(writer._queue) > limits.GROUP_COMMIT_REQUESTS_MAX + 1:
            writer._queue.pop()
        go.set()
        wait_until(lambda: len(answers) == limits.GROUP_COMMIT_REQUESTS_MAX + 1, what="every answer")
    assert len(commits) == 3


def test_what_was_changed_is_told_after_the_commit(place: Workspace) -> None:
    seen: list[tuple[Changes, int]] = []
    with w.writing(place) as writer:
        digest = w.add_task(writer)

        def look(changes: Changes) -> None:
            with Reader(place) as reader:
                seen.append((changes, len(reader.runs_page())))

        writer.subscribe(look)
        row = w.admit(writer, digest)
        wait_until(lambda: seen, what="the changes")
        assert seen[0] == (Changes(frozenset({row.run}), frozenset({"sample"})), 1)


def test_p23_an_older_writer_stops_writing(place: Workspace) -> None:
    """Two writers with different epochs: everything the older one asks is refused with EPOCH, and nothing is written."""
    with w.writing(place) as older:
        digest = w.add_task(older)
        row = w.admit(older, digest)
        with w.writing(place) as newer:
            assert newer.opened.epoch == older.opened.epoch + 1
            for request in every_request(row.attempt, digest):
                answer = older.ask(request)
                assert isinstance(answer, Refused)
                assert answer.kind is RefusalKind.EPOCH
            with Reader(place) as reader:
                assert reader.counts() == {"CREATED": 1}
                assert not reader.alerts()
            assert w.move(newer, row, AttemptEvent.SLOT_GRANTED).pair.phase is Phase.FREEZING


def test_p23_every_statement_carries_the_epoch(place: Workspace) -> None:
    """The check at the beginning of the transaction left out: still no statement of an older epoch writes a row."""
    verbs = {
        Change: runs.change,
        NextAttempt: admission.next_attempt,
        StopRun: runs.stop_run,
        AddTask: tasks.add,
        Note: journal.note,
        AddResultCheck: results.add_check,
        AddExport: results.add_export,
        SetSetting: tasks.set_setting,
    }
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        row = w.succeed(writer, w.admit(writer, digest))
        requests = [*with_arrows(writer, digest), *every_request(row.attempt, digest)]
    connection = sqlite3.connect(place.database, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        before = dump(connection)
        session = Session(connection, writer.opened.epoch - 1, clock.utc_us())
        for request in requests:
            verb = verbs.get(type(request), admission.admit)
            connection.execute("BEGIN")
            try:
                verb(session, request)  # type: ignore[operator]
            except (Refusal, sqlite3.IntegrityError):  # the second of two that stand in each other's way
                connection.execute("ROLLBACK")
            else:
                connection.execute("COMMIT")
        assert dump(connection) == before
        facts.add(session, row.run, 1, (Fact(FactName.ADMITTED, 9, {"method": "other"}),))
        inputs.freeze(session, row.run, (w.frozen_input(),))
        assert dump(connection) == before
    finally:
        connection.close()


def dump(connection: sqlite3.Connection) -> list[str]:
    """Every row; SQLite's own counters left out."""
    return [line for line in connection.iterdump() if "sqlite_sequence" not in line]


def with_arrows(writer: Writer, digest: str) -> list[Request]:
    """Requests that write a status: that of an attempt alone, that of a run alone, and what begins an attempt."""
    row = w.bring_to(writer, w.admit(writer, digest), Pair(Status.RUNNING, Phase.COMPUTING))
    columns = {"failure_code": "work_failed"}
    row = w.move(writer, row, AttemptEvent.OUTCOME_FAILED, columns=columns, retry_at_us=9)
    retrying = w.move(writer, row, AttemptEvent.TREE_CLEAR)
    assert retrying.run_status is RunStatus.RETRYING
    granted = w.moving(w.admit(writer, digest), AttemptEvent.SLOT_GRANTED)
    return [granted, StopRun(retrying.run, 1), w.following(retrying)]


def every_request(attempt: str, digest: str) -> list[Request]:
    """One request of each kind but NextAttempt, without an arrow; each would write something."""
    entry = JournalEntry("test", 1, {})
    return [
        Change(
            attempt,
            1,
            facts=(Fact(FactName.LAUNCHED, 1, {"method": "late"}),),
            journal=(entry,),
            columns={"contact": "lost"},
            run_columns={"stop_requested_at_us": 1, "labels": ["x"]},
            alerts=(RaiseAlert("k", "code", "bad", 1), ClearAlert("k", 2)),
            records=(RecordRow(1, 1, "trade", {}),),
            inputs=(w.frozen_input(),),
        ),
        StopRun(1, 1, (entry,)),
        w.admission(digest),
        AddTask("other", "1", "0" * 64, {}, False, 1),
        Note((entry,), (RaiseAlert("k", "code", "bad", 1),)),
        AddResultCheck(1, attempt, "readable", "", "bytes", {}, 1),
        AddExport(1, attempt, "returns", "csv", "data", "/tmp/x.csv", "0" * 64, 1, 1, {}, 1),
        SetSetting("slots", 7, 1),
    ]


def test_alerts_are_one_a_key(place: Workspace) -> None:
    with w.writing(place) as writer:
        raised = RaiseAlert("hold:1", "hold", "warning", 5, {"pid": 1})
        assert w.persisted(writer.ask(Note(alerts=(raised,)))).changes.alerts
        writer.ask(Note(alerts=(replace(raised, at_us=6, data={"pid": 2}),)))
        with Reader(place) as reader:
            [alert] = reader.alerts()
            assert (alert.opened_at_us, alert.raised_at_us, alert.data) == (5, 6, {"pid": 2})
        writer.ask(Note(alerts=(ClearAlert("hold:1", 7), ClearAlert("never:1", 7))))
        writer.ask(Note(alerts=(replace(raised, at_us=8),)))
        with Reader(place) as reader:
            assert [alert.opened_at_us for alert in reader.alerts()] == [8]
            assert [alert.cleared_at_us for alert in reader.alerts(open_only=False)] == [None, 7]


def test_records_are_taken_once(place: Workspace) -> None:
    """R12: ingestion that begins again after a crash adds nothing twice."""
    with w.writing(place) as writer:
        row = w.admit(writer, w.add_task(writer))
        some = tuple(RecordRow(seq, seq, "trade", {"seq": seq}) for seq in range(3))
        for _ in range(2):
            w.persisted(writer.ask(Change(row.attempt, row.run, records=some, columns={"records_offset": 30})))
        with Reader(place) as reader:
            assert [record.seq for record in reader.records(row.run)] == [0, 1, 2]
            assert [record.seq for record in reader.records(row.run, after=(1, 0), limit=1)] == [1]


def test_a_note_about_an_attempt_nobody_knows_is_kept(place: Workspace) -> None:
    with w.writing(place) as writer:
        writer.ask(Note((JournalEntry("violation", 1, {"why": "x"}),), attempt="no-such"))
        with Reader(place) as reader:
            assert reader.journal(None)[0].data == {"why": "x", "unknown_attempt": "no-such"}


def test_r04_disk_full_before_the_commit_writes_nothing(place: Workspace) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        faults.arm("store.commit.before:error=ENOSPC")
        answer = writer.ask(w.admission(digest, "k"))
        assert isinstance(answer, Refused)
        assert (answer.kind, answer.details["code"]) == (RefusalKind.STORAGE, "disk_full")
        faults.arm("")
        assert w.persisted(writer.ask(w.admission(digest, "k"))).created


def test_r04_a_lost_answer_is_lost_and_the_row_is_there(place: Workspace) -> None:
    """The commit was made, its answer not: LOST; the writer reopens, and the same key finds the same run."""
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        faults.arm("store.commit.after:error=EIO")
        answer = writer.ask(w.admission(digest, "k"))
        assert isinstance(answer, Refused)
        assert answer.kind is RefusalKind.LOST
        faults.arm("")
        again = w.persisted(writer.ask(w.admission(digest, "k")))
        assert not again.created


def test_a_full_database_is_a_storage_failure_of_the_group(place: Workspace) -> None:
    """SQLite's own "full": refused with what to do, nothing half written, and later requests go through."""
    with w.writing(place) as writer:
        connection = writer._connected()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone()
        answer = writer.ask(SetSetting("theme", "x" * 1_000_000, 1))
        assert isinstance(answer, Refused)
        assert (answer.kind, answer.details["code"]) == (RefusalKind.STORAGE, "disk_full")
        connection.execute("PRAGMA max_page_count = 1000000").fetchone()
        assert isinstance(writer.ask(SetSetting("theme", "dark", 1)), Persisted)


@pytest.mark.logs("the store could not carry out")
def test_a_bug_in_one_request_is_its_own(place: Workspace) -> None:
    with w.writing(place) as writer:
        row = w.admit(writer, w.add_task(writer))
        bad = writer.ask(Change(row.attempt, row.run, columns={"contact": "no such word"}))
        assert isinstance(bad, Refused)
        assert bad.details["code"] == "bug"
        assert w.move(writer, row, AttemptEvent.SLOT_GRANTED).pair.phase is Phase.FREEZING


@pytest.mark.logs("a receiver of the store's answers failed")
def test_a_receiver_that_fails_stops_nobody(place: Workspace) -> None:
    with w.writing(place) as writer:
        writer.submit(SetSetting("slots", 2, 1), lambda answer: 1 / 0)  # type: ignore[arg-type,return-value]
        assert isinstance(writer.ask(SetSetting("slots", 3, 1)), Persisted)


def test_the_log_is_folded_back_between_commits(place: Workspace) -> None:
    """CHECKPOINT_ROWS: below it the database file stays as it was; at it the log is folded back by the writer."""
    with w.writing(place) as writer:
        writer._changed_before = writer._connected().total_changes
        before = place.database.stat().st_size
        for number in range(20):
            writer.ask(SetSetting(f"s{number}", "x" * 4000, 1))
        assert place.database.stat().st_size == before
        writer._changed_before = writer._connected().total_changes - limits.CHECKPOINT_ROWS
        writer.ask(SetSetting("last", 1, 1))
        wait_until(lambda: place.database.stat().st_size > before, what="the checkpoint")


def test_closing_is_orderly_and_twice_is_once(place: Workspace) -> None:
    writer = Writer(place)
    first = writer.start(str(uuid.uuid4()))
    assert first.previous_clean
    writer.close()
    writer.close()
    late: list[Answer] = []
    writer.submit(SetSetting("slots", 2, 1), late.append)
    assert isinstance(late[0], Refused)
    with w.writing(place) as second:
        assert second.opened.previous_clean
        assert second.opened.database_uuid == first.database_uuid
        assert second.opened.checked is None


def test_after_an_unclean_end_the_database_is_checked(place: Workspace) -> None:
    with w.writing(place), w.writing(place) as second:
        assert not second.opened.previous_clean
        assert second.opened.checked is not None
        assert second.opened.checked.whole


def test_the_generation_follows_the_epoch(place: Workspace) -> None:
    with w.writing(place) as writer:
        generation = read_generation(place)
        assert generation is not None
        assert (generation.epoch, generation.database_uuid) == (writer.opened.epoch, writer.opened.database_uuid)
        assert generation.folder == folder_identity(place.path)


def test_a_database_behind_its_generation_is_in_recovery(place: Workspace) -> None:
    """Restored from an older backup: remembered at every later start, and its epoch is above all that was."""
    with w.writing(place) as writer:
        write_generation(place, writer.opened.database_uuid, 40, folder_identity(place.path))
    for epoch in (41, 42):
        with w.writing(place) as writer:
            assert (writer.opened.recovery, writer.opened.epoch) == (True, epoch)
    with w.writing(place) as writer:
        writer.ask(SetSetting("recovery", None, 1))
    with w.writing(place) as writer:
        assert not writer.opened.recovery


@pytest.mark.parametrize("text", [None, "", "{}"])
def test_a_generation_file_that_is_gone_is_said_once_there_are_runs(place: Workspace, text: str | None) -> None:
    """PROTOCOL "Lock": it is what tells a copy and an older backup; without it that cannot be told, and is not passed over."""
    with w.writing(place):
        place.generation.unlink()
    with w.writing(place) as writer:
        assert not writer.opened.generation_lost, "without runs it may never have been written"
        w.admit(writer, w.add_task(writer))
    place.generation.unlink() if text is None else place.generation.write_text(text)
    with w.writing(place) as writer:
        assert (writer.opened.generation_lost, writer.opened.recovery) == (True, False)
    with w.writing(place) as writer:
        assert not writer.opened.generation_lost, "it was written anew"


def test_the_committed_row_has_the_epoch_that_wrote_it(place: Workspace) -> None:
    with w.writing(place) as first:
        row = w.admit(first, w.add_task(first))
    with w.writing(place) as second:
        moved = w.move(second, row, AttemptEvent.SLOT_GRANTED)
        assert moved.admitted_epoch == first.opened.epoch
        assert moved.facts[FactName.ADMITTED]["epoch"] == first.opened.epoch
        with Reader(place) as reader:
            [attempt] = reader.attempts(row.run)
            assert attempt.service_instance == second.opened.instance
            assert attempt.status == Status.CREATED


def test_create_folders_is_private_and_idempotent(tmp_path: Path) -> None:
    ws = Workspace(tmp_path / "new" / "ws")
    create_folders(ws)
    create_folders(ws)
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in ws.folders())


def test_killed_between_the_epoch_and_its_generation_file(place: Workspace) -> None:
    """R18: the database is ahead then, which is no recovery; the next start writes the file."""
    with w.writing(place):
        pass
    faults.arm("store.epoch.after:error=EIO")
    with pytest.raises(StorageFailed):
        Writer(place).start("cut short")
    faults.arm("")
    generation = read_generation(place)
    assert generation is not None
    assert generation.epoch == 1
    with w.writing(place) as writer:
        assert (writer.opened.epoch, writer.opened.recovery, writer.opened.previous_clean) == (3, False, False)
