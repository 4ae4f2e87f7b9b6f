"""The read side: one read-only connection, bounded pages, keyset order by run number (R11).

A `Reader` belongs to one thread at a time. Each method is a short transaction of its own; `snapshot()` joins several into
one consistent look. Reading transactions are kept short: a long one keeps the write-ahead log from being folded back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from actum import settings
from actum.errors import NotFound
from actum.limits import PAGE_ROWS_MAX
from actum.model.run import AttemptRow
from actum.store import database, loading, runlists, selects
from actum.store.rows import (
    Adopter,
    AlertRow,
    AttemptDetail,
    ExportRow,
    FactRow,
    InstanceRow,
    JournalRow,
    RecordView,
    ResultView,
    RunListRow,
    RunRow,
    TaskRow,
)
from actum.workspace import Workspace


class Reader:
    """Reads a workspace. `immutable` is True on a read-only place without a write-ahead log: what is read cannot change.

    Raises NotFound(no_workspace) when there is nothing yet, WorkspaceUnusable when it cannot be read.
    """

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self._connection, self.immutable = database.open_reader(ws)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The read-only connection, for `audit`, which looks at every row."""
        return self._connection

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Everything read inside sees the same moment. Nested ones join the outer."""
        if self._connection.in_transaction:
            yield self
            return
        self._connection.execute("BEGIN")
        try:
            yield self
        finally:
            self._connection.execute("ROLLBACK")

    def version(self) -> int:
        """A number that changes whenever another connection has committed."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    # Runs and attempts.

    def runs_page(
        self,
        *,
        before: int | None = None,
        limit: int = PAGE_ROWS_MAX,
        statuses: Iterable[str] | None = None,
        task: str | None = None,
        text: str | None = None,
        deletion: str = "none",
    ) -> list[RunListRow]:
        """The newest runs with a number below `before`, newest first, at most PAGE_ROWS_MAX.

        `text` looks in task, key and labels; it reads rows until the page is full (about 0.2 s for 1,000,000 misses).
        """
        page = runlists.Page(before, min(limit, PAGE_ROWS_MAX), tuple(statuses or ()), task, text, deletion)
        return runlists.read(self._connection, page)

    def run_rows(self, numbers: Iterable[int]) -> list[RunListRow]:
        """List rows of these runs (at most PAGE_ROWS_MAX), newest first; unknown numbers are left out."""
        return runlists.by_numbers(self._connection, list(numbers)[:PAGE_ROWS_MAX])

    def resolve(self, number_or_id: int | str) -> int:
        """The number of a run given by number or id. Raises NotFound."""
        found = selects.run_number(self._connection, number_or_id)
        if found is None:
            raise NotFound("no_such_run", f"There is no run {number_or_id}.", remedy="`actum runs` lists them.")
        return found

    def run(self, number_or_id: int | str) -> RunRow:
        """Raises NotFound."""
        return selects.run(self._connection, self.resolve(number_or_id))

    def clock_set_us(self, run: int) -> int:
        """By how much the wall clock was set while this run was under way."""
        return selects.clock_set_us(self._connection, run)

    def adopted_from(self, attempt: str) -> tuple[int, int] | None:
        """Run and number of the attempt with this UUID, which another run adopts."""
        return selects.adopted_from(self._connection, attempt)

    def adopted_by(self, attempt: str) -> Adopter | None:
        """The newest run that took this attempt up; the earlier ones, if there are any, were stopped or refused."""
        return selects.adopted_by(self._connection, attempt)

    def attempts(self, run: int) -> list[AttemptDetail]:
        """Every attempt of a run, first to last."""
        return selects.attempts(self._connection, run)

    def attempt_rows(self, open_only: bool = True, run: int | None = None) -> list[AttemptRow]:
        """Rows to decide on: with `open_only` every attempt that is not closed and the newest of every RETRYING run."""
        if run is not None:
            rows = loading.of_run(self._connection, run)
        elif open_only:
            return loading.open_attempts(self._connection)
        else:
            raise ValueError("all attempts of all runs are not read at once; name a run")
        return [row for row in rows if not open_only or not row.released or row.current]

    def lately_closed(self, limit: int) -> list[AttemptRow]:
        """The newest closed attempts that were launched, whatever has become of their runs since."""
        return loading.lately_closed(self._connection, min(limit, PAGE_ROWS_MAX))

    def attempt_row(self, attempt: str) -> AttemptRow | None:
        return loading.one(self._connection, attempt)

    def current_attempt(self, run: int) -> AttemptRow | None:
        return loading.current(self._connection, run)

    def find_key(self, key: str) -> RunRow | None:
        """The run that has this idempotency key."""
        number = selects.number_of_key(self._connection, key)
        return None if number is None else selects.run(self._connection, number)

    def facts(self, run: int, attempt: str | None = None) -> list[FactRow]:
        """Facts of all attempts of a run (or of one), in the order of R01 within each attempt."""
        return [row for row in selects.facts(self._connection, run) if attempt is None or row.attempt == attempt]

    def journal(self, run: int | None, after: int = 0, limit: int = PAGE_ROWS_MAX) -> list[JournalRow]:
        """Journal rows of a run (None = of no run) with a sequence above `after`, oldest first."""
        return selects.journal(self._connection, run, after, min(limit, PAGE_ROWS_MAX))

    def journal_tail(self, limit: int = PAGE_ROWS_MAX) -> list[JournalRow]:
        """The newest journal rows of everything, oldest first."""
        return selects.journal_tail(self._connection, min(limit, PAGE_ROWS_MAX))

    def records(self, run: int, after: tuple[int, int] = (0, -1), limit: int = PAGE_ROWS_MAX) -> list[RecordView]:
        """Records of a run after (attempt number, sequence)."""
        return selects.records(self._connection, run, after, min(limit, PAGE_ROWS_MAX))

    # Everything else.

    def alerts(self, open_only: bool = True, run: int | None = None) -> list[AlertRow]:
        """At most PAGE_ROWS_MAX, newest first."""
        return selects.alerts(self._connection, open_only, run)

    def tasks(self) -> list[TaskRow]:
        return selects.tasks(self._connection)

    def task(self, name: str, version: str | None = None) -> TaskRow:
        """A task in a version (None = the newest). Raises NotFound."""
        found = selects.task(self._connection, name, version)
        if found is None:
            wanted = f"“{name}”" if version is None else f"“{name}” of version {version}"
            raise NotFound("no_such_task", f"There is no task {wanted}.", remedy="`actum tasks` lists them.")
        return found

    def result(self, run: int) -> ResultView | None:
        return selects.result(self._connection, run)

    def results(self, run: int) -> list[ResultView]:
        """The results of a run: none or one."""
        found = selects.result(self._connection, run)
        return [] if found is None else [found]

    def exports(self, run: int) -> list[ExportRow]:
        return selects.exports(self._connection, run)

    def instances(self, limit: int = PAGE_ROWS_MAX) -> list[InstanceRow]:
        """Service instances, newest first."""
        return selects.instances(self._connection, min(limit, PAGE_ROWS_MAX))

    def counts(self) -> Mapping[str, int]:
        """Runs that are not deleted, by run status; a status without runs is left out."""
        return selects.counts(self._connection)

    def settings(self) -> dict[str, Any]:
        """Every known setting with its value or default."""
        return settings.merged(selects.settings(self._connection))

    def setting_rows(self) -> dict[str, Any]:
        """The rows as stored, internal ones (database_uuid, recovery) included."""
        return selects.settings(self._connection)

    def database_uuid(self) -> str:
        return selects.database_uuid(self._connection)

    def epoch(self) -> int:
        """The newest epoch."""
        return selects.epoch(self._connection)
