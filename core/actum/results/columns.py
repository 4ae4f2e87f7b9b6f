"""Contract columns as Arrow, and cells or texts as exact Arrow arrays (R14, §9).

| column     | Arrow                     | from JSON lines (`jsonl.v1`)        | from CSV (`csv.v1`)                    |
|------------|---------------------------|-------------------------------------|----------------------------------------|
| text       | string                    | text                                | the field; empty without quotes = null |
| integer    | int64                     | number; text beyond 2^53            | digits with an optional sign           |
| decimal    | decimal128/256(p, s)      | text with exactly s decimals        | at most s decimals, never rounded      |
| float64    | double                    | number; NaN, inf, -inf as text      | number, exponent, nan, inf             |
| boolean    | bool                      | true, false                         | true, false, in any case               |
| date       | date32                    | YYYY-MM-DD                          | YYYY-MM-DD                             |
| timestamp  | timestamp(us, UTC)        | ISO, six digits, Z                  | ISO 8601 with a zone, to microseconds  |
| binary     | binary                    | base64                              | base64                                 |

Whole columns are converted at once by Arrow and the outcome is held against the text it came from; where that does not
settle it, each cell goes through `contracts.tables.decode`, the rule's definition, which also names what is wrong.
An empty CSV field of another type than text and binary is null, quoted or not.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from actum.contracts import tables
from actum.contracts.tables import Column
from actum.errors import ActumError
from actum.results.handover import invalid
from actum.sdk.cells import EXACT_INTEGER_MAX

if TYPE_CHECKING:
    import pyarrow as pa

_DECIMAL128_DIGITS_MAX = 38
_INTEGER_TEXT = r"^[+-]?[0-9]+$"
_DECIMAL_TEXT = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"
_FLOAT_TEXT = r"(?i)^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?$|^nan$|^[+-]?inf(inity)?$"
_TIMESTAMP_TEXT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"


def arrow_type(column: Column) -> pa.DataType:
    import pyarrow as pa

    if column.type == "decimal":
        precision, scale = column.precision or 0, column.scale or 0
        return pa.decimal128(precision, scale) if precision <= _DECIMAL128_DIGITS_MAX else pa.decimal256(precision, scale)
    return {
        "text": pa.string(),
        "integer": pa.int64(),
        "float64": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "binary": pa.binary(),
    }[column.type]


def arrow_schema(columns: Sequence[Column], metadata: Mapping[str, str] | None = None) -> pa.Schema:
    """Units travel as field metadata (`unit`), `metadata` as the schema's."""
    import pyarrow as pa

    fields = [
        pa.field(
            column.name,
            arrow_type(column),
            nullable=column.nullable,
            metadata={"unit": column.unit} if column.unit else None,
        )
        for column in columns
    ]
    return pa.schema(fields, metadata=dict(metadata or {}))


def describe(schema: pa.Schema) -> list[dict[str, Any]]:
    """Any Arrow schema in the words of the contract; a type without a column type keeps Arrow's own name."""
    described = []
    for field in schema:
        kind, precision, scale = _word(field.type)
        unit = (field.metadata or {}).get(b"unit")
        described.append(
            {
                "name": field.name,
                "type": kind,
                "nullable": field.nullable,
                "unit": unit.decode("utf-8", "replace") if unit else None,
                "precision": precision,
                "scale": scale,
            }
        )
    return described


def _word(kind: pa.DataType) -> tuple[str, int | None, int | None]:
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return _word(kind.value_type)
    if is_.is_decimal(kind):
        return "decimal", kind.precision, kind.scale
    words: tuple[tuple[Callable[[Any], bool], str], ...] = (
        (is_.is_string, "text"),
        (is_.is_large_string, "text"),
        (is_.is_string_view, "text"),
        (lambda other: is_.is_integer(other) and not is_.is_uint64(other), "integer"),
        (is_.is_float64, "float64"),
        (is_.is_boolean, "boolean"),
        (is_.is_date, "date"),
        (is_.is_binary, "binary"),
        (is_.is_large_binary, "binary"),
    )
    if is_.is_timestamp(kind) and kind.tz is not None and kind.unit != "ns":
        return "timestamp", None, None
    return next((word for test, word in words if test(kind)), str(kind)), None, None


def from_cells(table: str, column: Column, cells: list[Any], first_row: int) -> pa.Array:
    """JSON cells of one column as an array. `first_row` is the row of cells[0], counted from 1, for messages.

    Raises ActumError(contract_invalid).
    """
    array = _cells_at_once(column, cells)
    if array is None:
        array = _one_by_one(table, column, cells, first_row, tables.decode)
    return _checked(table, column, array, first_row)


