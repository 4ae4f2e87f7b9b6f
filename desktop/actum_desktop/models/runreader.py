"""Reads the whole of one run away from the GUI thread: a pool of one thread with a read-only connection.

At most one look is under way and one waits; asking again while one waits changes nothing but which run is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from actum.errors import ActumError
from actum.limits import JOURNAL_SHOWN_ROWS_MAX
from actum.workspace import Workspace
from PySide6.QtCore import QObject, QThreadPool, Signal, Slot


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a run: the document of `show` with `task_title`, and its journal; or why it cannot be read."""

    run: int
    show: Mapping[str, Any] | None = None
    journal: tuple[Mapping[str, Any], ...] = ()
    error: ActumError | None = None


class RunReader(QObject):
    """Signals: `seen` (Seen), in the thread of its owner."""

    seen = Signal(object)
    _looked = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ws = ws
        self._reader: Any = None  # belongs to the one thread of the pool
        self._busy, self._next = False, 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(-1)
        self._looked.connect(self._on_looked)

    def ask(self, run: int) -> None:
        if self._busy:
            self._next = run
            return
        self._busy = True
        self._pool.start(partial(self._read, run))

    def close(self) -> None:
        """Waits for the look under way, and closes the connection where it was used."""
        self._pool.start(self._let_go)
        self._pool.waitForDone()

    @Slot(object)
    def _on_looked(self, seen: Seen) -> None:
        self._busy = False
        following, self._next = self._next, 0
        self.seen.emit(seen)
        if following:
            self.ask(following)

    # ---- in the pool's thread

    def _read(self, run: int) -> None:
        self._looked.emit(self._look(run))

    def _let_go(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _look(self, run: int) -> Seen:
        from actum.store.queries import Reader
        from actum.store.show import show_document

        try:
            if self._reader is None:
                self._reader = Reader(self._ws)
            show = show_document(self._reader, self._ws, run)
            contract = self._reader.run(run).contract
            show["task_title"] = str(contract.get("title") or show["task"])
            rows = self._reader.journal(run, 0, JOURNAL_SHOWN_ROWS_MAX)
            journal = tuple({"at": row.at_us, "kind": row.kind, "data": row.data, "n": row.n} for row in rows)
        except ActumError as error:
            return Seen(run, error=error)
        return Seen(run, show, journal)
