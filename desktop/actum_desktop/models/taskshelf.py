"""The tasks over the store: one read-only connection of the GUI thread, for bounded looks only."""

from __future__ import annotations

from typing import Any

from actum.store.queries import Reader
from actum.store.rows import TaskRow
from actum.workspace import Workspace

from actum_desktop.models.source import RunItem
from actum_desktop.models.storesource import run_item
from actum_desktop.models.tasks import TaskItem, task_item


class TaskShelf:
    """Implements `tasks.Shelf`. Raises NotFound(no_workspace) while nothing was ever written."""

    def __init__(self, ws: Workspace) -> None:
        self._reader = Reader(ws)

    def tasks(self) -> list[TaskItem]:
        return [_item(row) for row in self._reader.tasks()]

    def last_runs(self, task: str, limit: int) -> list[RunItem]:
        """Newest first."""
        return [run_item(row, row.task) for row in self._reader.runs_page(limit=limit, task=task)]

    def facts(self, run: int) -> tuple[str, ...]:
        """Of the newest attempt."""
        rows = self._reader.facts(run)
        newest = max((row.n for row in rows), default=1)
        return tuple(row.fact for row in rows if row.n == newest)

    def setting(self, name: str) -> Any:
        """A known setting, or the row as stored."""
        known = self._reader.settings()
        return known[name] if name in known else self._reader.setting_rows().get(name)

    def close(self) -> None:
        self._reader.close()


def _item(row: TaskRow) -> TaskItem:
    return task_item(row.contract, row.name, row.version, built_in=row.built_in, disabled=row.disabled)
