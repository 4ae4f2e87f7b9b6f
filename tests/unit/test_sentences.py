"""Whatever the contract says of a value is said in the language of the window: no sentence is left in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum.contracts.document import load
from actum_desktop import failures, i18n, measures
from actum_desktop.forms import check, sentences

from tests.helpers.everytype import EVERY

WRONG: list[tuple[dict[str, Any], Any]] = [
    ({"type": "integer"}, "3O"),
    ({"type": "integer"}, None),
    ({"type": "integer", "minimum": 2}, "1"),
    ({"type": "integer", "maximum": 2}, "3"),
    ({"type": "decimal"}, "a"),
    ({"type": "decimal"}, "1" * 100),
    ({"type": "float"}, "a"),
    ({"type": "float"}, "1e999"),
    ({"type": "boolean"}, "perhaps"),
    ({"type": "date"}, "31.1.2026"),
    ({"type": "datetime"}, "yesterday"),
    ({"type": "datetime"}, "2026-01-01 10:00"),
    ({"type": "duration"}, "soon"),
    ({"type": "duration"}, "0.1us"),
    ({"type": "file"}, " "),
    ({"type": "text"}, "a\x00b"),
    ({"type": "choice", "choices": ["mean", "median"]}, "medain"),
    ({"type": "choice", "choices": ["mean", "median"]}, "zzz"),
    ({"type": "list", "items": {"type": "integer"}}, ["1", "x"]),
    ({"type": "record", "fields": [{"name": "low", "type": "decimal"}]}, {"low": "x"}),
    ({"type": "record", "fields": [{"name": "low", "type": "decimal"}]}, "{"),
    ({"type": "record", "fields": [{"name": "low", "type": "decimal"}]}, "1"),
]


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.use("zh_CN")
    yield
    i18n.use("en")


@pytest.mark.parametrize(("declared", "raw"), WRONG)
def test_each_sentence_has_its_chinese(chinese: None, declared: dict[str, Any], raw: Any) -> None:
    contract = load({**EVERY, "work": {"kind": "recipe", "name": "x"}, "rules": [], "parameters": [{"name": "p", **declared}]})
    said = check.field_problem(contract.parameters[0], {"p": raw}, Path("/"))
    assert re.search(r"[一-鿿]", said), said
    assert not re.search(r"\b(is|not|needed|value|the)\b", said), said


def test_an_author_s_own_words_stay_as_they_were_written(chinese: None) -> None:
    assert sentences.local("The last day is before the first.") == "The last day is before the first."


def test_sentences_stand_together_by_their_stops() -> None:
    assert measures.joined("For trading days.", "", "介于 1 与 2 之间。", "完。") == "For trading days. 介于 1 与 2 之间。完。"


def test_rules_between_fields_are_told_apart_from_fields() -> None:
    day = [{"name": name, "type": "date", "optional": True} for name in ("start", "end")]
    rules = [{"rule": "not_after", "fields": ["start", "end"]}, {"rule": "at_least_one", "fields": ["start", "end"]}]
    contract = load({**EVERY, "work": {"kind": "recipe", "name": "x"}, "parameters": day, "rules": rules})
    wrong = check.problems(contract, {"start": "2026-02-01", "end": "2026-01-01"}, Path("/"))
    assert not wrong.fields
    assert [each.fields for each in wrong.across] == [("start", "end")]
    assert not check.problems(contract, {"start": "2026-01-01"}, Path("/"))
    both = check.problems(contract, {"start": "x", "end": "2026-01-01"}, Path("/"))
    assert list(both.fields) == ["start"]
    assert both.across == ()


@pytest.mark.parametrize(
    "said",
    [
        "The work ended with exit code 1.",
        "The work was ended by the signal SIGSEGV.",
        "The function's process ended without saying that the function returned.",
        "Required outputs are missing: “*.csv”.",
        "The system ended the work because memory ran out.",
    ],
)
def test_what_the_host_writes_of_a_failure_has_its_chinese(chinese: None, said: str) -> None:
    told = failures.failure_told(said)
    assert told != said
    assert told.endswith("。")
    assert not re.search(r"\b(is|the|The|work)\b", told), told
    assert failures.failure_told("disk on fire") == "disk on fire"
