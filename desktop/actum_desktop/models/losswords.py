"""What a spreadsheet would lose, in words, with the name of the column (UI.md §5): plain data, tested without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.limits import SHEET_CELL_CHARS_MAX, SHEET_COLUMNS_MAX

from actum_desktop import measures
from actum_desktop.i18n import N_, _

# By the code of `results.spreadsheet`. What is not lossy is only written differently and can be told back.
_WORDS = {
    "long_numbers": N_("{column}, more than 15 digits: written as text"),
    "long_decimals": N_("{column}, decimals of more than 15 digits: written as text"),
    "early_dates": N_("{column}: {n} dates before 1900 or after 9999, written as text"),
    "fine_times": N_("{column}: {n} times are finer than a millisecond, and cut to it"),
    "long_floats": N_("{column}: {n} numbers have more than the 15 digits a sheet keeps"),
    "long_texts": N_("{column}: {n} texts are longer than the {most} characters of a cell"),
    "columns": N_("{n} columns more than the {wide} of a sheet"),
    "number_texts": N_("{column}: {n} texts that look like numbers are guarded"),
    "formulas": N_("{column}: {n} cells that look like formulas are guarded"),
    "zones": N_("{column}: times in UTC, without zone"),
    "missing": N_("{column}: {n} missing values become empty cells"),
    "empty_texts": N_("{column}: {n} empty texts look like missing values"),
    "not_finite": N_("{column}: {n} cells are not a number, or infinite: written as words"),
    "nested": N_("{column}: {n} lists or records, written as JSON"),
    "parts": N_("more rows than a sheet has: split into {n}"),
}
# The same of a single one, where English needs other words for it.
_ONE = {
    "early_dates": N_("{column}: {n} date before 1900 or after 9999, written as text"),
    "fine_times": N_("{column}: {n} time is finer than a millisecond, and cut to it"),
    "long_floats": N_("{column}: {n} number has more than the 15 digits a sheet keeps"),
    "long_texts": N_("{column}: {n} text is longer than the {most} characters of a cell"),
    "columns": N_("{n} column more than the {wide} of a sheet"),
    "number_texts": N_("{column}: {n} text that looks like a number is guarded"),
    "formulas": N_("{column}: {n} cell that looks like a formula is guarded"),
    "missing": N_("{column}: {n} missing value becomes an empty cell"),
    "empty_texts": N_("{column}: {n} empty text looks like a missing value"),
    "not_finite": N_("{column}: {n} cell is not a number, or infinite: written as a word"),
    "nested": N_("{column}: {n} list or record, written as JSON"),
}


def sentence(loss: Mapping[str, Any]) -> tuple[str, bool]:
    """(words, lossy) of one loss of `export.preview`."""
    code = str(loss["code"])
    many = _WORDS[code]
    words = _(_ONE.get(code, many) if loss["count"] == 1 else many).replace("{n}", measures.count(loss["count"]))
    words = words.replace("{most}", measures.count(SHEET_CELL_CHARS_MAX)).replace("{wide}", measures.count(SHEET_COLUMNS_MAX))
    return words.replace("{column}", str(loss["column"])), bool(loss.get("lossy"))
