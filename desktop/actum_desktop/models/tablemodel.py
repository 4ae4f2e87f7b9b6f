"""The rows of one open table for a grid: a window of at most TABLE_WINDOW_ROWS_MAX rows that can be moved over all of them.

A grid's coordinates have 32 bits, and its header keeps something for every row; so the model shows a window, and whoever
scrolls past its edge moves it. Cells come from pages that a `TableReader` brings; until then a cell is empty and says that
it is being read. Companion columns (`<name>__reason`) are not columns of the grid: they are the words of missing cells (R15).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.errors import ActumError
from actum.limits import TABLE_AHEAD_ROWS, TABLE_PAGE_ROWS, TABLE_PAGES_CACHED_MAX, TABLE_WINDOW_ROWS_MAX
from actum.results.query import ROW
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.models import celltext
from actum_desktop.models.tablereader import Opened, Paged, TableReader

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
CELL = int(Qt.ItemDataRole.UserRole) + 1
_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_TIP = int(Qt.ItemDataRole.ToolTipRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_ANSWERED = frozenset({CELL, _DISPLAY, _TIP, _SPOKEN})


@dataclass(frozen=True, slots=True)
class GridColumn:
    """One column of the grid. `reason` = the companion column, if there is one."""

    name: str
    kind: str
    right: bool
    words: str
    reason: str | None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """What is painted: kind value | missing | number (of the row) | waiting."""

    kind: str
    text: str


_WAITING = Cell("waiting", "")


class TableModel(QAbstractTableModel):
    """Signals: `failed` (ActumError) when a page cannot be read. Column 0 is the number of the row, from 1."""

    failed = Signal(object)

    def __init__(self, reader: TableReader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader = reader
        self.columns: list[GridColumn] = []  # those shown, from left to right
        self.all_columns: list[GridColumn] = []
        self.described: list[Mapping[str, Any]] = []  # all of them with their companions, as `columns.describe`
        self.frozen = 0  # so many of those shown stay in sight
        self.total = 0
        self.highest = 0  # the highest number that a row may have: of a view, the rows of the published table
        self.base = 0
        self._token = 0
        self._row_column: str | None = None
        self._pages: OrderedDict[int, dict[str, Sequence[str | None]]] = OrderedDict()
        self._shown: OrderedDict[tuple[int, int], Cell] = OrderedDict()
        self._missed: set[int] = set()  # pages that were looked for before they were there
        self._seen = (0, 0)  # the columns in sight, first and last
        reader.paged.connect(self._on_paged)

    # ---- what is shown

    def show(self, opened: Opened) -> None:
        """Another table (or view of it)."""
        self.beginResetModel()
        self._token, self.total, self.base = opened.token, opened.total, 0
        companions = set(opened.reason_of.values())
        known = {str(item["name"]) for item in opened.columns}
        self._row_column = ROW if ROW in known else None
        self.described = [item for item in opened.columns if item["name"] != ROW]
        self.all_columns = [
            GridColumn(
                str(item["name"]),
                str(item["type"]),
                item["type"] in celltext.RIGHT_KINDS,
                celltext.kind_words(str(item["type"]), item["precision"], item["scale"], item["unit"]),
                opened.reason_of.get(str(item["name"])),
            )
            for item in self.described
            if item["name"] not in companions
        ]
        self.columns, self.frozen = list(self.all_columns), 0
        self._forget()
        self.endResetModel()

    def arrange(self, names: Sequence[str], frozen: int) -> None:
        """Show these columns, in this order; the first `frozen` stay in sight."""
        known = {column.name: column for column in self.all_columns}
        self.beginResetModel()
        self.columns = [known[name] for name in names if name in known]
        self.frozen = max(0, min(frozen, len(self.columns) - 1))
        self._shown.clear()
        self._seen = (0, 0)
        self.endResetModel()

    def clear(self) -> None:
        self.beginResetModel()
        self._token, self.total, self.base, self.frozen = 0, 0, 0, 0
        self.columns, self.all_columns, self.described = [], [], []
        self._forget()
        self.endResetModel()

    def _forget(self) -> None:
        self._pages.clear()
        self._shown.clear()
        self._missed.clear()

    def move_window(self, base: int) -> None:
        """Show the rows from `base` on, as far as the window reaches."""
        base = max(0, min(base, self.total - TABLE_WINDOW_ROWS_MAX))
        if base != self.base:
            self.beginResetModel()
            self.base = base
            self.endResetModel()

    def see(self, first: int, last: int) -> None:
        """The columns in sight: only these are read."""
        self._seen = (max(0, first - 1), max(0, last - 1))

    def come_near(self, first: int, last: int) -> None:
        """Rows `first` … `last` are in sight: the pages beside them are read before they are scrolled to."""
        for row in (last + TABLE_AHEAD_ROWS, first - TABLE_AHEAD_ROWS):
            page = row // TABLE_PAGE_ROWS
            if 0 <= row < self.total and page not in self._pages and self.columns:
                seen = self.columns[min(self._seen[0], len(self.columns) - 1)].name
                self._reader.ask(self._token, page, self._wanted({}, seen))

    # ---- Qt

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else min(self.total - self.base, TABLE_WINDOW_ROWS_MAX)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() or not self.columns else len(self.columns) + 1

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        if role not in _ANSWERED:
            return None
        cell = self.cell(index.row() + self.base, index.column())
        if role == CELL:
            return cell
        if role == _DISPLAY:
            return cell.text
        if cell.kind == "waiting":
            return _("being read")
        if role == _SPOKEN:
            title = _("row") if index.column() == 0 else self.columns[index.column() - 1].name
            return f"{title}: {cell.text}"
        return _("No value: {reason}.").format(reason=cell.text) if cell.kind == "missing" else cell.text

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 < section <= len(self.columns):
            return None
        column = self.columns[section - 1]
        if role == _DISPLAY:
            return column.name
        return f"{column.name}: {column.words}" if role in (_TIP, _SPOKEN) else None

    # ---- cells

    def is_there(self, row: int, name: str) -> bool:
        """Whether a cell has been read; asks for nothing."""
        return name in self._pages.get(row // TABLE_PAGE_ROWS, ())

    def cell(self, row: int, column: int) -> Cell:
        """A cell by its row in the whole table; asks for its page when it is not there."""
        key = (row, column)
        found = self._shown.get(key)
        if found is not None:
            return found
        found = self._make(row, column)
        if found.kind != "waiting":
            self._shown[key] = found
            if len(self._shown) > TABLE_PAGES_CACHED_MAX * TABLE_PAGE_ROWS:
                self._shown.popitem(last=False)
        return found

    def _make(self, row: int, column: int) -> Cell:
        if column == 0 and self._row_column is None:
            return Cell("number", measures.count(row + 1))
        page, place = divmod(row, TABLE_PAGE_ROWS)
        cells = self._pages.get(page)
        name = str(self._row_column) if column == 0 else self.columns[column - 1].name
        if cells is None or name not in cells:
            self._missed.add(page)
            self._reader.ask(self._token, page, self._wanted(cells or {}, name))
            return _WAITING
        text = cells[name][place]
        if column == 0:
            return Cell("number", measures.count(int(text or 0) + 1))
        info = self.columns[column - 1]
        if text is None:
            reasons = cells.get(info.reason) if info.reason else None
            return Cell("missing", celltext.missing(reasons[place] if reasons else None))
        return Cell("value", celltext.value(info.kind, text))

    def _wanted(self, have: Mapping[str, object], name: str) -> list[str]:
        """The columns in sight (with their companions) that the page lacks, and the one asked for."""
        first, last = self._seen
        names = [name, *([self._row_column] if self._row_column else [])]
        for info in [
            *self.columns[: self.frozen],
            *self.columns[first : last + 1],
            *(item for item in self.columns if item.name == name),
        ]:
            names += [info.name, *([info.reason] if info.reason else [])]
        return [each for each in dict.fromkeys(names) if each not in have]

    def _on_paged(self, read: Paged) -> None:
        if read.token != self._token:
            return
        if isinstance(read.error, ActumError):
            self.failed.emit(read.error)
            return
        page = self._pages.setdefault(read.page, {})
        page.update(read.cells)
        self._pages.move_to_end(read.page)
        if len(self._pages) > TABLE_PAGES_CACHED_MAX:
            self._pages.popitem(last=False)
        if read.page not in self._missed:
            return  # read ahead: nothing of it was painted as waiting
        self._missed.discard(read.page)
        first = read.page * TABLE_PAGE_ROWS - self.base
        last = min(first + TABLE_PAGE_ROWS, self.rowCount()) - 1
        if last >= 0 and first < self.rowCount():
            self.dataChanged.emit(self.index(max(0, first), 0), self.index(last, self.columnCount() - 1))
