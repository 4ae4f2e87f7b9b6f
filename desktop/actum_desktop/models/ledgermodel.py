"""The ledger of one attempt as a list model: heads, ten rows, foot, and what holds now; each row speaks a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures, wording
from actum_desktop.i18n import _
from actum_desktop.ledger import Kind, LedgerRow
from actum_desktop.wording import LedgerFoot, StatusWord

Index = QModelIndex | QPersistentModelIndex
ENTRY = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Head:
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it is drawn: `time` and `below` stand in the time column; `above`, `under` say whether the spine is ink."""

    row: LedgerRow
    time: str
    below: str
    above: bool | None  # None: no spine
    under: bool | None
    last: bool
    ink: str


@dataclass(frozen=True, slots=True)
class Foot:
    foot: LedgerFoot


@dataclass(frozen=True, slots=True)
class Now:
    """*Readable now*: the newest result check, below the closed account and no part of it."""

    badge: StatusWord
    text: str


Entry = Head | Line | Foot | Now
_INK = frozenset({Kind.ESTABLISHED, Kind.WAITING, Kind.REFUSED, Kind.CANNOT_TELL})


def entries(show: Mapping[str, Any], attempt: str | None = None, now: int | None = None) -> list[Entry]:
    """What the ledger view shows of `show`, from top to bottom."""
    rows = wording.ledger(show, attempt, now)
    foot = wording.ledger_foot(show, attempt)
    succeeded = foot.rule == "double" and foot.tone == "ok"
    lines = [_line(rows, index, succeeded, now) for index in range(len(rows))]
    done = _("{n} of 7 on record").format(n=wording.on_record(rows))
    opened = [line for line in lines if line.row.part == "opened"]
    completion = [line for line in lines if line.row.part == "completion"]
    result: list[Entry] = [Head(_("Opened"), ""), *opened, Head(_("Completion"), done), *completion, Foot(foot)]
    badge = wording.result_badge(show.get("result"))
    if badge is not None and succeeded:
        result.append(Now(badge, str((show.get("result") or {}).get("reason") or "")))
    return result


def _line(rows: list[LedgerRow], index: int, succeeded: bool, now: int | None) -> Line:
    row = rows[index]
    above = None if index == 0 else _solid(rows[index - 1], row)
    under = None if index + 1 == len(rows) else _solid(row, rows[index + 1])
    time, below = _times(row, now)
    last = index + 1 == len(rows) or rows[index + 1].part != row.part
    return Line(row, time, below, above, under, last, "ok" if succeeded else "text2")


def _solid(first: LedgerRow, second: LedgerRow) -> bool:
    return first.kind is Kind.ESTABLISHED and second.kind in _INK


def _times(row: LedgerRow, now: int | None) -> tuple[str, str]:
    if row.at is not None:
        today = measures.is_today(row.at, now)
        return measures.clock(row.at), measures.fraction(row.at) if today else measures.short_day(row.at)
    if row.kind is Kind.NEVER:
        return _("never"), ""
    if row.since is not None and row.kind is Kind.WAITING:
        return measures.age(row.since, now, narrow=True), ""
    return "", ""


def spoken(entry: Entry) -> str:
    """The whole sentence a screen reader says for a row."""
    if isinstance(entry, Head):
        return ", ".join(part for part in (entry.title, entry.note) if part)
    if isinstance(entry, Foot):
        return f"{entry.foot.word}. {entry.foot.sentence}"
    if isinstance(entry, Now):
        return _("Now: {state}. {reason}").format(state=entry.badge.word, reason=entry.text).strip()
    words = {
        Kind.ESTABLISHED: _("on record at {time}").format(time=entry.time),
        Kind.WAITING: _("waited for, {time}").format(time=entry.time),
        Kind.NOT_YET: _("not yet"),
        Kind.NEVER: _("will not happen"),
        Kind.REFUSED: _("refused"),
        Kind.CANNOT_TELL: _("cannot tell"),
    }
    return ". ".join([f"{entry.row.title}, {words[entry.row.kind]}", *(text.rstrip(".。") for text in entry.row.evidence)])


class LedgerModel(QAbstractListModel):
    """Rows of one ledger. Facts never move or reorder: `show` replaces entries in place and signals only what changed."""

    def __init__(self, *, foot: bool = False, parent: QObject | None = None) -> None:
        """The rows of the account, or with `foot` what stands below them."""
        super().__init__(parent)
        self._foot = foot
        self._entries: list[Entry] = []
        self._show: Mapping[str, Any] = {}
        self._attempt: str | None = None

    def show(self, show: Mapping[str, Any], attempt: str | None = None, now: int | None = None) -> bool:
        """Show the ledger of `attempt` (None: the current one). Returns whether rows may need another height."""
        self._show, self._attempt = show, attempt
        fresh = [entry for entry in entries(show, attempt, now) if isinstance(entry, Foot | Now) == self._foot]
        if len(fresh) != len(self._entries):
            self.beginResetModel()
            self._entries = fresh
            self.endResetModel()
            return True
        moved = False
        for row, (old, new) in enumerate(zip(self._entries, fresh, strict=True)):
            if old != new:
                moved = moved or _height_key(old) != _height_key(new)
                self._entries[row] = new
                index = self.index(row)
                self.dataChanged.emit(index, index)
        return moved

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if role == ENTRY:
            return self._entries[index.row()]
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.DisplayRole):
            return spoken(self._entries[index.row()])
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self._entries[index.row()]
        if isinstance(entry, Head):
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def as_text(self) -> str:
        """The whole ledger, for the clipboard."""
        return "\n".join(wording.ledger_lines(self._show, self._attempt))

    def entry(self, row: int) -> Entry:
        return self._entries[row]


def _height_key(entry: Entry) -> Any:
    """What decides a row's height: its kind and its texts' shapes (their length stands for wrapping)."""
    if isinstance(entry, Line):
        return (entry.row.kind, entry.row.evidence, entry.row.fraction is None)
    return entry
