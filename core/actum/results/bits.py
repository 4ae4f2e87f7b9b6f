"""Whether two Arrow arrays hold the same values: floats by their bits, but any NaN like any other; a null equals only a null.

-0.0 is not 0.0, in lists, structs and maps too. Dictionaries are compared by their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def first_difference(expected: pa.Array, found: pa.Array) -> int | None:
    """The first position at which two arrays of one type differ."""
    if _viewed(expected).equals(_viewed(found)):  # the plain case, at the speed of memory
        return None
    expected, found = by_bits(expected), by_bits(found)
    if expected.equals(found):
        return None
    low, high = 0, len(expected)  # the first `low` are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if expected.slice(low, middle - low).equals(found.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def _viewed(array: pa.Array) -> pa.Array:
    """Floats as the integers of the same bits; nothing is copied. Nested arrays with floats are never equal this way."""
    import pyarrow as pa
    import pyarrow.types as is_

    kind = array.type
    if is_.is_floating(kind):
        return array.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width])
    if is_.is_nested(kind) and _has_floats(kind):
        return by_bits(array)
    return array


def _has_floats(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    if is_.is_floating(kind):
        return True
    if is_.is_dictionary(kind):
        return _has_floats(kind.value_type)
    return any(_has_floats(kind.field(position).type) for position in range(kind.num_fields))


def by_bits(array: pa.Array) -> pa.Array:
    """The array with each float as the integer of its bits, one for every NaN, and dictionaries as their values."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind = array.type
    if is_.is_dictionary(kind):
        return by_bits(array.dictionary_decode())
    if is_.is_floating(kind):
        odd = pc.is_nan(array.cast(pa.float32()) if is_.is_float16(kind) else array)
        one = pc.if_else(odd, pa.scalar(float("nan"), pa.float64()).cast(kind), array)
        return one.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width])
    if not is_.is_nested(kind) or not _has_floats(kind):
        return array
    array = array.take(pa.array(range(len(array)), pa.int64()))  # its own buffers, from their start
    mask = array.is_null() if array.null_count else None
    if is_.is_struct(kind):
        names = [kind.field(position).name for position in range(kind.num_fields)]
        return pa.StructArray.from_arrays([by_bits(member) for member in array.flatten()], names=names, mask=mask)
    if is_.is_map(kind):
        pairs = pa.StructArray.from_arrays([by_bits(array.keys), by_bits(array.items)], names=["key", "value"])
        return pa.ListArray.from_arrays(array.offsets, pairs, mask=mask)
    if is_.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(by_bits(array.values), kind.list_size, mask=mask)
    made = pa.LargeListArray if is_.is_large_list(kind) else pa.ListArray
    return made.from_arrays(array.offsets, by_bits(array.values), mask=mask)
