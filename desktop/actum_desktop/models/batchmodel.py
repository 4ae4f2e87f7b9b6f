"""The files of a batch as a list: each with how it stands, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models import batch
from actum_desktop.models.batch import Item

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
_WORDS = {
    batch.WAITING: N_("waits"),
    batch.WRITING: N_("being written"),
    batch.THERE: N_("was there"),
    batch.CANCELLED: N_("cancelled"),
}


def words(item: Item) -> str:
    """`returns-17.csv: 749 rows, 2.4 KB, read back and equal`."""
    if item.state == batch.WRITTEN and item.answer is not None:
        figures = _("{rows} rows, {size}").format(
            rows=measures.count(item.answer["rows"]), size=measures.size(item.answer["size_bytes"])
        )
        lost = [loss for loss in item.answer.get("losses") or () if loss.get("lossy")]
        named = ngettext("{n} named loss", "{n} named losses", len(lost)).format(n=len(lost))
        kept = named if lost else _("read back and equal")
        return f"{item.path.name}: {figures}, {kept}"
    if item.state == batch.FAILED and item.error is not None:
        why = " ".join(part for part in (item.error.what, item.error.why, item.error.remedy) if part)
        return f"{item.path.name}: {why}"
    return f"{item.path.name}: {_(_WORDS.get(item.state, item.state))}"


class BatchModel(QAbstractListModel):
    """`colour` gives the colour of a token; what failed is told by its words as well."""

    def __init__(self, colour: Callable[[str], Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._colour = colour
        self._items: Sequence[Item] = ()

    def show(self, items: Sequence[Item]) -> None:
        """Rows that are the same stay; others change in place."""
        before, self._items = self._items, list(items)
        if len(before) != len(self._items):
            self.beginResetModel()
            self.endResetModel()
            return
        for row, (old, new) in enumerate(zip(before, self._items, strict=True)):
            if old is not new:
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return words(item)
        if role == Qt.ItemDataRole.ForegroundRole:
            tone = {batch.FAILED: "bad", batch.WRITTEN: "text", batch.WRITING: "accent"}.get(item.state, "text2")
            return self._colour(tone)
        return None