def from_texts(table: str, column: Column, texts: pa.Array, first_row: int) -> pa.Array:
    """CSV fields of one column (strings, null where empty without quotes) as an array. Raises ActumError(contract_invalid)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type not in ("text", "binary"):
        texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    array = _texts_at_once(column, texts)
    if array is None:
        array = _one_by_one(table, column, texts.to_pylist(), first_row, _from_text)
    return _checked(table, column, array, first_row)


def _cells_at_once(column: Column, cells: list[Any]) -> pa.Array | None:
    """The array, if every cell is plainly in its rule's form; None if a closer look is needed."""
    import pyarrow as pa

    types = set(map(type, cells)) - {type(None)}
    wanted = {"integer": int, "float64": float, "boolean": bool}.get(column.type, str)
    if types - {wanted} or column.type == "binary":
        return None
    try:
        if wanted is not str:
            array = pa.array(cells, arrow_type(column))
            return array if column.type != "integer" or _within_exact(array) else None
        texts = pa.array(cells, pa.string())
        if column.type == "text":
            return texts
        array = texts.cast(arrow_type(column))
        return array if _spelled(column, array).equals(texts) else None
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None


def _within_exact(array: pa.Array) -> bool:
    import pyarrow.compute as pc

    ends = pc.min_max(array).as_py()
    return ends["min"] is None or (ends["min"] >= -EXACT_INTEGER_MAX and ends["max"] <= EXACT_INTEGER_MAX)


def _spelled(column: Column, array: pa.Array) -> pa.Array:
    """The text that JSON lines give these values, as Arrow writes it (its exponents are sorted out one by one)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == "timestamp":
        return pc.strftime(array, "%Y-%m-%dT%H:%M:%SZ")
    return array.cast(pa.string())


def _texts_at_once(column: Column, texts: pa.Array) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == "text":
        return texts
    pattern = {
        "integer": _INTEGER_TEXT,
        "decimal": _DECIMAL_TEXT,
        "float64": _FLOAT_TEXT,
        "timestamp": _TIMESTAMP_TEXT,
        "date": r"^\d{4}-\d\d-\d\d$",
        "boolean": r"(?i)^(true|false)$",
    }.get(column.type)
    if pattern is None or pc.all(pc.match_substring_regex(texts, pattern)).as_py() is False:
        return None
    try:
        return texts.cast(arrow_type(column))
    except pa.ArrowException:
        return None


def _from_text(column: Column, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return _TEXT_READERS[column.type](column, text)
    except (ValueError, ArithmeticError):
        raise ActumError("contract_invalid", f"“{text[:80]}” is not a {column.type} of the column “{column.name}”.") from None


def _must_match(pattern: str, text: str) -> str:
    if not re.match(pattern, text):
        raise ValueError(text)
    return text


def _decimal_from_text(column: Column, text: str) -> Decimal:
    number = Decimal(_must_match(_FLOAT_TEXT, text))
    if not number.is_finite():
        raise ValueError(text)
    return Decimal(str(tables.encode(column, number)))


def _boolean_from_text(column: Column, text: str) -> bool:
    return {"true": True, "false": False}[_must_match(r"(?i)^(true|false)$", text).lower()]


def _timestamp_from_text(column: Column, text: str) -> datetime:
    return datetime.fromisoformat(_must_match(_TIMESTAMP_TEXT, text)).astimezone(UTC)


_TEXT_READERS: dict[str, Callable[[Column, str], Any]] = {
    "integer": lambda column, text: int(tables.encode(column, int(_must_match(_INTEGER_TEXT, text)))),
    "decimal": _decimal_from_text,
    "float64": lambda column, text: float(_must_match(_FLOAT_TEXT, text)),
    "boolean": _boolean_from_text,
    "date": lambda column, text: date.fromisoformat(_must_match(r"^\d{4}-\d\d-\d\d$", text)),
    "timestamp": _timestamp_from_text,
    "binary": lambda column, text: base64.b64decode(text, validate=True),
}


def _one_by_one(
    table: str, column: Column, cells: Sequence[Any], first_row: int, read: Callable[[Column, Any], Any]
) -> pa.Array:
    import pyarrow as pa

    values = []
    for row, cell in enumerate(cells, first_row):
        try:
            values.append(read(column, cell))
        except ActumError as error:
            raise invalid(f"Row {row:,} of the table “{table}” does not fit its schema.", error.what) from error
    try:
        return pa.array(values, arrow_type(column))
    except (pa.ArrowException, OverflowError) as error:
        raise invalid(f"The column “{column.name}” of the table “{table}” does not fit its type.", f"{error}.") from error


def _checked(table: str, column: Column, array: pa.Array, first_row: int) -> pa.Array:
    if not column.nullable and array.null_count:
        import pyarrow.compute as pc

        row = first_row + pc.index(pc.is_null(array), True).as_py()
        raise invalid(f"Row {row:,} of the table “{table}” does not fit its schema.", f"“{column.name}” may not be empty.")
    return array
