"""Arrow tables, record batches and data frames as what a table's writer takes: a schema and batches in their one form.

The table library is that of the author's own interpreter; it is looked up when a table needs it, and may not be there.
In its one form a table is the same however it was cut, sliced or encoded: batches of ARROW_BATCH_ROWS rows, nothing
behind a null, one growing dictionary for each dictionary column in the order in which its values first stand there.
"""

from __future__ import annotations

import importlib
import itertools
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from actum.sdk.cells import REASON_SUFFIX, CellRefused, Column

ARROW_BATCH_ROWS = 65_536
_PANDAS = b"pandas"  # what pandas adds to a schema names versions of libraries: not part of a table's meaning

Source = Tuple[Any, Iterator[Any]]


def pyarrow() -> Optional[Any]:
    """pyarrow with its file format, or None where this interpreter has none."""
    try:
        importlib.import_module("pyarrow.ipc")
        return importlib.import_module("pyarrow")
    except ImportError:
        return None


def source_of(rows: Any) -> Optional[Source]:
    """`rows` as an Arrow schema and its batches; None where they are not Arrow, or no library is there to take them so."""
    if hasattr(rows, "to_batches") and hasattr(rows, "schema"):
        return rows.schema, iter(rows.to_batches(max_chunksize=ARROW_BATCH_ROWS))
    if hasattr(rows, "num_rows") and hasattr(rows, "schema"):
        return rows.schema, iter([rows])
    if hasattr(rows, "read_next_batch"):
        return rows.schema, iter(rows)
    if hasattr(rows, "itertuples") and hasattr(rows, "columns"):
        return _of_frame(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        pa = pyarrow()
        return source_of(pa.RecordBatchReader.from_stream(rows)) if pa is not None else None
    return None


def peeked(rows: Any) -> Tuple[Optional[Source], Any]:
    """As `source_of`, for an iterable of record batches too: (source or None, the rows whole again)."""
    source = source_of(rows)
    if source is not None or isinstance(rows, (str, bytes)) or hasattr(rows, "itertuples") or not isinstance(rows, Iterable):
        return source, rows
    rest = iter(rows)
    first = next(rest, None)
    if first is None:
        return None, iter(())
    whole = itertools.chain([first], rest)
    if hasattr(first, "num_rows") and hasattr(first, "schema"):
        return (first.schema, whole), whole
    return None, whole


def _of_frame(frame: Any) -> Optional[Source]:
    """A pandas data frame: its NaN and NaT mean “missing” and become null, without a reason."""
    pa = pyarrow()
    if pa is None:
        return None
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError):
        return None  # row by row it is said which value does not fit
    fields = [field.with_type(_frame_type(pa, field.type)) for field in table.schema]
    return source_of(table.cast(pa.schema(fields)))


def _frame_type(pa: Any, kind: Any) -> Any:
    """A data frame's texts have one length of offsets, its decimals the digits they need: neither was meant."""
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_decimal128(kind):
        return pa.decimal128(38, max(0, kind.scale))
    return kind


def types_of(pa: Any, columns: Sequence[Column]) -> Any:
    """The Arrow schema that means these columns."""
    fields = []
    for column in columns:
        metadata = {"unit": column.unit} if column.unit else None
        fields.append(pa.field(column.name, _type_of(pa, column), nullable=column.nullable, metadata=metadata))
    return pa.schema(fields)


def _type_of(pa: Any, column: Column) -> Any:
    if column.type == "decimal":
        digits = column.precision or 0
        return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, column.scale or 0)
    return {
        "text": pa.string(),
        "integer": pa.int64(),
        "float64": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "binary": pa.binary(),
    }[column.type]


def columns_of(schema: Any) -> Optional[Tuple[Column, ...]]:
    """The columns that mean exactly this Arrow schema; None if JSON lines cannot hold it as it is."""
    if set(schema.metadata or {}) - {_PANDAS}:
        return None
    columns = []
    for field in schema:
        metadata = field.metadata or {}
        word = _WORDS.get(str(field.type), "decimal" if str(field.type).startswith(("decimal128", "decimal256")) else None)
        sized = word == "decimal" and field.type.scale >= 0
        if word is None or set(metadata) - {b"unit"} or (word == "decimal" and not sized):
            return None
        unit = metadata[b"unit"].decode("utf-8", "replace") if metadata else None
        digits = (field.type.precision, field.type.scale) if sized else (None, None)
        nullable = field.nullable or field.name.endswith(REASON_SUFFIX)
        columns.append(Column(field.name, word, nullable, unit, *digits))
    return tuple(columns)


