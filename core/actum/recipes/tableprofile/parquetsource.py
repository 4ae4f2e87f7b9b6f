"""Opens a Parquet where it is: its columns have types of their own, which are taken as declared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from actum.recipes.tableprofile.formats import PARQUET
from actum.recipes.tableprofile.source import Source, SourceColumn, as_pattern, distinct_names, identifier, quoted
from actum.sdk import TaskFailed

if TYPE_CHECKING:
    import duckdb


def read(path: Path, connection: duckdb.DuckDBPyConnection) -> Source:
    """The table of a Parquet. Raises TaskFailed, OSError."""
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except pa.ArrowException as error:
        raise TaskFailed(f"The Parquet cannot be read: {str(error).splitlines()[0]}.") from None
    wide = [field.name for field in schema if pa.types.is_decimal256(field.type)]
    if wide:
        raise TaskFailed(f"The column “{wide[0]}” holds decimals of more than 38 digits, which cannot be profiled.")
    names, notes = distinct_names(schema.names)
    relation = f"read_parquet({quoted(as_pattern(path))}, hive_partitioning=false)"
    if not names:
        return Source(PARQUET, rows, relation, (), "null", ("The file has no columns.",))
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()  # names made unique, in the file's order
    columns = tuple(
        SourceColumn(name, identifier(own), declared=str(kind)) for name, (own, kind, *_) in zip(names, described, strict=True)
    )
    return Source(PARQUET, rows, relation, columns, "null", tuple(notes))
