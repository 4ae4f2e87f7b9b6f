"""XLSX of the Spreadsheet profile, rule `xlsx.spreadsheet.v2`: one workbook, further sheets where a sheet is full.

Every cell has a type: numbers of at most 15 digits, and floats with all their digits, are numbers; days and times a sheet has
a date for are dates (instants in UTC); everything else is text in a text cell, never a formula and never a link (R19). A whole
number shows all its digits, a decimal or a metric those of its scale: 1.50 is a number and keeps its 0. What it costs is said
by `spreadsheet`. Rows are written one by one and not kept. Read back by `xlsxread`, another parser.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from actum import limits
from actum.errors import CheckFailed, WrongUse
from actum.results import scalartexts, spreadsheet, texts, xlsxread
from actum.results.compare import Comparison
from actum.results.report import Difference
from actum.results.spreadsheet import Survey

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "xlsx.spreadsheet.v2"
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_EPOCH_DAYS = 25_569  # 1970-01-01 as a sheet counts days
_LEAP_DAY = -25_508  # before 1900-03-01 a sheet is a day behind: it believes in 29 February 1900
_DAY_MS = scalartexts.DAY_S * 1_000
_SCALE_SHOWN_MAX = 30  # digits after the point that the format of a cell may ask for
_FORMATS = {"date": "yyyy-mm-dd", "time": "hh:mm:ss.000", "instant": "yyyy-mm-dd hh:mm:ss.000", "text": "@"}

Cell = tuple[str, Any] | None  # ("n", number), ("-0", -0.0), ("b", truth), ("s", text), with dates as numbers
Kind = tuple[str | list[str], list[Cell]]  # the form of all cells of a column, or of each


def refuse(schema: pa.Schema) -> None:
    """Raises WrongUse for a nested column, and for more columns than a sheet has."""
    import pyarrow.types as is_

    nested = next((field for field in schema if is_.is_nested(scalartexts.plain_type(field.type))), None)
    if nested is not None:
        what = f"A cell of a sheet cannot hold the column “{nested.name}”."
        raise WrongUse("no_sheet_form", what, f"Its type is {nested.type}.", "Export the table as CSV, JSON lines or Parquet.")
    if len(schema.names) > limits.SHEET_COLUMNS_MAX:
        what = f"The table has {len(schema.names):,} columns."
        raise WrongUse("too_wide", what, f"A sheet has {limits.SHEET_COLUMNS_MAX:,}.", "Export it as CSV or Parquet.")


def write(
    file: IO[bytes],
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    found: Survey,
    name: str,
    scratch: Path,
) -> int:
    """Write the workbook, as `found` has it; returns the number of rows. `scratch` is a folder for what waits to be packed."""
    import xlsxwriter

    from actum.results.xlsxbook import Sheet

    options = {"constant_memory": True, "tmpdir": str(scratch), "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, options)
    book.use_zip64()
    formats = _Formats(book)
    guarded = book.add_format({"num_format": "@", "quote_prefix": True})
    bold = book.add_format({"bold": True})
    sheet, row, rows, number = None, 0, 0, 0
    for kinds, count in _rows(batches, found):
        for place in range(count):
            if sheet is None or row > spreadsheet.part_rows():
                number += 1
                sheet, row = _new_sheet(book, Sheet, name, number, schema, bold), 1
            if all(cells[place] is None for _form, cells in kinds):
                sheet.write_blank(row, 0, None, formats["text"])  # a row of which nothing is known is a row
            for column, (form, cells) in enumerate(kinds):
                word = form if isinstance(form, str) else form[place]
                _put(sheet, row, column, cells[place], formats[word], guarded)
            row += 1
        rows += count
    if sheet is None:
        _new_sheet(book, Sheet, name, 1, schema, bold)
    book.close()
    return rows


class _Formats(dict[str, Any]):
    """The workbook's format of each form, made when it is first asked for."""

    def __init__(self, book: Any) -> None:
        super().__init__({"": None})
        self._book = book

    def __missing__(self, form: str) -> Any:
        self[form] = made = self._book.add_format({"num_format": _FORMATS.get(form, form)})
        return made


