"""Pages of runs: keyset by number over partial indices, so that the newest 200 of 1,000,000 take about a millisecond.

Their clauses, and how a filter by several statuses is walked, are in `clauses/lists.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from actum.store.question import Question
from actum.store.rows import RunListRow


@dataclass(frozen=True, slots=True)
class Page:
    """What is asked for. Empty `statuses` = all."""

    before: int | None
    limit: int
    statuses: tuple[str, ...]
    task: str | None
    text: str | None
    deletion: str


_LABELS, _RELEASED, _PROGRESS, _ACTIVITY = (
    RunListRow._fields.index(name) for name in ("labels", "released", "progress", "activity")
)


def read(connection: sqlite3.Connection, page: Page) -> list[RunListRow]:
    """The page's rows, newest first."""
    values: dict[str, Any] = {"v_before": (1 << 62) if page.before is None else page.before, "v_limit": page.limit}
    values |= {f"v_status_{index}": status for index, status in enumerate(page.statuses)}
    if page.task is not None:
        values["v_task"] = page.task
    if page.text:
        values["v_text"] = f"%{_escaped(page.text)}%"
    statement = _page(len(page.statuses), page.task is not None, bool(page.text), page.deletion)
    return _made(statement.run(connection, **values))


def by_numbers(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[RunListRow]:
    if not numbers:
        return []
    count = 1 << (len(numbers) - 1).bit_length()  # a few statements serve every count: the last number fills the rest
    given = [*numbers, *[numbers[-1]] * (count - len(numbers))]
    return _made(_by_numbers(count).run(connection, **{f"v_number_{index}": number for index, number in enumerate(given)}))


@lru_cache(maxsize=64)
def _by_numbers(count: int) -> Question:
    return Question("lists.numbers", count)


@lru_cache(maxsize=128)
def _page(statuses: int, task: bool, text: bool, deletion: str) -> Question:
    return Question("lists.runs", statuses, task, text, deletion)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _made(cursor: sqlite3.Cursor) -> list[RunListRow]:
    """The rows of a cursor; its columns are the fields in order. Fetched at once: a turn of Python for each row costs more
    than the query."""
    cursor.row_factory = None
    found = []
    for row in cursor.fetchall():
        values = list(row)
        values[_LABELS] = _labels(values[_LABELS])
        values[_RELEASED] = values[_RELEASED] == 1
        for index in (_PROGRESS, _ACTIVITY):
            if values[index] is not None:
                values[index] = json.loads(values[index])
        found.append(RunListRow._make(values))
    return found


@lru_cache(maxsize=256)
def _labels(text: str) -> tuple[str, ...]:
    """Parsed once: the runs of a page mostly have labels in common, and what is handed out cannot be changed."""
    return tuple(json.loads(text))
