"""Arrow columns as JSON texts, exact: what JSON has no exact number for is text (§8, FORMATS “JSON lines authority”).

True, false, whole numbers up to ±2^53 and finite floats are JSON's own; whole numbers beyond, NaN and infinities, decimals,
dates, instants, durations and base64 bytes are text as in `scalartexts`. A list is a list, a struct an object, a map a list of
`[key, value]`, a union an object with the name of the member that holds. Nulls are null.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from actum.results import scalartexts
from actum.sdk.cells import EXACT_INTEGER_MAX

if TYPE_CHECKING:
    import pyarrow as pa

NULL = "null"
_ESCAPED = bytes([*range(32), *b'"\\'])  # what JSON writes otherwise in a text
_SHORT_BITS = 32  # integers up to here are always exact


def keys(names: Sequence[str]) -> list[str]:
    """A key for each column: its name, or with a number where the name is taken, `price`, `price (2)`."""
    taken, made = set(names), []
    seen: set[str] = set()
    for name in names:
        key, number = name, 1
        while key in seen or (number > 1 and key in taken):
            number += 1
            key = f"{name} ({number})"
        seen.add(key)
        made.append(key)
    return made


def of_array(array: pa.Array) -> pa.Array:
    """The JSON text of each value; `null` for a null, so none is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    array = scalartexts.unwrapped(array)
    kind = array.type
    if is_.is_nested(kind):
        return pa.array([NULL if text is None else text for text in or_none(array)], pa.string())
    if scalartexts.is_text(kind):
        return _texts(array.cast(pa.string()))
    if is_.is_floating(kind):
        return _floats(array)
    told = scalartexts.of_array(array)
    if is_.is_integer(kind):
        if kind.bit_width > _SHORT_BITS and pc.any(beyond := _beyond(array)).as_py():
            told = pc.if_else(beyond, in_quotes(told), told)
    elif not is_.is_boolean(kind):
        told = in_quotes(told)
    return pc.fill_null(told, NULL)


def pieces(array: pa.Array) -> tuple[str, pa.Array, str]:
    """As `of_array`, as what stands before each text, the texts, and what stands after: joining them to a row makes quotes
    around a whole column cost nothing."""
    import pyarrow.types as is_

    array = scalartexts.unwrapped(array)
    kind = array.type
    if array.null_count or is_.is_nested(kind) or is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind):
        return "", of_array(array), ""
    if is_.is_timestamp(kind):
        told, zone = scalartexts.instants(array)
        return '"', told, zone + '"'
    told = scalartexts.of_array(array)
    if scalartexts.is_text(kind) and _is_escaped(told):
        return "", of_array(array), ""
    return '"', told, '"'


def in_quotes(array: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise('"', array, '"', "")


def or_none(array: pa.Array) -> list[str | None]:
    """The JSON texts of a nested array, None where it is null."""
    import pyarrow.types as is_

    kind = array.type
    if is_.is_struct(kind):
        written: Iterator[str] = _structs(array)
    elif is_.is_map(kind):
        written = _maps(array)
    elif is_.is_union(kind):
        return list(_unions(array))
    else:
        written = _lists(array)
    return [text if there else None for text, there in zip(written, array.is_valid().to_pylist(), strict=True)]


def _lists(array: pa.Array) -> Iterator[str]:
    values = of_array(array.values).to_pylist()
    for start, end in _spans(array):
        yield f"[{','.join(values[start:end])}]"


def _maps(array: pa.Array) -> Iterator[str]:
    names, items = of_array(array.keys).to_pylist(), of_array(array.items).to_pylist()
    for start, end in _spans(array):
        yield f"[{','.join(f'[{names[place]},{items[place]}]' for place in range(start, end))}]"


def _structs(array: pa.Array) -> Iterator[str]:
    names = [encode_basestring(key) for key in keys([field.name for field in array.type])]
    columns = [of_array(array.field(place)).to_pylist() for place in range(len(names))]
    for row in range(len(array)):
        yield "{" + ",".join(f"{name}:{column[row]}" for name, column in zip(names, columns, strict=True)) + "}"


def _unions(array: pa.Array) -> Iterator[str | None]:
    if array.offset:  # its type codes would be those from the beginning
        array = array.take(list(range(len(array))))
    members = [array.type.field(place) for place in range(array.type.num_fields)]
    columns = [of_array(array.field(place)).to_pylist() for place in range(len(members))]
    codes = {code: place for place, code in enumerate(array.type.type_codes)}
    places = array.offsets.to_pylist() if array.type.mode == "dense" else range(len(array))
    for code, place in zip(array.type_codes.to_pylist(), places, strict=True):
        member = codes[code]
        yield f"{{{encode_basestring(members[member].name)}:{columns[member][place]}}}"


def _spans(array: pa.Array) -> list[tuple[int, int]]:
    """Where each list's values begin and end in `array.values`."""
    import pyarrow.types as is_

    if is_.is_fixed_size_list(array.type):
        size = array.type.list_size
        return [(place * size, (place + 1) * size) for place in range(array.offset, array.offset + len(array))]
    offsets = array.offsets.to_pylist()
    if is_.is_list_view(array.type) or is_.is_large_list_view(array.type):
        return [(start, start + size) for start, size in zip(offsets, array.sizes.to_pylist(), strict=True)]
    return list(itertools.pairwise(offsets))


def _beyond(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    above = pc.greater(array, pa.scalar(EXACT_INTEGER_MAX, array.type))
    if is_.is_unsigned_integer(array.type):
        return above
    return pc.or_(above, pc.less(array, pa.scalar(-EXACT_INTEGER_MAX, array.type)))


def _texts(array: pa.Array) -> pa.Array:
    """Texts in quotes; most need no more, and a column that does is written value by value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_escaped(array):
        return pc.fill_null(in_quotes(array), NULL)
    return pa.array([NULL if value is None else encode_basestring(value) for value in array.to_pylist()], pa.string())


def _is_escaped(array: pa.Array) -> bool:
    """Whether JSON writes any of these texts otherwise."""
    content = scalartexts.content(array)
    return len(content.translate(None, _ESCAPED)) != len(content)


def _floats(array: pa.Array) -> pa.Array:
    """The shortest text, told from a whole number; what JSON has no number for is text, as `contracts.tables` spells it."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    told = array.cast(pa.string())
    numbers = array.cast(pa.float32()) if is_.is_float16(array.type) else array  # which has a test for what is finite
    whole = pc.equal(pc.trunc(numbers), numbers)
    if pc.any(whole).as_py():
        few = told.filter(whole)
        bare = pc.invert(pc.or_(pc.match_substring(few, "."), pc.match_substring(few, "e")))
        told = pc.replace_with_mask(told, whole, pc.if_else(bare, pc.binary_join_element_wise(few, ".0", ""), few))
    if pc.all(pc.is_finite(numbers)).as_py() is False:
        odd = pc.if_else(pc.is_nan(numbers), '"NaN"', pc.if_else(pc.greater(numbers, 0), '"inf"', '"-inf"'))
        told = pc.if_else(pc.is_finite(numbers), told, odd)
    return pc.fill_null(told, NULL)
