"""An authority's batches as DuckDB is handed them: in the types it would find in the derived Parquet, rows numbered (R14).

DuckDB reads a Parquet without Arrow's own notes in it: durations are whole numbers, half floats are floats, dictionaries are
their values, lists of fixed length are lists, local times of milliseconds are those of microseconds, decimals of more than 38
digits are doubles. The same is done here, or a filter or an order could answer one thing of the authority and another of its
copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError
from actum.results.tablerows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = "file_row_number"  # as DuckDB names the number of a row in a Parquet


class HandedOver:
    """What DuckDB asks for the rows, once for each question, by Arrow's C stream. Attribute: failed (why a stream ended)."""

    def __init__(self, rows: Rows, names: Iterable[str] | None) -> None:
        known = rows.schema.names
        chosen = set(known) if names is None else set(names)
        # A batch without columns would have no rows: one is handed over even where none is asked.
        self._names = [name for name in known if name in chosen] or known[:1]
        self._rows = rows
        self._handed = 0
        self.failed: ActumError | None = None

    @property
    def percent(self) -> int:
        """How much of the table the question under way has taken."""
        return 100 * self._handed // max(1, self._rows.total)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow as pa

        fields = [(name, asked_type(self._rows.schema.field(name).type)) for name in self._names]
        schema = pa.schema([*fields, (NUMBER, pa.int64())])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        self._handed = 0
        try:
            for batch in self._rows.stream(self._names):
                first, self._handed = self._handed, self._handed + batch.num_rows
                arrays = [asked(batch.column(name)) for name in self._names]
                numbers = _numbers(first, batch.num_rows)
                yield pa.RecordBatch.from_arrays([*arrays, numbers], schema=schema)
        except ActumError as error:
            self.failed = error
            raise


def asked_type(kind: pa.DataType) -> pa.DataType:
    """The type that DuckDB finds where the Parquet has `kind`."""
    import pyarrow as pa
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return asked_type(kind.value_type)
    if is_.is_float16(kind):
        return pa.float32()
    if is_.is_decimal256(kind):
        return pa.float64() if kind.precision > 38 else pa.decimal128(kind.precision, kind.scale)
    if is_.is_duration(kind):
        return pa.int64()
    if is_.is_timestamp(kind) and kind.unit == "ms" and kind.tz is None:
        return pa.timestamp("us")
    return _nested(kind) if is_.is_nested(kind) else kind


def _nested(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa
    import pyarrow.types as is_

    def of(field: pa.Field) -> pa.Field:
        return field.with_type(asked_type(field.type))

    if is_.is_map(kind):
        return pa.map_(of(kind.key_field), of(kind.item_field))
    if is_.is_struct(kind):
        return pa.struct([of(kind.field(place)) for place in range(kind.num_fields)])
    return pa.large_list(of(kind.value_field)) if is_.is_large_list(kind) else pa.list_(of(kind.value_field))


def asked(array: pa.Array) -> Any:
    """The values in the type of `asked_type`."""
    import pyarrow.types as is_

    kind = asked_type(array.type)
    if is_.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if array.type.equals(kind) else array.cast(kind)


def _numbers(first: int, count: int) -> pa.Array:
    import pyarrow as pa

    return pa.arange(first, first + count) if hasattr(pa, "arange") else pa.array(range(first, first + count), pa.int64())
