"""Invented tasks and runs for pictures and extents of the Tasks screens; nothing is behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from actum.recipes.registry import documents
from actum_desktop.models.source import RunItem
from actum_desktop.models.tasks import TaskItem, task_item

from tests.helpers import stage
from tests.helpers.everytype import EVERY
from tests.helpers.showdocs import MINUTE, NOW

_OWN: tuple[tuple[str, str, str, str], ...] = (
    ("sync-users", "Sync users table", "Copies the users table to Parquet in 32 shards that can be resumed.", "function"),
    ("train-churn", "Train churn model", "Fits 30 folds on the March features and writes scores and a model card.", "program"),
    ("export-march", "Export March reports", "Writes 48 reports as CSV and XLSX, each read back and compared.", "program"),
    ("convert", "Convert invoices", "Cleans supplier invoices from XLSX and JSON lines into one table.", "function"),
)

PRESETS: list[dict[str, Any]] = [
    {"name": "Monthly review", "parameters": {"window": "30", "prices": "/data/prices-2026-03.csv"}},
    {"name": "Daily check", "parameters": {"window": "5"}},
]


def item(document: dict[str, Any] | Any, *, built_in: bool) -> TaskItem:
    return task_item(document, document["name"], document["version"], built_in=built_in)


def tasks() -> list[TaskItem]:
    found = [item(document, built_in=True) for document in documents()]
    found.append(item(EVERY, built_in=False))
    for name, title, description, kind in _OWN:
        found.append(TaskItem(name, title, "3", description, kind, False, False, {**EVERY, "name": name, "title": title}))
    return found


class PreparedShelf:
    """Implements `tasks.Shelf` over invented items."""

    def __init__(self, presets: list[dict[str, Any]] | None = None) -> None:
        self._tasks = tasks()
        self._presets = presets or []

    def tasks(self) -> list[TaskItem]:
        return self._tasks

    def last_runs(self, task: str, limit: int) -> list[RunItem]:
        if task == "export-march":
            return []
        first = {"sync-users": 216, "train-churn": 217, "convert": 210}.get(task, 211)
        newest = next(run for run in stage.runs() if run.number == first)
        rows = [newest]
        for index in range(1, limit):
            started = NOW - (60 * 24 * index) * MINUTE
            took = int((4 + (index * 7 % 5) / 4) * MINUTE)
            status = "FAILED" if (index + len(task)) % 7 == 0 else "SUCCEEDED"
            ended = replace(newest, status=status, phase="CLOSED", released=True, contact="ok", progress=None, stop_us=None)
            times = {"created_us": started, "started_us": started, "finished_us": started + took}
            rows.append(replace(ended, number=200 - index, failure=None, facts=None, **times))
        return rows

    def facts(self, run: int) -> tuple[str, ...]:
        return ()

    def setting(self, name: str) -> Any:
        return self._presets if name.startswith("presets/") else 1 << 30 if name == "input_copy_bytes_max" else None

    def close(self) -> None:
        self._tasks = []
