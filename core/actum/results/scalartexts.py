"""Arrow columns of values without parts as exact texts, the same in every locale (§8, R19).

Decimals with all digits of their scale and no exponent; floats by their shortest text (`nan`, `inf`, `-inf`, `-0`); dates and
times ISO 8601, an instant always in UTC with `Z`, years beyond 9999 and before 0 written out; durations and intervals ISO 8601
(`PT90.500S`); bytes base64. A null stays null.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from actum.contracts.numbers import plain

if TYPE_CHECKING:
    import pyarrow as pa

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
DAY_S = 86_400
_OUT_OF_RANGE = b"<"  # Arrow writes “<value out of range: …>” for years of more than five digits


def of_array(array: pa.Array) -> pa.Array:
    """One column, `unwrapped` and not nested, as strings."""
    import pyarrow as pa
    import pyarrow.types as is_

    kind = array.type
    if is_.is_null(kind):
        return pa.nulls(len(array), pa.string())
    if is_.is_timestamp(kind):
        return _instants(array)
    if is_.is_date(kind):
        told = array.cast(pa.string())
        return _each(array.cast(pa.int32() if is_.is_date32(kind) else pa.int64()), _day(kind)) if _odd(told) else told
    if is_.is_decimal(kind):
        return _decimals(array)
    if is_.is_duration(kind):
        return _each(array.cast(pa.int64()), lambda count: duration(count, PER_SECOND[kind.unit]))
    if kind == pa.month_day_nano_interval():
        return _each(array, interval)
    if is_binary(kind):
        return _each(array, lambda value: base64.b64encode(value).decode("ascii"))
    return array.cast(pa.string())


def unwrapped(array: pa.Array) -> pa.Array:
    """The plain array under dictionaries, run ends and extension types."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif is_.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif is_.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of what `unwrapped` gives."""
    import pyarrow as pa
    import pyarrow.types as is_

    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif is_.is_dictionary(kind) or is_.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    return bool(is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind))


def is_binary(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    tests = (is_.is_binary, is_.is_large_binary, is_.is_fixed_size_binary, is_.is_binary_view)
    return any(test(kind) for test in tests)


def per_day(kind: pa.DataType) -> int:
    """How many counts of a date or of an instant make a day."""
    import pyarrow.types as is_

    if is_.is_date(kind):
        return 1 if is_.is_date32(kind) else DAY_S * 1_000
    return DAY_S * PER_SECOND[kind.unit]


def holds(array: pa.Array, piece: bytes) -> bool:
    """Whether any text of a string array holds `piece`, or two neighbours do together: quick, and never wrongly no."""
    return piece in content(array)


def content(array: pa.Array) -> bytes:
    """The texts of a string array one after the other, nulls left out."""
    data = array.buffers()[2]
    if data is None:
        return b""
    bounds = memoryview(array.buffers()[1])
    offsets = bounds.cast("q") if str(array.type).startswith("large") else bounds.cast("i")
    return bytes(memoryview(data)[offsets[array.offset] : offsets[array.offset + len(array)]])


def day_text(days: int) -> str:
    """The date that is `days` after 1970-01-01 in the proleptic Gregorian calendar, whatever its year."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}"


def duration(count: int, per_second: int) -> str:
    """`PT-1.500S` never: the sign stands before the whole, `-PT1.500S`."""
    seconds, rest = divmod(abs(count), per_second)
    fraction = f".{rest:0{len(str(per_second)) - 1}}" if per_second > 1 else ""
    return f"{'-' if count < 0 else ''}PT{seconds}{fraction}S"


def interval(value: Any) -> str:
    """Months, days and nanoseconds, each with its own sign: `P1M-2DT0.000000003S`."""
    seconds, rest = divmod(abs(value.nanoseconds), PER_SECOND["ns"])
    return f"P{value.months}M{value.days}DT{'-' if value.nanoseconds < 0 else ''}{seconds}.{rest:09}S"


def _day(kind: pa.DataType) -> Callable[[int], str]:
    import pyarrow.types as is_

    return day_text if is_.is_date32(kind) else lambda ms: day_text(ms // (DAY_S * 1_000))


def _instants(array: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    told, zone = instants(array)
    return pc.binary_join_element_wise(told, zone, "") if zone else told


def instants(array: pa.Array) -> tuple[pa.Array, str]:
    """Instants without their zone, and the zone that stands behind each: `Z`, or nothing where they have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    local = (
        array if kind.tz is None else array.cast(pa.int64()).cast(pa.timestamp(kind.unit))
    )  # with a zone it is 30 times slower
    told, zone = local.cast(pa.string()), "" if kind.tz is None else "Z"
    if _odd(told):
        return _each(array.cast(pa.int64()), lambda count: _instant(count, PER_SECOND[kind.unit])), zone
    return pc.replace_substring(told, " ", "T", max_replacements=1), zone


def _instant(count: int, per_second: int) -> str:
    seconds, rest = divmod(count, per_second)
    days, second = divmod(seconds, DAY_S)
    fraction = f".{rest:0{len(str(per_second)) - 1}}" if per_second > 1 else ""
    return f"{day_text(days)}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{fraction}"


def _decimals(array: pa.Array) -> pa.Array:
    """Arrow writes small decimals with an exponent; those are written again."""
    import pyarrow as pa

    told = array.cast(pa.string())
    return _each(array, plain) if holds(told, b"E") else told


def _odd(told: pa.Array) -> bool:
    return holds(told, _OUT_OF_RANGE)


def _each(array: pa.Array, write: Callable[[Any], str]) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())
