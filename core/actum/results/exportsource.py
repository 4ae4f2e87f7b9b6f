"""Where the rows of an export come from: a table of a package, what a query leaves of it, or the metrics.

The package's Parquet is checked by its digest before it is used; where it is not as it was published, or not there, the rows
are those of the authority, checked likewise. A query is the table browser's own (`query`, `view`): structured, its values
bound; the rows it leaves are written by `view` into a folder of their own and carried from there in the table's types; rows
that were chosen are counted in that view. Batches are small enough that a table of thousands of columns stays in bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import CheckFailed, NotFound, WrongUse
from actum.results import digests, exportplace, query, view
from actum.results import manifest as names
from actum.results.query import Query
from actum.results.rows import is_authority, open_rows
from actum.results.tables import Published, Readable, as_published, read_manifest, readable, table_names

if TYPE_CHECKING:
    import pyarrow as pa

_COPIES = 32  # of a batch: read ahead, made into text, joined, waiting, for each thread, and what Arrow keeps
METRICS = "metrics"  # the name under which metrics are exported, unless a table has it


@dataclass(frozen=True, slots=True)
class Source:
    """`parquet` = the verified file whose rows these are, whole; None where they are not a file's.

    `view` = a file of these rows and their numbers, for as long as the export lasts; None where there is none. `numbers` =
    places of columns whose texts are numbers, each with a scale of its own.
    """

    name: str
    origin: str
    sha256: str
    schema: pa.Schema
    rows: int
    batches: Callable[[], Iterator[pa.RecordBatch]]
    parquet: Path | None = None
    of_rows: int | None = None  # of a filtered table: how many there are without the filter
    view: Path | None = None
    file: Path | None = None
    numbers: frozenset[int] = frozenset()
    instead: str | None = None  # why it is the authority and not the quicker copy, as `tables.Readable` says it


def find(package: Path, name: str, published: Published | None = None, *, check: bool = True) -> Source:
    """Raises NotFound, CheckFailed (damaged), OSError."""
    known = table_names(package, published)
    if name in known:
        table = as_published(package, name, published) if check else readable(package, name, published)
        return _of_file(package, name, table)
    if name == METRICS:
        return _metrics(package, published, check)
    raise NotFound("no_table", f"The result has no table “{name}”.", f"It has: {', '.join([*known, METRICS])}.")


def _of_file(package: Path, name: str, table: Readable) -> Source:
    place = table.path.relative_to(package).as_posix()
    with open_rows(table.path) as opened:
        schema, rows = opened.schema, opened.total
    if not is_authority(table.path):
        parts = partial(parquet_batches, table.path)
        return Source(name, place, table.sha256, schema, rows, parts, table.path, file=table.path)
    parts = partial(_batches, table.path)
    return Source(name, place, table.sha256, schema, rows, parts, file=table.path, instead=table.instead)


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Those of an authority, by the rule that derives its Parquet. Raises ActumError, OSError."""
    with open_rows(path) as opened:
        step = max(1, min(limits.BATCH_ROWS, limits.EXPORT_CELLS_MAX // max(1, len(opened.schema))))
        for batch in opened.stream(opened.schema.names):
            whole = batch.replace_schema_metadata(opened.schema.metadata)
            for start in range(0, batch.num_rows, step):
                yield whole.slice(start, step)


def parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of a Parquet file: EXPORT_CELLS_MAX cells at most, fewer where rows are long. Raises CheckFailed, OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:  # it would keep the bytes of all it has read
            yield from file.iter_batches(batch_size=_batch_rows(file.metadata))
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        why = f"{str(error).splitlines()[0]}."
        raise CheckFailed("result_damaged", "The table cannot be read.", why, "Verify the run.") from error


def _batch_rows(metadata: Any) -> int:
    """So many rows that a batch, and what is made of it by each thread, stays a small part of EXPORT_MEMORY_BYTES_MAX."""
    groups = [int(metadata.row_group(group).total_byte_size) for group in range(metadata.num_row_groups)]
    row_bytes = sum(groups) // max(1, int(metadata.num_rows)) or 1
    by_cells = limits.EXPORT_CELLS_MAX // max(1, int(metadata.num_columns))
    return max(1, min(limits.BATCH_ROWS, by_cells, limits.EXPORT_MEMORY_BYTES_MAX // _COPIES // row_bytes))


def filtered(source: Source, asked: Query, scratch: Path) -> Source:
    """What the query leaves of a table, in its order, with the table's own types. Raises WrongUse, ActumError."""
    import pyarrow as pa

    if source.file is None:
        raise WrongUse("bad_query", "Metrics are exported whole.", "Only a table can be filtered.", "Leave the query out.")
    if asked.rows is not None:
        viewed = source if asked.viewed.whole else filtered(source, asked.viewed, scratch)
        return _picked(viewed, asked.rows, source.rows)
    out = scratch / "view.parquet"
    made = view.make(source.file, out, asked, watched=partial(exportplace.room_kept, scratch))
    names = source.schema.names if asked.columns is None else asked.columns
    schema = pa.schema([source.schema.field(name) for name in names], metadata=source.schema.metadata)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in parquet_batches(out):
            yield in_types(batch.drop_columns([query.ROW]), schema)

    rows = int(made["rows"])
    return replace(source, schema=schema, rows=rows, batches=batches, parquet=None, of_rows=source.rows, view=out, file=None)


def _picked(source: Source, rows: tuple[tuple[int, int], ...], of_rows: int) -> Source:
    """These rows of a view, or of a table as published, counted in it. Raises WrongUse where it has not so many."""
    if rows[-1][1] >= source.rows:
        why = f"It has {source.rows:,}." if source.rows else "It has none."
        raise WrongUse("no_row", f"There is no row {rows[-1][1] + 1:,}.", why, "Name rows that are there, counted from 1.")

    def batches() -> Iterator[pa.RecordBatch]:
        wanted, start = deque(rows), 0
        for batch in source.batches():
            end = start + batch.num_rows
            while wanted and wanted[0][0] < end:
                first, last = max(wanted[0][0], start), min(wanted[0][1], end - 1)
                yield batch.slice(first - start, last - first + 1)
                if wanted[0][1] >= end:
                    break
                wanted.popleft()
            start = end
            if not wanted:
                return

    count = sum(last - first + 1 for first, last in rows)
    return replace(source, rows=count, batches=batches, parquet=None, of_rows=of_rows, view=None, file=None)


def in_types(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the table's own types. Raises CheckFailed where that would change a value."""
    import pyarrow as pa

    try:
        columns = [
            column if column.type == field.type else _cast(column, field.type)
            for column, field in zip(batch.columns, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    except (pa.ArrowException, ValueError) as error:
        why = f"{str(error).splitlines()[0]}."
        what = "What the query leaves cannot be carried over exactly."
        raise CheckFailed("no_exact_view", what, why, "Export all rows.") from error


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    import pyarrow.types as is_

    return column.cast(kind.value_type).dictionary_encode().cast(kind) if is_.is_dictionary(kind) else column.cast(kind)


def _metrics(package: Path, published: Published | None, check: bool) -> Source:
    import pyarrow as pa

    result = package / names.RESULT
    try:
        entry = next(entry for entry in read_manifest(package, published)[0]["files"] if entry["name"] == names.RESULT)
        sha256 = digests.of_file(result).sha256
        document = names.read_result(package)
    except (names.NotAPackage, StopIteration) as error:
        raise CheckFailed("result_damaged", "The metrics cannot be read.", f"{error}.", "Verify the run.") from error
    if check and sha256 != entry["sha256"]:
        raise CheckFailed("result_damaged", "The metrics are not as they were published.", remedy="Verify the run.")
    words = ("name", "title", "value", "unit", "status", "reason", "rule", "raw", "rounding", "conversion", "meaning")
    numbers = [("scale", pa.int64()), ("was_rounded", pa.bool_()), ("observation_count", pa.int64())]
    numbers.append(("observations_needed", pa.int64()))
    schema = pa.schema([(member, pa.string()) for member in words] + numbers)
    rows = [{field: metric.get(field) for field in schema.names} for metric in document["metrics"]]
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    values = frozenset({words.index("value")})
    return Source(METRICS, names.RESULT, sha256, schema, len(rows), lambda: iter((batch,)), numbers=values)
