"""The typed filter in words: every reason has a sentence, and what is offered fits where one types."""

from __future__ import annotations

from typing import Any

import pytest
from actum.results import filtertext
from actum.results.filtertext import FilterWrong
from actum_desktop.models import filterwords

COLUMNS: list[dict[str, Any]] = [
    {"name": name, "type": kind, "precision": 12, "scale": 2}
    for name, kind in [
        ("delay", "integer"),
        ("arr delay", "integer"),
        ("carrier", "text"),
        ("late", "boolean"),
        ("r", "float64"),
    ]
]


def test_every_reason_has_a_sentence_in_the_window() -> None:
    assert filterwords._WRONG.keys() == filtertext._WHAT.keys()
    for reason in filtertext._WHAT:
        said = filterwords.wrong(FilterWrong(reason, 0, 1, "x{y}", column="delay"), COLUMNS)
        assert said
        assert "{said}" not in said


@pytest.mark.parametrize(
    ("text", "start", "first"),
    [
        ("", 0, "delay"),
        ("del", 0, "delay"),
        ("elay", 0, "delay"),
        ("arr", 0, "`arr delay`"),
        ("`arr", 0, "`arr delay`"),
        ("delay ", 6, "="),
        ("delay is ", 9, "null"),
        ("delay > 6 ", 10, "and"),
        ("delay > 6 and ", 14, "delay"),
        ("delay > 6 and (la", 15, "late"),
        ("(delay > 6 ", 11, "and"),
        ("late = ", 7, "true"),
        ("r i", 2, "in ("),
    ],
)
def test_what_fits_is_offered(text: str, start: int, first: str) -> None:
    found = filterwords.complete(text, len(text), COLUMNS)
    assert (found.start, found.options[0]) == (start, first)


@pytest.mark.parametrize("text", ["nothing like it", "delay > ", "late", "delay = 'x' and ", "carrier = 5 "])
def test_nothing_is_offered_where_nothing_fits(text: str) -> None:
    assert filterwords.complete(text, len(text), COLUMNS).options == ()


def test_a_condition_that_is_chosen_is_typed_so_that_it_is_read_back() -> None:
    for item in COLUMNS:
        for word in filterwords.offered(item["type"]):
            value = "1" if item["type"] != "text" else 'a "quoted" text'
            text = filterwords.typed(item["name"], item["type"], word, value)
            assert filtertext.parse(text, COLUMNS) is not None
            assert filterwords.takes_value(word) == (value.replace('"', '""') in text or value in text)
