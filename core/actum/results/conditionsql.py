"""A condition as SQL: names quoted, values bound, nothing typed ever part of the text; comparisons exact (R19).

Numbers are compared in the column's own type. A bound that the type cannot hold is moved to the nearest value that gives
the same answer for every value of the type (`c > 1.5` of whole numbers is `c >= 2`), or decides all rows at once. `isnan` is
not asked of the engine: statistics of Parquet leave NaN out, and it answers from them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.results.condition import (
    All,
    Begins,
    Compare,
    Condition,
    Contains,
    Holds,
    Leaf,
    Missing,
    Not,
    NotANumber,
)

Info = Mapping[str, Any]  # of a column, as `columns.describe` says it
NUMBERS = ("integer", "decimal", "float64", "uint64", "float", "double")
_FLOATS = ("float64", "float", "double")
_LOCAL_TIMES = ("timestamp[s]", "timestamp[ms]", "timestamp[us]")
_SQL = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WHOLE_LEAST, _WHOLE_MOST = -(1 << 63), (1 << 64) - 1
_MAGNITUDE_MAX = 100  # powers of ten; a number beyond any column's, or nearer to 0 than any column's, needs no more


def comparable(kind: str) -> bool:
    """Whether values of this type have an order that can be asked for."""
    return kind in (*NUMBERS, "text", "date", "timestamp", *_LOCAL_TIMES)


def asked(kind: str) -> tuple[str, ...]:
    """The conditions (`op` of their JSON) that can be asked of a column of this type."""
    if kind == "text":
        return ("contains", "=", "!=", "begins", "in", "<", "<=", ">", ">=", "missing")
    if kind == "boolean":
        return ("holds", "=", "!=", "in", "missing")
    if comparable(kind):
        return ("=", "!=", "<", "<=", ">", ">=", "in", "missing", *(("nan",) if kind in _FLOATS else ()))
    return ("missing",)


def compiled(condition: Condition, columns: Mapping[str, Info], first: int) -> tuple[str, list[Any]]:
    """SQL with placeholders from `$first` on, and what is bound to them. Raises WrongUse (no_column, bad_filter, bad_value)."""
    if isinstance(condition, Leaf):
        return _leaf(condition, columns, first)
    if isinstance(condition, Not):
        part, values = compiled(condition.of, columns, first)
        return f"(NOT {part})", values
    word = " AND " if isinstance(condition, All) else " OR "
    parts, values = [], []
    for each in condition.of:
        part, bound = compiled(each, columns, first + len(values))
        parts.append(part)
        values += bound
    return f"({word.join(parts)})", values


def check_leaf(leaf: Leaf, columns: Mapping[str, Info]) -> None:
    """Raises what `compiled` raises."""
    _leaf(leaf, columns, 1)


def _leaf(leaf: Leaf, columns: Mapping[str, Info], first: int) -> tuple[str, list[Any]]:
    info = columns.get(leaf.column)
    if info is None:
        raise WrongUse("no_column", f"The table has no column “{leaf.column[:80]}”.")
    kind, name = str(info["type"]), quoted(leaf.column)
    word = _word(leaf)
    if word not in asked(kind):
        raise WrongUse("bad_filter", f"“{leaf.column}” cannot be asked “{word}”.")
    if isinstance(leaf, Missing):
        return f"({name} IS NULL)", []
    if isinstance(leaf, NotANumber):
        return f"coalesce(NOT isfinite({name}) AND NOT isinf({name}), FALSE)", []
    if isinstance(leaf, Holds):
        return name, []
    if isinstance(leaf, Contains):
        return f"contains(lower({name}), lower(${first}))", [_bindable(leaf.value)]
    if isinstance(leaf, Begins):
        return f"starts_with({name}, ${first})", [_bindable(leaf.value)]
    if isinstance(leaf, Compare):
        return _compared(info, name, leaf.operator, leaf.value, first)
    parts: list[str] = []
    values: list[Any] = []
    for value in leaf.values:
        part, bound = _compared(info, name, "=", value, first + len(values))
        parts.append(part)
        values += bound
    return f"({' OR '.join(parts)})", values


def _word(leaf: Leaf) -> str:
    from actum.results.condition import to_json

    return str(to_json(leaf)["op"])


def _compared(info: Info, name: str, operator: str, text: str, number: int) -> tuple[str, list[Any]]:
    kind = str(info["type"])
    value = value_of(kind, text)
    if kind in _FLOATS:
        return _floating(kind, name, operator, value, number)
    if kind in NUMBERS:
        scale = int(info["scale"] or 0) if kind == "decimal" else 0
        return _exact(info, name, operator, value, scale, number)
    if kind == "date":
        return f"({name} {_SQL[operator]} CAST(${number} AS DATE))", [value.isoformat()]
    if kind == "timestamp" or kind in _LOCAL_TIMES:
        sql = "TIMESTAMPTZ" if kind == "timestamp" else "TIMESTAMP"
        return f"({name} {_SQL[operator]} CAST(${number} AS {sql}))", [value.isoformat(sep=" ")]
    return f"({name} {_SQL[operator]} ${number})", [value]


def _floating(kind: str, name: str, operator: str, value: float, number: int) -> tuple[str, list[Any]]:
    """In the column's own precision, so that 0.1 finds 0.1."""
    sql = "FLOAT" if kind == "float" else "DOUBLE"
    known = f"(CASE WHEN isfinite({name}) OR isinf({name}) THEN {name} END)"
    if kind == "float" and _beyond_single(value):
        if operator in ("=", "!="):
            return _decided(known, operator == "!="), []
        beside = {"<": "<", "<=": "<", ">": ">=", ">=": ">="} if value > 0 else {"<": "<=", "<=": "<=", ">": ">", ">=": ">"}
        operator, value = beside[operator], math.copysign(math.inf, value)  # only an infinity is beyond it
    return f"({known} {_SQL[operator]} CAST(${number} AS {sql}))", [value]


