"""Reads the whole of one run away from the GUI thread.

At most one look is under way and one waits; asking again while one waits changes nothing but which run is asked for. Journal
and records only grow, so of the run that was read last only what is new is read, up to their bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from actum.contracts.policies import read_policies
from actum.errors import ActumError
from actum.ipc import historyfile
from actum.limits import JOURNAL_SHOWN_ROWS_MAX, PAGE_ROWS_MAX, RECORDS_SHOWN_ROWS_MAX
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Signal, Slot

from actum_desktop import tasktexts
from actum_desktop.models import history
from actum_desktop.models.history import Sample, Usage
from actum_desktop.models.storethread import Latest, StoreThread

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a run: the document of `show` with `task_title`, its contract, journal and records, and the samples its
    host kept of attempt `n`; or why it cannot be read. `more_journal`, `more_records`: there are more than are shown."""

    run: int
    show: Mapping[str, Any] | None = None
    journal: tuple[Row, ...] = ()
    error: ActumError | None = None
    contract: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[Row, ...] = ()
    more_journal: bool = False
    more_records: bool = False
    n: int = 0
    samples: tuple[Sample, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class _Grown:
    """Rows of one run that were read so far, in the thread of the pool."""

    run: int = 0
    journal: list[Row] = field(default_factory=list)
    journal_after: int = 0
    records: list[Row] = field(default_factory=list)
    records_after: tuple[int, int] = (0, -1)


class RunReader(StoreThread):
    """Signals: `seen` (Seen), in the thread of its owner."""

    seen = Signal(object)
    _looked = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(ws, parent)
        self._grown = _Grown()  # belongs to the one thread
        self._kept: tuple[Path, int, tuple[Sample, ...], Usage] | None = None  # likewise: a history file as it was read
        self._latest: Latest[tuple[int, int]] = Latest(lambda asked: self.start(partial(self._read, *asked)))
        self._looked.connect(self._on_looked)

    def ask(self, run: int, n: int = 0) -> None:
        """Look at a run; `n` = whose attempt's samples are wanted, 0 = the current one."""
        self._latest.ask((run, n))

    @Slot(object)
    def _on_looked(self, seen: Seen) -> None:
        self.seen.emit(seen)
        self._latest.done()

    # ---- in the pool's thread

    def _read(self, run: int, n: int) -> None:
        self._looked.emit(self._look(run, n))

    def _look(self, run: int, n: int) -> Seen:
        from actum.store.show import show_document

        try:
            reader = self.store()
            show = show_document(reader, self._ws, run)
            contract = reader.run(run).contract
            show["task_title"] = tasktexts.title(contract, str(show["task"]))
            more_journal, more_records = self._grow(run)
        except ActumError as error:
            return Seen(run, error=error)
        n = n or int(show["attempts"][-1]["n"])
        samples, usage = self._history(run, n, contract)
        grown = self._grown
        return Seen(
            run,
            show,
            tuple(grown.journal),
            None,
            contract,
            tuple(grown.records),
            more_journal,
            more_records,
            n,
            samples,
            usage,
        )

    def _grow(self, run: int) -> tuple[bool, bool]:
        """Read on where the last look at this run ended; whether there are more rows than are kept."""
        if self._grown.run != run:
            self._grown = _Grown(run)
        grown, reader = self._grown, self.store()

        def journal(limit: int) -> int:
            rows = reader.journal(run, grown.journal_after, limit)
            grown.journal += [{"at": row.at_us, "kind": row.kind, "data": row.data, "n": row.n} for row in rows]
            grown.journal_after = rows[-1].seq if rows else grown.journal_after
            return len(rows)

        def records(limit: int) -> int:
            rows = reader.records(run, grown.records_after, limit)
            grown.records += [{"at": row.at_us, "kind": row.kind, "data": row.data, "n": row.n, "seq": row.seq} for row in rows]
            grown.records_after = (rows[-1].n, rows[-1].seq) if rows else grown.records_after
            return len(rows)

        full = _filled(journal, grown.journal, JOURNAL_SHOWN_ROWS_MAX)
        more_journal = full and bool(reader.journal(run, grown.journal_after, 1))
        full = _filled(records, grown.records, RECORDS_SHOWN_ROWS_MAX)
        return more_journal, full and bool(reader.records(run, grown.records_after, 1))

    def _history(self, run: int, n: int, contract: Mapping[str, Any]) -> tuple[tuple[Sample, ...], Usage]:
        folder = self._ws.attempt_folder(run, n)
        try:
            size = (folder / "spool" / historyfile.NAME).stat().st_mtime_ns
            if self._kept is not None and self._kept[:2] == (folder, size):
                return self._kept[2:]
            lines = historyfile.read(folder)
        except OSError:
            return (), Usage()
        samples = tuple(history.from_lines(lines, _stall_after_s(contract)))
        self._kept = (folder, size, samples, history.usage(lines))
        return self._kept[2:]


def _filled(read: Callable[[int], int], rows: list[Row], most: int) -> bool:
    """Read page after page until there is no more, or `rows` is full: whether it is."""
    while len(rows) < most:
        wanted = min(PAGE_ROWS_MAX, most - len(rows))
        if read(wanted) < wanted:
            return False
    return True


def _stall_after_s(contract: Mapping[str, Any]) -> float | None:
    """After how long without progress the task wants a warning; None = never, or a contract of another time."""
    try:
        stall = read_policies(contract.get("policies") or {}).stall_after
    except ActumError:
        return None
    return None if stall is None else stall.total_seconds()
