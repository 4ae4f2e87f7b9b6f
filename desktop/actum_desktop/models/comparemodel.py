"""The lines of the compare page: parameters, inputs, metrics and circumstances, a column for each run."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actum.results.comparison import MetricCell, Row
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures, wording
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models import celltext
from actum_desktop.models.comparing import Compared, Head

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
CELL, LINE, HEAD = (int(Qt.ItemDataRole.UserRole) + n for n in range(3))

_CIRCUMSTANCES = {
    "status": N_("Status"),
    "task": N_("Task"),
    "version": N_("Version"),
    "duration_s": N_("Took"),
    "code": N_("Code"),
    "environment": N_("Environment"),
    "rows": N_("Rows"),
}
_NO_DIFFERENCE = {
    "other_unit": N_("another unit"),
    "other_rule": N_("another rule"),
    "not_a_number": N_("no difference of numbers"),
}
_UNLIKE = {
    "input": N_("read other bytes"),
    "code": N_("ran other code"),
    "environment": N_("ran in another environment"),
    "version": N_("is of another version of the task"),
    "task": N_("is of another task"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, what stands small beside it, whether it is the odd one, and whether there is no value."""

    text: str
    aside: str = ""
    odd: bool = False
    missing: bool = False
    whole: str = ""  # what is cut in `text`

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.whole or self.text, self.aside) if part)

    @property
    def copied(self) -> str:
        return f"{self.whole or self.text} ({self.aside})" if self.aside else self.whole or self.text


@dataclass(frozen=True, slots=True)
class Line:
    """One row; without cells it is the head of a part."""

    title: str
    note: str = ""
    cells: tuple[Cell, ...] = ()
    differs: bool = True


def letter(place: int) -> str:
    """A, B, …, Z, AA, AB, …"""
    letters = string.ascii_uppercase
    return letters[place] if place < len(letters) else letters[place // len(letters) - 1] + letters[place % len(letters)]


def lines(compared: Compared, *, everything: bool) -> list[Line]:
    """With `everything` also what is equal."""
    found = compared.comparison
    if found is None:
        return []
    shown: list[Line] = []
    for title, rows in ((_("Parameters"), found.parameters), (_("Inputs"), found.inputs)):
        if rows:
            differ = sum(row.differs for row in rows)
            note = ngettext("{n} of {all} differs", "{n} of {all} differ", differ).format(n=differ, all=len(rows))
            part = [_plain(row, digest=rows is found.inputs) for row in rows]
            shown += [Line(title, note), *(line for line in part if everything or line.differs)]
    if found.metrics:
        shown.append(Line(_("Metrics"), _("difference to {run}").format(run=letter(0))))
        shown += [
            Line(
                f"{row.title}, {row.unit}" if row.unit else row.title,
                "",
                tuple(_metric(cell, row.unit) for cell in row.cells),
                row.differs,
            )
            for row in found.metrics
        ]
    shown.append(Line(_("Run")))
    always = ("duration_s", "rows")
    shown += [_circumstance(row) for row in found.circumstances if everything or row.differs or row.name in always]
    return shown


def unlike_words(compared: Compared) -> str:
    """Who is not like for like with the first, and why that matters; "" = all are."""
    found = compared.comparison
    if found is None or not found.unlike:
        return ""
    place = {run: letter(at) for at, run in enumerate(compared.runs)}
    by_kinds: dict[tuple[str, ...], list[str]] = {}
    for other in found.unlike:
        by_kinds.setdefault(other.kinds, []).append(place[other.run])
    said = [
        _("{runs} {what}").format(runs=_letters(runs), what=measures.listed(_(_UNLIKE[kind]) for kind in kinds))
        for kinds, runs in by_kinds.items()
    ]
    return _("Measured by {first}: {what}. Parameters alone do not explain those differences.").format(
        first=letter(0), what="; ".join(said)
    )


def _letters(names: Sequence[str]) -> str:
    most = 8
    return (
        measures.listed(names)
        if len(names) <= most
        else _("{names} and {n} more").format(names=", ".join(names[:most]), n=len(names) - most)
    )


def _plain(row: Row, *, digest: bool) -> Line:
    cells = []
    for cell, odd in zip(row.cells, row.odd(), strict=True):
        text = measures.DASH if cell is None else measures.short(cell) if digest else cell
        cells.append(Cell(text, odd=odd and row.differs, whole=cell or ""))
    return Line(row.title, "", tuple(cells), row.differs)


def _circumstance(row: Row) -> Line:
    cells = []
    for cell, odd in zip(row.cells, row.odd(), strict=True):
        if cell is None:
            text = measures.DASH
        elif row.name == "duration_s":
            text = measures.duration(float(cell))
        elif row.name in ("code", "environment"):
            text = " ".join(measures.short(part) for part in cell.split(" "))
        elif row.name == "rows":
            text = measures.count(int(cell))
        elif row.name == "status":
            text = wording.status(cell).word
        else:
            text = cell
        cells.append(Cell(text, odd=odd and row.name not in ("duration_s", "rows"), whole=cell or ""))
    return Line(_(_CIRCUMSTANCES[row.name]), "", tuple(cells), row.differs)


def _metric(cell: MetricCell, unit: str) -> Cell:
    if cell.status == "absent":
        return Cell(measures.DASH, missing=True)
    if cell.value is None:
        why = celltext.reason(cell.reason)
        if cell.observations is not None:
            why = f"{why}, {celltext.counted(cell.observations, cell.needed)}"
        return Cell(why, missing=True, whole=f"{celltext.reason(cell.status)}: {why}")
    aside = _(_NO_DIFFERENCE[cell.why]) if cell.why in _NO_DIFFERENCE else ""
    if cell.difference is not None:
        sign = "" if cell.difference.startswith("-") else "+"
        aside = sign + celltext.number(cell.difference)
    own = f" {cell.unit}" if cell.unit and cell.unit != unit else ""  # not the one that its row names
    return Cell(celltext.number(cell.value) + own, aside)


class CompareModel(QAbstractTableModel):
    """Rows are lines, columns are runs. Attributes: heads, lines."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.heads: tuple[Head, ...] = ()
        self.lines: list[Line] = []

    def show_compared(self, compared: Compared, *, everything: bool) -> None:
        self.beginResetModel()
        self.heads, self.lines = compared.heads, lines(compared, everything=everything)
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.heads)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        line = self.lines[index.row()]
        cell = line.cells[index.column()] if line.cells else None
        if role == LINE:
            return line
        if role == CELL:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text if cell else line.note
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.spoken if cell else line.note
        if role == Qt.ItemDataRole.AccessibleTextRole:
            head = f"{line.title}, {letter(index.column())}"
            return f"{head}: {cell.spoken}" if cell else f"{line.title}, {line.note}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            if role == HEAD:
                return self.heads[section]
            if role == Qt.ItemDataRole.DisplayRole:
                return _("{letter}, run {n}").format(letter=letter(section), n=self.heads[section].run)
        elif role == LINE:
            return self.lines[section]
        elif role == Qt.ItemDataRole.DisplayRole:
            return self.lines[section].title
        return None

    def as_rows(self) -> list[list[str]]:
        """Heads first; a value with its difference in brackets."""
        heads = ["", *(_("run {n}").format(n=head.run) for head in self.heads)]
        rows = [heads]
        for line in self.lines:
            cells = [
                f"{cell.whole or cell.text} ({cell.aside})" if cell.aside else cell.whole or cell.text for cell in line.cells
            ]
            rows.append([line.title, *(cells or [""] * len(self.heads))])
        return rows
