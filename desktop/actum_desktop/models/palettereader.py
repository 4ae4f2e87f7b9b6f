"""Reads tasks, runs and results for the palette: one thread, a read-only connection, a few rows a question.

A newer question makes the waiting one void; the one under way is short. Runs are looked for by number, by id, among the runs
of the tasks that match, and only then in keys and labels.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError
from actum.limits import PALETTE_GROUP_ROWS_MAX
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Qt, Signal, Slot

from actum_desktop import measures, tasktexts, wording
from actum_desktop.forms import presets
from actum_desktop.i18n import _
from actum_desktop.models import palette
from actum_desktop.models.palette import Again, Entry, Found
from actum_desktop.models.runcells import document
from actum_desktop.models.storethread import StoreThread

if TYPE_CHECKING:
    from actum.store.rows import TaskRow

    from actum_desktop.models.source import RunItem

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TEXT_CHARS_MIN = 2  # one letter stands everywhere


class PaletteReader(StoreThread):
    """Signals: `found` (palette.Found), in the thread of its owner."""

    found = Signal(object)
    _told = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(ws, parent)
        self._number = 0
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)

    def ask(self, text: str) -> None:
        self._number += 1
        self.start_alone(partial(self._look, self._number, text.strip()))

    def close(self) -> None:
        self._number += 1
        self._pool.clear()
        super().close()

    @Slot(object)
    def _on_told(self, found: Found) -> None:
        if found.number == self._number:
            self.found.emit(found)

    # ---- in the pool's thread

    def _look(self, number: int, text: str) -> None:
        try:
            found = self._find(number, text)
        except ActumError:  # nothing was ever written, or it cannot be read now: the pages say so
            found = Found(number, text, dict.fromkeys(("jump", "tasks", "runs", "results"), ()))
        self._told.emit(found)

    def _find(self, number: int, text: str) -> Found:
        words = palette.words_of(text)
        tasks = self.store().tasks()
        titles = {task.name: tasktexts.title(task.contract, task.name) for task in tasks}
        matching = [task for task in tasks if palette.matches(words, titles[task.name], task.name)]
        exact = self._exact(text)
        jump = () if exact is None else tuple(self._entries(self.store().run_rows([exact]), titles))
        runs = self._runs(text, [task.name for task in matching], None)
        results = self._runs(text, [task.name for task in matching], ("SUCCEEDED",)) if text else []
        groups = {
            "jump": jump,
            "tasks": tuple(self._task(task, titles[task.name]) for task in matching[:PALETTE_GROUP_ROWS_MAX]),
            "runs": tuple(self._entries([row for row in runs if row.number != exact], titles)),
            "results": tuple(_as_result(entry) for entry in self._entries(results, titles)),
        }
        whole = exact if exact is not None and _ID.fullmatch(text.lower()) else None
        return Found(number, text, groups, whole)

    def _task(self, task: TaskRow, title: str) -> Entry:
        """Its preset added last, else its last run, is what Ctrl+Enter runs; without either, what the task sets by itself."""
        again, hint = None, ""
        kept = presets.read(self.store().setting_rows().get(presets.setting_name(task.name)))
        if kept:
            again = Again(kept[-1].parameters, preset=kept[-1].name)
            hint = _("Ctrl Enter: preset “{name}”").format(name=kept[-1].name)
        elif last := self.store().runs_page(limit=1, task=task.name):
            again = Again(self.store().run(last[0].number).parameters, run=last[0].number)
            hint = _("Ctrl Enter: as run {n}").format(n=last[0].number)
        note = _("version {n}").format(n=task.version)
        return Entry("task", task.name, title, note, "squares-four", hint=hint, again=again)

    def _exact(self, text: str) -> int | None:
        """The run of this number or id."""
        asked: int | str = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text.lower()
        if isinstance(asked, str) and not _ID.fullmatch(asked):
            return None
        try:
            return int(self.store().resolve(asked))
        except ActumError:
            return None

    def _runs(self, text: str, tasks: list[str], statuses: tuple[str, ...] | None) -> list[Any]:
        """The newest runs of the tasks that match, then those whose key or labels hold the text."""
        most = PALETTE_GROUP_ROWS_MAX
        if not text:
            return list(self.store().runs_page(limit=most, statuses=statuses))
        found: dict[int, Any] = {}
        for task in tasks[:most]:
            found |= {row.number: row for row in self.store().runs_page(limit=most, statuses=statuses, task=task)}
        if len(found) < most and len(text) >= _TEXT_CHARS_MIN:
            found |= {row.number: row for row in self.store().runs_page(limit=most, statuses=statuses, text=text)}
        return [found[number] for number in sorted(found, reverse=True)[:most]]

    def _entries(self, rows: list[Any], titles: dict[str, str]) -> list[Entry]:
        from actum_desktop.models.storesource import run_item

        now = measures.now_us()
        entries = []
        for row in rows:
            item = run_item(row, titles.get(row.task, row.task))
            facts = item.implied_facts()
            if facts is None:
                of_run = self.store().facts(item.number)
                facts = tuple(fact.fact for fact in of_run if fact.n == item.n)
            entries.append(_run(item, facts, now))
        return entries


def _run(item: RunItem, facts: tuple[str, ...], now: int) -> Entry:
    word = wording.status(item.status, item.phase, item.released, contact=item.contact)
    said = wording.measure(document(item, None), now)
    note = measures.listed(
        part for part in (str(item.number), word.word.lower() if word.word.isascii() else word.word, said) if part
    )
    cannot_tell = item.open and item.contact == "cannot_tell"
    strip = wording.strip_of(item.status, item.phase, item.released, facts, item.failure, cannot_tell)
    when = measures.when(item.started_us or item.created_us, now)
    return Entry("run", item.number, item.title, note, word.icon, word.tone, when, strip)


def _as_result(entry: Entry) -> Entry:
    return Entry("result", entry.value, entry.title, str(entry.value), "table", "text2", entry.hint)
