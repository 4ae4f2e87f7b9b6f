"""What a spreadsheet would lose, in words, with the name of the column (UI.md §5): plain data, tested without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.limits import SHEET_CELL_CHARS_MAX, SHEET_ROWS_MAX

from actum_desktop import measures
from actum_desktop.i18n import N_, _

# code → (sentence, whether something is lost; else it is only written differently and can be told back)
_WORDS = {
    "long_numbers": (N_("{column}, more than 15 digits: written as text"), True),
    "long_decimals": (N_("{column}, decimals of more than 15 digits: written as text"), True),
    "number_texts": (N_("{column}: {n} texts that look like numbers are guarded"), False),
    "formulas": (N_("{column}: {n} cells that look like formulas are guarded"), False),
    "times": (N_("{column}: times in UTC without zone, to the millisecond"), True),
    "missing": (N_("{column}: {n} missing values become empty cells"), True),
    "empty_texts": (N_("{column}: {n} empty texts look like missing values"), True),
    "long_floats": (N_("{column}: {n} numbers have more than the 15 digits a sheet keeps"), True),
    "not_finite": (N_("{column}: {n} cells are not a number, or infinite: written as words"), True),
    "long_texts": (N_("{column}: {n} texts are longer than the {most} characters of a cell"), True),
}


def sentence(loss: Mapping[str, Any]) -> tuple[str, bool]:
    """(words, lossy) of one loss of `export.preview`."""
    count = measures.count(loss["count"])
    if loss["code"] == "rows":
        text = _("{n} rows more than the {most} a sheet shows")
        return text.format(n=count, most=measures.count(SHEET_ROWS_MAX)), True
    template, lossy = _WORDS[str(loss["code"])]
    words = _(template).replace("{n}", count).replace("{most}", measures.count(SHEET_CELL_CHARS_MAX))
    return words.replace("{column}", str(loss["column"])), lossy
