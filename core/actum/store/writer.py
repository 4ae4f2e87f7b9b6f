"""The store writer: one thread, one connection, group commit (R02, R04, P23).

Theory. Requests are queued from any thread. The writer takes what is queued, at most GROUP_COMMIT_REQUESTS_MAX, into one
`BEGIN IMMEDIATE` transaction with a savepoint for each; one COMMIT with synchronous=FULL makes all of them durable, and
only then is each answered, from the writer thread. A refused request is rolled back to its savepoint and answered
`Refused`; its neighbours are not touched. If a newer service instance exists, every request is refused with EPOCH.

When the COMMIT itself fails for want of room nothing was written: STORAGE. When its answer is lost nobody can tell: LOST,
the connection is closed and opened anew, and whoever asked reads the store. Where the files are not the workspace's any more
(`inplace`) nothing is acknowledged: STORAGE before the COMMIT, LOST after it, with a code of MISPLACED. The write-ahead log is
folded back by this connection alone, between commits.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from actum import clock, faults
from actum.errors import ActumError, WorkspaceUnusable
from actum.generation import read_generation
from actum.limits import CHECKPOINT_ROWS, GROUP_COMMIT_REQUESTS_MAX, WRITER_QUEUE_REQUESTS_MAX
from actum.model import changes as model
from actum.model.changes import Answer, Changes, Persisted, RefusalKind, Refused, Request
from actum.store import admission, database, epochs, failures, journal, loading, results, runs, selects, tasks
from actum.store.epochs import Opened
from actum.store.inplace import InPlace
from actum.store.openlog import OpenLog
from actum.store.writing import Refusal, Session
from actum.workspace import Workspace, create_folders

log = logging.getLogger(__name__)

_LOOK_S = 0.2  # whoever waits for the writer thread looks this often whether there is one

Reply = Callable[[Answer], None]
Subscriber = Callable[[Changes], None]

_VERBS: Mapping[type, Callable[[Session, Any], Persisted]] = {
    model.Change: runs.change,
    model.StopRun: runs.stop_run,
    model.Admit: admission.admit,
    model.NextAttempt: admission.next_attempt,
    model.AddTask: tasks.add,
    model.Note: lambda session, request: Persisted(journal.note(session, request)),
    model.AddResultCheck: results.add_check,
    model.AddExport: results.add_export,
    model.SetSetting: tasks.set_setting,
}


class Writer:
    """The one writer of a workspace. Only the holder of the workspace lock may start it.

    `key_lookup` False leaves R05 to the unique index alone; the answers must be the same.
    """

    def __init__(self, ws: Workspace, *, key_lookup: bool = True) -> None:
        self._ws = ws
        self._key_lookup = key_lookup
        self._connection: sqlite3.Connection | None = None
        self._opened: Opened | None = None
        self._log: OpenLog | None = None
        self._in_place = InPlace(ws)
        self._queue: deque[tuple[Request, Reply]] = deque()
        lock = threading.RLock()
        self._wake = threading.Condition(lock)
        self._rested = threading.Condition(lock)  # nothing is queued, nothing is being written
        self._writing = False
        self._closing = False
        self._thread: threading.Thread | None = None
        self._subscribers: list[Subscriber] = []
        self._changed_before = 0

    @property
    def closed(self) -> bool:
        """Whether every further request is refused."""
        return self._closing or self._thread is None

    @property
    def opened(self) -> Opened:
        """What `start` answered."""
        if self._opened is None:
            raise RuntimeError("the writer was not started")
        return self._opened

    def start(self, instance: str, *, identity: Mapping[str, Any] | None = None) -> Opened:
        """Create or migrate the database, open an epoch for the service instance, and begin to write.

        Raises WorkspaceUnusable (copied, newer, corrupt, read-only, full) and StorageFailed.
        """
        create_folders(self._ws)
        epochs.refuse_copy(self._ws)
        if recorded := read_generation(self._ws):
            database.refuse_foreign_log(self._ws, recorded.database_uuid)
        self._log = OpenLog(self._ws)
        connection: sqlite3.Connection | None = None
        try:
            connection = database.open_writer(self._ws)
            self._opened = self._open(connection, instance, identity or {}, self._log)
            self._in_place.hold()
        except BaseException as error:
            if connection is not None:
                connection.close()
            self._log.closed()  # by this start, whose own end is not on record
            if isinstance(error, sqlite3.Error):
                raise failures.known(error, self._ws.database, "opening an epoch") or error from error
            if isinstance(error, OSError):
                raise failures.of_system(error, self._ws.database, "opening an epoch") from error
            raise
        self._log.settled()
        self._connection = connection
        self._thread = threading.Thread(target=self._work, name="actum-store", daemon=True)
        self._thread.start()
        return self._opened

    def submit(self, request: Request, reply: Reply) -> None:
        """Queue a request; `reply` is called in the writer thread after the commit (here and now when the queue is full).

        Raises ValueError for a request that names a column no request may set.
        """
        if isinstance(request, model.Change):
            runs.refuse_columns(request)
        with self._wake:
            refused = "The store is closed." if self.closed else ""
            if not refused and len(self._queue) >= WRITER_QUEUE_REQUESTS_MAX:
                refused = f"{WRITER_QUEUE_REQUESTS_MAX} requests are waiting for the disk already."
            if not refused:
                self._queue.append((request, reply))
                self._wake.notify()
                return
        reply(Refused(RefusalKind.STORAGE, refused, details={"code": "store_busy"}))

    def ask(self, request: Request, timeout_s: float = 30.0) -> Answer:
        """`submit`, waiting for the answer; LOST when it does not come in time. Never in the writer thread."""
        box: list[Answer] = []
        done = threading.Event()

        def keep(answer: Answer) -> None:
            box.append(answer)
            done.set()

        self.submit(request, keep)
        if not done.wait(timeout_s):
            return Refused(RefusalKind.LOST, f"The store did not answer within {timeout_s} s.")
        return box[0]

    def subscribe(self, callback: Subscriber) -> None:
        """Call `callback` in the writer thread with what each commit changed."""
        self._subscribers.append(callback)

    def misplaced(self) -> str:
        """Why nothing can be recorded any more: a code of MISPLACED, or "". From any thread."""
        try:
            self._in_place.check()
        except WorkspaceUnusable as error:
            return error.code
        except OSError:  # it cannot be told now; a commit will say
            return ""
        return ""

    def settle(self) -> None:
        """Return when all that was asked is written and its answers were given. Never in the writer thread."""
        with self._wake:
            while (self._queue or self._writing) and self._thread is not None and self._thread.is_alive():
                self._rested.wait(_LOOK_S)

    def close(self) -> None:
        """Write what is queued, record the orderly end, fold the log back, close. Twice is once."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _open(self, connection: sqlite3.Connection, instance: str, identity: Mapping[str, Any], found: OpenLog) -> Opened:
        """A write-ahead log that a killed writer left is looked through, and must be there."""
        clean = epochs.previous_clean(connection)
        checked = None if clean and not found.logged else database.quick_check(connection)
        if checked is not None and checked.problems:
            raise failures.corrupt(self._ws.database, "; ".join(checked.problems[:3]))
        lost = not clean and found.lost
        return epochs.open_epoch(connection, self._ws, instance, identity, clean=clean, checked=checked, log_lost=lost)

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), GROUP_COMMIT_REQUESTS_MAX))]
                self._writing = bool(batch)
            if not batch:
                break
            self._answer(batch, self._write([request for request, _ in batch]))
            with self._wake:
                self._writing = False
                self._rested.notify_all()
            self._fold()
        self._end()

    def _write(self, requests: Sequence[Request]) -> list[Answer]:
        """One transaction; an answer for each request, in order."""
        committing = False
        try:
            connection = self._connected()
            connection.execute("BEGIN IMMEDIATE")
            if selects.epoch(connection) != self.opened.epoch:
                connection.execute("ROLLBACK")
                return [_newer()] * len(requests)
            answers = [self._one(connection, request) for request in requests]
            faults.point("store.commit.before")
            self._in_place.check()
            committing = True
            connection.execute("COMMIT")
            faults.point("store.commit.after")
            self._in_place.check()
            return answers
        except (sqlite3.Error, OSError, ActumError) as error:
            lost = committing and not (isinstance(error, sqlite3.Error) and failures.primary(error) == "SQLITE_FULL")
            return [self._failed(error, lost)] * len(requests)

    def _one(self, connection: sqlite3.Connection, request: Request) -> Answer:
        """Carry out one request in its savepoint. A failure of the disk goes up: it is the whole transaction's."""
        session = Session(connection, self.opened.epoch, clock.utc_us(), self._key_lookup)
        connection.execute("SAVEPOINT request")
        try:
            answer: Answer = _VERBS[type(request)](session, request)
        except Refusal as refusal:
            answer = Refused(refusal.kind, refusal.message, refusal.row, refusal.details)
        except OSError:
            raise
        except sqlite3.Error as error:
            if failures.known(error, self._ws.database, "writing"):
                raise
            guarded = failures.is_guard(error)
            answer = Refused(RefusalKind.CONDITION, f"The database refused: {error}.") if guarded else _bug(request)
        except Exception:
            answer = _bug(request)
        if isinstance(answer, Refused):
            connection.execute("ROLLBACK TO request")
            if answer.row is not None:  # as it stands, not as the refused request had begun to change it
                answer = replace(answer, row=loading.one(connection, answer.row.attempt))
        connection.execute("RELEASE request")
        return answer

    def _failed(self, error: Exception, lost: bool) -> Refused:
        """Roll back, or where the answer of the COMMIT was lost, close and open anew."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                if connection.in_transaction and not lost:
                    connection.execute("ROLLBACK")
            except sqlite3.Error:
                lost = True
            if lost:
                connection.close()
            else:
                self._connection = connection
        if lost:
            details = error.to_json()["error"] if isinstance(error, ActumError) else {}
            return Refused(RefusalKind.LOST, f"The answer of the commit was lost: {error}.", details=details)
        explained = error
        if isinstance(error, sqlite3.Error):
            explained = failures.known(error, self._ws.database, "writing to the database") or error
        elif isinstance(error, OSError):
            explained = failures.of_system(error, self._ws.database, "writing to the database")
        code = explained.code if isinstance(explained, ActumError) else "io_error"
        details = explained.to_json()["error"] if isinstance(explained, ActumError) else {"code": code}
        return Refused(RefusalKind.STORAGE, str(explained), details=details)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._in_place.check_database()  # nothing is created where it is gone
            self._connection = database.open_writer(self._ws)
            self._in_place.hold()
            self._changed_before = 0
        return self._connection

    def _answer(self, batch: Sequence[tuple[Request, Reply]], answers: Sequence[Answer]) -> None:
        changed = Changes()
        for (_, reply), answer in zip(batch, answers, strict=True):
            if isinstance(answer, Persisted):
                changed |= answer.changes
            _call(reply, answer)
        if changed:
            for subscriber in list(self._subscribers):
                _call(subscriber, changed)

    def _fold(self, *, whole: bool = False) -> None:
        """Fold the write-ahead log back into the database; readers may keep a part of it for later."""
        connection = self._connection
        if connection is None:
            return
        if whole or connection.total_changes - self._changed_before >= CHECKPOINT_ROWS:
            try:
                connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if whole else 'PASSIVE'})").fetchall()
            except sqlite3.Error as error:
                log.info("the write-ahead log was not folded back: %s", error)
            self._changed_before = connection.total_changes

    def _end(self) -> None:
        in_place = False
        try:
            connection = self._connected()
            self._in_place.check_database()
            in_place = True
            if epochs.close_epoch(connection, self.opened.epoch):
                self._fold(whole=True)
        except (sqlite3.Error, OSError, WorkspaceUnusable) as error:
            log.info("the orderly end was not recorded: %s", error)
        left, self._connection = self._connection, None
        if left is None:
            return
        try:
            newest = selects.epoch(left) == self.opened.epoch
            left.close()
            if newest and in_place and self._log is not None:
                self._log.closed()
        except (sqlite3.Error, OSError) as error:
            log.info("the database was not closed in order: %s", error)


def _call(function: Callable[[Any], None], argument: Any) -> None:
    try:
        function(argument)
    except Exception:
        log.exception("a receiver of the store's answers failed")


def _newer() -> Refused:
    return Refused(RefusalKind.EPOCH, "Another program supervises this workspace now.")


def _bug(request: Request) -> Refused:
    log.exception("the store could not carry out %s", type(request).__name__)
    message = "The store met a fault of its own; the request was not carried out."
    return Refused(RefusalKind.STORAGE, message, details={"code": "bug"})
