"""Questions to one Parquet file by DuckDB, closed off: no file but the table and one folder, no network (R19, R20).

Values are bound, never written into SQL; names are quoted. Rows are told apart by their number in the file
(`file_row_number`), never by OFFSET. What it takes beyond QUERY_MEMORY_BYTES_MAX goes to the folder it was given.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import ActumError, WrongUse
from actum.results import columns, digests

if TYPE_CHECKING:
    import duckdb

ROW = "__actum_row"  # the number of a row in the published table, in a view of it
_NUMBERS = ("integer", "decimal", "float64")
_COMPARE = {"is": "=", "is_not": "<>", "below": "<", "at_most": "<=", "above": ">", "at_least": ">="}
_WITHOUT_VALUE = {"missing": "{c} IS NULL", "present": "{c} IS NOT NULL", "true": "{c}", "false": "NOT {c}"}
_DUCK_DIGITS_MAX = 38  # of a decimal; longer ones would become floats
_PROGRESS_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on one column. Operators: `operators(type)`; `value` is text as typed, None where none is taken."""

    column: str
    operator: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    column: str
    descending: bool = False


def operators(kind: str) -> tuple[str, ...]:
    """What can be asked of a column of this type (the words of `columns.describe`)."""
    if kind == "boolean":
        return ("true", "false", "missing", "present")
    if kind == "text":
        return ("contains", "is", "is_not", "begins", "missing", "present")
    if kind in (*_NUMBERS, "date", "timestamp"):
        return (*_COMPARE, "missing", "present")
    return ("missing", "present")


def quoted(name: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class Table:
    """One Parquet file that can be asked. Attributes: schema (kinds by column), rows, row (the SQL of a row's number)."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        schema = pq.read_schema(path)
        self.described: list[dict[str, Any]] = [item for item in columns.describe(schema) if item["name"] != ROW]
        self.kinds: dict[str, str] = {item["name"]: str(item["type"]) for item in self.described}
        self.rows = int(pq.read_metadata(path).num_rows)
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

    def where(self, filters: Sequence[Filter], first: int = 2) -> tuple[str, list[Any]]:
        """The conditions as SQL, with placeholders numbered from `first`, and their values. Raises WrongUse."""
        parts: list[str] = []
        values: list[Any] = []
        for item in filters:
            part, bound = self._condition(item, first + len(values))
            parts.append(part)
            values += bound
        return " AND ".join(parts) or "TRUE", values

    def _condition(self, item: Filter, number: int) -> tuple[str, list[Any]]:
        kind, column = self.kind(item.column), quoted(item.column)
        if item.operator not in operators(kind):
            raise WrongUse("bad_filter", f"“{item.column}” cannot be asked “{item.operator[:40]}”.")
        if item.operator in _WITHOUT_VALUE:
            return f"({_WITHOUT_VALUE[item.operator].format(c=column)})", []
        text = item.value or ""
        if len(text) > limits.FILTER_CHARS_MAX:
            raise WrongUse("bad_filter", "The value of the filter is too long.", f"At most {limits.FILTER_CHARS_MAX:,}.")
        if item.operator == "contains":
            return f"contains(lower({column}), lower(${number}))", [text]
        if item.operator == "begins":
            return f"starts_with({column}, ${number})", [text]
        return f"{column} {_COMPARE[item.operator]} ${number}", [value_of(kind, text)]


def value_of(kind: str, text: str) -> Any:
    """What was typed, as a value to compare a column of this type with. Raises WrongUse(bad_value)."""
    said = text.strip()
    try:
        if kind == "float64":
            return float(said.replace("−", "-"))
        if kind in _NUMBERS:
            number = Decimal(said.replace("−", "-").replace(",", ""))
            if not number.is_finite() or len(number.as_tuple().digits) > _DUCK_DIGITS_MAX:
                raise ValueError(said)
            return int(number) if number == number.to_integral_value() else number
        if kind == "date":
            return date.fromisoformat(said)
        if kind == "timestamp":
            moment = datetime.fromisoformat(said)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, InvalidOperation, OverflowError) as error:
        example = {"date": "2026-03-24", "timestamp": "2026-03-24T14:30:00Z"}.get(kind, "12.5")
        raise WrongUse(
            "bad_value", f"“{said[:60]}” cannot be compared with this column.", "", f"For example {example}."
        ) from error
    return text


@contextmanager
def connected(
    path: Path, folder: Path | None, progress: digests.Progress = digests.no_progress
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that sees `path` (read as $1 by its queries) and may write below `folder`; None = it writes nowhere.

    Its queries report percents. Raises ActumError(query_failed | disk_full …) instead of what DuckDB raises.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        _close_off(connection, path, folder)
        with _reporting(connection, progress):
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise ActumError("query_failed", "The table is too large for this.", _first_line(error), "Filter it first.") from error
    except duckdb.Error as error:
        raise ActumError("query_failed", "The table could not be asked.", _first_line(error)) from error
    finally:
        connection.close()


def _close_off(connection: duckdb.DuckDBPyConnection, path: Path, folder: Path | None) -> None:
    settings: Mapping[str, str] = {
        "threads": str(limits.QUERY_THREADS_MAX),
        "memory_limit": _literal(f"{limits.QUERY_MEMORY_BYTES_MAX // (1 << 20)}MiB"),
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        "temp_directory": _literal("" if folder is None else str(folder / "spill")),
        "allowed_paths": f"[{_literal(str(path))}]",
        "allowed_directories": "[]" if folder is None else f"[{_literal(str(folder))}]",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")


@contextmanager
def _reporting(connection: duckdb.DuckDBPyConnection, progress: digests.Progress) -> Iterator[None]:
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_PROGRESS_EVERY_S):
            percent = connection.query_progress()
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