_WORDS = {
    "string": "text",
    "int64": "integer",
    "double": "float64",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us, tz=UTC]": "timestamp",
    "binary": "binary",
}


def canonical_schema(pa: Any, schema: Any) -> Any:
    """The schema without what pandas adds, its metadata in order, views of texts as texts."""
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}  # the same values, with offsets instead of views
    fields = [
        field.with_type(plain.get(str(field.type), field.type)).with_metadata(_sorted(field.metadata)) for field in schema
    ]
    metadata = {name: value for name, value in (schema.metadata or {}).items() if name != _PANDAS}
    return pa.schema(fields, metadata=_sorted(metadata))


def _sorted(metadata: Optional[Dict[bytes, bytes]]) -> Optional[Dict[bytes, bytes]]:
    return dict(sorted(metadata.items())) if metadata else None


def canonical_batches(pa: Any, schema: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The batches in their one form. Raises CellRefused for a null where none may be, or a value with a reason."""
    grown: Dict[int, Any] = {}
    first_row = 1
    all_rows = pa.array(range(ARROW_BATCH_ROWS), pa.int64())
    for table in _whole_batches(pa, schema, batches):
        order = all_rows.slice(0, table.num_rows)
        arrays = []
        for position, field in enumerate(schema):
            column = table.column(position)
            array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
            array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
            if not field.nullable and array.null_count:
                raise CellRefused(f"Rows {first_row} to {first_row + len(array) - 1}: “{field.name}” may not be empty.")
            if pa.types.is_dictionary(field.type):
                arrays.append(_regrown(pa, field.type, array, grown, position))
            else:
                arrays.append(array.take(order))
        _check_reasons(schema.names, arrays, first_row)
        first_row += table.num_rows
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _whole_batches(pa: Any, schema: Any, batches: Iterable[Any]) -> Iterator[Any]:
    waiting: List[Any] = []
    rows = 0
    for batch in _under(pa, schema, batches):
        waiting.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        rows += batch.num_rows
        while rows >= ARROW_BATCH_ROWS:
            table = pa.Table.from_batches(waiting, schema)
            yield table.slice(0, ARROW_BATCH_ROWS)
            rest = table.slice(ARROW_BATCH_ROWS)
            waiting, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield pa.Table.from_batches(waiting, schema)


def _under(pa: Any, schema: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The batches with the types of the schema; a value that a type cannot hold is refused by the library."""
    for batch in batches:
        if batch.schema.equals(schema, check_metadata=False):
            yield batch
        else:
            yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _regrown(pa: Any, kind: Any, array: Any, grown: Dict[int, Any], position: int) -> Any:
    """A dictionary column over the one dictionary of the whole table, which only grows."""
    pc = importlib.import_module("pyarrow.compute")
    values = array.dictionary_decode()
    known = grown.get(position)
    fresh = pc.unique(values.drop_null())
    if known is not None:
        fresh = pa.concat_arrays([known, fresh.filter(pc.invert(pc.is_in(fresh, value_set=known)))])
    grown[position] = fresh
    try:
        indices = pc.index_in(values, value_set=fresh, skip_nulls=True).cast(kind.index_type)
    except pa.ArrowInvalid as error:
        raise CellRefused(f"A dictionary of {kind.index_type} indices cannot hold {len(fresh)} values.") from error
    return pa.DictionaryArray.from_arrays(indices, fresh, ordered=kind.ordered)


def _check_reasons(names: Sequence[str], arrays: Sequence[Any], first_row: int) -> None:
    for position, name in enumerate(names):
        if name + REASON_SUFFIX not in names:
            continue
        pc = importlib.import_module("pyarrow.compute")
        both = pc.and_(arrays[position].is_valid(), arrays[names.index(name + REASON_SUFFIX)].is_valid())
        row = both.index(True).as_py()
        if row >= 0:
            raise CellRefused(f"Row {first_row + row}: “{name}” has a value and a reason for being missing.")
