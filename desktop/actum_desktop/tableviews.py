"""The file that is shown of a table: the published one, or a view of it that a helper makes; one at a time, the newest wins.

A view that is being made shows its place and can be cancelled; until it is there, what was shown stays. Views that are no
longer shown are removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.results.query import Query
from PySide6.QtCore import QObject, Signal

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.ports import Asks


class TableViews(QObject):
    """Attributes: `table` (the published file), `query` (what is shown).

    Signals: `shown` () when another file is to be shown, `busy` (words; empty = nothing is being made), `refused`
    (ActumError, or None where it was cancelled).
    """

    shown = Signal()
    busy = Signal(object)
    refused = Signal(object)

    def __init__(self, helper: Asks, parent: QObject) -> None:
        super().__init__(parent)
        self._helper = helper
        self.table: Path | None = None
        self.query = self._asked = Query()
        self._view: Path | None = None
        self._making: Path | None = None

    @property
    def path(self) -> Path | None:
        """The file whose rows are shown."""
        return self._view or self.table

    @property
    def wanted(self) -> Query:
        """What is shown, or is being made to be shown."""
        return self.query if self._making is None else self._asked

    @property
    def is_view(self) -> bool:
        return self._view is not None

    @property
    def is_making(self) -> bool:
        return self._making is not None

    def open(self, table: Path | None) -> None:
        """Another table, as published."""
        self.drop()
        self.table = table
        if table is not None:
            self.shown.emit()

    def make(self, query: Query) -> None:
        """Show what the query asks for, once it is there."""
        self._give_up()
        if self.table is None:
            return
        if query.whole:
            self._take(None, query)
            return
        out = self._making = self._helper.new_view()
        self._asked = query
        words = _("Sorting…") if query.order and query.order != self.query.order else _("Filtering…")
        self.busy.emit(words)

        def progress(done: int, total: int, _unit: str) -> None:
            self.busy.emit(f"{words} {measures.percent(done / max(1, total))}")

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            self._making = None
            self.busy.emit("")
            if found is not None:
                self._take(out, query)
                return
            self._helper.drop_view(out)
            self.refused.emit(None if error is None or error.code == "cancelled" else error)

        self._helper.ask("view", {"path": str(self.table), "out": str(out), "query": query.to_json()}, done, progress)

    def cancel(self) -> None:
        """Give up what is being made; what is shown stays."""
        self._helper.cancel("view")

    def drop(self) -> None:
        """Nothing is shown, nothing is made."""
        self._give_up()
        if self._view is not None:
            self._helper.drop_view(self._view)
        self._view, self.table, self.query = None, None, Query()
        self.busy.emit("")

    def _give_up(self) -> None:
        if self._making is not None:
            self._helper.cancel("view")
            self._helper.drop_view(self._making)
            self._making = None
            self.busy.emit("")

    def _take(self, out: Path | None, query: Query) -> None:
        old, self._view, self.query = self._view, out, query
        if old is not None:
            self._helper.drop_view(old)
        self.shown.emit()
