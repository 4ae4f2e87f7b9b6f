"""The grid of a table of any length: a window of rows, and one scroll bar over all of them.

The grid's own scroll bar knows only the window; the bar beside it counts the rows of the whole table. Near an edge of the
window, and on every jump beyond it, the window moves; what was selected (rows of the table, not of the window) stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from actum.limits import TABLE_WINDOW_ROWS_MAX
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QGuiApplication,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QVBoxLayout, QWidget

from actum_desktop.i18n import _
from actum_desktop.models.tablemodel import GridColumn, TableModel
from actum_desktop.views.ink import Ink
from actum_desktop.views.tabledelegate import GAP, LAST, TableDelegate, TableHeader
from actum_desktop.views.tablegrid import Frozen, Grid

_EDGE_ROWS = 2_000  # nearer to an edge of the window than this, it moves
_WIDE_MAX = 320
_ROWS_FITTED = 60  # widths are those of the first rows
Index = QModelIndex | QPersistentModelIndex
_FLAGS = QItemSelectionModel.SelectionFlag
_BAR_STEPS_MAX = 1 << 30

assert 4 * _EDGE_ROWS < TABLE_WINDOW_ROWS_MAX


class TableView(QWidget):
    """Signals: `sort_asked` ((column name, bool: beside what it is sorted by)), `column_chosen` (name), `copy_asked` ((ranges
    of rows of the table, bool: for a spreadsheet)), `menu_asked` ((name, QPoint)), `moved` (names in their new order),
    `widened` ((name, width)) by the user."""

    sort_asked = Signal(object)
    column_chosen = Signal(object)
    copy_asked = Signal(object)
    menu_asked = Signal(object)
    moved = Signal(object)
    widened = Signal(object)

    def __init__(self, ink: Ink, model: TableModel) -> None:
        super().__init__()
        self._ink, self.model = ink, model
        self._moving = False
        self._fitting = False
        self._measured: set[str] = set()  # columns that are as wide as their content, or as the user wants them
        self._beyond: list[tuple[int, int]] = []  # rows selected that the window does not hold
        self.grid = Grid(ink, model)
        self.frozen = Frozen(ink, model, self.grid)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.setAccessibleName(_("Place in the table"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._left = QVBoxLayout()
        self._left.addWidget(self.frozen)
        row.addLayout(self._left)
        row.addWidget(self.grid, 1)
        row.addWidget(self.bar)
        self.setFocusProxy(self.grid)
        self.grid.verticalScrollBar().valueChanged.connect(self._on_inner)
        self.grid.horizontalScrollBar().valueChanged.connect(self._on_sideways)
        self.grid.horizontalScrollBar().rangeChanged.connect(self._on_sideways_range)
        self.bar.valueChanged.connect(self._on_outer)
        self.grid.copy_asked.connect(self._on_copy)
        self.grid.current_moved.connect(self._on_current)
        self.grid.jump_asked.connect(self.go_to)
        self.grid.all_asked.connect(self.select_all)
        self.grid.move_asked.connect(self._on_move_key)
        self.grid.selectionModel().selectionChanged.connect(self._on_selected)
        for part in (self.grid, self.frozen):
            part.heads.sort_asked.connect(self._on_sort)
            part.heads.menu_asked.connect(self._on_menu)
            part.menu_asked.connect(self._on_menu)
            part.heads.sectionResized.connect(self._on_resized)
            part.heads.setSectionsMovable(True)
            part.heads.setFirstSectionMovable(False)
        self.grid.heads.sectionMoved.connect(self._on_dragged)
        self.frozen.heads.sectionMoved.connect(self._on_dragged_frozen)

    # ---- what is in sight

    def fresh(self) -> None:
        """The model shows another table: widths by its content come when its first page is there."""
        self._beyond = []
        self.part()
        self._fit_widths(guess=True)
        self._measure()
        self.grid.scrollToTop()
        self._on_sideways()

    def part(self) -> None:
        """Frozen columns stand at the left, all others in the grid; with none frozen there is one grid."""
        frozen = self.model.frozen
        for section in range(self.model.columnCount()):
            left = bool(frozen) and section <= frozen
            self.grid.setColumnHidden(section, left)
            self.frozen.setColumnHidden(section, not left)
        self.frozen.setVisible(bool(frozen))
        self._fit_frozen()

    def arrange(self, names: Sequence[str], frozen: int, widths: Mapping[str, int]) -> None:
        """Show these columns in this order; place and selection stay."""
        kept, ranges = self._current_name(), self.selected_ranges()
        row, at = self.model.base + max(0, self.grid.currentIndex().row()), self.first_row()
        self.model.arrange(names, frozen)
        self.part()
        self._place(at)
        self._follow()
        shown = [column.name for column in self.model.columns]
        self._moving = True
        self._select_again(ranges, row, shown.index(kept) + 1 if kept in shown else 1)
        self._moving = False
        self.fit_widths(widths)
        self._on_sideways()

    def dim(self, on: bool) -> None:
        """Paint what is there by 40 % fainter: something newer is on its way."""
        for part in (self.grid, self.frozen):
            delegate = part.itemDelegate()
            if isinstance(delegate, TableDelegate) and delegate.dimmed != on:
                delegate.dimmed = on
                part.viewport().update()

    def mark(self, order: tuple[tuple[str, bool], ...], filtered: frozenset[str]) -> None:
        """What the rows are sorted by, and the columns that a filter asks."""
        for part in (self.grid, self.frozen):
            part.heads.mark(order, filtered)

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
        self._beyond = []
        where = self.model.index(row - self.model.base, column if column is not None else max(1, self._column()))
        self.grid.selectionModel().setCurrentIndex(where, _FLAGS.ClearAndSelect | _FLAGS.Rows)
        if not self.grid.isColumnHidden(where.column()):
            self.grid.scrollTo(where)
        self._follow()

    def select_all(self) -> None:
        """Every row of the table, also those that the window does not hold."""
        rows, base = self.model.rowCount(), self.model.base
        if not rows:
            return
        self._moving = True
        current = self.grid.currentIndex()
        self._select_again([(0, self.model.total - 1)], base + max(0, current.row()), max(1, current.column()))
        self._moving = False

    def selected_ranges(self) -> list[tuple[int, int]]:
        """(first, last) of the rows selected, as rows of the table, from top to bottom."""
        base = self.model.base
        chosen = cast("Iterable[QItemSelectionRange]", self.grid.selectionModel().selection())
        ranges = sorted({(base + item.top(), base + item.bottom()) for item in chosen} | set(self._beyond))
        merged: list[tuple[int, int]] = []
        for first, last in ranges:
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        return merged

    def fit_widths(self, widths: Mapping[str, int] | None = None) -> None:
        """By the content of the first page; where the user chose one, that."""
        self._fit_widths(guess=False, chosen=widths)
        self._measured = set(widths or ())
        self.fit_new()

    def fit_new(self) -> None:
        """Columns that came into sight since: as wide as what is in sight of them, if that is wider."""
        row = self.first_row()
        for place, column in enumerate(self.model.columns, 1):
            if column.name in self._measured or not self.model.is_there(row, column.name):
                continue
            self._measured.add(column.name)
            rows = range(row, min(row + self.rows_in_sight(), self.model.total))
            wide = min(
                self._content_width(place, column, rows) + 2 * self._ink.theme.px(GAP) + 2, self._ink.theme.px(_WIDE_MAX)
            )
            if wide > self.grid.columnWidth(place):
                self._fitting = True
                for part in (self.grid, self.frozen):
                    part.setColumnWidth(place, round(wide))
                self._fitting = False
        self._fit_frozen()

    def _fit_widths(self, *, guess: bool, chosen: Mapping[str, int] | None = None) -> None:
        ink, px = self._ink, self._ink.theme.px
        gaps = 2 * px(GAP)
        highest = max(self.model.total, self.model.highest)
        wide = [px(40) if not highest else ink.width(f"{highest:,}", "caption") + gaps + px(4)]
        free = []
        for place, column in enumerate(self.model.columns, 1):
            if chosen is not None and column.name in chosen:
                wide.append(px(chosen[column.name]))
                continue
            rows = range(0 if guess else min(_ROWS_FITTED, self.model.total))
            wide.append(min(self._content_width(place, column, rows) + gaps + 2, px(_WIDE_MAX)))
            free.append(place)
        spare = self.width() - self.bar.sizeHint().width() - sum(wide) - px(LAST - GAP)
        share = max(0, spare) // max(1, len(free))
        self._fitting = True
        for place, width in enumerate(wide):
            made = round(width + (share if place in free else 0))
            for part in (self.grid, self.frozen):
                part.setColumnWidth(place, made)
        self._fitting = False
        self._fit_frozen()

    def _content_width(self, place: int, column: GridColumn, rows: range) -> float:
        ink, px = self._ink, self._ink.theme.px
        width = ink.width(column.name, "caption", 500) + px(34)
        if column.kind == "integer":  # numbers may grow with the rows
            width = max(width, ink.width(f"{self.model.total:,}", "body"))
        for row in rows:
            cell = self.model.cell(row, place)
            size = ("caption", 500) if cell.kind == "missing" else ("body", 400)
            width = max(width, ink.width(cell.text, *size) + (px(18) if cell.kind == "missing" else 0))
        return width

    def _fit_frozen(self) -> None:
        """The frozen part is as wide as its columns, and never takes more than two thirds."""
        wide = sum(self.frozen.columnWidth(section) for section in range(self.model.frozen + 1)) if self.model.frozen else 0
        self.frozen.setFixedWidth(max(1, min(wide, self.width() * 2 // 3)))

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
        """Select these rows of the table; those outside the window are remembered."""
        base, last_row, last_column = self.model.base, self.model.rowCount() - 1, self.model.columnCount() - 1
        chosen = QItemSelection()
        end = base + last_row
        above = [(first, min(last, base - 1)) for first, last in ranges if first < base]
        below = [(max(first, end + 1), last) for first, last in ranges if last > end]
        self._beyond = [*above, *below]
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

    def _on_sideways_range(self, _least: int, most: int) -> None:
        """The frozen part is as high as the grid, whose bar takes room at the bottom."""
        self._left.setContentsMargins(0, 0, 0, self.grid.horizontalScrollBar().sizeHint().height() if most > 0 else 0)

    def _on_resized(self, section: int, _old: int, new: int) -> None:
        by_hand = self.grid.heads.held or self.frozen.heads.held
        if by_hand and not self._fitting and 0 < section <= len(self.model.columns) and new > 0:
            self.widened.emit((self.model.columns[section - 1].name, round(new / (self._ink.theme.px(100) / 100))))
        self._fit_frozen()
        self._on_sideways()

    def _on_selected(self, *_: object) -> None:
        """A fresh choice forgets what the window does not hold; one that adds to it does not."""
        adds = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if not self._moving and not QGuiApplication.keyboardModifiers() & adds:
            self._beyond = []

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()
        self._follow()
        self._fit_frozen()
        self._on_sideways()

    # ---- asking

    def _column(self) -> int:
        return self.grid.currentIndex().column()

    def _current_name(self) -> str:
        column = self._column()
        return self.model.columns[column - 1].name if 0 < column <= len(self.model.columns) else ""

    def _on_current(self, column: int) -> None:
        if 0 < column <= len(self.model.columns):
            self.column_chosen.emit(self.model.columns[column - 1].name)

    def _on_sort(self, section_also: object) -> None:
        if isinstance(section_also, tuple):
            self.sort_asked.emit((self.model.columns[section_also[0] - 1].name, section_also[1]))

    def _on_menu(self, section_at: object) -> None:
        if isinstance(section_at, tuple) and 0 < section_at[0] <= len(self.model.columns):
            self.menu_asked.emit((self.model.columns[section_at[0] - 1].name, section_at[1]))

    def _on_copy(self, sheet: object) -> None:
        ranges = self.selected_ranges()
        if ranges:
            self.copy_asked.emit((ranges, bool(sheet)))

    def _on_move_key(self, by: object) -> None:
        names, name = [column.name for column in self.model.columns], self._current_name()
        if name and isinstance(by, int):
            place = names.index(name)
            names.insert(max(0, min(len(names) - 1, place + by)), names.pop(place))
            self.moved.emit(names)

    def _on_dragged(self, _logical: int, old: int, new: int) -> None:
        self._on_dragged_in(self.grid.heads, old, new)

    def _on_dragged_frozen(self, _logical: int, old: int, new: int) -> None:
        self._on_dragged_in(self.frozen.heads, old, new)

    def _on_dragged_in(self, heads: TableHeader, old: int, new: int) -> None:
        """A head was dragged: the order of the model follows, and the head goes back to be the model's."""
        if self._fitting:
            return
        names = [column.name for column in self.model.columns]
        names.insert(max(1, new) - 1, names.pop(old - 1))
        self._fitting = True
        heads.moveSection(new, old)
        self._fitting = False
        QTimer.singleShot(0, self, partial(self.moved.emit, names))  # not while the head is still being dragged
