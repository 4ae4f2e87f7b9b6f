"""What was left over at launch, row by row: verdict, run, evidence, what is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import wording
from actum_desktop.controller.events import Verdict
from actum_desktop.i18n import _
from actum_desktop.ledger import Strip
from actum_desktop.models.source import RunItem, Source
from actum_desktop.wording import VerdictWords

Index = QModelIndex | QPersistentModelIndex
LEFTOVER = int(Qt.ItemDataRole.UserRole)
ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class Leftover:
    run: int
    title: str
    sub: str
    words: VerdictWords
    strip: Strip | None

    @property
    def sentence(self) -> str:
        words = self.words
        parts = [words.word, self.title, self.sub, *words.evidence, words.done, words.after]
        return ". ".join(part.rstrip(".。") for part in parts if part)


def is_news(verdict: Verdict) -> bool:
    """Whether it is a reason for the launch screen: a run that only waits is none, nor what an alert tells since before."""
    return verdict.row != 1 and not verdict.evidence.get("told_before")


def of_closed(verdict: Verdict) -> bool:
    """Whether it is about what was closed and released when it was looked at."""
    return verdict.row in (2, 3, 8)


def with_answer(verdicts: Sequence[Verdict], answer: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """The verdicts of the launch, and those that a later look brought of what was not among them."""
    known = {_which(verdict) for verdict in verdicts}
    told = [Verdict(**{key: each[key] for key in Verdict.__dataclass_fields__}) for each in answer]
    return [*verdicts, *(verdict for verdict in told if _which(verdict) not in known)]


def _which(verdict: Verdict) -> tuple[str, int]:
    """The attempt, and which of its verdicts: of what lives of it, of its result or package; one that is open has one."""
    return verdict.attempt, verdict.row if of_closed(verdict) else 0


def leftovers(verdicts: Sequence[Verdict], source: Source | None) -> list[Leftover]:
    """The rows of the register, in the order of their run numbers."""
    known: dict[int, RunItem] = {}
    if source is not None and verdicts:
        known = {item.number: item for item in source.runs({verdict.run for verdict in verdicts})}
    rows = []
    for verdict in sorted(verdicts, key=lambda verdict: verdict.run):
        item = known.get(verdict.run)
        title = item.title if item else _("Run {n}").format(n=verdict.run)
        sub = _("{run} · attempt {n}").format(run=verdict.run, n=verdict.n)
        rows.append(Leftover(verdict.run, title, sub, wording.verdict(verdict), _strip(item, source)))
    return rows


def _strip(item: RunItem | None, source: Source | None) -> Strip | None:
    if item is None or source is None:
        return None
    facts = item.implied_facts() or source.fact_names(item.number)
    held = item.open and item.contact == "cannot_tell"
    return wording.strip_of(item.status, item.phase, item.released, facts, item.failure, held)


class LaunchModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Leftover] = []

    def show(self, rows: list[Leftover]) -> None:
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == LEFTOVER:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.sentence
        return None

    def held(self) -> int:
        return sum(row.words.icon == "question-fill" for row in self._rows)
