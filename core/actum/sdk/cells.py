"""Columns, and how a value becomes a cell of a JSON lines table.

One object a line, keys in column order. What JSON cannot carry exactly travels as text: decimals with all digits of their
scale, whole numbers beyond 2^53, NaN and infinities, dates and times (ISO 8601, times in UTC), bytes (base64). A missing
value is null; why it is missing stands in a companion text column called `<name>__reason`.
"""

from __future__ import annotations

import base64
import decimal
import json
import math
import operator
import re
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

REASON_SUFFIX = "__reason"
EXACT_INTEGER_MAX = 2**53
INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
DECIMAL_PRECISION_DEFAULT = 38
DECIMAL_PRECISION_MAX = 76
NUMBER_CHARS_MAX = 400  # of a number's text: the longest exact text of a float64 fits; the program takes no longer one
INTEGER_BITS_MAX = 4 * NUMBER_CHARS_MAX  # no shorter one is longer as text; Python would not even write longer ones out

_DECIMAL_TEXT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


_REASON = re.compile(r"[a-z][a-z0-9_]*")


class CellRefused(ValueError):
    """A value that does not fit its column; the message is a sentence."""


@dataclass(frozen=True)
class Column:
    """One column. `type` is a key of ENCODERS; a decimal column has `precision` digits, `scale` of them after the point."""

    name: str
    type: str
    nullable: bool = True
    unit: Optional[str] = None
    precision: Optional[int] = None
    scale: Optional[int] = None

    def __post_init__(self) -> None:
        if self.type not in ENCODERS:
            raise CellRefused(f"“{self.type}” is not a column type; known: {', '.join(ENCODERS)}.")
        if self.type == "decimal":
            precision, scale = self.precision, self.scale
            fits = type(precision) is int and type(scale) is int and 0 <= scale <= precision
            if not fits or not 1 <= (precision or 0) <= DECIMAL_PRECISION_MAX:
                raise CellRefused(f"The decimal column “{self.name}” needs a precision (1 to 76) and a scale within it.")
        elif self.precision is not None or self.scale is not None:
            raise CellRefused(f"The column “{self.name}” is not a decimal column and has no precision or scale.")

    def to_json(self) -> Dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "nullable": self.nullable,
            "unit": self.unit,
            "precision": self.precision,
            "scale": self.scale,
        }


def reason(word: str, observations: Optional[int] = None, needed: Optional[int] = None) -> str:
    """Why a value is missing, for a companion column: `insufficient_observations:3/30`. Raises CellRefused."""
    if not _REASON.fullmatch(word):
        raise CellRefused(f"“{word}” is not a word such as insufficient_observations.")
    if observations is None:
        if needed is not None:
            raise CellRefused(f"“{word}” needs {needed} observations, and does not say how many there were.")
        return word
    counted = word + f":{operator.index(observations)}"
    return counted if needed is None else f"{counted}/{operator.index(needed)}"


def columns_of(schema: Sequence[Any]) -> Tuple[Column, ...]:
    """A schema as columns: each a Column, a mapping of a Column's fields, or a (name, type) pair. Raises CellRefused."""
    columns = tuple(_column_of(item) for item in schema)
    names = [column.name for column in columns]
    doubled = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if doubled:
        raise CellRefused(f"The column “{min(doubled)}” stands in the schema more than once.")
    return columns


def _column_of(item: Any) -> Column:
    if isinstance(item, Column):
        return item
    try:
        return Column(**item) if isinstance(item, Mapping) else Column(*item)
    except TypeError as error:
        raise CellRefused(f"{item!r} does not describe a column: {error}.") from None


def line(columns: Sequence[Column], row: Any) -> str:
    """One row (a mapping or a sequence in column order) as one line of JSON, without its newline. Raises CellRefused."""
    values = by_name(columns, row)
    cells = {column.name: encode(column, values.get(column.name)) for column in columns}
    for name, reason in cells.items():
        if reason is not None and name.endswith(REASON_SUFFIX):
            value_name = name[: -len(REASON_SUFFIX)]
            if cells.get(value_name) is not None:
                raise CellRefused(f"“{value_name}” has a value and a reason for being missing.")
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def by_name(columns: Sequence[Column], row: Any) -> Mapping[str, Any]:
    """The row's values by column name. Raises CellRefused for a value that belongs to no column."""
    if isinstance(row, Mapping):
        unknown = row.keys() - {column.name for column in columns}
        if unknown:
            raise CellRefused(f"“{min(map(str, unknown))}” is not a column of the table.")
        return row
    if isinstance(row, (str, bytes)) or not isinstance(row, Sequence):
        raise CellRefused(f"A row is a mapping or a sequence, not {type(row).__name__}.")
    if len(row) != len(columns):
        raise CellRefused(f"A row has {len(row)} values for {len(columns)} columns.")
    return {column.name: row[position] for position, column in enumerate(columns)}


def encode(column: Column, value: Any) -> Any:
    """The JSON value of one cell. Raises CellRefused."""
    if value is None or (column.type != "float64" and _is_nan(value)):
        if not column.nullable:
            raise CellRefused(f"The column “{column.name}” may not be empty.")
        return None
    try:
        return ENCODERS[column.type](column, value)
    except CellRefused:
        raise
    except (TypeError, ValueError, OverflowError, decimal.DecimalException):
        raise CellRefused(f"{shown(value)} does not fit the {column.type} column “{column.name}”.") from None


