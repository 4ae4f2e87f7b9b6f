"""The type of a column: declared by the file, or told from the texts of all its values, never from a few.

Theory. Every distinct text falls into one class by the patterns below; the classes that occur decide the type:

| classes that occur                     | type                                                                     |
|----------------------------------------|--------------------------------------------------------------------------|
| whole                                  | integer (64 bits)                                                        |
| whole, point                           | decimal, if 38 digits hold all of them; else float64, which is said      |
| whole, point, exponent                 | float64                                                                  |
| truth / date / instant / local         | boolean / date / timestamp / timestamp without zone                      |
| numbers, some with leading zeros or    | text: they are identifiers, or would lose digits, which is said          |
|   whole ones beyond 64 bits            |                                                                          |
| nested                                 | nested                                                                   |
| any other mixture                      | text, and how many of the values are numbers is said                     |

A number in quotes in JSON is a text. A plus sign, a blank, a thousands separator or a decimal comma make a text too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actum.recipes.tableprofile.source import BOOLEAN as KIND_BOOLEAN
from actum.recipes.tableprofile.source import NESTED as KIND_NESTED
from actum.recipes.tableprofile.source import TEXT as KIND_TEXT

INTEGER, DECIMAL, FLOAT, BOOLEAN = "integer", "decimal", "float64", "boolean"
DATE, TIMESTAMP, LOCAL, TIME = "date", "timestamp", "timestamp without zone", "time"
TEXT, BINARY, NESTED, NOTHING = "text", "binary", "nested", "no values"
NUMBERS = frozenset({INTEGER, DECIMAL, FLOAT})
MOMENTS = frozenset({DATE, TIMESTAMP, LOCAL})
ORDERED = NUMBERS | MOMENTS

DECIMAL_DIGITS_HELD = 38  # by DuckDB's widest decimal

WHOLE, POINT, EXPONENT, ZEROS, LONG = "whole", "point", "exponent", "zeros", "long"
TRUTH, DAY, INSTANT, WITHOUT_ZONE, NEST, OTHER = "truth", "date", "instant", "local", "nested", "other"
_NUMBER_CLASSES = frozenset({WHOLE, POINT, EXPONENT, ZEROS, LONG})

_CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-2][0-9]:[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
_ZONE = "(Z|[+-][0-9]{2}:?[0-9]{2})"
_TEXTUAL = f"""
    WHEN regexp_full_match(v, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') AND try_cast(v AS DATE) IS NOT NULL THEN '{DAY}'
    WHEN regexp_full_match(v, '{_CLOCK}{_ZONE}') AND try_cast(v AS TIMESTAMPTZ) IS NOT NULL THEN '{INSTANT}'
    WHEN regexp_full_match(v, '{_CLOCK}') AND try_cast(v AS TIMESTAMP) IS NOT NULL THEN '{WITHOUT_ZONE}'
    ELSE '{OTHER}'"""
# An SQL expression over v, a text, and k, how it was written (null = by a CSV).
CLASS_OF = f"""CASE
    WHEN k = '{KIND_NESTED}' THEN '{NEST}'
    WHEN k = '{KIND_BOOLEAN}' THEN '{TRUTH}'
    WHEN k = '{KIND_TEXT}' THEN CASE {_TEXTUAL} END
    WHEN regexp_full_match(v, '-?(0|[1-9][0-9]*)')
        THEN CASE WHEN try_cast(v AS BIGINT) IS NOT NULL THEN '{WHOLE}' ELSE '{LONG}' END
    WHEN regexp_full_match(v, '-?(0|[1-9][0-9]*)?[.][0-9]+') THEN '{POINT}'
    WHEN regexp_full_match(v, '-?0[0-9]+([.][0-9]+)?') THEN '{ZEROS}'
    WHEN regexp_full_match(v, '-?([0-9]+([.][0-9]*)?|[.][0-9]+)[eE][+-]?[0-9]+') AND isfinite(try_cast(v AS DOUBLE))
        THEN '{EXPONENT}'
    WHEN k IS NULL AND lower(v) IN ('true', 'false') THEN '{TRUTH}'
    {_TEXTUAL.strip()} END"""


@dataclass(frozen=True, slots=True)
class Class:
    """What was found of one class. `rows` counts values, `example` is the least of its texts; digits before and after the
    point are the most that occur, `after_least` the fewest after it."""

    rows: int
    example: str
    before: int
    after: int
    after_least: int


@dataclass(frozen=True, slots=True)
class Type:
    """A column's type. `key` is an SQL expression over v that gives values to be grouped, ordered and computed with: numbers
    themselves, days since 1970 for dates, microseconds for times (nanoseconds where `nano`). `note` is what had to be said.
    `trim`: decimals were written with different numbers of digits and are shown without zeros at their end."""

    name: str
    key: str = "v"
    note: str = ""
    nano: bool = False
    trim: bool = False


def inferred(found: Mapping[str, Class]) -> Type:
    """The type of a column whose values have these classes."""
    classes = set(found)
    if not classes:
        return Type(NOTHING)
    if classes == {WHOLE}:
        return Type(INTEGER, "v::BIGINT")
    if classes <= {WHOLE, POINT}:
        return _decimal(found)
    if classes <= {WHOLE, POINT, EXPONENT}:
        return Type(FLOAT, "v::DOUBLE")
    if len(classes) == 1 and (only := _ALONE.get(next(iter(classes)))):
        return only
    return Type(TEXT, note=_why_text(found))


_ALONE = {
    TRUTH: Type(BOOLEAN, "lower(v)"),
    DAY: Type(DATE, "datediff('day', DATE '1970-01-01', v::DATE)"),
    INSTANT: Type(TIMESTAMP, "epoch_us(v::TIMESTAMPTZ)"),
    WITHOUT_ZONE: Type(LOCAL, "epoch_us(v::TIMESTAMP)"),
    NEST: Type(NESTED),
}


def _decimal(found: Mapping[str, Class]) -> Type:
    before = max(each.before for each in found.values())
    after = max(each.after for each in found.values())
    if before + after <= DECIMAL_DIGITS_HELD:
        uneven = any(each.after_least < after for each in found.values())
        return Type(DECIMAL, f"v::DECIMAL({max(1, before + after)}, {after})", trim=uneven)
    return Type(
        FLOAT, "v::DOUBLE", f"The numbers have more digits than a decimal holds ({before} before the point, {after} after)."
    )


def _why_text(found: Mapping[str, Class]) -> str:
    numbers = sum(each.rows for name, each in found.items() if name in _NUMBER_CLASSES)
    others = [each for name, each in found.items() if name not in _NUMBER_CLASSES]
    if not others and ZEROS in found:
        return f"Kept as text: numbers with leading zeros, such as “{found[ZEROS].example[:40]}”, are identifiers."
    if not others:
        return f"Kept as text: whole numbers beyond 64 bits, such as “{found[LONG].example[:40]}”."
    if not numbers and (len(others) == 1):
        return ""
    rest = sum(each.rows for each in others)
    if numbers:
        return f"Kept as text: {numbers:,} values are numbers, {rest:,} are not, such as “{others[0].example[:40]}”."
    return "Kept as text: its values are of several kinds: " + ", ".join(sorted(found)) + "."


def declared(kind: str) -> Type:
    """The type of a column that DuckDB reads as `kind`."""
    if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return Type(INTEGER, "v::BIGINT")
    if kind in ("UBIGINT", "HUGEINT"):
        return Type(INTEGER, "v::HUGEINT")
    if kind.startswith("DECIMAL("):
        return Type(DECIMAL)
    if kind in ("FLOAT", "DOUBLE"):
        return Type(FLOAT, "v::DOUBLE")
    if kind == "DATE":
        return Type(DATE, "datediff('day', DATE '1970-01-01', v)")
    if kind == "TIMESTAMP WITH TIME ZONE":
        return Type(TIMESTAMP, "epoch_us(v)")
    if kind == "TIMESTAMP_NS":
        return Type(LOCAL, "epoch_ns(v)", nano=True)
    if kind.startswith("TIMESTAMP"):
        return Type(LOCAL, "epoch_us(v)")
    if kind == "BOOLEAN":
        return Type(BOOLEAN, "v::VARCHAR")
    if kind == "TIME":
        return Type(TIME, "v::VARCHAR")
    if kind == "BLOB":
        return Type(BINARY, "to_base64(v)")
    if kind in ("VARCHAR", "UUID", "INTERVAL") or kind.startswith("ENUM"):
        return Type(TEXT, "v::VARCHAR")
    return Type(NESTED, "to_json(v)::VARCHAR")
