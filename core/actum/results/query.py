"""Questions to one table file by DuckDB, closed off: no file but the table and one folder, no network (R19, R20).

A Parquet DuckDB reads itself. Of an authority, and where it would round, it is handed the batches, in the types it would find
in the Parquet (`askedtypes`): which of the two is asked changes no answer.
Values are bound, never written into SQL; names are quoted. Rows are told apart by their number in the file
(`file_row_number`), never by OFFSET. What it takes beyond QUERY_MEMORY_BYTES_MAX goes to the folder it was given.
`Query` is what a view of a table is made from: which rows, in which order, which columns. Its JSON is stable:
`{"schema": "actum.query/1", "where": condition|null, "order": [{"column", "descending"}], "columns": [names]|null}`, and where
only some rows of that are meant, `"rows": [[first, last]]`.
"""

from __future__ import annotations

import errno
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import ActumError, StorageFailed, WrongUse
from actum.results import columns, condition, conditionsql, digests
from actum.results.askedtypes import HandedOver
from actum.results.condition import Condition
from actum.results.conditionsql import quoted
from actum.results.rows import is_authority, open_rows
from actum.results.tablerows import Rows

if TYPE_CHECKING:
    import duckdb

__all__ = ["QUERY_SCHEMA", "ROW", "ROWS", "Order", "Query", "Table", "connected", "one", "pattern", "quoted"]

