"""Pages of published results, newest run first, each with its newest check (R16). Keyset by run number; no OFFSET."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from actum.limits import PAGE_ROWS_MAX
from actum.store.question import Question


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
    level: str | None = None  # how far the newest look went


_page = Question("lists.results")
_thorough = Question("lists.thorough")


def last_thorough_us(connection: sqlite3.Connection, run: int) -> int | None:
    """When every byte of a result was last looked at; None = never since it was published."""
    row = _thorough.run(connection, v_run=run).fetchone()
    return None if row is None or row["at_us"] is None else int(row["at_us"])


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
                row["level"],
            )
        )
    return found
