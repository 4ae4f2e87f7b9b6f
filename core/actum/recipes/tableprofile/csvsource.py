"""Reads a CSV as texts, strictly (RFC 4180, UTF-8), and names the line of whatever is wrong.

The file is cut into blocks of whole records, so that memory does not grow with it: a line feed ends a record if the quotes
before it are even in number. A block that cannot be parsed is looked at again, slowly, for its first bad line.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv as pacsv

from actum import limits
from actum.recipes.tableprofile.formats import CSV
from actum.recipes.tableprofile.source import OnBytes, Scratch, Source, SourceColumn, distinct_names
from actum.sdk import TaskFailed

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
LOOK_AT_BYTES = 65_536
LOOK_AT_RECORDS = 50

Block = tuple[int, bytes]  # the number of its first line, and whole records


def read(path: Path, delimiter: str, header: bool, scratch: Scratch, on_bytes: OnBytes) -> Source:
    """The table of a CSV. `delimiter` is a key of DELIMITERS or “auto”. Raises TaskFailed, OSError."""
    with path.open("rb") as file:
        blocks = _blocks(file, on_bytes)
        line, first = next(blocks, (1, b""))
        if not first.strip():
            return Source(CSV, 0, "", (), "empty field", ("The file is empty: it has no columns and no rows.",))
        sign = _delimiter_of(first) if delimiter == "auto" else DELIMITERS[delimiter]
        end = _first_record_end(first)
        titles = _fields(first[:end], sign, line)
        if header:
            names, notes = distinct_names(titles)
            line, first = line + first.count(b"\n", 0, end), first[end:]
        else:
            names, notes = distinct_names([f"column {position}" for position in range(1, len(titles) + 1)])
        labels = [f"c{position}" for position in range(len(names))]
        scratch.write(pa.table({label: pa.array([], pa.string()) for label in labels}))
        _write(first, line, labels, sign, scratch)
        for line, block in blocks:
            _write(block, line, labels, sign, scratch)
    scratch.close()
    if delimiter == "auto":
        word = next(word for word, found in DELIMITERS.items() if found == sign)
        notes.insert(0, f"Fields are divided by a {word}, as the first lines show." if len(names) > 1 else "One column.")
    columns = tuple(SourceColumn(name, label) for name, label in zip(names, labels, strict=True))
    return Source(CSV, scratch.rows, scratch.relation(), columns, "empty field", tuple(notes))


def _blocks(file: IO[bytes], on_bytes: OnBytes) -> Iterator[Block]:
    """Whole records, about BATCH_BYTES of them; empty lines and a byte order mark at the start of the file are left out."""
    rest, line, at_start = b"", 1, True
    while content := file.read(limits.BATCH_BYTES):
        on_bytes(file.tell())
        rest += content
        if at_start:
            bare = rest.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            line, rest, at_start = line + rest.count(b"\n", 0, len(rest) - len(bare)), bare, not bare
        end = _last_record_end(rest)
        if end:
            yield line, rest[:end]
            line, rest = line + rest.count(b"\n", 0, end), rest[end:]
        if len(rest) > limits.TABLE_LINE_BYTES_MAX:
            why = "a quote that is opened there is not closed" if rest.count(b'"') % 2 else "its lines end in no line feed"
            raise TaskFailed(f"Line {line}: a record is longer than {limits.TABLE_LINE_BYTES_MAX:,} bytes; probably {why}.")
    if rest.count(b'"') % 2:
        raise TaskFailed(f"Line {line} or one after it: a quote that is opened is never closed.")
    if rest:
        yield line, rest


def _last_record_end(content: bytes) -> int:
    """The position after the last complete record; 0 if there is none."""
    quotes, end = content.count(b'"'), len(content)
    while (line_feed := content.rfind(b"\n", 0, end)) >= 0:
        quotes -= content.count(b'"', line_feed, end)
        if quotes % 2 == 0:
            return line_feed + 1
        end = line_feed
    return 0


def _first_record_end(content: bytes) -> int:
    """The position after the first record."""
    quotes = start = 0
    while (line_feed := content.find(b"\n", start)) >= 0:
        quotes += content.count(b'"', start, line_feed)
        if quotes % 2 == 0:
            return line_feed + 1
        start = line_feed + 1
    return len(content)


def _fields(record: bytes, sign: str, line: int) -> list[str]:
    if len(record) > limits.CSV_HEADER_BYTES_MAX:
        raise TaskFailed(f"Line {line}: the first record is longer than {limits.CSV_HEADER_BYTES_MAX:,} bytes.")
    bare = record.rstrip(b"\r\n")
    if b"\r" in bare and b'"' not in bare:
        raise TaskFailed("The lines end in a carriage return alone. Save the file with line feeds.")
    try:
        return next(csv.reader(io.StringIO(record.decode(), newline=""), delimiter=sign, strict=True))
    except UnicodeDecodeError as error:
        raise TaskFailed(_not_utf8(line, record, error.start)) from None
    except csv.Error as error:
        raise TaskFailed(f"Line {line}: the record cannot be read: {error}.") from None


def _delimiter_of(content: bytes) -> str:
    """The sign by which the first records fall into the most fields, equally many in each as in the first."""
    text = content[:LOOK_AT_BYTES].decode("utf-8", "replace")
    whole = len(content) <= LOOK_AT_BYTES

    def merit(sign: str) -> tuple[float, int]:
        counts = []
        try:
            for record in csv.reader(io.StringIO(text, newline=""), delimiter=sign):
                if record:
                    counts.append(len(record))
                if len(counts) > LOOK_AT_RECORDS:
                    break
        except csv.Error:
            pass
        if not whole and len(counts) <= LOOK_AT_RECORDS:
            counts = counts[:-1]  # the last one may be cut
        if not counts or counts[0] < 2:
            return 0.0, 0
        return counts.count(counts[0]) / len(counts), counts[0]

    return max(DELIMITERS.values(), key=merit)


def _write(block: bytes, line: int, labels: Sequence[str], sign: str, scratch: Scratch) -> None:
    if not block:
        return
    try:
        table = _parse(block, labels, sign)
    except pa.ArrowInvalid as error:
        raise TaskFailed(_first_fault(block, line, len(labels), sign, error)) from None
    scratch.write(table)


def _parse(block: bytes, labels: Sequence[str], sign: str) -> pa.Table:
    hidden = block.startswith(codecs.BOM_UTF8)  # a value: only a file may begin with a byte order mark
    content = b"\n" + block if hidden else block
    return pacsv.read_csv(
        pa.BufferReader(content),
        read_options=pacsv.ReadOptions(
            use_threads=False, block_size=len(content) + 1, column_names=list(labels), skip_rows=1 if hidden else 0
        ),
        parse_options=pacsv.ParseOptions(delimiter=sign, newlines_in_values=True, ignore_empty_lines=len(labels) != 1),
        convert_options=pacsv.ConvertOptions(
            column_types={label: pa.string() for label in labels},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=True,
        ),
    )


def _first_fault(block: bytes, line: int, width: int, sign: str, error: Exception) -> str:
    """A sentence about the first line of the block that cannot be read."""
    try:
        text = block.decode()
        bad = None
    except UnicodeDecodeError as undecoded:
        bad = undecoded.start
        text = block[: block.rfind(b"\n", 0, bad) + 1].decode()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    before = 0
    try:
        for row in rows:
            if row and len(row) != width:
                return f"Line {line + before}: it has {len(row)} fields, and the first line has {width}."
            before = rows.line_num
    except csv.Error as wrong:
        return f"Line {line + before}: the CSV cannot be read: {wrong}."
    if bad is not None:
        return _not_utf8(line, block, bad)
    return f"Line {line} or one after it: the CSV cannot be read: {str(error).splitlines()[0]}."


def _not_utf8(line: int, content: bytes, position: int) -> str:
    where = line + content.count(b"\n", 0, position)
    found = f"byte {content[position]:#04x}"
    return f"Line {where}: the file is not UTF-8 text ({found}). Save it as UTF-8; other encodings are not guessed."