def _beyond_single(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return True
    return False


def _exact(info: Info, name: str, operator: str, value: Decimal, scale: int, number: int) -> tuple[str, list[Any]]:
    """A comparison of whole numbers or decimals: with a value of the column's type, or decided for all."""
    exact = Fraction(value) * 10**scale  # in units of the last decimal
    low, high = math.floor(exact), math.ceil(exact)
    if low != high:
        if operator in ("=", "!="):
            return _decided(name, operator == "!="), []
        operator, bound = ("<=", low) if operator in ("<", "<=") else (">=", high)
    else:
        bound = low
    decimal = info["type"] == "decimal"
    beyond = 10 ** int(info["precision"]) if decimal else 0
    least, most = (1 - beyond, beyond - 1) if decimal else (_WHOLE_LEAST, _WHOLE_MOST)
    if bound > most:
        return _decided(name, operator in ("<", "<=", "!=")), []
    if bound < least:
        return _decided(name, operator in (">", ">=", "!=")), []
    if decimal:
        sign = "-" if bound < 0 else ""
        digits = str(abs(bound)).rjust(scale + 1, "0")
        told = sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)
        return f"({name} {_SQL[operator]} CAST(${number} AS DECIMAL({int(info['precision'])},{scale})))", [told]
    return f"({name} {_SQL[operator]} CAST(${number} AS HUGEINT))", [str(bound)]


def _decided(name: str, answer: bool) -> str:
    """The same answer for every value; none where there is no value."""
    return f"(CASE WHEN {name} IS NULL THEN NULL ELSE {answer} END)"


def value_of(kind: str, text: str) -> Any:
    """What was typed, as a value to compare a column of this type with. Raises WrongUse(bad_value)."""
    said = text.strip()
    try:
        if kind in NUMBERS:
            return _number(kind, said.replace("−", "-"))
        if kind == "date":
            return date.fromisoformat(said)
        if kind == "timestamp":
            moment = datetime.fromisoformat(said)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if kind in _LOCAL_TIMES:
            moment = datetime.fromisoformat(said)
            if moment.tzinfo is not None:
                raise ValueError(said)
            return moment
        if kind == "boolean":
            return {"true": True, "false": False}[said.lower()]
    except (ValueError, InvalidOperation, OverflowError, KeyError) as error:
        raise WrongUse(
            "bad_value", f"“{said[:60]}” cannot be compared with this column.", "", f"For example {example(kind)}."
        ) from error
    return _bindable(text)


def _number(kind: str, said: str) -> float | Decimal:
    if "_" in said:
        raise ValueError(said)
    if kind in _FLOATS:
        if not math.isfinite(floating := float(said)):
            raise ValueError(said)
        return floating
    number = Decimal(said)
    if not number.is_finite():
        raise ValueError(said)
    return _within(number)


def example(kind: str) -> str:
    """A value of the type, as it is typed."""
    known = {"date": "2026-03-24", "timestamp": "2026-03-24T14:30:00Z", "boolean": "true", "text": '"text"', "integer": "30"}
    return known.get(kind, "2026-03-24T14:30:00" if kind in _LOCAL_TIMES else "12.5")


def _within(number: Decimal) -> Decimal:
    """Of a number beyond every type, or nearer to 0 than every type can tell, one that compares the same and is short."""
    if number and abs(number.adjusted()) > _MAGNITUDE_MAX:
        return Decimal((number.as_tuple().sign, (1,), _MAGNITUDE_MAX if number.adjusted() > 0 else -_MAGNITUDE_MAX))
    return number


def _bindable(text: str) -> str:
    if len(text) > limits.FILTER_CHARS_MAX:
        raise WrongUse("bad_filter", "The value of the filter is too long.", f"At most {limits.FILTER_CHARS_MAX:,} characters.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise WrongUse("bad_value", "The value has a character that no text of a table has.", "", "Take it out.")
    return text


def quoted(name: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
