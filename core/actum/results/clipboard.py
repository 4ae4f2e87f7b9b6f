"""Rows as tab-separated text: exact, or made safe for a spreadsheet that pastes them (§8, R19).

Exact: the texts of the Data profile; a null is an empty field, an empty text is `""`; a field with a tab, a quote or a line
break is quoted. For spreadsheets, the rules of `spreadsheet`: what a sheet would calculate, round or take for a number gets an
apostrophe, times lose their zone (UTC) and all below a thousandth of a second. That is lossy, and nothing reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from actum.results.spreadsheet import GUARD

_KEPT_DIGITS = 15  # what a spreadsheet keeps of a number
_WOULD_CALCULATE = re.compile(r"[=+\-@\t\r\n＝＋－＠']")
_LOOKS_LIKE_A_NUMBER = re.compile(r"\s*(0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+)\s*")
_TIME = re.compile(r"(\d{4,}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z?")


def line(cells: Iterable[str | None], kinds: Sequence[str] | None = None) -> str:
    """One row, without its line break. `kinds` = the types of the columns: for a spreadsheet; None: exact."""
    if kinds is None:
        return "\t".join(field(cell) for cell in cells)
    return "\t".join(safe(kind, cell) for kind, cell in zip(kinds, cells, strict=True))


def field(text: str | None) -> str:
    if text is None:
        return ""
    if text == "" or any(mark in text for mark in '\t"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def safe(kind: str, text: str | None) -> str:
    """A field for a spreadsheet, by the type of its column."""
    if text is None:
        return ""
    rule = _RULES.get(kind)
    told = rule(text) if rule is not None else text
    return field(told) if told else ""


def _number(text: str) -> str:
    digits = sum(letter.isdigit() for letter in text.lstrip("-0."))
    return GUARD + text if digits > _KEPT_DIGITS else text


def _time(text: str) -> str:
    match = _TIME.fullmatch(text)
    return f"{match[1]} {match[2]}{(match[3] or '')[:4]}" if match else text


def _text(text: str) -> str:
    guarded = _WOULD_CALCULATE.match(text) or _LOOKS_LIKE_A_NUMBER.fullmatch(text)
    return GUARD + text if guarded else text


_RULES: Mapping[str, Callable[[str], str]] = {
    "text": _text,
    "integer": _number,
    "uint64": _number,
    "decimal": _number,
    "timestamp": _time,
}
