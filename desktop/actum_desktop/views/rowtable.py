"""A table whose rows are runs or results: one row is one thing, Enter opens it, widths are shared out, scrolling is cheap.

Cells are painted in Python, so a scroll must not paint them again: the viewport says that it is opaque and fills its own
ground, whereupon Qt moves the picture and asks for the rows that came into sight only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QTableView

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink


class Rows(Protocol):
    """The model as the table knows it."""

    def run_at(self, row: int) -> int: ...

    def as_tsv(self, rows: Iterable[int]) -> str: ...


class Widths(NamedTuple):
    """Widths of the pictures; what is left over goes to two columns, `part` of it to the first. `slack` = so much narrower
    than the pictures before the table scrolls sideways."""

    columns: Sequence[int]
    growing: tuple[int, int]
    part: float
    slack: int


class RowTable(QTableView):
    """Signals: `opened` (run number), `compare_asked` (the numbers of two or more selected runs)."""

    opened = Signal(object)
    compare_asked = Signal(object)

    def __init__(self, ink: Ink, rows: Rows, widths: Widths) -> None:
        super().__init__()
        self._ink, self._rows, self._widths = ink, rows, widths
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName(_("Rows"))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.doubleClicked.connect(self._on_opened)

    def dress_with(self, delegate: QStyledItemDelegate, header: QHeaderView) -> None:
        """How it is painted; from then on in the look of now."""
        self.setItemDelegate(delegate)
        self.setHorizontalHeader(header)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._ink.theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self.verticalHeader().setMinimumSectionSize(self._ink.theme.px(tokens.RUN_ROW))
        self.verticalHeader().setDefaultSectionSize(self._ink.theme.px(tokens.RUN_ROW))
        self._share_width()
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground and the rules between the rows; then the cells."""
        painter, box = QPainter(self.viewport()), event.rect()
        painter.fillRect(box, self._ink.theme.color("surface"))
        first, last = self.rowAt(box.top()), self.rowAt(box.bottom())
        if first >= 0:
            for row in range(first, (last if last >= 0 else self.model().rowCount() - 1) + 1):
                bottom = self.rowViewportPosition(row) + self.rowHeight(row) - 1
                self._ink.hairline(painter, box.left(), box.right() + 1, bottom)
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        px, (columns, (first, second), part, slack) = self._ink.theme.px, self._widths
        wide = [px(width) for width in columns]
        shared = max(self.viewport().width() - sum(wide), -px(slack))
        wide[first] += int(shared * part)
        wide[second] += shared - int(shared * part)
        for column, width in enumerate(wide):
            self.setColumnWidth(column, width)

    def selected(self) -> list[int]:
        """The rows selected, from top to bottom."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def ask_compare(self) -> None:
        """Compare what is selected, the uppermost being what the others are compared with."""
        runs = [self._rows.run_at(row) for row in self.selected()]
        if len(runs) > 1:
            self.compare_asked.emit(runs)

    def current_run(self) -> int | None:
        index = self.currentIndex()
        return self._rows.run_at(index.row()) if index.isValid() else None

    def _on_opened(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self.opened.emit(self._rows.run_at(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_opened(self.currentIndex())
        elif event.key() == Qt.Key.Key_C and not event.modifiers():
            self.ask_compare()
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._rows.as_tsv(self.selected()))
        else:
            super().keyPressEvent(event)
