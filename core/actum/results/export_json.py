"""JSON and JSON lines of the Data profile, rules `json.data.v2` and `jsonl.data.v1`: rows as objects, written as a stream.

JSON lines: one object a line, nothing else. JSON: one document, `{"schema": {…}, "rows": [{…}, …]}`, one row a line; the schema
names the table and its columns. Cells are those of `jsontexts`. Columns stand in their order; where two have one name, the
later one's key has a number, and the schema and the sidecar say which key is whose. A row without columns is `{}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import limits
from actum.errors import CheckFailed
from actum.ipc import regular
from actum.results import export_csv, jsontexts, readback, scalartexts
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "json.data.v2"
LINES_RULE = "jsonl.data.v1"
_ROWS = b',\n"rows":[\n'
_END = b"\n]}\n"


def refuse(schema: pa.Schema) -> None:
    """Nothing: every table has a form in JSON."""


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write the document; returns the number of rows. `about` becomes the schema member."""
    file.write(b'{"schema":' + _json(about) + _ROWS)
    ends = _Between(file, 2)
    rows = _write_rows(ends, batches, schema, ",\n")  # type: ignore[arg-type]
    file.write(_END)
    return rows


def write_lines(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write the rows; returns their number. `about` is not written: the sidecar holds it."""
    return _write_rows(file, batches, schema, "\n")


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the document back and compare every value with the source. Raises CheckFailed when it is no such document."""
    return _compare(_document_blocks(path, table), table, batches, schema)


def compare_lines(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the lines back and compare every value with the source. Raises CheckFailed when they are not such lines."""
    return _compare(_line_blocks(path, table), table, batches, schema)


def _write_rows(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, ending: str) -> int:
    keys = jsontexts.keys(schema.names)
    return export_csv.in_order(file, batches, lambda batch: _lines(batch, keys, ending))


def _lines(batch: pa.RecordBatch, keys: Sequence[str], ending: str) -> Any:
    """The bytes of all rows of a batch, each with its ending."""
    import pyarrow.compute as pc

    if not keys:
        return ("{}" + ending).encode() * batch.num_rows
    pieces: list[Any] = []
    between = "{"
    for key, column in zip(keys, batch.columns, strict=True):
        before, told, after = jsontexts.pieces(column)
        pieces += [between + encode_basestring(key) + ":" + before, told]
        between = after + ","
    return scalartexts.content(pc.binary_join_element_wise(*pieces, after + "}" + ending, ""))


class _Between:
    """Writes what stands after each row only when another one follows."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._length = file, length
        self._held = b""

    def write(self, content: bytes) -> int:
        self._file.write(self._held)
        self._held = content[-self._length :]
        return self._file.write(memoryview(content)[: -self._length])


def _compare(blocks: Iterator[list[Any]], table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    keys = jsontexts.keys(schema.names)
    if not keys:
        return _compare_rows(blocks, batches, table)
    wanted = (readback.normal_batch(batch, keys) for batch in batches)
    return compare_batches(table, wanted, map(partial(_values, table, keys, schema), blocks))


def _compare_rows(blocks: Iterator[list[Any]], batches: Iterator[pa.RecordBatch], table: str) -> Comparison:
    """A table without columns has a number of rows, and nothing else."""
    found = 0
    for rows in blocks:
        if any(row != {} for row in rows):
            raise _unreadable(table)
        found += len(rows)
    if found != sum(batch.num_rows for batch in batches):
        raise _unreadable(table)
    return Comparison(found, None)


def _values(table: str, keys: Sequence[str], schema: pa.Schema, rows: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    if not all(type(row) is dict and list(row) == list(keys) for row in rows):
        raise _unreadable(table)
    try:
        arrays = [readback.from_cells([row[key] for row in rows], field.type) for key, field in zip(keys, schema, strict=True)]
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise _unreadable(table) from error
    return pa.RecordBatch.from_arrays(arrays, names=list(keys))


def _document_blocks(path: Path, table: str) -> Iterator[list[Any]]:
    """The rows in blocks. The frame around them must be exactly ours, so that frame and rows together are one document."""
    with regular.reading(path) as file:
        head = file.readline() + file.readline()
        if not head.endswith(_ROWS):
            raise _unreadable(table)
        try:
            json.loads(head + b"]}")
            yield from _parsed(file, b"]}\n")
        except ValueError as error:
            raise _unreadable(table) from error


def _line_blocks(path: Path, table: str) -> Iterator[list[Any]]:
    with regular.reading(path) as file:
        try:
            yield from _parsed(file, None)
        except ValueError as error:
            raise _unreadable(table) from error


def _parsed(file: IO[bytes], end: bytes | None) -> Iterator[list[Any]]:
    """Rows of one line each, up to the line `end`, which must come, or to the end of the file. Raises ValueError."""
    block: list[bytes] = []
    size = 0
    ended = end is None
    for line in file:
        if line == end:
            ended = True
            break
        block.append(line.rstrip(b"\n") if end is None else line.rstrip(b",\n"))
        size += len(line)
        if len(block) >= limits.BATCH_ROWS or size >= limits.BATCH_BYTES:
            yield json.loads(b"[" + b",".join(block) + b"]")
            block, size = [], 0
    if not ended or file.read(1):
        raise ValueError("the file does not end as it was written")
    if block and block != [b""]:
        yield json.loads(b"[" + b",".join(block) + b"]")


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _unreadable(table: str) -> CheckFailed:
    return CheckFailed("export_differs", f"The export of “{table}” cannot be read back as the document that was written.")
