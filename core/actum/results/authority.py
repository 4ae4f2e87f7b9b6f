"""Reading a table's authority as the Arrow batches it means, streaming, by the rule its manifest names (R14).

`jsonl.v1`: one object a line, keys in schema order, cells as `contracts.tables` defines them. `csv.v1`: UTF-8, RFC 4180,
first record = column names, every field read as text and then by its column's type, never through a float.
`arrow.v1`: an Arrow file, its types as `arrowrule` has them in Parquet. `parquet.v1`: the Parquet itself. Whatever does not
fit raises ActumError(contract_invalid) naming table, row and column. Memory is bounded by BATCH_BYTES of text and its values.

Reading may begin after any row: JSON lines are passed over by their line feeds, Arrow by its batches, Parquet by its row
groups; a CSV is read from its start.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import limits
from actum.contracts import tables
from actum.contracts.tables import Column
from actum.ipc import regular
from actum.results import arrowfile, arrowrule
from actum.results import columns as cells
from actum.results.handover import invalid

if TYPE_CHECKING:
    import pyarrow as pa

DERIVED_RULES = ("jsonl.v1", "csv.v1", "arrow.v1")  # a Parquet that was handed over needs no derived one
Advance = Callable[[int], None]


def columns_of(entry: Mapping[str, Any]) -> tuple[Column, ...]:
    """The columns that a table's entry in the manifest lists."""
    return tables.schema_from_json(entry["schema"])


def schema(package: Path, entry: Mapping[str, Any]) -> pa.Schema:
    """The schema that the table has in Parquet by its rule, without our metadata. Raises OSError, ActumError."""
    if entry["rule"] == "arrow.v1":
        return arrowrule.stored_schema(entry["table"], own_schema(package, entry))
    return cells.arrow_schema(columns_of(entry))


def own_schema(package: Path, entry: Mapping[str, Any]) -> pa.Schema:
    """The schema of an Arrow authority as its file says it. Raises OSError, ActumError."""
    return arrowfile.schema(package / entry["name"], entry["table"])


def batches(
    package: Path, entry: Mapping[str, Any], advance: Advance = lambda count: None, skip: int = 0
) -> Iterator[pa.RecordBatch]:
    """The batches that the authority described by `entry` (a file of the manifest) means, after its first `skip` rows.

    Raises OSError, ActumError.
    """
    readers = {"jsonl.v1": _json_lines, "csv.v1": _csv, "arrow.v1": _arrow, "parquet.v1": _parquet}
    reader = readers.get(entry["rule"])
    if reader is None:
        raise invalid(f"The table “{entry['table']}” is written by the rule “{entry['rule']}”.", "This version cannot read it.")
    return reader(package / entry["name"], entry, advance, skip)


def _arrow(path: Path, entry: Mapping[str, Any], advance: Advance, skip: int) -> Iterator[pa.RecordBatch]:
    stored = arrowrule.stored_schema(entry["table"], arrowfile.schema(path, entry["table"]))
    row = 1 + skip
    for batch in arrowfile.batches(path, entry["table"], advance, skip):
        yield arrowrule.stored_batch(entry["table"], batch, stored, row)
        row += batch.num_rows


