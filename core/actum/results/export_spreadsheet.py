"""CSV of the Spreadsheet profile, rule `csv.spreadsheet.v1`: for people with a spreadsheet; lossy where `spreadsheet` says so.

UTF-8 with a byte order mark, comma, CRLF, a header line; fields are quoted as in the Data profile. Column names that a sheet
would calculate are guarded like texts. What is read back is the file without its mark, by another parser than wrote it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from actum.errors import CheckFailed
from actum.results import authority, export_csv, spreadsheet
from actum.results.compare import Comparison, compare_batches

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "csv.spreadsheet.v1"


def survey(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> spreadsheet.Survey:
    """Every row looked at, for what it would lose."""
    found = spreadsheet.Survey(schema)
    for batch in batches:
        found.add(batch)
    return found


def write(file: IO[bytes], batches: Iterator[pa.RecordBatch], schema: pa.Schema, as_text: frozenset[str]) -> int:
    """Write the mark, the header and all rows; returns the number of rows."""
    import pyarrow as pa

    file.write(codecs.BOM_UTF8)
    header = pa.RecordBatch.from_arrays([pa.array([name]) for name in titles(schema)], names=titles(schema))
    file.write(export_csv.lines(header, [True] * len(schema.names)))
    rows = 0
    for batch in batches:
        if batch.num_rows:
            told = spreadsheet.cells(batch, as_text).rename_columns(titles(schema))
            file.write(export_csv.lines(told, [True] * len(schema.names)))
        rows += batch.num_rows
    return rows


def compare(
    path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema, as_text: frozenset[str]
) -> Comparison:
    """Read the file back and compare every field with what the rules make of the source. Raises CheckFailed."""
    with open(path, "rb") as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            raise CheckFailed("export_differs", "The export, read back, has no byte order mark.")
        found = authority.text_batches(file, titles(schema), ",")
        expected = (spreadsheet.cells(batch, as_text).rename_columns(titles(schema)) for batch in batches)
        return compare_batches(table, expected, found)


def titles(schema: pa.Schema) -> list[str]:
    """The header: a name that a sheet would calculate is guarded."""
    return [spreadsheet.GUARD + name if name[:1] in _CALCULATED else name for name in schema.names]


_CALCULATED = tuple("=+-@\t\r\n＝＋－＠'")
