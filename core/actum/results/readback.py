"""What stands in an export, brought back to values, and held against the table: another path than the one that wrote (R14).

Both sides are brought to one *normal* form in which equal means equal: floats as their bits with every NaN alike, so that -0.0
is not 0.0; times, dates and durations as counts of their unit; dictionaries and run ends decoded; nested values as JSON with
sorted-out numbers. Texts are parsed here by Arrow or by the rules below, never by the code in `texts`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from actum.contracts.numbers import own_context
from actum.results import scalartexts, texts

if TYPE_CHECKING:
    import pyarrow as pa

_INSTANT = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?Z?")
_DURATION = re.compile(r"(-?)PT(\d+)(?:\.(\d+))?S")
_INTERVAL = re.compile(r"P(-?\d+)M(-?\d+)DT(-?)(\d+)\.(\d{9})S")
_DIGITS_MAX = 76


def normal_batch(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """A batch of the source in the normal form, its columns under `names`."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([normal(column) for column in batch.columns], names=list(names))


def normal(array: pa.Array) -> pa.Array:
    """One column in the normal form."""
    import pyarrow as pa
    import pyarrow.types as is_

    array = scalartexts.unwrapped(array)
    kind = array.type
    if is_.is_nested(kind):
        return _settled_json(texts.of_array(array))
    if is_.is_floating(kind):
        return _bits(array)
    if scalartexts.is_text(kind):
        return array.cast(pa.string())
    if scalartexts.is_binary(kind):
        return array.cast(pa.binary())
    if is_.is_null(kind) or kind == pa.month_day_nano_interval():
        return texts.of_array(array)
    return _counts(array) if _is_counted(kind) else array


def from_texts(told: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts of the Data profile as values of `kind`, in the normal form. Raises pa.ArrowException, ValueError."""
    import pyarrow as pa
    import pyarrow.types as is_

    kind = scalartexts.plain_type(kind)
    if is_.is_nested(kind):
        return _settled_json(told)
    if is_.is_null(kind) or scalartexts.is_text(kind) or kind == pa.month_day_nano_interval():
        return told.cast(pa.string())
    if scalartexts.is_binary(kind):
        return _each(told, lambda text: base64.b64decode(text, validate=True), pa.binary())
    if is_.is_decimal(kind):
        return _decimals(told, kind)
    if _is_counted(kind):
        return _from_counted(told, kind)
    array = told.cast(kind)
    return _bits(array) if is_.is_floating(kind) else array


def from_cells(cells: list[Any], kind: pa.DataType) -> pa.Array:
    """JSON cells as values of `kind`, in the normal form. Raises pa.ArrowException, ValueError, TypeError."""
    import pyarrow as pa
    import pyarrow.types as is_

    kind = scalartexts.plain_type(kind)
    if is_.is_nested(kind):
        return pa.array([None if cell is None else _dumped(cell) for cell in cells], pa.string())
    if is_.is_boolean(kind):
        return pa.array(cells, kind)
    if is_.is_integer(kind):
        return pa.array([int(cell) if type(cell) is str else cell for cell in cells], kind)
    if is_.is_floating(kind):
        return _bits(
            pa.array([float(cell) if type(cell) is str else cell for cell in cells], pa.float64()).cast(kind, safe=False)
        )
    return from_texts(pa.array(cells, pa.string()), kind)


def _bits(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if is_.is_float16(array.type):
        array = array.cast(pa.float32())  # exact, and it has a test for NaN
    whole = pa.int64() if is_.is_float64(array.type) else pa.int32()
    return pc.if_else(pc.is_nan(array), pa.scalar(float("nan"), array.type), array).view(whole)


def _is_counted(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    return bool(is_.is_date(kind) or is_.is_time(kind) or is_.is_timestamp(kind) or is_.is_duration(kind))


def _counts(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    return array.view(pa.int32() if array.type.bit_width == pa.int32().bit_width else pa.int64()).cast(pa.int64())


def _from_counted(told: pa.Array, kind: pa.DataType) -> pa.Array:
    """Dates, times, instants and durations as counts. Arrow reads years of four digits; others are read here."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if is_.is_duration(kind):
        return _each(told, lambda text: _duration(text, scalartexts.PER_SECOND[kind.unit]), pa.int64())
    try:
        if is_.is_time(kind):
            whole = pc.binary_join_element_wise("1970-01-01T", told, "")
            return _counts(whole.cast(pa.timestamp(kind.unit)))
        if is_.is_date64(kind):
            return pc.multiply(_counts(told.cast(pa.date32())), scalartexts.DAY_S * 1_000)
        return _counts(told.cast(kind))
    except pa.ArrowInvalid:
        per_day = scalartexts.per_day(kind)
        return _each(told, lambda text: _count(text, per_day), pa.int64())


def _count(text: str, per_day: int) -> int:
    """The count of an ISO date or instant of any year, in units of which a day has `per_day`."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"“{text[:60]}” is no date or time")
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    shifted = year - (month <= 2)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    year_of_era = shifted % 400
    days = shifted // 400 * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
    if match[4] is None:
        return days * per_day
    per_second = per_day // scalartexts.DAY_S
    seconds = int(match[4]) * 3_600 + int(match[5]) * 60 + int(match[6])
    return days * per_day + seconds * per_second + (int(match[7]) if match[7] else 0)


def _duration(text: str, per_second: int) -> int:
    match = _DURATION.fullmatch(text)
    if match is None or (match[3] is None) != (per_second == 1):
        raise ValueError(f"“{text[:60]}” is no duration")
    count = int(match[2]) * per_second + int(match[3] or 0)
    return -count if match[1] else count


def _decimals(told: pa.Array, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if kind.scale >= 0:
        return told.cast(kind)
    with own_context(_DIGITS_MAX):
        return pa.array([None if text is None else Decimal(text).scaleb(0) for text in told.to_pylist()], kind)


def _settled_json(told: pa.Array) -> pa.Array:
    import pyarrow as pa

    return _each(told, lambda text: _dumped(json.loads(text)), pa.string())


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _each(told: pa.Array, read: Callable[[str], Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if text is None else read(text) for text in told.to_pylist()], kind)
