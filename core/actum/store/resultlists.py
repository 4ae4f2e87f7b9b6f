"""Pages of published results, newest run first, each with its newest check (R16). Keyset by run number; no OFFSET."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from actum.limits import PAGE_ROWS_MAX
from actum.store.schema import result, result_check, run, task_version
from actum.store.sql import Statement, constant


@dataclass(frozen=True, slots=True)
class ResultListRow:
    """One published result in a list. `state` None = never looked at since it was published."""

    run: int
    task: str
    title: str
    trigger: str
    metrics: int
    tables: tuple[str, ...]
    rows: int
    size_bytes: int
    committed_at_us: int
    state: str | None
    checked_at_us: int | None
    recipe: bool = False  # of a task that comes with Actum


_newer = result_check.alias()
_newest = select(func.max(_newer.c.seq)).where(_newer.c.run == result.c.run).correlate(result).scalar_subquery()
_page = Statement(
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
        result_check.c.at_us,
    )
    .select_from(
        result.join(run, run.c.number == result.c.run)
        .join(task_version, task_version.c.seq == run.c.task_version)
        .join(result_check, result_check.c.seq == _newest, isouter=True)
    )
    .where(result.c.run < bindparam("v_before"), constant("run.deletion = 'none'"))
    .order_by(result.c.run.desc())
    .limit(bindparam("v_limit"))
)


def page(connection: sqlite3.Connection, before: int | None = None, limit: int = PAGE_ROWS_MAX) -> list[ResultListRow]:
    """The newest results of runs with a number below `before`, at most PAGE_ROWS_MAX."""
    values = {"v_before": (1 << 62) if before is None else before, "v_limit": min(limit, PAGE_ROWS_MAX)}
    found = []
    for row in _page.run(connection, **values).fetchall():
        tables, contract = json.loads(row["tables"]), json.loads(row["contract"])
        found.append(
            ResultListRow(
                row["run"],
                row["task"],
                str(contract.get("title") or row["task"]),
                row["trigger"],
                len(json.loads(row["metrics"])),
                tuple(str(table.get("name") or table.get("table")) for table in tables),
                row["rows_total"],
                row["size_bytes"],
                row["committed_at_us"],
                row["state"],
                row["at_us"],
                contract.get("work") == {"kind": "recipe", "name": row["task"]},
            )
        )
    return found
