"""What is wrong with a typed filter is said in words at its place; names, quotes and words as people type them (R19)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.results import filtertext
from actum.results.condition import All, Among, Any_, Begins, Compare, Contains, Holds, Missing, Not, NotANumber
from actum.results.filtertext import FilterWrong

COLUMNS = [
    {"name": name, "type": kind, "precision": 12, "scale": 2}
    for name, kind in [
        ("delay", "integer"),
        ("carrier", "text"),
        ("dest", "text"),
        ("day of week", "text"),
        ("Rate", "float64"),
        ("rate.net", "float64"),
        ("late", "boolean"),
        ("day", "date"),
        ("at", "timestamp"),
        ("blob", "binary"),
        ("in", "integer"),
        ("Same", "integer"),
        ("same", "integer"),
    ]
]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("", None),
        ("  ", None),
        ("delay > 60", Compare("delay", ">", "60")),
        ("delay≥−5", Compare("delay", ">=", "−5")),
        ("DELAY <> 5 AND Carrier == 'UA'", All((Compare("delay", "!=", "5"), Compare("carrier", "=", "UA")))),
        ('carrier in ("UA", "D""L")', Among("carrier", ("UA", 'D"L'))),
        ("carrier not in ('UA')", Not(Among("carrier", ("UA",)))),
        ("dest is not null", Not(Missing("dest"))),
        ("rate is nan", NotANumber("Rate")),
        ("rate.net < 1e-5", Compare("rate.net", "<", "1e-5")),
        ("`day of week` ~ 'mon'", Contains("day of week", "mon")),
        ("carrier ^= 'U'", Begins("carrier", "U")),
        ("late", Holds("late")),
        ("not late and late = false", All((Not(Holds("late")), Compare("late", "=", "false")))),
        ("`in` = 1", Compare("in", "=", "1")),
        ("day >= 2026-03-24", Compare("day", ">=", "2026-03-24")),
        ("at < 2026-03-24T14:30:00+02:00", Compare("at", "<", "2026-03-24T14:30:00+02:00")),
        ("late or late and not late", Any_((Holds("late"), All((Holds("late"), Not(Holds("late"))))))),
        ("(late or late) and late", All((Any_((Holds("late"), Holds("late"))), Holds("late")))),
        ("same = 1 and Same = 2", All((Compare("same", "=", "1"), Compare("Same", "=", "2")))),
    ],
)
def test_what_is_typed_is_understood(text: str, means: object) -> None:
    assert filtertext.parse(text, COLUMNS) == means


@pytest.mark.parametrize(
    ("text", "reason", "at"),
    [
        ("dely > 60", "no_column", "dely"),
        ("SAME = 1", "several_columns", "SAME"),
        ("delay > 60 and", "column_expected", ""),
        ("delay", "operator_expected", ""),
        ("delay 60", "operator_expected", "60"),
        ("delay >", "value_expected", ""),
        ("delay > 60 carrier", "joint_expected", "carrier"),
        ("carrier = UA", "quotes_expected", "UA"),
        ("carrier = 60", "quotes_expected", "60"),
        ("carrier ~ UA", "quotes_expected", "UA"),
        ("carrier in 'UA'", "parenthesis_expected", "'UA'"),
        ("carrier in ('UA' 'DL')", "not_closed", "'DL'"),
        ("(delay > 60", "not_closed", "("),
        ("delay > 60)", "not_opened", ")"),
        ("carrier = 'UA", "quote_not_closed", "'UA"),
        ("delay = null", "no_null_value", "null"),
        ("dest is 5", "null_expected", "5"),
        ("delay > many", "bad_value", "many"),
        ("delay > 1,5", "joint_expected", ","),
        ("day = 2026-02-30", "bad_value", "2026-02-30"),
        ("delay = 5and", "bad_value", "5and"),
        ("delay ~ 'x'", "cannot_be_asked", "~"),
        ("late > true", "cannot_be_asked", ">"),
        ("carrier is nan", "cannot_be_asked", "is"),
        ("blob = 'x'", "cannot_be_asked", "="),
        ("delay > 60; drop", "odd", ";"),
        ("and = 1", "column_expected", "and"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(text: str, reason: str, at: str) -> None:
    with pytest.raises(FilterWrong) as refused:
        filtertext.parse(text, COLUMNS)
    assert (refused.value.reason, text[refused.value.start : refused.value.end]) == (reason, at)
    assert "{" not in refused.value.what


def test_r11_a_filter_has_bounds() -> None:
    def reason(text: str) -> str:
        try:
            filtertext.parse(text, COLUMNS)
        except FilterWrong as wrong:
            return wrong.reason
        return "read"

    assert reason("late".ljust(limits.FILTER_TEXT_CHARS_MAX)) == "read"
    assert reason("late".ljust(limits.FILTER_TEXT_CHARS_MAX + 1)) == "too_long"
    most = limits.FILTER_DEPTH_MAX - 1
    assert reason("(" * most + "late" + ")" * most) == "read"
    assert reason("(" * (most + 1) + "late" + ")" * (most + 1)) == "too_deep"
    assert reason("not " * (most + 1) + "late") == "too_deep"
    values = limits.FILTER_PARTS_MAX
    assert reason(f"delay in ({','.join('1' * values)})") == "read"
    assert reason(f"delay in ({','.join('1' * (values + 1))})") == "too_many"
    assert reason(f"carrier = '{'x' * limits.FILTER_CHARS_MAX}'") == "read"
    assert reason(f"carrier = '{'x' * (limits.FILTER_CHARS_MAX + 1)}'") != "read"
