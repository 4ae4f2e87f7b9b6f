"""The rows of an Arrow authority as its derived Parquet would have them, read from the authority itself (R11, R14).

The file is mapped. A batch that is not packed is looked at where it stands, its parts alone; of a packed one the columns asked
for are unpacked, one batch at a time, and of a batch longer than a piece only the piece is kept. A stream has no index to go
by: what stands before a batch is passed over, and going back begins again. Values are checked to be what their types say, and
go through `arrowrule`, before anyone sees them.
"""

from __future__ import annotations

import itertools
import mmap
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import ActumError
from actum.results import arrowfile, arrowindex, arrowrule
from actum.results.tablerows import Rows, damaged

if TYPE_CHECKING:
    import pyarrow as pa

_READERS_KEPT = 4  # of packed files: one for each choice of columns


class ArrowRows(Rows):
    def __init__(self, path: Path) -> None:
        """Raises OSError, ActumError(result_damaged)."""
        self.path = path
        self._looked_at = 0  # bytes of the file since it was last let go
        try:
            self._mapped, self._whole = arrowfile.opened(path, path.stem)
            content = memoryview(self._mapped)
            self._batches = arrowindex.batches(content)
            content.release()
            self._readers: OrderedDict[tuple[str, ...], _Reader] = OrderedDict()
            self._own = self._open(None).schema
            self._to_store = arrowrule.stored_schema(path.stem, self._own)
            self.schema = _as_named(self._to_store)
        except arrowindex.NoIndex as error:
            raise damaged(path, error) from error
        except ActumError as error:
            raise damaged(path, error.what.rstrip(".")) from error
        self.starts = [0, *itertools.accumulate(batch.rows for batch in self._batches)]

    def piece(self, group: int, number: int, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        import pyarrow as pa

        long = self._batches[group].packed and self._batches[group].rows > limits.ROW_GROUP_ROWS_MAX
        found: dict[str, pa.ChunkedArray] = {}
        for chosen in [[name] for name in names] if long else [list(names)]:
            part = self._part(group, number, chosen, alone=long)
            found |= {name: pa.chunked_array([part.column(name)]) for name in chosen}
        return found

    def _part(self, group: int, number: int, names: Sequence[str], *, alone: bool) -> pa.RecordBatch:
        """`alone` = what was unpacked around it is let go."""
        first = number * limits.ROW_GROUP_ROWS_MAX
        part = self._batch(group, names).slice(first, limits.ROW_GROUP_ROWS_MAX)
        return self._stored(_alone(part) if alone else part, self.starts[group] + first)

    def stream(self, names: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        for group in range(len(self._batches)) if groups is None else groups:
            batch = self._batch(group, names)
            for start in range(0, batch.num_rows, limits.BATCH_ROWS):
                yield self._stored(batch.slice(start, limits.BATCH_ROWS), self.starts[group] + start)

    def close(self) -> None:
        """What was handed out stays readable; the file is unmapped when the last of it is gone."""
        self._readers.clear()
        del self._mapped

    def _batch(self, group: int, names: Sequence[str]) -> pa.RecordBatch:
        import pyarrow as pa

        try:
            reader = self._open(tuple(names) if self._batches[group].packed else None)
            batch = reader.batch(group)
            if batch.num_rows != self._batches[group].rows:
                raise pa.ArrowInvalid("a batch has other rows than its index says")
            return batch.select(list(names))
        except (pa.ArrowException, OSError, StopIteration, KeyError) as error:
            raise damaged(self.path, error) from error

    def _stored(self, part: pa.RecordBatch, first: int) -> pa.RecordBatch:
        import pyarrow as pa

        try:
            part.validate(full=True)
            self._looked_at += part.nbytes
            if self._looked_at >= limits.MAPPED_BYTES_MAX:  # it is read again where it is still wanted
                arrowfile.let_go(self._mapped)
                self._looked_at = 0
            stored = pa.schema([self._to_store.field(name) for name in part.schema.names])
            return arrowrule.stored_batch(self.path.stem, part, stored, first + 1)
        except pa.ArrowException as error:
            raise damaged(self.path, error) from error
        except ActumError as error:
            raise damaged(self.path, error.what.rstrip(".")) from error

    def _open(self, names: tuple[str, ...] | None) -> _Reader:
        """A reader of these columns; None = of all, which unpacks nothing until a batch is asked for."""
        key = names or ()
        if key not in self._readers:
            self._readers[key] = _Reader(self._mapped, self._whole, None if names is None else self._places(names))
            if len(self._readers) > _READERS_KEPT:
                self._readers.popitem(last=False)
        self._readers.move_to_end(key)
        return self._readers[key]

    def _places(self, names: Sequence[str]) -> list[int]:
        return [self._own.get_field_index(name) for name in names]


class _Reader:
    """Batches by their number: of a file at once, of a stream in turn."""

    def __init__(self, mapped: mmap.mmap, whole: bool, fields: list[int] | None) -> None:
        self._mapped, self._whole, self._fields = mapped, whole, fields
        self._begin()

    @property
    def schema(self) -> pa.Schema:
        return self._reader.schema

    def batch(self, number: int) -> pa.RecordBatch:
        if self._whole:
            return self._reader.get_batch(number)
        if number < self._next:
            self._begin()
        while True:
            batch = self._reader.read_next_batch()
            self._next += 1
            if self._next > number:
                return batch

    def _begin(self) -> None:
        import pyarrow as pa
        import pyarrow.ipc as ipc

        options = ipc.IpcReadOptions() if self._fields is None else ipc.IpcReadOptions(included_fields=self._fields)
        source = pa.BufferReader(pa.py_buffer(self._mapped))
        self._reader: Any = (ipc.open_file if self._whole else ipc.open_stream)(source, options=options)
        self._next = 0


def _as_named(schema: pa.Schema) -> pa.Schema:
    """The schema with the names that Parquet gives to members of lists and maps: they are shown with the type."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as is_

    if not any(is_.is_nested(field.type) for field in schema):
        return schema
    written = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), written)
    return pq.read_schema(pa.BufferReader(written.getvalue()))


def _alone(part: pa.RecordBatch) -> pa.RecordBatch:
    """A copy that holds nothing of the batch around it, of any type."""
    import pyarrow as pa
    import pyarrow.ipc as ipc

    written = pa.BufferOutputStream()
    with ipc.new_stream(written, part.schema) as out:
        out.write_batch(part)
    return ipc.open_stream(written.getvalue()).read_next_batch()
