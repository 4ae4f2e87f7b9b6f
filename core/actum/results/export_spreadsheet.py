"""CSV of the Spreadsheet profile, rule `csv.spreadsheet.v3`: for people with a spreadsheet; lossy where `spreadsheet` says so.

UTF-8 with a byte order mark, comma, CRLF, a header line; fields are quoted where they must be. Column names that a sheet
would calculate are guarded like texts. A table of more rows than a sheet has becomes several files, each with its header.
What is read back are the files without their marks, by another parser than wrote them.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum.errors import CheckFailed, WrongUse
from actum.ipc import regular
from actum.results import authority, export_csv, spreadsheet
from actum.results.compare import Comparison, compare_batches
from actum.results.spreadsheet import Survey

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "csv.spreadsheet.v3"
_CALCULATED = tuple("=+-@\t\r\n＝＋－＠'")
_NEEDS_QUOTES = r'[",\r\n]|^[\s\x{FEFF}]|\s$|^$'


def refuse(schema: pa.Schema) -> None:
    if not schema.names:
        raise WrongUse(
            "no_columns", "A table without columns has no CSV.", "A CSV line needs a field.", "Export it as JSON lines."
        )


def survey(batches: Iterator[pa.RecordBatch], schema: pa.Schema, numbers: frozenset[int] = frozenset()) -> Survey:
    """Every row looked at, for what it would lose. `numbers` as `Survey` has them."""
    found = Survey(schema, numbers=numbers)
    for batch in batches:
        found.add(batch)
    return found


def write(files: Sequence[IO[bytes]], batches: Iterator[pa.RecordBatch], schema: pa.Schema, found: Survey) -> list[int]:
    """Write into each file its mark, its header and a sheet's rows, as `found` has it; returns the rows of each."""
    pieces = _Pieces(batches)
    counts = []
    for file in files:
        file.write(codecs.BOM_UTF8 + _header(schema))
        counts.append(export_csv.in_order(file, pieces.take(spreadsheet.part_rows()), _maker(found)))
    return counts


def compare(
    paths: Sequence[Path], table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema, found: Survey
) -> Comparison:
    """Read the files back and compare every field with what the rules make of the source. Raises CheckFailed."""
    as_text = found.as_text()
    expected = (spreadsheet.cells(batch, as_text, found.numbers) for batch in batches)
    return export_csv.named(compare_batches(table, expected, _read(paths, schema)), schema)


def titles(schema: pa.Schema) -> list[str]:
    """The header: a name that a sheet would calculate is guarded."""
    return [spreadsheet.GUARD + name if name[:1] in _CALCULATED else name for name in schema.names]


def _header(schema: pa.Schema) -> bytes:
    return export_csv.header(titles(schema))


def _read(paths: Sequence[Path], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    names = [str(place) for place in range(len(schema.names))]
    for path in paths:
        with regular.reading(path) as file:
            if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
                raise CheckFailed("export_differs", "The export, read back, has no byte order mark.")
            export_csv.check_header(file, _header(schema))
            yield from authority.text_batches(export_csv.under(file, names), names, ",")


def _maker(found: Survey) -> Callable[[pa.RecordBatch], Any]:
    as_text = found.as_text()

    def make(batch: pa.RecordBatch) -> Any:
        told = spreadsheet.cells(batch, as_text, found.numbers)
        columns = [_quoted(column) for column in told.columns]
        return export_csv.lines(type(told).from_arrays(columns, names=told.schema.names), [False] * len(columns))

    return make


def _quoted(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    needs = pc.match_substring_regex(column, _NEEDS_QUOTES)
    if not pc.any(needs).as_py():
        return column
    return pc.if_else(needs, export_csv.in_quotes(column), column)


class _Pieces:
    """Batches handed out in runs of so many rows."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._rest: pa.RecordBatch | None = None

    def take(self, rows: int) -> Iterator[pa.RecordBatch]:
        while rows > 0:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                return
            yield batch.slice(0, rows)
            self._rest = batch.slice(rows) if batch.num_rows > rows else None
            rows -= min(rows, batch.num_rows)
