"""Tables as the contract declares them and as JSON lines carry them: columns, cells in both directions, reasons (R14, R15).

Writing a cell is the work's side and lives with the task authors' package, which this module re-exports; reading it back
is ours and strict: a cell is accepted only in the one form that the writer gives it, so `decode(encode(v)) == v`. The one
exception is a float64 written as a whole number, as some languages do.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from actum import limits
from actum.errors import ActumError
from actum.sdk.cells import ENCODERS, REASON_SUFFIX, CellRefused, Column, columns_of, encode, infer, line

__all__ = [
    "COLUMN_TYPES",
    "REASON_SUFFIX",
    "CellRefused",
    "Column",
    "Table",
    "TableRefused",
    "columns_of",
    "decode",
    "encode",
    "infer",
    "line",
    "missing_from",
    "read_line",
    "reason_column",
    "schema_from_json",
    "schema_to_json",
]

COLUMN_TYPES = tuple(ENCODERS)


class TableRefused(ActumError):
    """A table, a line or a cell that is not what its schema says."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table the contract declares. `columns` may be empty: then the work's own schema holds."""

    name: str
    required: bool = False
    columns: tuple[Column, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "required": self.required, "columns": schema_to_json(self.columns)}


def schema_to_json(columns: Sequence[Column]) -> list[dict[str, Any]]:
    return [column.to_json() for column in columns]


def schema_from_json(schema: Any) -> tuple[Column, ...]:
    """The columns that a list of `{name, type, nullable, unit, precision, scale}` describes. Raises TableRefused."""
    if not isinstance(schema, Sequence) or isinstance(schema, (str, bytes)):
        raise _refused("A schema is a list of columns.")
    if len(schema) > limits.TABLE_COLUMNS_MAX:
        raise _refused(f"A table has at most {limits.TABLE_COLUMNS_MAX} columns; this one has {len(schema)}.")
    for item in schema:
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not isinstance(item.get("type"), str):
            raise _refused(f"{item!r} does not describe a column: name and type are text.")
        if not 0 < len(item["name"]) <= limits.NAME_CHARS_MAX or not isinstance(item.get("nullable", True), bool):
            raise _refused(f"{item!r} does not describe a column.")
    try:
        return columns_of(schema)
    except CellRefused as error:
        raise _refused(str(error)) from None


def reason_column(columns: Sequence[Column], name: str) -> Column | None:
    """The companion column that says why a value of `name` is missing, if the table has one."""
    return next((column for column in columns if column.name == name + REASON_SUFFIX and column.type == "text"), None)


def missing_from(declared: Sequence[Column], found: Sequence[Column]) -> str | None:
    """The first difference between the declared columns and those found, as a sentence; None if there is none."""
    for position, (want, have) in enumerate(zip(declared, found, strict=False), start=1):
        if want != have:
            return f"Column {position} is declared as {_described(want)} and is {_described(have)}."
    if len(declared) != len(found):
        return f"{len(declared)} columns are declared and {len(found)} are there."
    return None


def _described(column: Column) -> str:
    kind = column.type if column.type != "decimal" else f"decimal({column.precision}, {column.scale})"
    return f"“{column.name}” {kind}{'' if column.nullable else ', never empty'}"


def read_line(columns: Sequence[Column], text: str) -> dict[str, Any]:
    """The values of one line, by column name. Keys must be the columns in their order. Raises TableRefused."""
    try:
        cells = json.loads(text)
    except ValueError as error:
        raise _refused(f"The line is not JSON: {error}.") from None
    if not isinstance(cells, dict) or list(cells) != [column.name for column in columns]:
        raise _refused("The line does not hold the table's columns in their order.")
    return {column.name: decode(column, cells[column.name]) for column in columns}


def decode(column: Column, cell: Any) -> Any:
    """The value of one cell: str, int, Decimal, float, bool, date, datetime in UTC, bytes or None. Raises TableRefused."""
    if cell is None:
        if not column.nullable:
            raise _refused(f"The column “{column.name}” may not be empty.")
        return None
    try:
        value = _DECODERS[column.type](cell)
        same = encode(column, value)
    except (ValueError, TypeError, KeyError, ArithmeticError, binascii.Error):
        same = value = None
    whole_float = column.type == "float64" and type(cell) is int  # languages that write 1.0 as 1
    if value is None or same != cell or (type(same) is not type(cell) and not whole_float):
        raise _refused(f"{cell!r} is not a {column.type} cell of the column “{column.name}”.")
    return value


def _number(cell: Any) -> float:
    words = {"NaN": math.nan, "inf": math.inf, "-inf": -math.inf}
    return words[cell] if isinstance(cell, str) else float(cell)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "integer": int,
    "decimal": Decimal,
    "float64": _number,
    "boolean": bool,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "binary": lambda cell: base64.b64decode(cell, validate=True),
}


def _refused(what: str) -> TableRefused:
    return TableRefused("contract_invalid", what)