ROW = "__actum_row"  # the number of a row in the published table, in a view of it
# The rows of the one Parquet at $1 (its `pattern`): no columns out of the names of folders such as `year=2024`.
ROWS = "read_parquet($1, file_row_number=true, hive_partitioning=false)"
# Those of an authority, which `connected` hands over; $1 is bound here too, so that a question is the same for both.
_HANDED_OVER = "actum_rows"
_ROWS_HANDED_OVER = f"(SELECT * FROM {_HANDED_OVER} WHERE $1 IS NOT NULL)"
QUERY_SCHEMA = "actum.query/1"
_DUCK_DIGITS_MAX = 38  # of a decimal; longer ones would become floats
_PROGRESS_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Order:
    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Rows that meet `where` (None = all), by `order` (first counts most; equal rows as published), `columns` (None = all).

    `rows` = which of the rows that this leaves, counted from 0 in its order: (first, last) of each run of them, ascending, at
    most QUERY_ROW_RANGES_MAX. A view holds all its rows: these are taken from it (`exportsource`).
    """

    where: Condition | None = None
    order: tuple[Order, ...] = ()
    columns: tuple[str, ...] | None = None
    rows: tuple[tuple[int, int], ...] | None = None

    @property
    def viewed(self) -> Query:
        """What the rows are counted in."""
        return replace(self, rows=None)

    @property
    def whole(self) -> bool:
        """Whether it is the table as published."""
        return self.where is None and not self.order and self.columns is None and self.rows is None

    def to_json(self) -> dict[str, Any]:
        rows = {} if self.rows is None else {"rows": [list(each) for each in self.rows]}
        return rows | {
            "schema": QUERY_SCHEMA,
            "where": None if self.where is None else condition.to_json(self.where),
            "order": [{"column": item.column, "descending": item.descending} for item in self.order],
            "columns": None if self.columns is None else list(self.columns),
        }

    @classmethod
    def from_json(cls, document: object) -> Query:
        """Raises WrongUse (bad_query, bad_filter)."""
        if not isinstance(document, Mapping) or set(document) - {"rows"} != {"schema", "where", "order", "columns"}:
            raise _bad_query("It has exactly the members schema, where, order and columns, and may have rows.")
        if document["schema"] != QUERY_SCHEMA:
            raise _bad_query(f"Its schema is {QUERY_SCHEMA}.")
        where, columns = document["where"], document["columns"]
        if columns is not None and not (isinstance(columns, list) and columns and all(type(name) is str for name in columns)):
            raise _bad_query("“columns” is null or a list of names.")
        if columns is not None and len(set(columns)) < len(columns):
            raise _bad_query("A column is named once.")
        order = document["order"]
        if not isinstance(order, list) or len(order) > limits.ORDER_COLUMNS_MAX:
            raise _bad_query(f"“order” is a list of at most {limits.ORDER_COLUMNS_MAX}.")
        return cls(
            None if where is None else condition.from_json(where),
            tuple(_order(item) for item in order),
            None if columns is None else tuple(columns),
            None if document.get("rows") is None else _row_ranges(document["rows"]),
        )


def _row_ranges(document: object) -> tuple[tuple[int, int], ...]:
    if not isinstance(document, list) or not 0 < len(document) <= limits.QUERY_ROW_RANGES_MAX:
        raise _bad_query(f"“rows” is a list of 1 to {limits.QUERY_ROW_RANGES_MAX:,} pairs.")
    found: list[tuple[int, int]] = []
    for item in document:
        if not (isinstance(item, list) and len(item) == 2 and all(type(row) is int for row in item)):
            raise _bad_query("Each of “rows” is a pair of whole numbers.")
        if not (found[-1][1] if found else -1) < item[0] <= item[1]:
            raise _bad_query("The pairs of “rows” ascend from 0, and none is twice.")
        found.append((item[0], item[1]))
    return tuple(found)


def _order(item: object) -> Order:
    if not isinstance(item, Mapping) or set(item) != {"column", "descending"}:
        raise _bad_query("Each of “order” has column and descending.")
    if type(item["column"]) is not str or type(item["descending"]) is not bool:
        raise _bad_query("Each of “order” has column and descending.")
    return Order(item["column"], item["descending"])


def _bad_query(why: str) -> WrongUse:
    return WrongUse("bad_query", "The question cannot be understood.", why)


class Table:
    """One table file that can be asked.

    Attributes: kinds (by column), rows, source (SQL that stands after FROM), row (SQL of a row's number).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_rows(path) as opened:
            schema, self.rows = opened.schema, opened.total
            handed = _is_handed_over(opened)
        self.described: list[dict[str, Any]] = [item for item in columns.describe(schema) if item["name"] != ROW]
        self.kinds: dict[str, str] = {item["name"]: str(item["type"]) for item in self.described}
        self.source = _ROWS_HANDED_OVER if handed else ROWS
        self.row = quoted(ROW) if ROW in schema.names else "file_row_number"

    def kind(self, name: str) -> str:
        if name not in self.kinds:
            raise WrongUse("no_column", f"The table has no column “{name[:80]}”.")
        return self.kinds[name]

    def check_exact(self) -> None:
        """Refuses a table whose rows cannot be carried over without loss."""
        for item in self.described:
            if item["type"] == "decimal" and int(item["precision"] or 0) > _DUCK_DIGITS_MAX:
                why = f"“{item['name']}” has {item['precision']} digits; {_DUCK_DIGITS_MAX} can be carried over exactly."
                raise ActumError("no_exact_view", "This table cannot be sorted or filtered exactly.", why)

    def where(self, where: Condition | None, first: int = 2) -> tuple[str, list[Any]]:
        """The condition as SQL, with placeholders numbered from `first`, and their values. Raises WrongUse."""
        if where is None:
            return "TRUE", []
        condition.check_size(where)
        return conditionsql.compiled(where, {str(item["name"]): item for item in self.described}, first)

    def sorting(self, order: Sequence[Order]) -> str:
        """What stands after ORDER BY: missing values last in either direction, equal rows as they are in the file."""
        for item in order:
            self.kind(item.column)
        parts = [f"{quoted(item.column)} {'DESC' if item.descending else 'ASC'} NULLS LAST" for item in order]
        return ", ".join([*parts, "file_row_number"])


def pattern(path: Path) -> str:
    """The path as DuckDB's pattern that matches it alone: it would look for other files behind `*`, `?` and `[`."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


@contextmanager
def connected(
    path: Path,
    folder: Path | None,
    progress: digests.Progress = digests.no_progress,
    names: Iterable[str] | None = None,
    *,
    memory_bytes: int | None = None,
    trusting: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that sees `path` (its `pattern` is $1 of its queries), and may write below `folder`; None = nowhere.

    Of an authority it sees the columns `names` (None = all). Its queries report percents, and hold `memory_bytes` at most
    (None = QUERY_MEMORY_BYTES_MAX). `trusting` = it believes the file's statistics, which leave NaN out: for who compares no
    values. Raises ActumError(query_failed | result_damaged), StorageFailed(disk_full) instead of what DuckDB raises.
    """
    import duckdb

    handed: HandedOver | None = None
    with ExitStack() as kept:
        rows = kept.enter_context(open_rows(path))
        if _is_handed_over(rows):
            handed = HandedOver(rows, names)
        connection = duckdb.connect(":memory:")
        kept.callback(connection.close)
        try:
            _close_off(connection, path, folder, memory_bytes, trusting)
            if handed is not None:
                connection.register(_HANDED_OVER, handed)
            with _reporting(connection, progress, handed):
                yield connection
        except duckdb.OutOfMemoryException as error:
            why = _first_line(error)
            raise ActumError("query_failed", "The table is too large for this.", why, "Filter it first.") from error
        except duckdb.Error as error:
            if handed is not None and handed.failed is not None:
                raise handed.failed from error
            if os.strerror(errno.ENOSPC) in str(error):
                raise StorageFailed("asking the table", OSError(errno.ENOSPC, _first_line(error))) from error
            raise ActumError("query_failed", "The table could not be asked.", _first_line(error)) from error


def _is_handed_over(rows: Rows) -> bool:
    """DuckDB reads decimals of more than 38 digits out of a Parquet with another rounding than they have as doubles."""
    import pyarrow.types as is_

    return is_authority(rows.path) or any(is_.is_decimal256(field.type) for field in rows.schema)


def _close_off(
    connection: duckdb.DuckDBPyConnection, path: Path, folder: Path | None, memory_bytes: int | None, trusting: bool
) -> None:
    unbelieved = "" if trusting else "statistics_propagation"  # statistics of Parquet leave NaN out
    settings: Mapping[str, str] = {
        "threads": str(limits.QUERY_THREADS_MAX),
        "memory_limit": _literal(f"{(memory_bytes or limits.QUERY_MEMORY_BYTES_MAX) >> 20}MiB"),
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        "temp_directory": _literal("" if folder is None else str(folder / "spill")),
        "disabled_optimizers": _literal(unbelieved),
        "enable_external_file_cache": "false",
        "preserve_insertion_order": "true",
        "allowed_paths": f"[{_literal(str(path))}, {_literal(pattern(path))}]",
        "allowed_directories": "[]" if folder is None else f"[{_literal(str(folder))}]",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")


@contextmanager
def _reporting(connection: duckdb.DuckDBPyConnection, progress: digests.Progress, handed: HandedOver | None) -> Iterator[None]:
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_PROGRESS_EVERY_S):
            percent = connection.query_progress() if handed is None else handed.percent
            if percent > 0:
                progress(min(99, int(percent)), 100, "percent")

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()


def one(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """The one row that a question must have."""
    row = connection.execute(sql, list(values)).fetchone()
    if row is None:
        raise ActumError("query_failed", "The table could not be asked.", "No row came back.")
    return tuple(row)


def finite(kind: str, expression: str) -> str:
    """A condition that keeps what can be measured: values, and of floats the finite ones."""
    return f"isfinite({expression})" if kind == "float64" else f"{expression} IS NOT NULL"


def as_number(kind: str, expression: str) -> str:
    """A number to draw: times as seconds since 1970."""
    return f"epoch({expression})" if kind in ("date", "timestamp") else f"CAST({expression} AS DOUBLE)"


def sampled(table: Table, rows_max: int) -> tuple[str, int | None]:
    """A condition that takes every n-th row where there are more than `rows_max`, and how many that leaves (None = all)."""
    if table.rows <= rows_max:
        return "TRUE", None
    step = -(-table.rows // rows_max)
    return f"file_row_number % {step} = 0", -(-table.rows // step)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:300]
