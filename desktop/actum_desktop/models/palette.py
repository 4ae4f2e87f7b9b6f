"""What the command palette offers, as rows of a list: actions here, tasks, runs, results, settings; plain words and keys.

Theory. What the window can do by itself (actions, settings) is matched at once; what has to be read from the store comes from
a reader in a thread of its own and is shown when it is there. A word matches where it stands in a title, in any case; all
words of the query have to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop.ledger import Strip

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
ROW = int(Qt.ItemDataRole.UserRole)

GROUPS = ("jump", "actions", "tasks", "runs", "results", "settings")


@dataclass(frozen=True, slots=True)
class Head:
    """The name of a group."""

    title: str


@dataclass(frozen=True, slots=True)
class Again:
    """What Ctrl+Enter runs a task with: the values of its last preset, or of its last run."""

    parameters: Mapping[str, Any]
    preset: str = ""
    run: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One row. `key` and `value` say what is chosen: (action, its name), (task, name), (run, number), (result, number).

    `note` stands beside the title; `hint` (keys or a time) at the right; `strip` in its own column before it;
    `again` = what a task was run with.
    """

    key: str
    value: Any
    title: str
    note: str = ""
    icon: str = ""
    tone: str = "text2"
    hint: str = ""
    strip: Strip | None = None
    again: Again | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What the store answered to `text`, by group; `exact` = the run whose whole id was given."""

    number: int
    text: str
    groups: dict[str, tuple[Entry, ...]]
    exact: int | None = None


def words_of(query: str) -> tuple[str, ...]:
    return tuple(query.lower().split())


def matches(words: Sequence[str], *texts: str) -> bool:
    """Whether every word stands in one of the texts."""
    return all(any(word in text.lower() for text in texts) for word in words)


def hits(words: Sequence[str], title: str) -> list[tuple[int, int]]:
    """(start, end) of what is to be drawn as found, in order, without overlap."""
    low, found = title.lower(), []
    if len(low) != len(title):
        return []  # letters whose small form is longer: places would not fit
    for word in words:
        at = low.find(word)
        if at >= 0:
            found.append((at, at + len(word)))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class PaletteModel(QAbstractListModel):
    """Groups in order, each under its head; empty groups are not shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: dict[str, tuple[Entry, ...]] = {}
        self._titles: dict[str, str] = {}
        self._rows: list[Head | Entry] = []
        self.words: tuple[str, ...] = ()

    def use_titles(self, titles: dict[str, str]) -> None:
        self._titles = titles

    def show(self, groups: dict[str, tuple[Entry, ...]], words: tuple[str, ...]) -> None:
        """Replace the groups that are given; the others stay."""
        self._groups = {**self._groups, **groups}
        self.words = words
        rows: list[Head | Entry] = []
        for group in GROUPS:
            entries = self._groups.get(group, ())
            if entries:
                rows += [Head(self._titles.get(group, group)), *entries]
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def row(self, index: int) -> Head | Entry | None:
        return self._rows[index] if 0 <= index < len(self._rows) else None

    def first(self) -> int:
        """The first row that can be chosen, -1 where there is none."""
        return next((at for at, row in enumerate(self._rows) if isinstance(row, Entry)), -1)

    def step(self, row: int, by: int) -> int:
        """The next row that can be chosen in a direction, round the ends."""
        count = len(self._rows)
        for distance in range(1, count + 1):
            at = (row + by * distance) % count
            if isinstance(self._rows[at], Entry):
                return at
        return -1

    def place_of(self, entry: Entry) -> int:
        """Where the same choice stands now, -1 where it is gone."""
        for at, row in enumerate(self._rows):
            if isinstance(row, Entry) and (row.key, row.value) == (entry.key, entry.value):
                return at
        return -1

    # ---- Qt

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self._rows[index.row()], Head):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if isinstance(row, Head):
                return row.title
            strip = row.strip.text if row.strip is not None else ""
            return ", ".join(part for part in (row.title, row.note, strip, row.hint) if part)
        return None