def _is_nan(value: Any) -> bool:
    """NaN and NaT: the data frame libraries' marks of a missing value."""
    return not isinstance(value, (str, bytes, int, Decimal, date)) and value != value


def _text(column: Column, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode("utf-8")  # a lone surrogate has no UTF-8
    return str(value)


def _integer(column: Column, value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError
    number = operator.index(value)
    if not INTEGER_MIN <= number <= INTEGER_MAX:
        raise CellRefused(f"{shown(number)} does not fit 64 bits; make “{column.name}” a decimal column.")
    return number if abs(number) <= EXACT_INTEGER_MAX else str(number)


def _decimal(column: Column, value: Any) -> str:
    if isinstance(value, bool) or is_float(value):
        raise CellRefused(f"{value!r} in the decimal column “{column.name}” is not a decimal; convert it knowingly.")
    text = str(value)
    if not _DECIMAL_TEXT.fullmatch(text):
        raise ValueError
    precision, scale = column.precision or DECIMAL_PRECISION_DEFAULT, column.scale or 0
    with decimal.localcontext(decimal.Context(prec=precision, traps=[decimal.InvalidOperation])) as own:
        number = Decimal(text).quantize(Decimal(1).scaleb(-scale))
        if own.flags[decimal.Inexact]:
            raise CellRefused(f"{text} has more than {scale} digits after the point, for the column “{column.name}”.")
        return format(number if number else number.copy_abs(), "f")


def _float64(column: Column, value: Any) -> Any:
    if isinstance(value, (bool, str, bytes)):
        raise TypeError
    number = float(value)
    exact = value if isinstance(value, Decimal) else whole(value)
    if exact is not None and number != exact:
        raise CellRefused(f"{shown(value)} is not exactly a float64, for the column “{column.name}”.")
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def shown(value: Any) -> str:
    """A value in a sentence, however long it is."""
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS_MAX:
        return f"a whole number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= NUMBER_CHARS_MAX else f"a value of {len(text):,} characters, {text[:40]}…"


def whole(value: Any) -> Optional[int]:
    """The whole number that `value` is, numpy's too; None for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_float(value: Any) -> bool:
    """Whether `value` is a binary float, of any width."""
    return isinstance(value, float) or type(value).__name__ in ("float16", "float32", "float128", "longdouble")


def _boolean(column: Column, value: Any) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # numpy's own, without importing it
        return bool(value)
    raise TypeError


def _date(column: Column, value: Any) -> str:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError
    return value.isoformat()


def _timestamp(column: Column, value: Any) -> str:
    if not isinstance(value, datetime):
        raise TypeError
    if value.tzinfo is None:
        raise CellRefused(f"{value} has no time zone, for the column “{column.name}”.")
    return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _binary(column: Column, value: Any) -> str:
    return base64.b64encode(bytes(memoryview(value))).decode("ascii")


ENCODERS: Dict[str, Callable[[Column, Any], Any]] = {
    "text": _text,
    "integer": _integer,
    "decimal": _decimal,
    "float64": _float64,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}


def infer(rows: Sequence[Any], names: Optional[Sequence[str]] = None) -> Tuple[Column, ...]:
    """Columns for rows that came without a schema, from what the given rows hold. Raises CellRefused."""
    if names is None:
        mappings = [row for row in rows if isinstance(row, Mapping)]
        if len(mappings) < len(rows):
            raise CellRefused("Rows that are not mappings need a schema, which names their columns.")
        names = list(dict.fromkeys(name for row in mappings for name in row))
    columns: List[Column] = []
    for position, name in enumerate(names):
        values = [row.get(name) if isinstance(row, Mapping) else row[position] for row in rows]
        columns.append(_infer_column(str(name), [value for value in values if value is not None and not _is_nan(value)]))
    return tuple(columns)


def _infer_column(name: str, values: Sequence[Any]) -> Column:
    types = {_type_of(value) for value in values}
    if types == {"integer", "float64"}:
        types = {"float64"}
    if types == {"integer", "decimal"}:
        types = {"decimal"}
    if len(types) > 1:
        raise CellRefused(f"“{name}” holds {' and '.join(sorted(types))}; a schema says which it is.")
    kind = types.pop() if types else "text"
    if kind != "decimal":
        return Column(name, kind)
    scale = max((-int(value.as_tuple().exponent) for value in values if isinstance(value, Decimal)), default=0)
    return Column(name, kind, precision=DECIMAL_PRECISION_DEFAULT, scale=max(0, scale))


def _type_of(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "boolean"
    if isinstance(value, Decimal):
        return "decimal"
    for kinds, name in (
        (str, "text"),
        (float, "float64"),
        (int, "integer"),
        (datetime, "timestamp"),
        (date, "date"),
        ((bytes, bytearray, memoryview), "binary"),
    ):
        if isinstance(value, kinds):
            return name
    if hasattr(value, "__index__"):
        return "integer"
    if hasattr(value, "__float__"):
        return "float64"
    raise CellRefused(f"A value of type {type(value).__name__} has no column type.")
