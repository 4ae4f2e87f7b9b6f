"""A view of a table: its rows filtered and sorted, written as a Parquet of its own, exact and whole (R13, §17).

The published table is only read. The view carries each row's number in it (`query.ROW`), keeps its column types, and is
paged like any table. Missing values stand last in either direction; equal rows keep the order of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from actum import limits
from actum.results import digests, query
from actum.results.condition import columns_of
from actum.results.query import Query, quoted

Watch = Callable[[Callable[[], None]], AbstractContextManager[None]]


def make(
    path: Path,
    out: Path,
    asked: Query,
    progress: digests.Progress = digests.no_progress,
    watched: Watch = lambda give_up: nullcontext(),
) -> dict[str, Any]:
    """Write the view of `path` to `out`, whose folder is the view's own. Returns `{"path", "rows", "of", "exact": True}`.

    `watched` = what holds while it is written, given how to give that up. Raises WrongUse (no_column, bad_filter, bad_value),
    ActumError (no_exact_view, query_failed, disk_full).
    """
    table = query.Table(path)
    table.check_exact()
    where, values = table.where(asked.where, first=3)
    names = table.kinds if asked.columns is None else asked.columns
    for name in names:
        table.kind(name)
    shown = ", ".join(quoted(name) for name in names)
    # Without an order rows come as they are in the file: DuckDB keeps it (`preserve_insertion_order`), and need not sort.
    order = f" ORDER BY {table.sorting(asked.order)}" if asked.order else ""
    sql = (
        f"COPY (SELECT {shown}, {table.row} AS {quoted(query.ROW)} FROM {table.source} "
        f"WHERE {where}{order}) TO $2 "
        f"(FORMAT parquet, ROW_GROUP_SIZE {limits.ROW_GROUP_ROWS_MAX}, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
        "USE_TMP_FILE false)"
    )
    needed = {*names, *columns_of(asked.where), *(item.column for item in asked.order)}
    with query.connected(path, out.parent, progress, needed) as connection, watched(connection.interrupt):
        rows = int(query.one(connection, sql, [query.pattern(path), str(out), *values])[0])
    return {"path": str(out), "rows": rows, "of": table.rows, "exact": True}


def place(path: Path, row: int, progress: digests.Progress = digests.no_progress) -> int | None:
    """Where the row `row` of the published table stands in this view of it (from 0); None where the view leaves it out."""
    table = query.Table(path)
    sql = f"SELECT min(file_row_number) FROM {table.source} WHERE {table.row} = $2"
    with query.connected(path, None, progress) as connection:
        found = query.one(connection, sql, [query.pattern(path), row])[0]
    return None if found is None else int(found)
