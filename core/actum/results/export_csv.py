"""CSV of the Data profile, rule `csv.data.v1`: lossless, and read the same everywhere.

UTF-8 without BOM, comma, CRLF, a header line (RFC 4180). **Null and empty are distinct: a null is an empty field without
quotes, an empty text is `""`.** Texts and bytes are quoted if they are empty, begin or end with white space, or hold a comma,
a quote or a line break; other values never. Values are the texts of `texts`. In a table of one column a null is therefore
an empty line, which readers that skip empty lines do not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum.results import authority, texts
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "csv.data.v1"
_NEEDS_QUOTES = r'^$|[",\r\n]|^[\s\x{FEFF}]|\s$'  # U+FEFF at the start of the file would be read as a byte order mark


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, about: dict[str, Any]) -> int:
    """Write the header and all rows; returns the number of rows. `about` is not written: CSV has no place for it."""
    import pyarrow as pa

    header = pa.RecordBatch.from_arrays([pa.array([name]) for name in schema.names], names=schema.names)
    file.write(lines(header, [True] * len(schema.names)))
    quotable = [_may_be_empty(field.type) for field in schema]
    rows = 0
    for batch in batches:
        if batch.num_rows:
            file.write(lines(texts.of_batch(batch), quotable))
        rows += batch.num_rows
    return rows


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Comparison:
    """Read the file back with another parser than wrote it, and compare every field with the source."""
    with open(path, "rb") as file:
        found = authority.text_batches(file, schema.names, ",")
        return compare_batches(table, (texts.of_batch(batch) for batch in batches), found)


def lines(batch: pa.RecordBatch, quotable: list[bool]) -> Any:
    """The bytes of all lines of a batch of strings: Arrow joins the fields, and its buffer is the text of the file."""
    import pyarrow.compute as pc

    fields = [_quoted(column) if may else column for column, may in zip(batch.columns, quotable, strict=True)]
    joined = pc.binary_join_element_wise(*(pc.fill_null(field, "") for field in fields), ",")
    lines = pc.binary_join_element_wise(joined, "\r\n", "")
    offsets = memoryview(lines.buffers()[1]).cast("i")
    return memoryview(lines.buffers()[2])[offsets[lines.offset] : offsets[lines.offset + len(lines)]]


def _quoted(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    needs = pc.match_substring_regex(column, _NEEDS_QUOTES)
    if not pc.any(needs).as_py():
        return column
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(needs, quoted, column)


def _may_be_empty(kind: pa.DataType) -> bool:
    """Texts and bytes: the values whose text may be empty, or hold what must be quoted."""
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return _may_be_empty(kind.value_type)
    tests = (
        is_.is_string,
        is_.is_large_string,
        is_.is_string_view,
        is_.is_binary,
        is_.is_large_binary,
        is_.is_fixed_size_binary,
    )
    return any(test(kind) for test in tests)