def compare(path: Path, table: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema, survey: Survey) -> Comparison:
    """Read the workbook back and compare every cell with what the rules make of the source. Raises CheckFailed."""
    found = xlsxread.rows(path, len(schema.names))
    titles: list[Cell] = [("s", name) for name in schema.names]
    in_sheet, rows = 0, 0
    if not _is_head(next(found, None), titles):
        raise _differs("The first sheet has not the columns of the table.")
    for kinds, count in _rows(batches, survey):
        for place in range(count):
            if in_sheet == spreadsheet.part_rows():
                in_sheet = 0
                if not _is_head(next(found, None), titles):
                    raise _differs("A further sheet has not the columns of the table.")
            have = next(found, None)
            want = [cells[place] for _form, cells in kinds]
            if have is None or have[1] != want:
                return _difference(table, schema, rows, want, None if have is None else have[1])
            in_sheet, rows = in_sheet + 1, rows + 1
    if schema.names and next(found, None) is not None:
        return Comparison(rows, Difference(table, rows + 1, None, "no row", "a row"))
    return Comparison(rows, None)


def _is_head(row: tuple[int, list[Cell]] | None, titles: list[Cell]) -> bool:
    return not titles or (row is not None and row[0] == 1 and row[1] == titles)


def _first(have: Sequence[Cell], want: Sequence[Cell]) -> int | None:
    """Where two rows differ."""
    return next((place for place, pair in enumerate(zip(have, want, strict=True)) if pair[0] != pair[1]), None)


def _difference(table: str, schema: pa.Schema, rows: int, want: list[Cell], have: list[Cell] | None) -> Comparison:
    if have is None:
        return Comparison(rows, Difference(table, rows + 1, None, "a row", "no row"))
    place = _first(have, want) or 0
    told = [str(None if cell is None else cell[1])[: limits.CELL_SHOWN_CHARS_MAX] for cell in (want[place], have[place])]
    return Comparison(rows, Difference(table, rows + 1, schema.names[place], *told))


def _differs(why: str) -> CheckFailed:
    return CheckFailed("export_differs", "The workbook, read back, differs from the result.", why)


def _new_sheet(book: Any, kind: Any, name: str, number: int, schema: pa.Schema, bold: Any) -> Any:
    sheet = book.add_worksheet(sheet_name(name, number), worksheet_class=kind)
    sheet.freeze_panes(1, 0)
    for column, title in enumerate(schema.names):
        sheet.write_string(0, column, title, bold)
    return sheet


def sheet_name(name: str, number: int) -> str:
    """A name that the format allows: `returns`, `returns (2)`."""
    ending = f" ({number})" if number > 1 else ""
    plain = _NOT_IN_NAMES.sub("_", name).strip("' ") or "table"
    if plain.lower() == "history":  # the format keeps this word for itself
        plain += "_"
    return plain[: limits.SHEET_NAME_CHARS_MAX - len(ending)] + ending


def _put(sheet: Any, row: int, column: int, cell: Cell, form: Any, guarded: Any) -> None:
    if cell is None:
        return
    kind, value = cell
    if kind in ("n", xlsxread.NEGATIVE_ZERO):
        sheet.write_number(row, column, value, form)
    elif kind == "b":
        sheet.write_boolean(row, column, value)
    else:
        sheet.write_string(row, column, value, guarded if _GUARDED.search(value) else form)


_GUARDED = re.compile(rf"{spreadsheet.FORMULA}|{spreadsheet.NUMBER}|^'")


def _rows(batches: Iterator[pa.RecordBatch], found: Survey) -> Iterator[tuple[list[Kind], int]]:
    as_text = found.as_text()
    for batch in batches:
        kinds = [
            _of_texts(column) if place in found.numbers else cells_of(column, place in as_text)
            for place, column in enumerate(batch.columns)
        ]
        yield kinds, batch.num_rows if kinds else 0


