"""The tasks of a workspace as the gallery shows them: one item a task, its newest runs looked up when it is painted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from actum import clock
from actum.limits import LIVE_RUNS_KEPT_MAX
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from actum_desktop import measures, tasktexts
from actum_desktop.controller.events import Live
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import runcells
from actum_desktop.models.runcells import RunCells
from actum_desktop.models.source import RunItem

LAST_RUNS = 14  # of one task, as bars on its card
Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class TaskItem:
    """One task in its newest version. `contract` is its document."""

    name: str
    title: str
    version: str
    description: str
    kind: str
    built_in: bool
    disabled: bool
    contract: Mapping[str, Any]

    def file_parameters(self) -> list[tuple[str, str, bool]]:
        """(name, title, several) of each parameter that takes files."""
        return [
            (str(each.get("name")), str(each.get("title") or each.get("name")), each.get("type") == "files")
            for each in self.contract.get("parameters") or ()
            if each.get("type") in ("file", "files")
        ]

    @property
    def first_words(self) -> str:
        """The first paragraph of the description."""
        return " ".join(self.description.partition("\n\n")[0].split())


def task_item(contract: Mapping[str, Any], name: str, version: str, *, built_in: bool, disabled: bool = False) -> TaskItem:
    """A task of this contract document, its texts in the language of now."""
    said = tasktexts.shown(contract)
    kind = str((said.get("work") or {}).get("kind") or "")
    title = str(said.get("title") or name)
    return TaskItem(name, title, version, str(said.get("description") or ""), kind, built_in, disabled, said)


class Shelf(Protocol):
    """The reading side of tasks; every call is bounded."""

    def tasks(self) -> list[TaskItem]: ...

    def last_runs(self, task: str, limit: int) -> list[RunItem]: ...

    def facts(self, run: int) -> tuple[str, ...]: ...

    def setting(self, name: str) -> Any: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Bar:
    """One past run: `part` of the longest, hollow when it did not succeed."""

    part: float
    failed: bool


@dataclass(frozen=True, slots=True)
class CardRuns:
    """What a card says of the newest runs: bars oldest first, a sentence about them, the newest run."""

    bars: tuple[Bar, ...] = ()
    sentence: str = ""
    newest: RunCells | None = None
    when: str = ""
    span: tuple[float, float, int] | None = None  # shortest and longest success in seconds, and of how many


def card_runs(runs: Sequence[RunItem], live: Mapping[int, Live], now: int) -> CardRuns:
    """`runs` newest first."""
    if not runs:
        return CardRuns(sentence=_("never run"))
    closed = [run for run in runs if not run.open]
    times = [_seconds(run) for run in closed]
    longest = max((time for time in times if time is not None), default=0.0) or 1.0
    bars = tuple(
        Bar(max(0.15, (time or 0) / longest), run.status != "SUCCEEDED") for run, time in zip(closed, times, strict=True)
    )
    good = sum(run.status == "SUCCEEDED" for run in closed)
    if not closed:
        sentence = ""
    elif good == len(closed):
        sentence = ngettext("{n} run succeeded", "all {n} succeeded", good).format(n=good)
    else:
        sentence = _("{good} of {n} succeeded").format(good=good, n=len(closed))
    newest = runs[0]
    cells = runcells.cells(newest, live.get(newest.number), newest.implied_facts() or (), now)
    when = cells.percent if newest.open else measures.when(newest.finished_us or newest.created_us, now)
    spans = [time for run, time in zip(closed, times, strict=True) if run.status == "SUCCEEDED" and time is not None]
    span = (min(spans), max(spans), len(spans)) if spans else None
    return CardRuns(bars[::-1], sentence, cells, when, span)


def _seconds(run: RunItem) -> float | None:
    if run.started_us is None or run.finished_us is None:
        return None
    return clock.passed_s(run.started_us, run.finished_us, active_s=(run.activity or {}).get("active_s"))


class TasksModel(QAbstractListModel):
    """Tasks by their own first, then by title; filtered by words and by whose they are ("" | own | built_in)."""

    def __init__(self, shelf: Shelf | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._all: list[TaskItem] = []
        self._items: list[TaskItem] = []
        self._runs: dict[str, CardRuns] = {}
        self._live: dict[int, Live] = {}
        self._text, self._whose = "", ""

    def use(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self.reload()

    def reload(self) -> None:
        """After tasks have changed."""
        self.beginResetModel()
        found = self._shelf.tasks() if self._shelf is not None else []
        # one's own first, then what does real work, the demonstrations last
        self._all = sorted(found, key=lambda t: (t.built_in, t.name.startswith("demo-"), t.title.casefold(), t.name))
        self._runs.clear()
        self._items = [item for item in self._all if self._fits(item)]
        self.endResetModel()

    def set_filter(self, text: str, whose: str) -> None:
        self.beginResetModel()
        self._text, self._whose = text.strip().casefold(), whose
        self._items = [item for item in self._all if self._fits(item)]
        self.endResetModel()

    def _fits(self, item: TaskItem) -> bool:
        if self._whose and (self._whose == "built_in") != item.built_in:
            return False
        words = f"{item.name} {item.title} {item.description}".casefold()
        return all(word in words for word in self._text.split())

    def runs_changed(self, live: Iterable[Live]) -> None:
        """Some run has moved: cards are looked up anew when they are painted."""
        for each in live:
            self._live[each.run] = each
        if len(self._live) > LIVE_RUNS_KEPT_MAX:
            self._live.clear()
        self._runs.clear()
        if self._items:
            self.dataChanged.emit(self.index(0), self.index(len(self._items) - 1))

    # ---- reading

    @property
    def total(self) -> int:
        return len(self._all)

    def all_items(self) -> list[TaskItem]:
        """Those that are filtered away as well."""
        return [item for item in self._all if not item.disabled]

    def item(self, row: int) -> TaskItem:
        return self._items[row]

    def named(self, name: str) -> TaskItem | None:
        return next((item for item in self._all if item.name == name), None)

    def row_of(self, name: str) -> int:
        return next((row for row, item in enumerate(self._items) if item.name == name), -1)

    def card(self, item: TaskItem) -> CardRuns:
        found = self._runs.get(item.name)
        if found is None:
            runs = self._shelf.last_runs(item.name, LAST_RUNS) if self._shelf is not None else []
            found = self._runs[item.name] = card_runs(runs, self._live, measures.now_us())
        return found

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._items[index.row()].title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.sentence(self._items[index.row()])
        return None

    def sentence(self, item: TaskItem) -> str:
        """What a screen reader says of a card."""
        card = self.card(item)
        parts = [item.title, item.first_words, card.sentence]
        if card.newest is not None:
            parts.append(f"{card.newest.status.word} {card.when}".strip())
        if item.disabled:
            parts.append(_("disabled"))
        return measures.joined(*(f"{part.rstrip('.。')}." for part in parts if part))


def kind_words(item: TaskItem) -> str:
    """Second line of a card: what kind of work it is."""
    if item.built_in:
        return _("Comes with Actum")
    words = {"program": _("A program"), "function": _("A Python function")}
    return words.get(item.kind, item.kind)


def icon_of(item: TaskItem) -> str:
    by_name = {"return-and-risk": "chart-bar", "demo-steps": "timer", "demo-stall": "warning", "demo-fails": "x-circle"}
    return by_name.get(item.name) or {"program": "terminal-window", "function": "code"}.get(item.kind, "package")