def _json_lines(path: Path, entry: Mapping[str, Any], advance: Advance, skip: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    columns = columns_of(entry)
    wanted = cells.arrow_schema(columns)
    names = [column.name for column in columns]
    first_row = 1 + skip
    with regular.reading(path) as file:
        _pass_lines(file, skip)
        for lines in _line_blocks(file, entry["table"], advance):
            rows = _objects(entry["table"], lines, names, first_row)
            arrays = [
                cells.from_cells(entry["table"], column, [row[column.name] for row in rows], first_row) for column in columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=wanted)
            first_row += len(rows)


def _pass_lines(file: IO[bytes], count: int) -> None:
    """Set the file behind its first `count` lines."""
    while count and (block := file.read(limits.HASH_BLOCK_BYTES)):
        there = block.count(b"\n")
        if there < count:
            count -= there
            continue
        end = -1
        for _ in range(count):
            end = block.index(b"\n", end + 1)
        file.seek(end + 1 - len(block), 1)
        count = 0


def _line_blocks(file: IO[bytes], table: str, advance: Advance) -> Iterator[list[bytes]]:
    """Complete lines, in blocks of at most BATCH_ROWS; a last line without a newline counts."""
    rest = b""
    while block := file.read(limits.BATCH_BYTES):
        advance(len(block))
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        if max(len(rest), len(lines[0]) if lines else 0) > limits.TABLE_LINE_BYTES_MAX:
            raise invalid(f"The table “{table}” has a line longer than {limits.TABLE_LINE_BYTES_MAX:,} bytes.")
        for start in range(0, len(lines), limits.BATCH_ROWS):
            yield lines[start : start + limits.BATCH_ROWS]
    if rest:
        yield [rest]


def _objects(table: str, lines: list[bytes], names: list[str], first_row: int) -> list[dict[str, Any]]:
    """The objects of the lines, parsed as one array. A raw newline may not stand in a JSON string, so joining the lines by
    newlines cannot make one valid object of two broken ones, unless it is nested, and a cell never is."""
    try:
        rows = json.loads(b"[" + b"\n,\n".join(lines) + b"]")
    except (ValueError, RecursionError):
        rows = []
    if len(rows) != len(lines) or not all(type(row) is dict and list(row) == names for row in rows):
        _name_bad_line(table, lines, names, first_row)
    return rows  # type: ignore[no-any-return]


def _name_bad_line(table: str, lines: list[bytes], names: list[str], first_row: int) -> None:
    for row, line in enumerate(lines, first_row):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise invalid(f"Row {row:,} of the table “{table}” is not a JSON object: {error}.") from error
        if type(found) is not dict:
            raise invalid(f"Row {row:,} of the table “{table}” is not a JSON object.")
        if list(found) != names:
            raise invalid(
                f"Row {row:,} of the table “{table}” does not hold the table's columns in their order.",
                f"It has {', '.join(found)[:200] or 'none'}; the schema has {', '.join(names)[:200]}.",
            )
    raise invalid(f"The table “{table}” is not one JSON object a line, near row {first_row:,}.")


def _csv(path: Path, entry: Mapping[str, Any], advance: Advance, skip: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    columns = columns_of(entry)
    wanted = cells.arrow_schema(columns)
    first_row, told = 1, 0
    with regular.reading(path) as file:
        try:
            for texts in text_batches(file, [column.name for column in columns], entry["dialect"]["delimiter"]):
                passed = min(skip, texts.num_rows)
                skip, first_row, texts = skip - passed, first_row + passed, texts.slice(passed)
                arrays = [
                    cells.from_texts(entry["table"], column, texts.column(position), first_row)
                    for position, column in enumerate(columns)
                ]
                if texts.num_rows:
                    yield pa.RecordBatch.from_arrays(arrays, schema=wanted)
                first_row += texts.num_rows
                advance(file.tell() - told)
                told = file.tell()
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:  # of the names in its header
            raise invalid(f"The table “{entry['table']}” is not a regular CSV.", f"{str(error).splitlines()[0]}.") from error


def text_batches(file: IO[bytes], names: Sequence[str], delimiter: str) -> Iterator[pa.RecordBatch]:
    """A CSV as batches of strings: an empty field is null without quotes and empty with them. Raises pa.ArrowInvalid.

    Blocks of whole records are parsed one by one: the library's own streaming reader reads 32 blocks ahead.
    """
    import pyarrow as pa

    header_seen = False
    for block in _record_blocks(file):
        table = _parse(block, names, delimiter, with_header=not header_seen)
        if not header_seen and table.schema.names != list(names):
            raise pa.ArrowInvalid(f"its header is {', '.join(table.schema.names)[:200]}")
        header_seen = True
        yield from table.to_batches(max_chunksize=limits.BATCH_ROWS)
    if not header_seen:
        raise pa.ArrowInvalid("it has no header")


def _record_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Whole CSV records, about BATCH_BYTES of them: a line feed ends one if the quotes before it are even in number."""
    import pyarrow as pa

    rest = b""
    while block := file.read(limits.BATCH_BYTES):
        rest += block
        end = _last_record_end(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        if len(rest) > limits.TABLE_LINE_BYTES_MAX:
            raise pa.ArrowInvalid(f"a record is longer than {limits.TABLE_LINE_BYTES_MAX:,} bytes")
    if rest.count(b'"') % 2:
        raise pa.ArrowInvalid("a quote that is opened is never closed")
    if rest:
        yield rest


def _last_record_end(content: bytes) -> int:
    """The position after the last complete record; 0 if there is none."""
    quotes = content.count(b'"')
    end = len(content)
    while (line_feed := content.rfind(b"\n", 0, end)) >= 0:
        quotes -= content.count(b'"', line_feed, end)
        if quotes % 2 == 0:
            return line_feed + 1
        end = line_feed
    return 0


def _parse(block: bytes, names: Sequence[str], delimiter: str, *, with_header: bool) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    hidden = not with_header and block.startswith(codecs.BOM_UTF8)  # a value: only a file may begin with a byte order mark
    content = b"\n" + block if hidden else block
    return pacsv.read_csv(
        pa.BufferReader(content),
        read_options=pacsv.ReadOptions(
            use_threads=False,
            block_size=len(content) + 1,
            column_names=None if with_header else list(names),
            skip_rows=1 if hidden else 0,
        ),
        parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) != 1),
        convert_options=pacsv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=True,
        ),
    )


def _parquet(path: Path, entry: Mapping[str, Any], advance: Advance, skip: int) -> Iterator[pa.RecordBatch]:
    return parquet_batches(path, entry["table"], advance, skip)


def parquet_batches(path: Path, table: str, advance: Advance = lambda count: None, skip: int = 0) -> Iterator[pa.RecordBatch]:
    """The batches of a Parquet file after its first `skip` rows, BATCH_ROWS at most each.

    Raises OSError, ActumError(contract_invalid).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:  # it would keep the bytes of all it has read
            size, rows = path.stat().st_size, file.metadata.num_rows
            groups, passed = _groups_after(file.metadata, skip)
            told = seen = 0
            for batch in file.iter_batches(batch_size=limits.BATCH_ROWS, row_groups=groups, use_threads=False):
                seen += batch.num_rows
                if passed >= batch.num_rows:
                    passed -= batch.num_rows
                    continue
                yield batch.slice(passed)
                passed = 0
                advance(size * seen // max(rows, 1) - told)
                told = size * seen // max(rows, 1)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise invalid(f"The Parquet of the table “{table}” cannot be read.", f"{str(error).splitlines()[0]}.") from error


def _groups_after(metadata: Any, skip: int) -> tuple[list[int], int]:
    """The row groups from the one that holds row `skip` (from 0) on, and the rows to pass over in the first of them."""
    first = 0
    while first < metadata.num_row_groups and skip >= metadata.row_group(first).num_rows:
        skip -= metadata.row_group(first).num_rows
        first += 1
    return list(range(first, metadata.num_row_groups)), skip
