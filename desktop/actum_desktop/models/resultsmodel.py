"""The list of published results, newest first, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures, tasktexts, wording
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models.resultreader import ResultPage
from actum_desktop.wording import StatusWord

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
ITEM = int(Qt.ItemDataRole.UserRole) + 1
COLUMNS = (N_("Result"), N_("Readable now"), N_("Holds"), N_("Rows"), N_("Size"), N_("Published"))
RIGHT = frozenset({3, 4, 5})


@dataclass(frozen=True, slots=True)
class ResultItem:
    """One row, in words."""

    run: int
    title: str
    sub: str
    state: StatusWord
    holds: str
    rows: str
    size: str
    published: str

    @property
    def texts(self) -> tuple[str, ...]:
        return (f"{self.title}, {self.sub}", self.state.word, self.holds, self.rows, self.size, self.published)


def item_of(row: Any, now: int) -> ResultItem:
    check = {"state": row.state or "unchecked", "checked_at": row.checked_at_us, "checked_level": row.level}
    badge = wording.result_badge(check)
    assert badge is not None, "there is a result"
    holds = []
    if row.metrics:
        holds.append(ngettext("{n} metric", "{n} metrics", row.metrics).format(n=row.metrics))
    if row.tables:
        holds.append(ngettext("{n} table", "{n} tables", len(row.tables)).format(n=len(row.tables)))
    return ResultItem(
        row.run,
        tasktexts.sentence(row.title) if row.recipe else row.title,
        _("run {n} · {trigger}").format(n=row.run, trigger=wording.trigger(row.trigger)),
        badge,
        measures.listed(holds) or _("files"),
        measures.count(row.rows) if row.tables else measures.DASH,
        measures.size(row.size_bytes),
        measures.when(row.committed_at_us, now),
    )


class ResultsModel(QAbstractTableModel):
    """`ask` is called with the run number below which more is wanted (None = the newest)."""

    def __init__(self, ask: Callable[[int | None], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self._rows: list[Any] = []
        self._items: list[ResultItem] = []
        self._more = False
        self._asked = False
        self.loaded = False

    def reload(self) -> None:
        self._asked = True
        self._ask(None)

    def take(self, page: ResultPage) -> None:
        """A page that was asked for. The first one replaces what is there where anything differs."""
        self._asked = False
        if page.error is not None:
            return
        now = measures.now_us()
        items = [item_of(row, now) for row in page.rows]
        if page.before is None:
            self.loaded = True
            if items == self._items[: len(items)] and (len(self._items) >= len(items)):
                return
            self.beginResetModel()
            self._rows, self._items, self._more = list(page.rows), items, page.more
            self.endResetModel()
        elif items and page.before == self._rows[-1].run:
            self.beginInsertRows(ROOT, len(self._items), len(self._items) + len(items) - 1)
            self._rows += page.rows
            self._items += items
            self._more = page.more
            self.endInsertRows()
        else:
            self._more = page.more

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more and not self._asked

    def fetchMore(self, parent: Index) -> None:
        self._asked = True
        self._ask(self._rows[-1].run)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._items)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def item(self, row: int) -> ResultItem:
        return self._items[row]

    def run_at(self, row: int) -> int:
        return self._items[row].run

    def listed(self, runs: Iterable[int]) -> list[Any]:
        """The rows of the store's list for these runs, as far as they are here."""
        wanted = set(runs)
        return [row for row in self._rows if row.run in wanted]

    def row_of(self, run: int) -> int | None:
        return next((place for place, item in enumerate(self._items) if item.run == run), None)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if role == ITEM:
            return self._items[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._items[index.row()].texts[index.column()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            texts = self._items[index.row()].texts
            return ", ".join(texts) if index.column() == 0 else texts[index.column()]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _(COLUMNS[section])
        return None

    def as_tsv(self, rows: Iterable[int]) -> str:
        """Rows for the clipboard, with heads."""
        heads = "\t".join(_(title) for title in COLUMNS)
        return "\n".join([heads, *("\t".join(self._items[row].texts) for row in rows)])
