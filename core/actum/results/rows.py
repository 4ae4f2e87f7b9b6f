"""The rows of one table file, whatever its form, read by groups and columns in bounded memory (R11, R14).

| file             | group          | how a part of it is read                                                    |
|------------------|----------------|-----------------------------------------------------------------------------|
| Parquet          | its row groups | a column of a row group; of a long one a piece, passing over what is before |
| Arrow authority  | its batches    | mapped, by the rule that derives it (`arrowrows`)                           |
| JSON lines, CSV  | the whole      | whole, up to TEXT_AUTHORITY_BYTES_MAX, as the manifest beside it says       |

All say the same schema and the same values, those of the derived Parquet: whoever browses need not know which one is read. A
piece has at most ROW_GROUP_ROWS_MAX rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actum import limits
from actum.errors import ActumError
from actum.results import authority
from actum.results import manifest as names_of
from actum.results.arrowrows import ArrowRows
from actum.results.tablerows import Rows, damaged, told

if TYPE_CHECKING:
    import pyarrow as pa

_BUFFER_BYTES = 1 << 20  # read at once of a column; without it a column of a row group is read whole
_TEXTS = (".jsonl", ".csv")
_ARROW = ".arrow"


def is_authority(path: Path) -> bool:
    """Whether the file is read by a rule, and not as the Parquet that it is."""
    return path.suffix in (_ARROW, *_TEXTS)


def open_rows(path: Path) -> Rows:
    """The file of a table: a Parquet, or an authority in its package. Raises StorageFailed, ActumError(result_damaged)."""
    with told(path, "opening the table"):
        if path.suffix == _ARROW:
            return ArrowRows(path)
        return _TextRows(path) if path.suffix in _TEXTS else _ParquetRows(path)


class _ParquetRows(Rows):
    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self.starts = [0, *itertools.accumulate(sizes)]
        self.schema = self._file.schema_arrow

    def piece(self, group: int, number: int, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if self.starts[group + 1] - self.starts[group] > limits.ROW_GROUP_ROWS_MAX:
            return {name: self._passed(group, number, name) for name in names}
        with told(self.path):
            table = self._file.read_row_group(group, columns=list(names), use_threads=False)
        return {name: table.column(name) for name in names}

    def _passed(self, group: int, number: int, name: str) -> pa.ChunkedArray:
        """A piece of a long row group, a column at a time: what stands before it is decoded and let go."""
        import pyarrow as pa

        with told(self.path):
            ahead = self._batches([group], [name], limits.ROW_GROUP_ROWS_MAX)
            found = next(itertools.islice(ahead, number, None), None)
        if found is None:
            raise damaged(self.path, "a row group has fewer rows than it says")
        return pa.chunked_array([found.column(0)], type=self.schema.field(name).type)

    def stream(self, names: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        with told(self.path):
            chosen = range(len(self.starts) - 1) if groups is None else groups
            yield from self._batches(list(chosen), list(names), limits.BATCH_ROWS)

    def _batches(self, groups: list[int], names: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        found: Iterator[pa.RecordBatch] = self._file.iter_batches(rows, row_groups=groups, columns=names, use_threads=False)
        return found

    def close(self) -> None:
        self._file.close()


class _TextRows(Rows):
    """A JSON lines or CSV authority, read whole; longer than the bound it is refused in words."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        size = path.stat().st_size
        if size > limits.TEXT_AUTHORITY_BYTES_MAX:
            why = f"It has {size:,} bytes; at most {limits.TEXT_AUTHORITY_BYTES_MAX:,} can be browsed."
            raise ActumError("too_long_to_browse", "This authority is too long to be browsed itself.", why)
        package = path.parent.parent
        try:
            entries = names_of.read_manifest(package)[0]["files"]
        except names_of.NotAPackage as error:
            raise damaged(path, error) from error
        place = path.relative_to(package).as_posix()
        entry = next((entry for entry in entries if entry["name"] == place and entry.get("rule")), None)
        if entry is None:
            raise damaged(path, f"the manifest names no table {place}")
        self.path = path
        self.schema = authority.schema(package, entry)
        try:
            read = list(authority.batches(package, entry))
        except ActumError as error:
            raise damaged(path, error.what.rstrip(".")) from error
        self._table = pa.Table.from_batches(read, self.schema).combine_chunks()
        self.starts = [0, self._table.num_rows] if self._table.num_rows else [0]

    def piece(self, group: int, number: int, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        rows = limits.ROW_GROUP_ROWS_MAX
        return {name: self._table.column(name).slice(number * rows, rows) for name in names}

    def stream(self, names: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        if groups is None or groups:
            yield from self._table.select(list(names)).to_batches(max_chunksize=limits.BATCH_ROWS)

    def close(self) -> None:
        self._table = self._table.slice(0, 0)
