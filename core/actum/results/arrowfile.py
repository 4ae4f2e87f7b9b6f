"""Reading an Arrow file (IPC, also called Feather) batch by batch, in bounded memory whatever the length of its batches.

The file is mapped, so that a batch of millions of rows is handed out in slices without being read at once; what was looked
at is let go after each MAPPED_BYTES_MAX. Only a batch that is packed (lz4, zstd) is in memory whole. Every value is checked
to be what its type says: others wrote the file.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.results import digests
from actum.results.handover import invalid

if TYPE_CHECKING:
    import pyarrow as pa

_FILE, _OLD_FEATHER, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"


def schema(path: Path, table: str) -> pa.Schema:
    """Raises OSError, ActumError(contract_invalid)."""
    with _opened(path, table) as (reader, _):
        return reader.schema


def batches(path: Path, table: str, advance: Callable[[int], None], skip: int = 0) -> Iterator[pa.RecordBatch]:
    """The rows after the first `skip`, at most BATCH_ROWS at once. Raises OSError, ActumError(contract_invalid)."""
    import pyarrow as pa

    with _opened(path, table) as (reader, mapped):
        try:
            for batch in _batches(reader):
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                    continue
                yield from _slices(batch.slice(skip), mapped, advance)
                skip = 0
        except pa.ArrowException as error:
            raise _damaged(table, error) from error


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if not hasattr(reader, "get_batch"):
        yield from reader
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _slices(batch: pa.RecordBatch, mapped: mmap.mmap, advance: Callable[[int], None]) -> Iterator[pa.RecordBatch]:
    seen = 0
    for start in range(0, batch.num_rows, limits.BATCH_ROWS):
        part = batch.slice(start, limits.BATCH_ROWS)
        part.validate(full=True)
        yield part
        seen += part.nbytes
        advance(part.nbytes)
        if seen >= limits.MAPPED_BYTES_MAX:
            let_go(mapped)
            seen = 0
    let_go(mapped)


def let_go(mapped: mmap.mmap) -> None:
    """The pages of a mapped file can be read again at any time; until then nobody pays for them."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def opened(path: Path, table: str) -> tuple[mmap.mmap, bool]:
    """The bytes of the file, mapped, and whether it is a file with a footer; else a stream. Raises OSError, ActumError."""
    with open(digests.open_regular(path), "rb") as file:
        start = file.read(8)
        if start.startswith(_OLD_FEATHER):
            raise invalid(f"The table “{table}” is Feather of version 1.", "It does not hold all types.", "Write version 2.")
        if not start.startswith((_FILE, _STREAM)):
            raise invalid(f"The table “{table}” is not an Arrow file.", "It does not begin like one.")
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), start.startswith(_FILE)


@contextlib.contextmanager
def _opened(path: Path, table: str) -> Iterator[tuple[Any, mmap.mmap]]:
    import pyarrow as pa
    import pyarrow.ipc as ipc

    mapped, whole = opened(path, table)
    source = pa.BufferReader(pa.py_buffer(mapped))
    try:
        reader = (ipc.open_file if whole else ipc.open_stream)(source)
    except pa.ArrowException as error:
        raise _damaged(table, error) from error
    yield reader, mapped  # it is unmapped when the last batch that looks into it is gone


def _damaged(table: str, error: Exception) -> Exception:
    return invalid(f"The Arrow file of the table “{table}” cannot be read.", f"{str(error).splitlines()[0]}.")
