"""CSV of the Data profile, rule `csv.data.v2`: lossless, and read the same everywhere.

UTF-8 without BOM, comma, CRLF, a header line (RFC 4180). **Null and empty are distinct: a null is an empty field without
quotes, an empty text is `""`.** Texts, bytes and nested values are always quoted, other values never, so that the text
"007" is told from a number too. Values are the texts of `texts`. In a table of one column a null is therefore an empty line,
which readers that skip empty lines do not see. A table without columns has no CSV.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from actum import limits
from actum.errors import WrongUse
from actum.ipc import regular
from actum.results import authority, readback, scalartexts, texts
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "csv.data.v2"
_HEADER_NEEDS_QUOTES = r'^$|[",\r\n]|^[\s\x{FEFF}]|\s$'  # U+FEFF at the start of the file would be read as a byte order mark


def refuse(schema: pa.Schema) -> None:
    if not schema.names:
        raise WrongUse(
            "no_columns", "A table without columns has no CSV.", "A CSV line needs a field.", "Export it as JSON lines."
        )


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write the header and all rows; returns the number of rows. `about` is not written: CSV has no place for it."""
    file.write(header(schema.names))
    quoted = [is_quoted(field.type) for field in schema]
    return in_order(file, batches, lambda batch: lines(texts.of_batch(batch), quoted))


def in_order(file: IO[bytes], batches: Iterator[pa.RecordBatch], make: Any) -> int:
    """Write what `make` gives for each batch, made by EXPORT_THREADS threads, in the order of the batches."""
    rows = 0
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(limits.EXPORT_THREADS_MAX) as pool:
        try:
            for batch in batches:
                rows += batch.num_rows
                if batch.num_rows:
                    waiting.append(pool.submit(make, batch))
                if len(waiting) > limits.EXPORT_THREADS_MAX + 1:
                    file.write(waiting.popleft().result())
            while waiting:
                file.write(waiting.popleft().result())
        finally:
            for each in waiting:
                each.cancel()
    return rows


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the file back with another parser than wrote it, as values, and compare each with the source."""
    names = [str(place) for place in range(len(schema.names))]  # a header may name two columns alike
    with regular.reading(path) as file:
        check_header(file, header(schema.names))
        told = authority.text_batches(under(file, names), names, ",")
        found = (_values(batch, schema) for batch in told)
        return named(compare_batches(table, (readback.normal_batch(batch, names) for batch in batches), found), schema)


def check_header(file: IO[bytes], expected: bytes) -> None:
    import pyarrow as pa

    if file.read(len(expected)) != expected:
        raise pa.ArrowInvalid("its header is not the one that was written")


def under(file: IO[bytes], names: Sequence[str]) -> IO[bytes]:
    """A file whose header was read, with another header in its place; only to be read on."""
    return cast("IO[bytes]", _Under(file, names))


def named(outcome: Comparison, schema: pa.Schema) -> Comparison:
    """The difference with the name of its column instead of the column's place."""
    from dataclasses import replace

    difference = outcome.difference
    if difference is None or difference.column is None:
        return outcome
    return replace(outcome, difference=replace(difference, column=schema.names[int(difference.column)]))


class _Under:
    def __init__(self, file: IO[bytes], names: Sequence[str]) -> None:
        self._file = file
        self._head = (",".join(names) + "\r\n").encode()

    def read(self, count: int) -> bytes:
        head, self._head = self._head, b""
        return head + self._file.read(count - len(head))


def _values(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [readback.from_texts(told, field.type) for told, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def header(names: Sequence[str]) -> bytes:
    """The header line; names are quoted where they must be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    told = pa.array(names, pa.string())
    needs = pc.match_substring_regex(told, _HEADER_NEEDS_QUOTES)
    return ",".join(pc.if_else(needs, in_quotes(told), told).to_pylist()).encode() + b"\r\n"


def lines(batch: pa.RecordBatch, quoted: Sequence[bool]) -> Any:
    """The bytes of all lines of a batch of strings: Arrow joins the fields, and its buffer is the text of the file."""
    import pyarrow.compute as pc

    fields = [in_quotes(column) if flag else column for column, flag in zip(batch.columns, quoted, strict=True)]
    gaps = {"null_handling": "replace", "null_replacement": ""}
    fields[-1] = pc.binary_join_element_wise(fields[-1], "\r\n", "", **gaps)
    joined = pc.binary_join_element_wise(*fields, ",", **gaps) if len(fields) > 1 else fields[0]
    offsets = memoryview(joined.buffers()[1]).cast("i")
    return memoryview(joined.buffers()[2])[offsets[joined.offset] : offsets[joined.offset + len(joined)]]


def in_quotes(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    doubled = pc.replace_substring(column, '"', '""') if scalartexts.holds(column, b'"') else column
    return pc.binary_join_element_wise('"', doubled, '"', "")


def is_quoted(kind: pa.DataType) -> bool:
    """Texts, bytes and nested values: those that may be empty, or hold what must be quoted."""
    import pyarrow.types as is_

    kind = scalartexts.plain_type(kind)
    return scalartexts.is_text(kind) or scalartexts.is_binary(kind) or bool(is_.is_nested(kind))
