"""Writes a table as JSON lines, row by row, in bounded memory.

Rows may be mappings or sequences (any iterable, also a generator), a pyarrow Table or RecordBatch, or a pandas DataFrame;
neither library is imported here. Without a schema the columns come from an Arrow table's own, else from the first rows; a
later value that does not fit them is refused by row and column, and a schema then says what is meant.
"""

from __future__ import annotations

import itertools
import os
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple

from actum.sdk.cells import REASON_SUFFIX, CellRefused, Column, columns_of, infer, line

INFER_ROWS = 1_000  # without a schema, the columns are settled by so many rows
BATCH_ROWS = 1_024
BUFFER_BYTES = 1 << 18


def write_table(path: str, rows: Any, schema: Optional[Sequence[Any]] = None) -> Tuple[Tuple[Column, ...], int]:
    """Write `rows` to the new file `path`; the columns and the number of rows. Raises CellRefused, FileExistsError."""
    columns = columns_of(schema) if schema is not None else _arrow_columns(rows)
    source = _rows_of(rows, columns)
    if columns is None:
        head = list(itertools.islice(source, INFER_ROWS))
        columns = infer(head)
        source = itertools.chain(head, source)
    count = 0
    with open(path, "x", encoding="utf-8", newline="\n", buffering=BUFFER_BYTES) as file:
        for row in source:
            try:
                file.write(line(columns, row) + "\n")
            except CellRefused as error:
                raise CellRefused(f"Row {count + 1}: {error}") from None
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return columns, count


def _rows_of(rows: Any, columns: Optional[Sequence[Column]]) -> Iterator[Any]:
    if hasattr(rows, "to_batches"):
        return _arrow_rows(rows.to_batches(max_chunksize=BATCH_ROWS))
    if hasattr(rows, "to_pylist") and hasattr(rows, "schema"):
        return _arrow_rows([rows])
    if hasattr(rows, "itertuples") and hasattr(rows, "columns"):
        return _frame_rows(rows, [str(name) for name in rows.columns])
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise CellRefused(f"A table's rows are an iterable, not {type(rows).__name__}.")
    return iter(rows)


def _arrow_rows(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield from batch.slice(start, BATCH_ROWS).to_pylist()


def _frame_rows(frame: Any, names: List[str]) -> Iterator[Any]:
    """A data frame's rows; its NaN and NaT mean "missing" and become null, without a reason."""
    for row in frame.itertuples(index=False, name=None):
        yield {name: None if _missing(value) else value for name, value in zip(names, row)}  # noqa: B905 - since 3.10


def _missing(value: Any) -> bool:
    if type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _arrow_columns(rows: Any) -> Optional[Tuple[Column, ...]]:
    """The columns of an Arrow schema; None when `rows` is not an Arrow table."""
    schema = getattr(rows, "schema", None)
    if schema is None or not hasattr(rows, "num_rows"):
        return None
    return tuple(_arrow_column(field) for field in schema)


def _arrow_column(field: Any) -> Column:
    kind = str(field.type)
    if kind.startswith("decimal"):
        return Column(field.name, "decimal", field.nullable, None, field.type.precision, field.type.scale)
    for prefix, name in (
        ("string", "text"),
        ("large_string", "text"),
        ("dictionary<values=string", "text"),
        ("int", "integer"),
        ("uint", "integer"),
        ("double", "float64"),
        ("float", "float64"),
        ("halffloat", "float64"),
        ("bool", "boolean"),
        ("date", "date"),
        ("timestamp", "timestamp"),
        ("binary", "binary"),
        ("large_binary", "binary"),
        ("null", "text"),
    ):
        if kind.startswith(prefix):
            return Column(field.name, name, field.nullable or field.name.endswith(REASON_SUFFIX))
    raise CellRefused(f"The Arrow type {kind} of “{field.name}” has no column type.")
