"""Many exports from the window: one command after the other through the window's one way to the supervisor.

The dialog asks, the batch (`models.batch`) says what is next and how each ended, and this joins the two.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from actum_desktop.models import batch
from actum_desktop.models.batch import Batch
from actum_desktop.tasksdesk import Send
from actum_desktop.views.batchview import BatchDialog
from actum_desktop.views.ink import Ink


@dataclass(frozen=True, slots=True)
class Chosen:
    """One result of the list. `rows` and `size_bytes` are those of all its tables."""

    run: int
    tables: tuple[str, ...]
    metrics: bool
    rows: int
    size_bytes: int


class BatchDesk(QObject):
    """One batch at a time. Attributes: dialog (None while none is open), work (the batch that is shown)."""

    def __init__(self, ink: Ink, send: Send, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink, self._send, self._parent = ink, send, parent
        self._chosen: tuple[Chosen, ...] = ()
        self._watch = ""
        self.dialog: BatchDialog | None = None
        self.work = Batch([])

    def open(self, chosen: Sequence[Chosen]) -> None:
        """Ask where and how the tables of these results are to be written."""
        if self.dialog is not None or not chosen:
            return
        self._chosen = tuple(chosen)
        tables = sum(len(item.tables) for item in chosen)
        dialog = self.dialog = BatchDialog(self._ink, self._parent.window(), len(chosen), tables)
        dialog.changed.connect(self._plan)
        dialog.go_asked.connect(self._on_go)
        dialog.again_asked.connect(self._on_again)
        dialog.cancel_asked.connect(self._on_cancel)
        dialog.finished.connect(self._on_finished)
        self._plan()
        dialog.open()

    def progressed(self, watch: str, done: int, total: int) -> None:
        if self.dialog is not None and watch and watch == self._watch:
            self.work.advance(done, total)
            self.dialog.show_batch(self.work)

    def close(self) -> None:
        if self.dialog is not None:
            self.work.cancel()
            self.dialog.done(0)

    def _plan(self) -> None:
        """What would be written by what is chosen now."""
        dialog = self.dialog
        if dialog is None or dialog.state != "asking":
            return
        try:
            results = [(item.run, _tables(item), item.metrics and dialog.metrics.isChecked()) for item in self._chosen]
            items = batch.plan(results, dialog.folder, dialog.format, dialog.profile)
        except ActumError as error:
            self.work = Batch([])
            dialog.show_batch(self.work)
            dialog.refuse(_joined(error))
            return
        self.work = Batch(items, dialog.existing, dialog.skip_there)
        dialog.show_batch(self.work)

    def _on_go(self) -> None:
        from actum.results.exportplace import need_room

        dialog = self.dialog
        self._plan()
        if dialog is None or not self.work.items:
            return
        self.work.existing, self.work.skip_there = dialog.existing, dialog.skip_there
        try:
            need_room(dialog.folder, self.work.size_bytes)
        except (ActumError, OSError) as error:
            dialog.refuse(_joined(error) if isinstance(error, ActumError) else str(error))
            return
        dialog.begin()
        self._next()

    def _on_again(self) -> None:
        if self.dialog is not None:
            self.work = self.work.again()
            self.dialog.begin()
            self._next()

    def _on_cancel(self) -> None:
        self.work.cancel()
        if self._watch:
            self._send({"verb": "cancel", "watch": self._watch})

    def _next(self) -> None:
        """The next file, or the end."""
        dialog = self.dialog
        if dialog is None:
            return
        item = self.work.next()
        dialog.show_batch(self.work)
        if item is None:
            self._watch = ""
            dialog.end(self.work)
            return
        self._watch = secrets.token_hex(8)

        def written(ok: Mapping[str, Any]) -> None:
            self.work.settle(ok, None)
            self._next()

        def failed(error: ActumError) -> bool:
            self.work.settle(None, error)
            self._next()
            return True

        self._send({**item.body(self.work.existing), "watch": self._watch}, written, failed)

    def _on_finished(self) -> None:
        dialog, self.dialog = self.dialog, None
        self._watch = ""
        if dialog is not None:
            dialog.deleteLater()


def _tables(chosen: Chosen) -> list[dict[str, Any]]:
    """Of each table a part of what is known of all: the list knows no more."""
    parts = max(1, len(chosen.tables))
    return [{"name": name, "rows": chosen.rows // parts, "size_bytes": chosen.size_bytes // parts} for name in chosen.tables]


def _joined(error: ActumError) -> str:
    return " ".join(part for part in (error.what, error.why, error.remedy) if part)
