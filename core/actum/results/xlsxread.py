"""Reading back the workbooks that Actum writes: the cells as they stand in the file, row by row, in bounded memory."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from actum import limits
from actum.errors import CheckFailed

NEGATIVE_ZERO = "-0"  # a kind of cell, so that it is never taken for 0
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPED = re.compile(r"_x([0-9A-F]{4})_")
_LETTERS = re.compile(r"[A-Z]+")


def rows(path: Path, columns: int) -> Iterator[tuple[int, list[Any]]]:
    """(number in its sheet from 1, cells) of every row, sheet after sheet. Raises CheckFailed."""
    try:
        with zipfile.ZipFile(path) as book:
            sheets = sum(name.startswith("xl/worksheets/sheet") for name in book.namelist())
            for number in range(1, sheets + 1):
                with book.open(f"xl/worksheets/sheet{number}.xml") as file:
                    yield from _sheet(file, columns)
    except (zipfile.BadZipFile, ElementTree.ParseError, ValueError, KeyError, IndexError) as error:
        raise CheckFailed("export_differs", "The workbook cannot be read back.", f"{error}.") from error


def _sheet(file: Any, columns: int) -> Iterator[tuple[int, list[Any]]]:
    held = None
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        if event == "start":
            held = element if element.tag == f"{_MAIN}sheetData" else held
        elif element.tag == f"{_MAIN}row":
            cells: list[Any] = [None] * columns
            for cell in element:
                cells[_place(cell.attrib["r"])] = _cell(cell)
            yield int(element.attrib["r"]), cells
            if held is not None:
                held.clear()


def _cell(cell: Any) -> Any:
    kind = cell.attrib.get("t", "n")
    if kind == "inlineStr":
        return "s", _unescaped("".join(cell.itertext()))
    text = cell.findtext(f"{_MAIN}v")
    if text is None:
        return None
    if kind == "b":
        return "b", text == "1"
    return (NEGATIVE_ZERO if text == "-0.0" else "n"), float(text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _place(reference: str) -> int:
    """0 for A1, 27 for AB7."""
    number = 0
    match = _LETTERS.match(reference)
    for letter in match[0] if match else "":
        number = number * 26 + ord(letter) - 64
    return number - 1


def cut(text: str) -> str:
    """As much of a text as a cell holds, counted as sheets count: in units of UTF-16."""
    if len(text) * 2 <= limits.SHEET_CELL_CHARS_MAX:
        return text
    units = text.encode("utf-16-le")[: 2 * limits.SHEET_CELL_CHARS_MAX]
    return units.decode("utf-16-le", "ignore")
