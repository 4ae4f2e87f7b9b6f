"""Arrow of the Data profile, rule `arrow.data.v1`: an Arrow IPC file with the table's own types, names, metadata and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum.errors import CheckFailed, WrongUse
from actum.results import export_csv, readback
from actum.results.ahead import ahead
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "arrow.data.v1"


def refuse(schema: pa.Schema) -> None:
    """Nothing: every table has a form in Arrow."""


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write all rows; returns their number. `about` is not written: the sidecar holds it."""
    import pyarrow as pa

    rows = 0
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=False, unify_dictionaries=False)
    with pa.ipc.new_file(file, schema, options=options) as writer:
        for batch in ahead(batches):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the file, batch by batch, and compare its schema, and every value, with the source. Raises CheckFailed.

    It is not mapped: what was looked at of a map stays in the memory of this program for as long as there is room.
    """
    import pyarrow as pa

    with pa.OSFile(str(path)) as held:
        file = pa.ipc.open_file(held)
        if not file.schema.equals(pa.ipc.read_schema(schema.serialize()), check_metadata=True):  # maps lose names of members
            raise CheckFailed("export_differs", "The exported Arrow file, read back, has another schema.")
        if not schema.names:
            return _compare_rows(file, batches)
        names = [str(place) for place in range(len(schema.names))]
        found = (readback.normal_batch(_sound(file.get_batch(place)), names) for place in range(file.num_record_batches))
        wanted = (readback.normal_batch(batch, names) for batch in batches)
        return export_csv.named(compare_batches(table, wanted, found), schema)


def _compare_rows(file: Any, batches: Iterator[pa.RecordBatch]) -> Comparison:
    rows = sum(file.get_batch(place).num_rows for place in range(file.num_record_batches))
    if rows != sum(batch.num_rows for batch in batches):
        raise CheckFailed("export_differs", "The exported Arrow file, read back, has another number of rows.")
    return Comparison(rows, None)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch


def unified(batches: Callable[[], Iterator[pa.RecordBatch]], schema: pa.Schema) -> Callable[[], Iterator[pa.RecordBatch]]:
    """The same batches with one dictionary a column: an Arrow file, unlike a stream, keeps no second one.

    All values of these columns are looked at once, before the first batch is given. Raises WrongUse where the indices are
    too narrow for them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_

    places = [place for place, field in enumerate(schema) if is_.is_dictionary(field.type)]
    if not places:
        return batches
    known: dict[int, pa.Array] = {place: pa.array([], schema.field(place).type.value_type) for place in places}

    def learn() -> None:
        for batch in batches():
            for place in places:
                values = batch.column(place).dictionary
                fresh = values.filter(pc.invert(pc.is_in(values, known[place])))
                known[place] = pa.concat_arrays([known[place], fresh.unique().drop_null()])

    def again() -> Iterator[pa.RecordBatch]:
        learn()
        for batch in batches():
            columns = list(batch.columns)
            for place in places:
                columns[place] = _with(columns[place], known[place], schema.field(place))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return again


def _with(column: Any, values: pa.Array, field: pa.Field) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        indices = pc.index_in(column.dictionary_decode(), values).cast(field.type.index_type)
    except pa.ArrowInvalid as error:
        why = f"It has {len(values):,} values, more than its indices ({field.type.index_type}) can tell apart."
        raise WrongUse(
            "no_arrow_form", f"The column “{field.name}” cannot be one dictionary.", why, "Export as Parquet."
        ) from error
    return pa.DictionaryArray.from_arrays(indices, values, ordered=field.type.ordered)
