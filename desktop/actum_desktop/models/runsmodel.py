"""The list of runs: open ones first, then history by keyset pages; live cells change in place.

Theory. Two blocks: every open run (bounded), newest first, then ended runs in pages of RUN_LIST_PAGE_ROWS, fetched as they are
scrolled to. A commit names the runs it touched; only those are read again, and only cells whose words differ are repainted.
A run that ends moves from the first block to the head of the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from actum.limits import RUN_LIST_CELLS_KEPT_MAX, RUN_LIST_OPEN_ROWS_MAX, RUN_LIST_PAGE_ROWS
from actum.workspace import Workspace
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from actum_desktop import measures
from actum_desktop.controller.events import Live
from actum_desktop.i18n import N_, _
from actum_desktop.models.runcells import RunCells, cells
from actum_desktop.models.runpages import RunPage, RunPages
from actum_desktop.models.source import ENDED_STATUSES, OPEN_STATUSES, RunItem, Source

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
CELLS = int(Qt.ItemDataRole.UserRole)

COLUMNS = (
    ("status", N_("Status"), False),
    ("run", N_("Task and run"), False),
    ("progress", N_("Progress and stage"), False),
    ("ledger", N_("Ledger"), False),
    ("time", N_("Time"), True),
    ("heartbeat", N_("Heartbeat"), True),
    ("cpu", N_("CPU"), True),
    ("memory", N_("Memory"), True),
    ("started", N_("Started"), False),
)
_FRESH_MS = 200
_FIELD_COLUMN = {
    "status": 0,
    "title": 1,
    "sub": 1,
    "fraction": 2,
    "bar": 2,
    "percent": 2,
    "stage": 2,
    "stage_token": 2,
    "badge": 2,
    "strip": 3,
    "time": 4,
    "heartbeat": 5,
    "cpu": 6,
    "memory": 7,
    "started": 8,
}


class RunsModel(QAbstractTableModel):
    """Attributes: `source`. Filter with `set_filter`; feed with `apply` and `tick`. Signals: `freshened` () when live cells
    are those of now, not with each of the live states, which come faster than anybody reads; `looked` () when the runs that
    hold the text were looked for."""

    freshened = Signal()
    looked = Signal()

    def __init__(self, source: Source | None, parent: QObject | None = None, ws: Workspace | None = None) -> None:
        """`ws` = whose runs are looked through for a text in a thread of their own; without it, at once."""
        super().__init__(parent)
        self.source = source
        self._ws = ws
        self._pages: RunPages | None = None
        self._asked = 0  # the question that is not answered yet
        self._since: set[int] = set()  # runs that changed since it was asked
        self._open: list[RunItem] = []
        self._ended: list[RunItem] = []
        self._more = False
        self._live: dict[int, Live] = {}
        self._cells: dict[int, RunCells] = {}
        self._facts: dict[int, tuple[str, ...]] = {}
        self._text = ""
        self._blocks: tuple[str, ...] = ("open", "ended")
        self._touched: set[int] = set()
        self._fresh = QTimer(self)
        self._fresh.setSingleShot(True)
        self._fresh.setInterval(_FRESH_MS)
        self._fresh.timeout.connect(self.freshen)

    # ---- filling

    def set_filter(self, text: str = "", blocks: Sequence[str] = ("open", "ended")) -> None:
        self._text, self._blocks = text.strip(), tuple(blocks)
        self.reload()

    def reload(self) -> None:
        """Read anew. While a text is looked for, what was there stays."""
        self._asked = 0
        opened: list[RunItem] = []
        ended: list[RunItem] = []
        if self.source is not None:
            if self._text and not self._text.isdigit() and (pages := self._beside()) is not None:
                self._asked = pages.ask(None, self._blocks, self._text)
                self._since.clear()
                return
            if "open" in self._blocks:
                opened = self.source.runs_page(None, RUN_LIST_OPEN_ROWS_MAX, OPEN_STATUSES, self._text)
            if "ended" in self._blocks:
                ended = self.source.runs_page(None, RUN_LIST_PAGE_ROWS, ENDED_STATUSES, self._text)
        self._replace(opened, ended)

    @property
    def looking(self) -> bool:
        """Whether the runs that hold the text are still being looked for."""
        return self._asked != 0

    def _beside(self) -> RunPages | None:
        if self._pages is None and self._ws is not None:
            self._pages = RunPages(self._ws, self)
            self._pages.page.connect(self._on_page)
        return self._pages

    def _on_page(self, page: RunPage) -> None:
        if page.number != self._asked:
            return
        self._asked = 0
        if page.error is None and page.before is None:
            self._replace(list(page.open), list(page.ended))
        elif page.error is None:
            self._append(list(page.ended))
        since, self._since = self._since, set()
        self.apply(since, ())
        self.looked.emit()

    def _replace(self, opened: list[RunItem], ended: list[RunItem]) -> None:
        self.beginResetModel()
        self._cells.clear()
        self._open, self._ended, self._more = opened, ended, len(ended) == RUN_LIST_PAGE_ROWS
        self.endResetModel()

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more and not self.looking

    def fetchMore(self, parent: Index) -> None:
        if self.source is None or not self._ended:
            return
        before = self._ended[-1].number
        if self._text and (pages := self._beside()) is not None:
            self._asked = pages.ask(before, self._blocks, self._text)
            self._since.clear()
        else:
            self._append(self.source.runs_page(before, RUN_LIST_PAGE_ROWS, ENDED_STATUSES, self._text))

    def _append(self, page: list[RunItem]) -> None:
        self._more = len(page) == RUN_LIST_PAGE_ROWS
        if page:
            first = self.rowCount()
            self.beginInsertRows(ROOT, first, first + len(page) - 1)
            self._ended.extend(page)
            self.endInsertRows()

    def apply(self, runs: Iterable[int], live: Iterable[Live]) -> None:
        """Rows that changed in the store, and the newest live states."""
        for state in live:
            self._live[state.run] = state
            self._touched.add(state.run)
        numbers = set(runs)
        self._since |= numbers if self.looking else set()
        if numbers and self.source is not None:
            for item in sorted(self.source.runs(numbers), key=lambda item: item.number):
                self._facts.pop(item.number, None)
                self._place(item)
                if not item.open:
                    self._live.pop(item.number, None)
        if numbers:
            self._refresh(numbers)
            self.freshened.emit()
        if self._touched and not self._fresh.isActive():
            self._fresh.start()

    def rest(self) -> None:
        """Before source and window go."""
        self._fresh.stop()
        self._asked = 0
        if self._pages is not None:
            self._pages.close()
            self._pages.deleteLater()
            self._pages = None

    def freshen(self) -> None:
        """What came since the last time, now."""
        self._fresh.stop()
        touched, self._touched = self._touched, set()
        self._refresh(touched)
        self.freshened.emit()

    def tick(self) -> None:
        """Ages grow once a second; only open rows have any."""
        self._refresh({item.number for item in self._open})

    def _place(self, item: RunItem) -> None:
        row = self.row_of(item.number)
        wanted = "open" if item.open else "ended"
        if row is not None:
            was = "open" if row < len(self._open) else "ended"
            if was == wanted:
                block = self._open if was == "open" else self._ended
                block[row if was == "open" else row - len(self._open)] = item
                return
            self.beginRemoveRows(ROOT, row, row)
            (self._open if was == "open" else self._ended).pop(row if was == "open" else row - len(self._open))
            self.endRemoveRows()
        elif self._text:
            return  # under a text filter only a reload decides what belongs
        if wanted not in self._blocks:
            return
        block = self._open if wanted == "open" else self._ended
        at = next((i for i, other in enumerate(block) if other.number < item.number), len(block))
        if wanted == "ended" and at == len(block) and self._more:
            return  # older than what is loaded: its page will bring it
        position = at if wanted == "open" else len(self._open) + at
        self.beginInsertRows(ROOT, position, position)
        block.insert(at, item)
        self.endInsertRows()

    def _refresh(self, numbers: set[int]) -> None:
        now = measures.now_us()
        for number in numbers:
            row = self.row_of(number)
            old = self._cells.get(number)
            if row is None:
                self._cells.pop(number, None)
                continue
            new = self._compute(self.item(row), now)
            if new == old:
                continue
            self._cells[number] = new
            columns = {
                _FIELD_COLUMN[f.name] for f in fields(new) if old is None or getattr(old, f.name) != getattr(new, f.name)
            }
            for column in columns:
                index = self.index(row, column)
                self.dataChanged.emit(index, index)

    def _compute(self, item: RunItem, now: int) -> RunCells:
        facts = item.implied_facts()
        if facts is None:
            facts = self._facts.get(item.number)
        if facts is None:
            facts = self.source.fact_names(item.number) if self.source is not None else ()
            self._facts[item.number] = facts
        return cells(item, self._live.get(item.number), facts, now)

    # ---- looking up

    def item(self, row: int) -> RunItem:
        return self._open[row] if row < len(self._open) else self._ended[row - len(self._open)]

    def run_at(self, row: int) -> int:
        return self.item(row).number

    def row_of(self, number: int) -> int | None:
        for row, item in enumerate(self._open):
            if item.number == number:
                return row
        low, high = 0, len(self._ended)  # newest first
        while low < high:
            middle = (low + high) // 2
            if self._ended[middle].number > number:
                low = middle + 1
            else:
                high = middle
        found = low < len(self._ended) and self._ended[low].number == number
        return len(self._open) + low if found else None

    def live(self, number: int) -> Live | None:
        return self._live.get(number)

    @property
    def open_items(self) -> list[RunItem]:
        return self._open

    def cells_of(self, row: int) -> RunCells:
        item = self.item(row)
        found = self._cells.get(item.number)
        if found is None:
            if len(self._cells) > RUN_LIST_CELLS_KEPT_MAX:
                self._cells.clear()
            found = self._cells[item.number] = self._compute(item, measures.now_us())
        return found

    # ---- Qt

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._open) + len(self._ended)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if role == CELLS:
            return self.cells_of(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return _cell_text(self.cells_of(index.row()), index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            shown = self.cells_of(index.row())
            return shown.sentence if index.column() == 0 else _cell_text(shown, index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _(COLUMNS[section][1])
        return None

    def as_tsv(self, rows: Iterable[int]) -> str:
        """Rows for the clipboard, with heads."""
        lines = ["\t".join(_(title) for _name, title, _right in COLUMNS)]
        for row in rows:
            lines.append("\t".join(_cell_text(self.cells_of(row), column) for column in range(len(COLUMNS))))
        return "\n".join(lines)

    def retranslate(self) -> None:
        """Titles of tasks are worded when a row is read: every row is read anew."""
        self._cells.clear()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)
        self.reload()


def _cell_text(shown: RunCells, column: int) -> str:
    match column:
        case 0:
            return shown.status.word
        case 1:
            return f"{shown.title}, {shown.sub}"
        case 2:
            return ", ".join(part for part in (shown.percent, shown.badge, shown.stage) if part)
        case 3:
            return shown.strip.text
        case 4:
            return shown.time.text
        case 5:
            return shown.heartbeat.text
        case 6:
            return shown.cpu.text
        case 7:
            return shown.memory.text
        case _:
            return shown.started.text
