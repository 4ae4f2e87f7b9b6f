"""The grid of a table of any length: a window of rows, and one scroll bar over all of them.

The grid's own scroll bar knows only the window; the bar beside it counts the rows of the whole table. Near an edge of the
window, and on every jump beyond it, the window moves; what was selected (rows of the table, not of the window) stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from actum.limits import TABLE_WINDOW_ROWS_MAX
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QScrollBar, QTableView, QWidget

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.tablemodel import TableModel
from actum_desktop.views.ink import Ink
from actum_desktop.views.tabledelegate import GAP, LAST, TableDelegate, TableHeader

_EDGE_ROWS = 2_000  # nearer to an edge of the window than this, it moves
_WIDE_MAX = 320
_ROWS_FITTED = 60  # widths are those of the first rows
Index = QModelIndex | QPersistentModelIndex
_FLAGS = QItemSelectionModel.SelectionFlag
_BAR_STEPS_MAX = 1 << 30

assert 4 * _EDGE_ROWS < TABLE_WINDOW_ROWS_MAX


class Grid(QTableView):
    """The item view inside. Signals: `copy_asked` (), `filter_asked` (), `current_moved` (column), `jump_asked` (row)."""

    copy_asked = Signal()
    filter_asked = Signal()
    current_moved = Signal(object)
    jump_asked = Signal(object)

    def __init__(self, ink: Ink, model: TableModel) -> None:
        super().__init__()
        self._ink, self._table = ink, model
        self.setAccessibleName(_("Rows of the table"))
        self.setModel(model)
        self.setItemDelegate(TableDelegate(ink, model, self))
        self.heads = TableHeader(ink, model, self)
        self.setHorizontalHeader(self.heads)
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName(_("Rows"))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that scrolling moves what is painted
        ink.theme.changed.connect(self.dress)
        self.dress()

    def dress(self) -> None:
        header = self.verticalHeader()
        header.setMinimumSectionSize(self._ink.theme.px(tokens.DATA_ROW))
        header.setDefaultSectionSize(self._ink.theme.px(tokens.DATA_ROW))
        self.viewport().update()

    @property
    def row_height(self) -> int:
        return self.verticalHeader().defaultSectionSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._ink.theme.color("surface"))
        painter.end()
        super().paintEvent(event)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and current.column() != previous.column():
            self.current_moved.emit(current.column())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        elif control and event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End) and self._table.total:
            self.jump_asked.emit(0 if event.key() == Qt.Key.Key_Home else self._table.total - 1)
        elif event.key() == Qt.Key.Key_F and not event.modifiers():
            self.filter_asked.emit()
        elif control and event.key() == Qt.Key.Key_A:
            return  # the rows of the window are not all rows; Export takes the whole table
        else:
            super().keyPressEvent(event)


class TableView(QWidget):
    """Signals: `sort_asked` (column name), `column_chosen` (name), `copy_asked` (ranges of rows of the table)."""

    sort_asked = Signal(object)
    column_chosen = Signal(object)
    copy_asked = Signal(object)

    def __init__(self, ink: Ink, model: TableModel) -> None:
        super().__init__()
        self._ink, self.model = ink, model
        self._moving = False
        self.grid = Grid(ink, model)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.setAccessibleName(_("Place in the table"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.grid, 1)
        row.addWidget(self.bar)
        self.setFocusProxy(self.grid)
        self.grid.verticalScrollBar().valueChanged.connect(self._on_inner)
        self.grid.horizontalScrollBar().valueChanged.connect(self._on_sideways)
        self.bar.valueChanged.connect(self._on_outer)
        self.grid.copy_asked.connect(self._on_copy)
        self.grid.current_moved.connect(self._on_current)
        self.grid.jump_asked.connect(self.go_to)
        self.grid.heads.sort_asked.connect(self._on_sort)
        self.grid.heads.sectionResized.connect(self._on_sideways)

    # ---- what is in sight

    def fresh(self) -> None:
        """The model shows another table: widths by its content come when its first page is there."""
        self._fit_widths(guess=True)
        self._measure()
        self.grid.scrollToTop()
        self._on_sideways()

    def dim(self, on: bool) -> None:
        """Paint what is there by 40 % fainter: something newer is on its way."""
        delegate = self.grid.itemDelegate()
        if isinstance(delegate, TableDelegate) and delegate.dimmed != on:
            delegate.dimmed = on
            self.grid.viewport().update()

    def first_row(self) -> int:
        """The first row of the table in sight."""
        return self.model.base + self.grid.verticalScrollBar().value() // max(1, self.grid.row_height)

    def rows_in_sight(self) -> int:
        return max(1, self.grid.viewport().height() // max(1, self.grid.row_height))

    def go_to(self, row: int, *, column: int | None = None) -> None:
        """Bring a row of the table into sight and make it the current one."""
        if not self.model.total:
            return
        row = max(0, min(row, self.model.total - 1))
        self._place(row)
        where = self.model.index(row - self.model.base, column if column is not None else max(1, self._column()))
        self.grid.selectionModel().setCurrentIndex(where, _FLAGS.ClearAndSelect | _FLAGS.Rows)
        self.grid.scrollTo(where)
        self._follow()

    def selected_ranges(self) -> list[tuple[int, int]]:
        """(first, last) of the rows selected, as rows of the table, from top to bottom."""
        base = self.model.base
        chosen = cast("Iterable[QItemSelectionRange]", self.grid.selectionModel().selection())
        ranges = sorted({(base + item.top(), base + item.bottom()) for item in chosen})
        merged: list[tuple[int, int]] = []
        for first, last in ranges:
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        return merged

    def fit_widths(self) -> None:
        """By the content of the first page."""
        self._fit_widths(guess=False)

    def _fit_widths(self, *, guess: bool) -> None:
        ink, px = self._ink, self._ink.theme.px
        gaps = 2 * px(GAP)
        wide = [px(40) if not self.model.total else ink.width(f"{self.model.total:,}", "caption") + gaps + px(4)]
        for place, column in enumerate(self.model.columns, 1):
            width = ink.width(column.name, "caption", 500) + px(34)
            if column.kind == "integer":  # numbers may grow with the rows
                width = max(width, ink.width(f"{self.model.total:,}", "body"))
            rows = range(0 if guess else min(_ROWS_FITTED, self.model.total))
            for row in rows:
                cell = self.model.cell(row, place)
                size = ("caption", 500) if cell.kind == "missing" else ("body", 400)
                width = max(width, ink.width(cell.text, *size) + (px(18) if cell.kind == "missing" else 0))
            wide.append(min(width + gaps + 2, px(_WIDE_MAX)))
        spare = self.grid.viewport().width() - sum(wide) - px(LAST - GAP)
        share = max(0, spare) // max(1, len(wide) - 1)
        for place, width in enumerate(wide):
            self.grid.setColumnWidth(place, round(width + (share if place else 0)))

    # ---- moving

    def _measure(self) -> None:
        rows = self.rows_in_sight()
        self._moving = True
        self.bar.setRange(0, min(_BAR_STEPS_MAX, max(0, self.model.total - rows)))
        self.bar.setPageStep(rows)
        self.bar.setSingleStep(3)
        self.bar.setVisible(self.model.total > rows)
        self._moving = False

    def _on_inner(self, _value: int) -> None:
        if self._moving:
            return
        first, last = self.first_row() - self.model.base, self.model.rowCount() - 1
        near_top = first < _EDGE_ROWS and self.model.base > 0
        near_end = last - first < _EDGE_ROWS and self.model.base + last + 1 < self.model.total
        if near_top or near_end:
            self._shift(self.first_row())
        self.model.come_near(self.first_row(), self.first_row() + self.rows_in_sight())
        self._follow()

    def _on_outer(self, value: int) -> None:
        if not self._moving:
            self._place(value)
            self._follow()

    def _place(self, row: int) -> None:
        """Scroll so that `row` of the table is the first in sight."""
        inside = row - self.model.base
        if not (_EDGE_ROWS <= inside < TABLE_WINDOW_ROWS_MAX - _EDGE_ROWS) and self.model.total > TABLE_WINDOW_ROWS_MAX:
            self._shift(row)
        inner = self.grid.verticalScrollBar()
        at_end = row >= self.bar.maximum() and self.model.total > self.rows_in_sight()
        self._moving = True
        inner.setValue(inner.maximum() if at_end else (row - self.model.base) * self.grid.row_height)
        self._moving = False

    def _shift(self, row: int) -> None:
        """Move the window so that `row` stands in its middle and stays where it is on the screen."""
        bar = self.grid.verticalScrollBar()
        offset = bar.value() % max(1, self.grid.row_height)
        selected, current = self.selected_ranges(), self.grid.currentIndex()
        current_row, column = self.model.base + current.row(), current.column()
        self._moving = True
        self.model.move_window(row - TABLE_WINDOW_ROWS_MAX // 2)
        bar.setValue((row - self.model.base) * self.grid.row_height + offset)
        self._select_again(selected, current_row if current.isValid() else None, column)
        self._moving = False

    def _select_again(self, ranges: Sequence[tuple[int, int]], current: int | None, column: int) -> None:
        base, last_row, last_column = self.model.base, self.model.rowCount() - 1, self.model.columnCount() - 1
        chosen = QItemSelection()
        for first, last in ranges:
            top, bottom = max(0, first - base), min(last_row, last - base)
            if top <= bottom:
                chosen.select(self.model.index(top, 0), self.model.index(bottom, last_column))
        self.grid.selectionModel().select(chosen, _FLAGS.ClearAndSelect)
        if current is not None and 0 <= current - base <= last_row:
            self.grid.selectionModel().setCurrentIndex(self.model.index(current - base, column), _FLAGS.NoUpdate)

    def _follow(self) -> None:
        self._moving = True
        self.bar.setValue(self.first_row())
        self._moving = False

    def _on_sideways(self, *_: object) -> None:
        first = self.grid.columnAt(0)
        last = self.grid.columnAt(self.grid.viewport().width() - 1)
        self.model.see(max(1, first), last if last >= 0 else self.model.columnCount() - 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()
        self._follow()
        self._on_sideways()

    # ---- asking

    def _column(self) -> int:
        return self.grid.currentIndex().column()

    def _on_current(self, column: int) -> None:
        if 0 < column <= len(self.model.columns):
            self.column_chosen.emit(self.model.columns[column - 1].name)

    def _on_sort(self, section: int) -> None:
        self.sort_asked.emit(self.model.columns[section - 1].name)

    def _on_copy(self) -> None:
        ranges = self.selected_ranges()
        if ranges:
            self.copy_asked.emit(ranges)
