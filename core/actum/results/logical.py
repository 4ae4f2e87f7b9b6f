"""The logical digest of rows: equal for equal values, whatever file, cut, offset or dictionary they come in. Rule `logical.v1`.

Rows are taken in blocks of BATCH_ROWS, counted from the first row of the chunk; of a block, column by column: the name of
the type, the number of rows and of nulls, which rows are null (a bit each, where there are any), then the values with
nothing behind nulls. Of texts and bytes their lengths and their bytes; of lists their lengths and their members; of
structs their members; of dictionaries the values. Any NaN is like any other, -0.0 is not 0.0. sha256 of all that.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from typing import TYPE_CHECKING, Any

from actum import limits

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "logical.v1"


class Rows:
    """The digest of the rows of one chunk, as they come. `rows` counts them."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        if not self._waiting and batch.num_rows == limits.BATCH_ROWS:
            self._block(batch)
            return
        self._waiting.append(batch)
        self._count += batch.num_rows
        while self._count >= limits.BATCH_ROWS:
            joined = self._joined()
            self._block(joined.slice(0, limits.BATCH_ROWS))
            rest = joined.slice(limits.BATCH_ROWS)
            self._waiting, self._count = ([rest] if rest.num_rows else []), rest.num_rows

    def hexdigest(self) -> str:
        """The digest of all that was added; nothing is added afterwards."""
        if self._count:
            self._block(self._joined())
            self._waiting, self._count = [], 0
        return self._whole.hexdigest()

    def _joined(self) -> pa.RecordBatch:
        import pyarrow as pa

        if len(self._waiting) == 1:
            return self._waiting[0]
        plain = [_undictionaried(batch) for batch in self._waiting]
        joined: pa.RecordBatch = pa.concat_batches(plain)
        return joined

    def _block(self, batch: pa.RecordBatch) -> None:
        for column in batch.columns:
            _add(self._whole, column)


def _undictionaried(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Batches are joined by their values: two dictionaries need not be one."""
    import pyarrow as pa

    arrays = [a.dictionary_decode() if pa.types.is_dictionary(a.type) else a for a in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _add(whole: Any, array: pa.Array) -> None:
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if is_.is_dictionary(array.type):
        _add(whole, array.dictionary_decode())
        return
    kind, nulls = array.type, array.null_count
    whole.update(f"{_name(kind)}\0".encode() + struct.pack("<QQ", len(array), nulls))
    if is_.is_null(kind):
        return
    if nulls:
        whole.update(_bits(array.is_valid()))
        array = _nothing_behind_nulls(array)
    if is_.is_boolean(kind):
        whole.update(_bits(pc.fill_null(array, False)))
    elif is_.is_nested(kind):
        _add_nested(whole, array)
    elif _is_bytes(kind):
        _add_bytes(whole, array)
    else:
        whole.update(_values(_one_nan(array)))


def _nothing_behind_nulls(array: pa.Array) -> pa.Array:
    """The same values; what stands behind a null is zero, or no bytes. Where that is cheaper than to take them all anew, so."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    kind = array.type
    whole_numbers = (
        is_.is_integer(kind) or is_.is_timestamp(kind) or is_.is_time(kind) or is_.is_date(kind) or is_.is_duration(kind)
    )
    if whole_numbers or is_.is_float32(kind) or is_.is_float64(kind):
        bits = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width]
        return pc.fill_null(array.view(bits), 0).view(kind)
    if _is_bytes(kind) and len(array):
        offsets = _offsets(array)
        if (pc.sum(pc.binary_length(array)).as_py() or 0) == offsets[array.offset + len(array)] - offsets[array.offset]:
            return array  # as every writer of ours leaves it
    return array.take(_order(len(array)))


def _offsets(array: pa.Array) -> memoryview:
    """Where each text begins in the bytes, from the start of the buffer."""
    import pyarrow.types as is_

    wide = is_.is_large_string(array.type) or is_.is_large_binary(array.type)
    return memoryview(array.buffers()[1]).cast("q" if wide else "i")


@functools.cache
def _first_order() -> pa.Array:
    import pyarrow as pa

    return pa.array(range(limits.BATCH_ROWS), pa.int64())


def _order(count: int) -> pa.Array:
    """The positions of so many values: to take them in order is to have them in buffers of their own, zero behind nulls."""
    import pyarrow as pa

    return _first_order().slice(0, count) if count <= len(_first_order()) else pa.array(range(count), pa.int64())


def _name(kind: pa.DataType) -> str:
    """A type by what its values are: names of list members are no values."""
    import pyarrow.types as is_

    if is_.is_nested(kind):
        return str(kind).partition("<")[0]
    return str(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    return any(test(kind) for test in (is_.is_string, is_.is_large_string, is_.is_binary, is_.is_large_binary))


def _bits(array: pa.Array) -> bytes:
    """Booleans without nulls, a bit each, the rest of the last byte zero."""

    packed = array if array.offset == 0 else array.take(_order(len(array)))
    content = bytearray(memoryview(packed.buffers()[1])[: (len(array) + 7) // 8])
    if len(array) % 8 and content:
        content[-1] &= (1 << len(array) % 8) - 1
    return bytes(content)


def _values(array: pa.Array) -> memoryview:
    width = array.type.bit_width // 8
    return memoryview(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width]


def _one_nan(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if not is_.is_floating(array.type):
        return array
    odd = pc.is_nan(array if not is_.is_float16(array.type) else array.cast(pa.float32()))
    if not pc.any(odd).as_py():
        return array
    return pc.if_else(odd, pa.scalar(float("nan"), pa.float64()).cast(array.type), array).take(_order(len(array)))


def _add_bytes(whole: Any, array: pa.Array) -> None:
    import pyarrow.compute as pc

    whole.update(_values(pc.fill_null(pc.binary_length(array), 0)))
    if not len(array):
        return
    offsets = _offsets(array)
    data = array.buffers()[2]
    if data is not None:
        whole.update(memoryview(data)[offsets[array.offset] : offsets[array.offset + len(array)]])


def _add_nested(whole: Any, array: pa.Array) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    if is_.is_struct(array.type):
        for member in array.flatten():
            _add(whole, member)
        return
    if is_.is_map(array.type):
        fields = [array.type.key_field, array.type.item_field]
        pairs = pa.StructArray.from_arrays([array.keys, array.items], fields=fields)
        array = pa.ListArray.from_arrays(array.offsets, pairs, mask=array.is_null() if array.null_count else None)
        array = array.take(_order(len(array)))
    if not is_.is_fixed_size_list(array.type):
        whole.update(_values(pc.fill_null(pc.list_value_length(array), 0)))
    _add(whole, array.flatten())
