"""One column of every Arrow type a table may have, with the values that break exports, and what each value *is*."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TEXTS = [
    *("", None, "NA", "null", "nan", "true", 'say "so"', "two\r\nlines", "two\nlines", "one\rreturn", "tab\tin", "\tfirst"),
    *("中文，引号“”", "🙂👩‍👩‍👧", "שלום עולם", "=1+1", "+1", "-1", "@SUM(A1)", "＝1", "'quoted", "007", "12345678901234567890"),
    *(" padded ", "a,b;c", "\ufeffmark", "\x01control", "_x0041_", "<r>markup</r>", "1e5", "line\u2028apart", "\\N", '"'),
]
INT64 = [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 0, None, 10**15, -7]
DECIMALS = [Decimal("0.000000000000000001"), Decimal("-12345678901234567890.5"), Decimal(0), None, Decimal("1E+3")]
FLOATS = [math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1 + 0.2, 5e-324, 1e300, 1.0, 1e16, None, -123456.789]
DAYS = [-43_704, -25_567, -25_510, -25_509, -25_508, 0, 20_000, 2_932_896, 2_932_897, -719_529, -800_000, None]
DAY_S = 86_400


def _instants(unit: str, zone: str | None = None) -> pa.Array:
    per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    days = [-43_704, -25_567, -1, 0, 20_000, None] if unit == "ns" else DAYS
    seconds = [None if day is None else day * DAY_S * per + 45_296 * per + (123 * per // 1_000) for day in days]
    return pa.array([*seconds, 0, -per], pa.int64()).cast(pa.timestamp(unit, zone))


def _fine(kind: pa.DataType) -> pa.Array:
    return pa.array([1, -1, 1_700_000_000_123_456, None], pa.int64()).cast(kind)


def cases() -> dict[str, pa.Array]:
    """Type by name → its column."""
    text = pa.string()
    found: dict[str, pa.Array] = {
        "null": pa.nulls(3),
        "int64 all null": pa.nulls(3, pa.int64()),
        "float64 all null": pa.nulls(3, pa.float64()),
        "decimal all null": pa.nulls(3, pa.decimal128(38, 10)),
        "timestamp all null": pa.nulls(3, pa.timestamp("us", "UTC")),
        "text all null": pa.nulls(3, pa.string()),
        "bool": pa.array([True, False, None]),
        "int64": pa.array(INT64),
        "uint64": pa.array([2**64 - 1, 0, None, 2**53 + 1], pa.uint64()),
        "int64 short": pa.array([10**15 - 1, -(10**15) + 1, None]),
        "decimal(38,18)": pa.array(DECIMALS, pa.decimal128(38, 18)),
        "decimal(15,2)": pa.array([Decimal("9999999999999.99"), Decimal("-0.01"), None], pa.decimal128(15, 2)),
        "decimal256": pa.array([Decimal("1" * 60 + ".0000000001"), None, Decimal("-1E-10")], pa.decimal256(76, 10)),
        "decimal32": pa.array([Decimal("-123.45"), None], pa.decimal32(5, 2)),
        "decimal64": pa.array([Decimal("123456789.123"), None], pa.decimal64(12, 3)),
        "float64": pa.array(FLOATS),
        "float32": pa.array([0.1, math.nan, -0.0, math.inf, 1e20, 3.0, None], pa.float32()),
        "float16": pa.array([0.1, math.nan, -0.0, -math.inf, 3.0, None], pa.float16()),
        "text": pa.array(TEXTS, text),
        "large text": pa.array(TEXTS, pa.large_string()),
        "text view": pa.array(TEXTS, pa.string_view()),
        "dictionary": pa.array(["a", None, "", "=1", "a"]).dictionary_encode(),
        "run ends": pc.run_end_encode(pa.array(["a", "a", None, ""])),
        "binary": pa.array([b"", None, b"\0\xff", b"=1"], pa.binary()),
        "large binary": pa.array([b"", None, b"\0\xff"], pa.large_binary()),
        "binary view": pa.array([b"", None, b"\0\xff"], pa.binary_view()),
        "fixed binary": pa.array([b"abc", None, b"\0\xff\1"], pa.binary(3)),
        "date": pa.array(DAYS, pa.int32()).cast(pa.date32()),
        "date64": pa.array([None if day is None else day * DAY_S * 1_000 for day in DAYS], pa.int64()).cast(pa.date64()),
        "time s": pa.array([0, 86_399, None], pa.time32("s")),
        "time ms": pa.array([1, 86_399_999, None], pa.time32("ms")),
        "time us": pa.array([1_000, 86_399_999_000, None], pa.time64("us")),
        "time ns": pa.array([1, None], pa.time64("ns")),
        "interval": pa.array([pa.MonthDayNano([1, -2, 3]), None, pa.MonthDayNano([0, 0, -1])], pa.month_day_nano_interval()),
        "uuid": pa.array([b"0123456789abcdef", None], pa.uuid()),
        "list": pa.array([[1, None, 2**60], [], None], pa.list_(pa.int64())),
        "large list": pa.array([["a", ""], [], None], pa.large_list(text)),
        "fixed list": pa.array([[1.5, math.nan], None, [-0.0, 2.0]], pa.list_(pa.float64(), 2)),
        "list view": pa.array([[1, 2], None, []], pa.list_view(pa.int32())),
        "struct": pa.array([{"d": Decimal("1.10"), "t": 0}, {"d": None, "t": None}, None], _struct()),
        "map": pa.array([[("k", 1), ('q"', None)], [], None], pa.map_(text, pa.int32())),
        "deep": pa.array([[{"d": Decimal("0.01"), "t": 5}], None, [None]], pa.list_(_struct())),
        "union": pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([7]), pa.array(["x"])], ["number", "word"]
        ),
    }
    for unit in ("s", "ms", "us", "ns"):
        found[f"timestamp {unit}"] = _instants(unit)
        found[f"duration {unit}"] = pa.array([0, 1, -1, 90_500, -(10**12), None], pa.int64()).cast(pa.duration(unit))
    for zone in ("UTC", "Asia/Kolkata", "+05:30", "America/St_Johns"):
        found[f"timestamp us {zone}"] = _instants("us", zone)
    found["timestamp ns Asia/Kolkata"] = _fine(pa.timestamp("ns", "Asia/Kolkata"))
    found["timestamp us fine"] = _fine(pa.timestamp("us"))
    return found


def table(names: Iterable[str] | None = None) -> pa.Table:
    """All cases, or those named, in one table: each column's values again and again, so that arrays begin anywhere."""
    found = cases()
    kept = {name: found[name] for name in (found if names is None else names)}
    rows = max(len(array) for array in kept.values())
    columns = {name: pa.concat_arrays([array] * (rows // len(array) + 2)).slice(1, rows) for name, array in kept.items()}
    return pa.table({"row": pa.array(range(rows)), **columns})


def _struct() -> pa.DataType:
    return pa.struct([("d", pa.decimal128(9, 2)), ("t", pa.timestamp("us", "UTC"))])


def plain(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return plain(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(kind.value_type)
    return kind


def values(array: pa.Array) -> list[Any]:
    """What each value is, as Python tells it apart: floats by their bits, times and days as counts, decimals as digits."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return values(array.storage)
    if pa.types.is_dictionary(kind):
        return values(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return values(pc.run_end_decode(array))
    if pa.types.is_nested(kind):
        return [_nested(kind, scalar) for scalar in array]
    if pa.types.is_temporal(kind) and kind != pa.month_day_nano_interval():
        return array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    if pa.types.is_floating(kind):
        return [bits(value) for value in array.cast(pa.float64()).to_pylist()]
    if pa.types.is_decimal(kind):
        return [None if value is None else value.as_tuple() for value in array.to_pylist()]
    return array.to_pylist()


def _nested(kind: pa.DataType, scalar: Any) -> Any:
    if not scalar.is_valid:
        return None
    if pa.types.is_struct(kind):
        return {field.name: values(_array(scalar[place], field.type))[0] for place, field in enumerate(kind)}
    if pa.types.is_map(kind):
        items = scalar.values
        return [list(pair) for pair in zip(values(items.field(0)), values(items.field(1)), strict=True)]
    if pa.types.is_union(kind):
        name = {code: kind.field(place).name for place, code in enumerate(kind.type_codes)}[scalar.type_code]
        return {name: scalar.as_py()}
    return values(scalar.values)


def _array(scalar: Any, kind: pa.DataType) -> pa.Array:
    return pa.array([scalar.as_py()], kind)


def bits(value: float | None) -> Any:
    """NaN is NaN, whatever its bits; -0.0 is not 0.0."""
    if value is None:
        return None
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def tables() -> Iterable[tuple[str, pa.Table]]:
    """Tables whose shape is odd."""
    yield (
        "two of one name",
        pa.Table.from_arrays([pa.array([1, None]), pa.array(["x", ""]), pa.array([2, 3])], ["a", "a", "a (2)"]),
    )
    yield "no rows", pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    yield "no columns", pa.table({})
    wide = {f"c{number}": pa.array([number, None]) for number in range(5_000)}
    yield "5000 columns", pa.table(wide)
    yield "odd names", pa.table({'a"b,c': [1], "=1+1": [2], " ": [3], "行\n列": [4]})
