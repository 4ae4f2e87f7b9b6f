"""Rows of a view written to Parquet by DuckDB's own writer, on all its threads, where that changes nothing of the table (R14).

The writer gets the table's Arrow schema to store beside the rows, as pyarrow does, so that zones, units, dictionaries and wide
texts come back as they were. It marks a column as one without nulls where the statistics of the view say that it has none:
they are believed only where the schema has such columns, and those that may hold nulls are then asked for by TRY, of which
nothing is known. Whether the types come back is tried beforehand with a file of no rows, and the whole schema, with its
metadata, is read from the file at the end. Tables that this writer would change are left to pyarrow, and so is what it cannot
do within EXPORT_COPY_MEMORY_BYTES_MAX. The rows themselves are compared by whoever exports.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING

from actum import limits
from actum.errors import ActumError
from actum.ipc import regular
from actum.results import exportplace, query

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_ARROW_SCHEMA = "ARROW:schema"  # the key under which readers of Parquet look for it
_GROUP_ROWS_MIN = 2_048  # the writer's own unit


def write(view: Path, schema: pa.Schema, path: Path) -> bool:
    """Write the rows of `view`, without their numbers, to `path`, durably. False = it has to be done by another writer.

    What is tried, and what does not fit into memory, stands beside `path` meanwhile. Raises StorageFailed(disk_full), OSError.
    """
    if not schema.names:
        return False
    memory, some_required = limits.EXPORT_COPY_MEMORY_BYTES_MAX, not all(field.nullable for field in schema)
    tried = path.with_name("tried.parquet")
    try:
        with (
            query.connected(view, path.parent, memory_bytes=memory, trusting=some_required) as connection,
            exportplace.room_kept(path.parent, connection.interrupt),
        ):
            _copy(connection, view, schema, tried, "LIMIT 0")
            if not _is(tried, schema, only_types=True):
                return False
            _copy(connection, view, schema, path)
    except ActumError as error:
        if error.code == "query_failed":
            return False
        raise
    finally:
        tried.unlink(missing_ok=True)
    if not _is(path, schema):
        return False
    with regular.reading(path) as file:
        os.fsync(file.fileno())
    return True


def _is(path: Path, schema: pa.Schema, *, only_types: bool = False) -> bool:
    """Whether a reader gets the table's own schema from the file, its metadata included; nulls aside with `only_types`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def settled(schema: pa.Schema) -> pa.Schema:
        whole = pa.ipc.read_schema(schema.serialize())  # maps lose names of members
        return pa.schema([field.with_nullable(True) for field in whole], whole.metadata) if only_types else whole

    try:
        return bool(settled(pq.read_schema(path)).equals(settled(schema), check_metadata=True))
    except pa.ArrowException:
        return False


def _copy(connection: duckdb.DuckDBPyConnection, view: Path, schema: pa.Schema, path: Path, only: str = "") -> None:
    import pyarrow.parquet as pq

    places = [query.quoted(name) for name in pq.read_schema(view).names if name != query.ROW]
    if not all(field.nullable for field in schema):
        asked = zip(places, schema, strict=True)
        places = [f"TRY({name}) AS {name}" if field.nullable else name for name, field in asked]
    stored = base64.b64encode(schema.serialize()).decode("ascii")
    sql = (
        f"COPY (SELECT {', '.join(places)} FROM read_parquet($1, hive_partitioning=false) {only}) TO $2 "
        f"(FORMAT parquet, ROW_GROUP_SIZE {_group_rows(view)}, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
        f"USE_TMP_FILE false, KV_METADATA {{'{_ARROW_SCHEMA}': '{stored}'}})"
    )
    query.one(connection, sql, [query.pattern(view), str(path)])


def _group_rows(view: Path) -> int:
    """Rows of a group: the writer holds one for each thread before it is packed, so wide rows make small ones."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(view)
    size = sum(int(metadata.row_group(group).total_byte_size) for group in range(metadata.num_row_groups))
    row_bytes = max(size // max(1, int(metadata.num_rows)), int(metadata.num_columns)) or 1
    most = limits.EXPORT_COPY_MEMORY_BYTES_MAX // (4 * limits.QUERY_THREADS_MAX) // row_bytes
    return max(_GROUP_ROWS_MIN, min(limits.ROW_GROUP_ROWS_MAX, most))
