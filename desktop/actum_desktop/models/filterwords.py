"""The typed filter in the window's language: what is wrong with it, what fits at the cursor, one condition as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.results import conditionsql, filtertext
from actum.results.filtertext import FilterWrong

from actum_desktop.i18n import N_, _

_WRONG = {
    "no_column": N_("There is no column “{said}”."),
    "several_columns": N_("Several columns are called “{said}” in another case. Write it exactly."),
    "column_expected": N_("A column is expected here."),
    "operator_expected": N_("After “{column}”, a condition is expected, for example = or is null."),
    "value_expected": N_("A value is expected here, for example {example}."),
    "joint_expected": N_("“and” or “or” is expected here."),
    "quotes_expected": N_('“{column}” holds text: put the value in quotes, for example "{said}".'),
    "parenthesis_expected": N_("“in” takes its values in parentheses, for example ({example})."),
    "not_closed": N_("A parenthesis is not closed."),
    "not_opened": N_("This parenthesis was not opened."),
    "quote_not_closed": N_("The quote is not closed."),
    "no_null_value": N_("A missing value is asked for with “is null”."),
    "null_expected": N_("“is” is followed by null, or not null."),
    "bad_value": N_("“{said}” cannot be compared with “{column}”. Write it like {example}."),
    "cannot_be_asked": N_("“{column}” cannot be asked “{said}”."),
    "odd": N_("“{said}” has no meaning here."),
    "too_long": N_("The filter is too long."),
    "too_deep": N_("The filter is nested too deeply."),
    "too_many": N_("The filter has too many parts."),
}
# One condition, as the line of fields offers it: its words, and how it is typed.
CONDITIONS = {
    "contains": (N_("contains"), "{c} ~ {v}"),
    "begins": (N_("begins with"), "{c} ^= {v}"),
    "=": (N_("is"), "{c} = {v}"),
    "!=": (N_("is not"), "{c} != {v}"),
    "<": (N_("is less than"), "{c} < {v}"),
    "<=": (N_("is at most"), "{c} <= {v}"),
    ">": (N_("is more than"), "{c} > {v}"),
    ">=": (N_("is at least"), "{c} >= {v}"),
    "missing": (N_("has no value"), "{c} is null"),
    "present": (N_("has a value"), "{c} is not null"),
    "nan": (N_("is not a number"), "{c} is nan"),
    "holds": (N_("is true"), "{c}"),
    "lacks": (N_("is false"), "not {c}"),
}
_WORD = re.compile(r"(?:`[^`]*|[^\W\d][\w.]*)?$")
_TYPED = {"contains": "~", "begins": "^=", "in": "in (", "missing": "is null", "nan": "is nan", "holds": ""}
OPTIONS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Completion:
    """What could stand at `start` … cursor."""

    start: int
    options: tuple[str, ...] = ()


def wrong(error: FilterWrong, columns: Sequence[Mapping[str, Any]]) -> str:
    """One or two sentences about what is wrong."""
    kind = next((str(item["type"]) for item in columns if item["name"] == error.column), "")
    said = error.said[:60]
    return _(_WRONG[error.reason]).format(said=said, column=error.column[:60], example=conditionsql.example(kind))


def offered(kind: str) -> list[str]:
    """The conditions (keys of CONDITIONS) that a column of this type can be asked, by the line of fields."""
    asked = conditionsql.asked(kind)
    if kind == "boolean":
        return ["holds", "lacks", "missing", "present"]
    return [word for word in (*asked, "present") if word in CONDITIONS]


def typed(name: str, kind: str, word: str, value: str) -> str:
    """One condition as it is typed."""
    form = CONDITIONS[word][1]
    text_kind = "text" if word in ("contains", "begins") else kind
    return form.replace("{c}", filtertext.name_text(name)).replace("{v}", filtertext.value_text(text_kind, value))


def takes_value(word: str) -> bool:
    return "{v}" in CONDITIONS[word][1]


def complete(text: str, cursor: int, columns: Sequence[Mapping[str, Any]]) -> Completion:
    """What could stand where the cursor is: names of columns, conditions of one, or how to go on."""
    head = text[:cursor]
    match = _WORD.search(head)
    start = match.start() if match is not None else cursor
    word = head[start:]
    options = _expected(head[:start], columns)
    return Completion(start, tuple(_fitting(word, options))[:OPTIONS_SHOWN])


def _expected(before: str, columns: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [filtertext.name_text(str(item["name"])) for item in columns]
    if not before.strip():
        return [*names, "not"]
    try:
        filtertext.parse(before, columns)
    except FilterWrong as error:
        if error.end < len(before.rstrip()) and error.reason != "not_closed":
            return []  # what is wrong stands before: nothing fits
        kind = next((str(item["type"]) for item in columns if item["name"] == error.column), "")
        if error.expected == "column":
            return [*names, "not"]
        if error.expected == "operator":
            signs = [_TYPED.get(word, word) for word in conditionsql.asked(kind)]
            return [*(sign for sign in signs if sign), "is not null"]
        if error.expected == "null":
            return ["null", "not null"]
        if error.expected == "value" and kind == "boolean":
            return ["true", "false"]
        return ["and", "or", ")"] if error.expected == "joint" else []
    return ["and", "or"]


def _fitting(word: str, options: Sequence[str]) -> list[str]:
    """Those that begin with what is typed, then those that hold it; none where only the same is left."""
    bare = word.strip("`").lower()
    plain = [(option.strip("`").lower(), option) for option in options]
    begin = [option for name, option in plain if name.startswith(bare)]
    hold = [option for name, option in plain if bare and bare in name and not name.startswith(bare)]
    found = [*begin, *hold]
    return [] if found == [word] else found
