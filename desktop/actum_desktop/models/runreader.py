"""Reads the whole of one run away from the GUI thread: a thread with a read-only connection of its own.

At most one look is under way and one waits; asking again while one waits changes nothing but which run is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.errors import ActumError
from actum.limits import JOURNAL_SHOWN_ROWS_MAX
from actum.workspace import Workspace
from PySide6.QtCore import QObject, QThread, Signal, Slot


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a run: the document of `show` with `task_title`, and its journal; or why it cannot be read."""

    run: int
    show: Mapping[str, Any] | None = None
    journal: tuple[Mapping[str, Any], ...] = ()
    error: ActumError | None = None


class _Reading(QObject):
    """Lives in the reading thread."""

    seen = Signal(object)

    def __init__(self, ws: Workspace) -> None:
        super().__init__()
        self._ws = ws
        self._reader: Any = None

    @Slot(object)
    def read(self, run: int) -> None:
        self.seen.emit(self._look(run))

    @Slot()
    def close(self) -> None:
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


class RunReader(QObject):
    """Signals: `seen` (Seen), in the thread of its owner."""

    seen = Signal(object)
    _asked = Signal(object)
    _closing = Signal()

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy, self._next = False, 0
        self._thread = QThread(self)
        self._thread.setObjectName("actum-run-reader")
        self._reading = _Reading(ws)
        self._reading.moveToThread(self._thread)
        self._asked.connect(self._reading.read)
        self._closing.connect(self._reading.close)
        self._reading.seen.connect(self._on_seen)
        self._thread.start()

    def ask(self, run: int) -> None:
        if self._busy:
            self._next = run
            return
        self._busy = True
        self._asked.emit(run)

    @Slot(object)
    def _on_seen(self, seen: Seen) -> None:
        self._busy = False
        following, self._next = self._next, 0
        self.seen.emit(seen)
        if following:
            self.ask(following)

    def close(self) -> None:
        """Ends the thread; waits for the look under way."""
        self._closing.emit()
        self._thread.quit()
        self._thread.wait()
