"""Arrow tables with a column of every type that a task may emit, and packages whose authority is an Arrow file."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from actum.results.manifest import Messages
from actum.sdk.context import Context

from tests.helpers import packages
from tests.helpers.packages import Made

CONTRACT: dict[str, Any] = {**packages.CONTRACT, "tables": [], "required": [], "metrics": []}
_AT = datetime(2026, 2, 28, 23, 59, 59)
_EPOCH = datetime(1969, 12, 31, 23)
_NAN = float("nan")


def _ints(bits: int, *, signed: bool) -> list[int | None]:
    top = 2 ** (bits - signed) - 1
    return [top, None, -top - 1 if signed else 0]


# name → (type, three values, the second of them missing)
EVERY: dict[str, tuple[pa.DataType, list[Any]]] = {
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), _ints(bits, signed=True)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), _ints(bits, signed=False)) for bits in (8, 16, 32, 64)},
    "half": (pa.float16(), [1.5, None, -0.0]),
    "float": (pa.float32(), [_NAN, None, -0.0]),
    "double": (pa.float64(), [_NAN, None, float("-inf")]),
    "decimal": (pa.decimal128(38, 6), [Decimal("99999999999999999999999999999999.999999"), None, Decimal("-0.000001")]),
    "decimal_long": (pa.decimal256(76, 10), [Decimal(10) ** 60, None, Decimal("-0.0000000001")]),
    "bool": (pa.bool_(), [True, None, False]),
    "text": (pa.string(), ["é\n\0", None, ""]),
    "large_text": (pa.large_string(), ["中", None, ""]),
    "view_text": (pa.string_view(), ["a text that is longer than a view", None, ""]),
    "binary": (pa.binary(), [b"\0\xff", None, b""]),
    "large_binary": (pa.large_binary(), [b"\0\xff", None, b""]),
    "fixed_binary": (pa.binary(2), [b"\0\xff", None, b"ab"]),
    "date": (pa.date32(), [date(1, 1, 1), None, date(9999, 12, 31)]),
    "date64": (pa.date64(), [date(1969, 12, 31), None, date(2026, 1, 1)]),
    "time_s": (pa.time32("s"), [time(23, 59, 59), None, time(0)]),
    "time_ms": (pa.time32("ms"), [time(23, 59, 59, 999000), None, time(0)]),
    "time_us": (pa.time64("us"), [time(23, 59, 59, 999999), None, time(0)]),
    "time_ns": (pa.time64("ns"), [86_399_999_999_999, None, 1]),
    **{f"at_{unit}": (pa.timestamp(unit), [_AT, None, _EPOCH]) for unit in ("s", "ms", "us")},
    **{f"zoned_{unit}": (pa.timestamp(unit, "Asia/Shanghai"), [_AT, None, _EPOCH]) for unit in ("s", "ms", "us")},
    "at_ns": (pa.timestamp("ns"), [1_700_000_000_123_456_789, None, -1]),
    "zoned_ns": (pa.timestamp("ns", "+02:00"), [1_700_000_000_123_456_789, None, -1]),
    **{f"lasts_{unit}": (pa.duration(unit), [timedelta(days=-1), None, timedelta(seconds=5)]) for unit in ("s", "ms", "us")},
    "lasts_ns": (pa.duration("ns"), [1, None, -1]),
    "list": (pa.list_(pa.float64()), [[_NAN, -0.0, None], None, []]),
    "large_list": (pa.large_list(pa.string()), [["a", None], None, []]),
    "fixed_list": (pa.list_(pa.int16(), 2), [[1, None], None, [3, 4]]),
    "list_of_dates": (pa.list_(pa.date64()), [[date(2026, 1, 1)], None, []]),
    "struct": (pa.struct([("a", pa.float32()), ("b", pa.list_(pa.string()))]), [{"a": -0.0, "b": ["x"]}, None, {"a": None}]),
    "map": (pa.map_(pa.string(), pa.timestamp("s")), [[("k", _AT), ("l", None)], None, []]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["red", None, "blue"]),
    "dictionary_large": (pa.dictionary(pa.int32(), pa.large_string()), ["red", None, "blue"]),
    "dictionary_of_numbers": (pa.dictionary(pa.int16(), pa.int64()), [7, None, -7]),
    "nothing": (pa.null(), [None, None, None]),
}
# What the rule arrow.v1 keeps as another type.
MAPPED = {
    "date64": "date32[day]",
    "time_s": "time32[ms]",
    "at_s": "timestamp[ms]",
    "zoned_s": "timestamp[ms, tz=Asia/Shanghai]",
    "list_of_dates": "list<item: date32[day]>",
    "map": "map<string, timestamp[ms]>",
    "dictionary_large": "dictionary<values=string, indices=int32, ordered=0>",
    "dictionary_of_numbers": "int64",
}


def every_type(repeats: int = 1) -> pa.Table:
    """Three rows, or more of the same, of every type."""
    arrays = {}
    for name, (kind, values) in EVERY.items():
        if name in ("half",):
            import numpy

            array = pa.array([None if value is None else numpy.float16(value) for value in values], kind)
        elif pa.types.is_dictionary(kind):
            array = pa.array(values, kind.value_type).dictionary_encode().cast(kind)
        else:
            array = pa.array(values, kind)
        arrays[name] = pa.chunked_array([array] * repeats, kind)
    return pa.table(arrays)


def package(folder: Path, rows: Any, name: str = "t", *, schema: Any = None, **changes: Any) -> Made:
    """A package of one table, written by the task authors' package."""
    place = packages.staging(folder)
    ctx = Context.local(place / "files")
    ctx.table(name, rows, schema)
    return packages.finish(place, Messages(tables=ctx.messages), contract=CONTRACT, **({"required": []} | changes))
