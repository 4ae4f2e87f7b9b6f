"""Copied rows: exact, or safe for a spreadsheet (R19)."""

from __future__ import annotations

import csv

import pytest
from actum.results import clipboard


def test_exact_rows_are_read_back_by_any_reader_of_tsv() -> None:
    cells = ["a\tb", 'say "x"', "two\nlines", "=1+1", "12345678901234567890", "2026-01-01T00:00:00.000000Z"]
    assert next(csv.reader([clipboard.line(cells)], delimiter="\t")) == cells
    assert clipboard.line([None, "", "x"]) == '\t""\tx'  # a null and an empty text are told apart


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("text", "=1+1", "'=1+1"),
        ("text", "-x", "'-x"),
        ("text", "\u002b1", "'+1"),
        ("text", "＝1", "'＝1"),
        ("text", "007", "'007"),
        ("text", "1e5", "'1e5"),
        ("text", "'quoted", "''quoted"),
        ("text", "ordinary", "ordinary"),
        ("text", "\tx", '"\'\tx"'),
        ("text", "", ""),
        ("integer", "-5", "-5"),
        ("integer", "999999999999999", "999999999999999"),
        ("integer", "1234567890123456", "'1234567890123456"),
        ("decimal", "0.0000001234567890123456", "'0.0000001234567890123456"),
        ("decimal", "-12.50", "-12.50"),
        ("timestamp", "2026-03-24T14:30:00.123456Z", "2026-03-24 14:30:00.123"),
        ("date", "2026-03-24", "2026-03-24"),
        ("float64", "-1e-07", "-1e-07"),
    ],
)
def test_r19_no_sheet_calculates_or_rounds_what_is_pasted(kind: str, text: str, said: str) -> None:
    assert clipboard.safe(kind, text) == said