def _of_texts(column: pa.Array) -> Kind:
    """Texts that are numbers: a number each, which shows its own scale; text where it has too many digits."""
    forms: list[str] = []
    cells: list[Cell] = []
    for text in column.to_pylist():
        number = None if text is None else Decimal(text)
        kept = number is not None and spreadsheet.fits(number)
        forms.append(_decimal_form(-int(number.as_tuple().exponent)) if number is not None and kept else "text")
        cells.append(None if number is None else ("n", float(number) + 0.0) if kept else ("s", xlsxread.cut(text)))
    return forms, cells


def cells_of(column: pa.Array, some_long: bool) -> Kind:
    """(format, cells) of one column of one batch. `some_long` = the table has numbers in it that a sheet cannot keep."""
    import pyarrow as pa
    import pyarrow.types as is_

    column = scalartexts.unwrapped(column)
    kind = column.type
    if is_.is_boolean(kind):
        return "", _each(column, lambda value: ("b", value))
    if is_.is_integer(kind) or is_.is_decimal(kind):
        form = _decimal_form(kind.scale) if is_.is_decimal(kind) else "0"
        return _numbers(column, form) if some_long else (form, _each(column, lambda value: ("n", float(value))))
    if is_.is_floating(kind):
        return "", _each(column if is_.is_float64(kind) else column.cast(pa.string()), _float)
    if is_.is_date(kind):
        days = column.cast(pa.date32(), safe=False).cast(pa.int32())
        return "date", _dated(column, days.to_pylist(), lambda count: float(_serial_day(count)))
    if is_.is_timestamp(kind):
        counts = spreadsheet.coarse(column).cast(pa.int64()).to_pylist()
        return "instant", _dated(column, counts, lambda count: _serial_day(count // _DAY_MS) + count % _DAY_MS / _DAY_MS)
    if is_.is_time(kind):
        return "time", _each(spreadsheet.coarse(column).cast(pa.int32()), lambda count: ("n", count / _DAY_MS))
    told = texts.of_array(column).to_pylist()
    return "", [None if text is None else ("s", xlsxread.cut(text)) for text in told]


def _numbers(column: pa.Array, form: str) -> Kind:
    """Numbers, and texts where a sheet would round them."""
    told = texts.of_array(column).to_pylist()
    long = [bool(flag) for flag in spreadsheet.too_long(column).to_pylist()]
    cells: list[Cell] = [
        None if text is None else ("s", text) if flag else ("n", float(text)) for text, flag in zip(told, long, strict=True)
    ]
    return ["text" if flag else form for flag in long], cells


def _decimal_form(scale: int) -> str:
    """How a decimal is shown: with all digits of its scale, as far as a format can ask for them."""
    if scale > _SCALE_SHOWN_MAX:
        return ""
    return f"0.{'0' * scale}" if scale > 0 else "0"


def _dated(column: pa.Array, counts: list[Any], serial: Callable[[int], float]) -> list[Cell]:
    """Numbers where a sheet has a date, ISO 8601 as text where not."""
    inside = spreadsheet.in_sheet(column).to_pylist()
    told = [] if all(flag is not False for flag in inside) else texts.of_array(column).to_pylist()
    return [
        None if flag is None else (("n", serial(counts[place])) if flag else ("s", told[place]))
        for place, flag in enumerate(inside)
    ]


def _serial_day(days: int) -> int:
    return days + _EPOCH_DAYS - (days < _LEAP_DAY - 1)


def _float(value: Any) -> Cell:
    number = float(value)
    if number - number == 0:
        return ("n" if number or math.copysign(1, number) > 0 else xlsxread.NEGATIVE_ZERO), number
    return "s", "nan" if number != number else ("inf" if number > 0 else "-inf")


def _each(column: pa.Array, make: Callable[[Any], Cell]) -> list[Cell]:
    return [None if value is None else make(value) for value in column.to_pylist()]
