"""Parquet of the Data profile, rule `parquet.data.v1`: the bytes of the package's own Parquet, or its rows written anew.

A whole table is copied: that Parquet was verified against its authority before publication, and the copy, read back, has
the digest of the original. A filtered table is written in row groups of ROW_GROUP_ROWS_MAX rows at most, by DuckDB where
that changes nothing (`parquetcopy`), else by pyarrow here, and compared value by value. Parquet has no place for two columns
of one name, nor for a few types of Arrow: those are refused in words.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import limits
from actum.errors import CheckFailed, WrongUse
from actum.ipc import regular
from actum.results import digests, readback
from actum.results.ahead import ahead
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "parquet.data.v1"
_REMEDY = "Export the table as Arrow."


def refuse(schema: pa.Schema) -> None:
    """Raises WrongUse for what Parquet cannot hold."""
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        why = f"“{twice[0]}” stands in the table more than once."
        raise WrongUse("duplicate_column", "Parquet cannot hold two columns of one name.", why, _REMEDY)
    if _holds(schema):
        return
    for field in schema:
        if not _holds([field]):
            what = f"Parquet has no place for the column “{field.name}”."
            raise WrongUse("no_parquet_form", what, f"Its type is {field.type}.", _REMEDY)


def _holds(fields: Iterable[pa.Field]) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema(list(fields))).close()
    except (pa.ArrowException, OSError):
        return False
    return True


def copy(file: IO[bytes], source: Path) -> None:
    with regular.reading(source) as original:
        shutil.copyfileobj(original, file, 1 << 20)


def compare_copy(path: Path, sha256: str) -> None:
    """Raises CheckFailed when the copy, read back, is not the original."""
    if digests.of_file(path).sha256 != sha256:
        raise CheckFailed("export_differs", "The exported Parquet, read back, is not the one of the package.")


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write all rows; returns their number. `about` is not written: the sidecar holds it."""
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=1, write_page_index=True) as writer:
        for batch in ahead(batches):
            writer.write_batch(batch, row_group_size=limits.ROW_GROUP_ROWS_MAX)
            rows += batch.num_rows
    if rows and not schema.names:
        raise WrongUse("no_columns", "Parquet cannot hold rows without columns.", "", _REMEDY)
    return rows


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the file back and compare every value with the source."""
    return compare_batches(table, _normal(batches, schema), _normal(_read(path, schema), schema))


def _read(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The batches of the file in the source's types: Parquet keeps seconds as milliseconds."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False) as file:  # it would keep the bytes of all it has read
        if file.schema_arrow.names != schema.names:
            raise CheckFailed("export_differs", "The exported Parquet, read back, has other columns.")
        for batch in file.iter_batches(batch_size=limits.BATCH_ROWS, use_threads=False):
            batch.validate(full=True)
            yield batch if batch.schema.types == schema.types else batch.cast(schema)


def _normal(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    return (readback.normal_batch(batch, schema.names) for batch in batches)
