"""Pages of runs: keyset by number over partial indices, so that the newest 200 of 1,000,000 take about a millisecond.

A filter by several statuses is one bounded index walk per status, merged; `IN` with an order would read every match.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, or_, select, union_all

from actum.store.rows import RunListRow
from actum.store.schema import attempt, result, run, task_version
from actum.store.sql import Statement, constant


@dataclass(frozen=True, slots=True)
class Page:
    """What is asked for. Empty `statuses` = all."""

    before: int | None
    limit: int
    statuses: tuple[str, ...]
    task: str | None
    text: str | None
    deletion: str


_COLUMNS: dict[str, ColumnElement[Any]] = {
    **{column.name: column for column in run.c},
    "task_version": task_version.c.version,
    "attempt": attempt.c.id,
    "attempt_status": attempt.c.status,
    "result_digest": result.c.digest,
    **{name: attempt.c[name] for name in ("n", "phase", "released", "contact", "failure_code", "progress", "activity")},
}
_rows = (
    select(*(_COLUMNS[name].label(name) for name in RunListRow._fields))
    .select_from(
        run.join(attempt, attempt.c.id == run.c.current_attempt)
        .join(task_version, task_version.c.seq == run.c.task_version)
        .join(result, result.c.run == run.c.number, isouter=True)
    )
    .order_by(run.c.number.desc())
)
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
    values = {f"v_number_{index}": number for index, number in enumerate(numbers)}
    return _made(_by_numbers(len(numbers)).run(connection, **values))


@lru_cache(maxsize=64)
def _by_numbers(count: int) -> Statement:
    return Statement(_rows.where(run.c.number.in_([bindparam(f"v_number_{index}") for index in range(count)])))


@lru_cache(maxsize=128)
def _page(statuses: int, task: bool, text: bool, deletion: str) -> Statement:
    """The statement for one shape of filter. The deletion is written out, so that the partial indices serve."""
    alive: ColumnElement[Any] = constant("run.deletion = 'none'") if deletion == "none" else run.c.deletion == deletion
    conditions: list[ColumnElement[Any]] = [alive, run.c.number < bindparam("v_before")]
    if task:
        conditions.append(run.c.task == bindparam("v_task"))
    if text:
        pattern: BindParameter[str] = bindparam("v_text")
        conditions.append(or_(*(column.like(pattern, escape="\\") for column in (run.c.task, run.c.key, run.c.labels))))
    if statuses == 1:
        conditions.append(run.c.status == bindparam("v_status_0"))
    if statuses > 1:
        walks = [
            select(_walk([*conditions, run.c.status == bindparam(f"v_status_{index}")]).subquery().c.number)
            for index in range(statuses)
        ]
        found = union_all(*walks).subquery()
    elif text:
        found = _walk(conditions).subquery()
    else:
        return Statement(_rows.where(*conditions).limit(bindparam("v_limit")))
    return Statement(_rows.where(run.c.number.in_(select(found.c.number))).limit(bindparam("v_limit")))


def _walk(conditions: list[ColumnElement[Any]]) -> Select[Any]:
    return select(run.c.number).where(and_(*conditions)).order_by(run.c.number.desc()).limit(bindparam("v_limit"))


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
