"""Pages of runs and of results: keyset by run number, no OFFSET.

A filter by several statuses is one bounded index walk per status, merged; `IN` with an order would read every match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, func, or_, select, union_all

from actum.limits import PAGE_ROWS_MAX
from actum.store.rows import RunListRow
from actum.store.schema import attempt, result, result_check, run, task_version
from actum.store.sql import constant

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

# Statuses of the two blocks of the list of runs, of one that is filtered by, and of none; by task or text or neither.
SHAPES: dict[str, Sequence[tuple[int | bool | str, ...]]] = {
    "lists.runs": [
        (statuses, task, text, "none") for statuses in (0, 1, 5) for task in (False, True) for text in (False, True)
    ],
    "lists.numbers": [(1 << power,) for power in range((PAGE_ROWS_MAX - 1).bit_length() + 1)],
}


def runs(statuses: int, task: bool, text: bool, deletion: str) -> Select[Any]:
    """The page for one shape of filter. The deletion is written out, so that the partial indices serve."""
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
        return _rows.where(*conditions).limit(bindparam("v_limit"))
    return _rows.where(run.c.number.in_(select(found.c.number))).limit(bindparam("v_limit"))


def numbers(count: int) -> Select[Any]:
    return _rows.where(run.c.number.in_([bindparam(f"v_number_{index}") for index in range(count)]))


def results() -> Select[Any]:
    """Published results, newest run first, each with its newest check."""
    newer = result_check.alias()
    newest = select(func.max(newer.c.seq)).where(newer.c.run == result.c.run).correlate(result).scalar_subquery()
    return (
        select(
            result.c.run,
            run.c.task,
            run.c.trigger,
            task_version.c.contract,
            result.c.metrics,
            result.c.tables,
            result.c.rows_total,
            result.c.size_bytes,
            result.c.committed_at_us,
            result_check.c.state,
            result_check.c.level,
            result_check.c.at_us,
        )
        .select_from(
            result.join(run, run.c.number == result.c.run)
            .join(task_version, task_version.c.seq == run.c.task_version)
            .join(result_check, result_check.c.seq == newest, isouter=True)
        )
        .where(result.c.run < bindparam("v_before"), constant("run.deletion = 'none'"))
        .order_by(result.c.run.desc())
        .limit(bindparam("v_limit"))
    )


def thorough() -> Select[Any]:
    """When a result was last looked at whole: every byte, or its content."""
    levels = constant("result_check.level IN ('bytes', 'content')")
    return select(func.max(result_check.c.at_us).label("at_us")).where(result_check.c.run == bindparam("v_run"), levels)


def _walk(conditions: list[ColumnElement[Any]]) -> Select[Any]:
    return select(run.c.number).where(and_(*conditions)).order_by(run.c.number.desc()).limit(bindparam("v_limit"))
