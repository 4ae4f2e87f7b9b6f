"""The reading side over the store: one read-only connection of the GUI thread, for bounded looks only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from actum.store.queries import Reader
from actum.store.rows import RunListRow
from actum.workspace import Workspace

from actum_desktop import tasktexts
from actum_desktop.models.source import OPEN_STATUSES, AlertItem, Counts, RunItem


class StoreSource:
    """Implements `source.Source`. Raises NotFound(no_workspace) while nothing was ever written."""

    def __init__(self, ws: Workspace) -> None:
        self._reader = Reader(ws)
        self._contracts: dict[str, Mapping[str, Any]] = {}  # titles are worded when they are shown: the language may change

    def runs_page(self, before: int | None, limit: int, statuses: Sequence[str], text: str) -> list[RunItem]:
        if text.isdigit():
            return [item for item in self.runs([int(text)]) if item.status in statuses] if before is None else []
        rows = self._reader.runs_page(before=before, limit=limit, statuses=statuses, text=text or None)
        return [self._item(row) for row in rows]

    def runs(self, numbers: Iterable[int]) -> list[RunItem]:
        return [self._item(row) for row in self._reader.run_rows(numbers)]

    def fact_names(self, run: int) -> tuple[str, ...]:
        """Of the newest attempt."""
        rows = self._reader.facts(run)
        newest = max((row.n for row in rows), default=1)
        return tuple(row.fact for row in rows if row.n == newest)

    def counts(self) -> Counts:
        by_status = self._reader.counts()
        waiting = by_status.get("CREATED", 0)
        return Counts(sum(by_status.values()), sum(by_status.get(status, 0) for status in OPEN_STATUSES), waiting)

    def alerts(self) -> list[AlertItem]:
        rows = self._reader.alerts(open_only=True)
        runs = {item.number: item.title for item in self.runs({row.run for row in rows if row.run is not None})}
        return [
            AlertItem(row.key, row.code, row.severity, row.raised_at_us, row.run, runs.get(row.run or -1), row.data)
            for row in rows
        ]

    def setting(self, name: str) -> Any:
        return self._reader.settings().get(name)

    def settings(self) -> Mapping[str, Any]:
        return self._reader.settings()

    def forget_titles(self) -> None:
        """Tasks have changed."""
        self._contracts.clear()

    def close(self) -> None:
        self._reader.close()

    def _item(self, row: RunListRow) -> RunItem:
        return run_item(row, self._title(row.task))

    def _title(self, task: str) -> str:
        if not self._contracts:
            self._contracts = {row.name: row.contract for row in self._reader.tasks()}
        return tasktexts.title(self._contracts.get(task, {}), task)


def run_item(row: RunListRow, title: str) -> RunItem:
    """A row of the store as a list shows it."""
    return RunItem(
        row.number,
        row.task,
        title,
        row.trigger,
        row.status,
        row.phase,
        row.released,
        row.contact,
        row.n,
        row.failure_code,
        row.progress,
        row.activity,
        row.created_at_us,
        row.started_at_us,
        row.finished_at_us,
        row.stop_requested_at_us,
        row.retry_at_us,
    )
