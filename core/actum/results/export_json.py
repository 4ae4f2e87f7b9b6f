"""JSON of the Data profile, rule `json.data.v1`: one document, `{"schema": {…}, "rows": [{…}, …]}`, written as a stream.

The schema names the table and its columns; a row is an object with the columns in their order, one row a line. Cells are
those of JSON lines (`jsonl.v1`): decimals, whole numbers beyond 2^53, NaN and infinities, dates, instants and base64 bytes
are text; null is null and "" is "". Columns of other types are texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import limits
from actum.contracts import tables
from actum.contracts.tables import Column
from actum.errors import CheckFailed
from actum.results import columns as cells
from actum.results import texts
from actum.results.compare import Comparison, compare_batches
from actum.sdk.cells import EXACT_INTEGER_MAX

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "json.data.v1"
_ROWS = b',\n"rows":[\n'
_END = b"\n]}\n"


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write the document; returns the number of rows. `about` becomes the schema member."""
    file.write(b'{"schema":' + _json(about) + _ROWS)
    kinds = _columns(schema)
    rows = 0
    for batch in batches:
        if batch.num_rows:
            file.write((",\n" if rows else "").encode() + ",\n".join(_lines(batch, kinds)).encode())
        rows += batch.num_rows
    file.write(_END)
    return rows


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the document back and compare every value with the source. Raises CheckFailed when it is no such document."""
    kinds = _columns(schema)
    wanted = (_comparable(batch, kinds) for batch in batches)
    return compare_batches(table, wanted, _read(path, table, kinds))


def _columns(schema: pa.Schema) -> list[Column]:
    """Each column as the contract would name it; a type it has no word for is a text."""
    found = []
    for described in cells.describe(schema):
        if described["type"] in tables.COLUMN_TYPES:
            found.append(Column(**described | {"nullable": True}))
        else:
            found.append(Column(described["name"], "text"))
    return found


def _lines(batch: pa.RecordBatch, kinds: list[Column]) -> list[str]:
    import pyarrow.compute as pc

    pieces: list[Any] = []
    for position, column in enumerate(kinds):
        pieces.append(("," if position else "{") + encode_basestring(column.name) + ":")
        pieces.append(_cells(column, _typed(column, batch.column(position))))
    lines: list[str] = pc.binary_join_element_wise(*pieces, "}", "").to_pylist()
    return lines


def _cells(column: Column, array: pa.Array) -> pa.Array:
    """The JSON texts of one column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type in ("text", "float64"):
        write = encode_basestring if column.type == "text" else _float
        return pa.array(["null" if value is None else write(value) for value in array.to_pylist()], pa.string())
    plain = texts.of_array(column.name, array)
    if column.type == "integer":
        beyond = pc.or_(pc.less(array, -EXACT_INTEGER_MAX), pc.greater(array, EXACT_INTEGER_MAX))
        plain = pc.if_else(beyond, _in_quotes(plain), plain)
    elif column.type != "boolean":
        plain = _in_quotes(plain)
    return pc.fill_null(plain, "null")


def _in_quotes(array: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise('"', array, '"', "")


def _float(value: float) -> str:
    """The shortest repr; what JSON has no number for is text, as `contracts.tables` spells it."""
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else f'"{value}"'


def _typed(column: Column, array: pa.Array) -> pa.Array:
    """A column of the source in the Arrow type of its contract word: a large string is a string, an int32 an int64."""
    import pyarrow as pa

    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    wanted = cells.arrow_type(column)
    if array.type == wanted:
        return array
    return texts.of_array(column.name, array) if column.type == "text" else array.cast(wanted)


def _comparable(batch: pa.RecordBatch, kinds: list[Column]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [_typed(column, batch.column(position)) for position, column in enumerate(kinds)]
    return pa.RecordBatch.from_arrays(arrays, schema=cells.arrow_schema(kinds))


def _read(path: Path, table: str, kinds: list[Column]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    schema = cells.arrow_schema(kinds)
    names = [column.name for column in kinds]
    first_row = 1
    for rows in _row_blocks(path, table):
        if not all(type(row) is dict and list(row) == names for row in rows):
            raise _unreadable(table)
        arrays = [cells.from_cells(table, column, [row[column.name] for row in rows], first_row) for column in kinds]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        first_row += len(rows)


def _row_blocks(path: Path, table: str) -> Iterator[list[Any]]:
    """The rows in blocks. The frame around them must be exactly ours, so that frame and rows together are one document."""
    with open(path, "rb") as file:
        head = file.readline() + file.readline()
        if not head.endswith(_ROWS):
            raise _unreadable(table)
        try:
            json.loads(head + b"]}")
            block: list[bytes] = []
            size = 0
            for line in file:
                if line == b"]}\n":
                    break
                block.append(line)
                size += len(line)
                if len(block) >= limits.BATCH_ROWS or size >= limits.BATCH_BYTES:
                    yield json.loads(b"[" + b"".join(block).rstrip(b",\n") + b"]")
                    block, size = [], 0
            else:
                raise _unreadable(table)
            rest = b"".join(block)
            if rest.strip():
                yield json.loads(b"[" + rest + b"]")
        except ValueError as error:
            raise _unreadable(table) from error


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _unreadable(table: str) -> CheckFailed:
    return CheckFailed("export_differs", f"The export of “{table}” cannot be read back as the document that was written.")
