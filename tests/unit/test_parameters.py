"""Raw values become typed ones, and what does not fit is said field by field (R05, §15)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.contracts.parameters import parse
from actum.errors import InvalidParameters, WrongUse

from tests.helpers.contracts import contract

BASE = Path("/base/ada")
ITEMS = {"type": "list", "items": {"type": "integer"}}
RECORD = {"type": "record", "fields": [{"name": "low", "type": "decimal"}, {"name": "note", "type": "text", "optional": True}]}


def typed(declaration: dict[str, Any], raw: Any) -> Any:
    return parse(contract({"name": "p", **declaration}), {"p": raw}, BASE).values["p"]


def message(declaration: dict[str, Any], raw: Any) -> str:
    with pytest.raises(InvalidParameters) as wrong:
        parse(contract({"name": "p", **declaration}), {"p": raw}, BASE)
    assert set(wrong.value.fields) == {"p"}
    return wrong.value.fields["p"]


@pytest.mark.parametrize(
    ("declaration", "raw", "value"),
    [
        ({"type": "text"}, "  kept ", "  kept "),
        ({"type": "text", "optional": True}, "", ""),
        ({"type": "integer"}, " 012 ", 12),
        ({"type": "integer"}, 12, 12),
        ({"type": "integer", "optional": True}, "", None),
        ({"type": "integer", "optional": True}, None, None),
        ({"type": "decimal"}, "0.10", Decimal("0.10")),
        ({"type": "decimal"}, 0.1, Decimal("0.1")),
        ({"type": "decimal"}, 3, Decimal(3)),
        ({"type": "float"}, "1e-6", 1e-6),
        ({"type": "float"}, 2, 2.0),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, False, False),
        ({"type": "choice", "choices": ["a", "b"]}, "b", "b"),
        ({"type": "date"}, "2000-01-31", date(2000, 1, 31)),
        ({"type": "date"}, "Jan 31 2000", date(2000, 1, 31)),
        ({"type": "date"}, "January 31, 2000", date(2000, 1, 31)),
        ({"type": "datetime"}, "2000-01-01T02:00:00+02:00", datetime(2000, 1, 1, tzinfo=UTC)),
        ({"type": "duration"}, "1h30m", timedelta(minutes=90)),
        ({"type": "file"}, "./x y.csv", "/base/ada/x y.csv"),
        ({"type": "file"}, "/data/../x.csv", "/x.csv"),
        ({"type": "folder"}, "数据", "/base/ada/数据"),
        ({"type": "files"}, "a.csv\nb.csv", ("/base/ada/a.csv", "/base/ada/b.csv")),
        ({"type": "files"}, ["a,b.csv"], ("/base/ada/a,b.csv",)),
        ({"type": "columns"}, "open, close", ("open", "close")),
        ({"type": "columns"}, '["a,b"]', ("a,b",)),
        (ITEMS, "1,2", (1, 2)),
        (ITEMS, [1, "2"], (1, 2)),
        (RECORD, {"low": "1.5"}, {"low": Decimal("1.5"), "note": None}),
        (RECORD, '{"low": 1.5, "note": "x"}', {"low": Decimal("1.5"), "note": "x"}),
    ],
)
def test_values_of_every_type(declaration: dict[str, Any], raw: Any, value: Any) -> None:
    found = typed(declaration, raw)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("declaration", "raw", "said"),
    [
        ({"type": "integer"}, "3O", "“3O” is not a whole number. Use digits only, for example 30."),
        ({"type": "integer"}, 3.0, "“3.0” is not a whole number. Use digits only, for example 30."),
        ({"type": "integer"}, True, "“True” is neither text nor a number."),
        ({"type": "integer"}, None, "A value is needed here."),
        ({"type": "integer"}, "１２", "“１２” is not a whole number. Use digits only, for example 30."),
        ({"type": "integer", "minimum": 2}, "1", "“1” is below the least allowed value, 2."),
        ({"type": "integer", "maximum": "9"}, "10", "“10” is above the greatest allowed value, 9."),
        (
            {"type": "date", "maximum": "2000-01-01"},
            "2000-01-02",
            "“2000-01-02” is above the greatest allowed value, 2000-01-01.",
        ),
        ({"type": "duration", "minimum": "1m"}, "59s", "“59s” is below the least allowed value, 1m."),
        ({"type": "decimal"}, "1,5", "“1,5” is not a decimal number. Write it with a point, for example 0.05."),
        ({"type": "decimal"}, "NaN", "“NaN” is not a decimal number. Write it with a point, for example 0.05."),
        ({"type": "float"}, "1e999", "“1e999” is too large for a float."),
        ({"type": "boolean"}, "maybe", "“maybe” is neither yes nor no. Write yes or no."),
        ({"type": "choice", "choices": ["mean", "last"]}, "maen", "“maen” is not one of mean, last. Probably “mean” is meant."),
        ({"type": "date"}, "31.1.2000", "“31.1.2000” is not a date. Write year, month and day, for example 2026-03-31."),
        ({"type": "date"}, "2000-02-30", "“2000-02-30” is not a date. Write year, month and day, for example 2026-03-31."),
        ({"type": "file"}, "", "A path is needed, for example ./prices.csv."),
        ({"type": "text"}, "a\0b", "The text holds a NUL character."),
        (ITEMS, "1,x", "Item 2: “x” is not a whole number. Use digits only, for example 30."),
        (RECORD, {"high": 1}, "Field “low”: A value is needed here."),
    ],
)
def test_a_refusal_says_what_is_wrong_with_this_value(declaration: dict[str, Any], raw: Any, said: str) -> None:
    assert message(declaration, raw) == said


def test_a_time_without_a_zone_and_a_float_with_too_many_digits_are_refused() -> None:
    assert "has no time zone" in message({"type": "datetime"}, "2000-01-01T00:00:00")
    assert "Write it as text" in message({"type": "decimal"}, 0.1234567890123456789)


def test_every_wrong_field_is_named_at_once_and_unknown_ones_with_a_guess() -> None:
    task = contract({"name": "window", "type": "integer"}, {"name": "start", "type": "date"})
    with pytest.raises(InvalidParameters) as wrong:
        parse(task, {"window": "x", "strat": "2000-01-01"}, BASE)
    assert wrong.value.fields["strat"] == "The task has no such parameter. Probably “start” is meant."
    assert set(wrong.value.fields) == {"window", "start", "strat"}
    assert wrong.value.exit_code == 2


def test_defaults_fill_what_is_not_given_and_an_explicit_null_is_none() -> None:
    task = contract(
        {"name": "a", "type": "integer", "default": "12"}, {"name": "b", "type": "text", "optional": True, "default": "x"}
    )
    assert parse(task, {}, BASE).values == {"a": 12, "b": "x"}
    assert parse(task, {"b": None}, BASE).values["b"] is None
    with pytest.raises(InvalidParameters):
        parse(task, {"a": None}, BASE)


@pytest.mark.parametrize(
    ("rule", "raw", "broken"),
    [
        ("not_after", {"a": "2000-01-02", "b": "2000-01-01"}, True),
        ("not_after", {"a": "2000-01-01", "b": "2000-01-01"}, False),
        ("before", {"a": "2000-01-01", "b": "2000-01-01"}, True),
        ("not_after", {"a": "2000-01-02"}, False),
        ("at_least_one", {}, True),
        ("at_most_one", {"a": "2000-01-02", "b": "2000-01-01"}, True),
        ("together", {"a": "2000-01-02"}, True),
        ("together", {}, False),
    ],
)
def test_rules_between_fields(rule: str, raw: dict[str, str], broken: bool) -> None:
    declarations = [{"name": name, "type": "date", "title": name.upper(), "optional": True} for name in "ab"]
    task = contract(*declarations, rules=[{"rule": rule, "fields": ["a", "b"]}])
    if not broken:
        parse(task, raw, BASE)
        return
    with pytest.raises(InvalidParameters) as wrong:
        parse(task, raw, BASE)
    assert "“A”, “B”" in wrong.value.fields["b"]


@pytest.mark.parametrize(
    "name", ["password", "db_password", "apiKey", "API_KEY", "auth_token", "client_secret", "ssh_private_key"]
)
def test_secret_like_names_are_refused_in_words(name: str) -> None:
    with pytest.raises(WrongUse) as refused:
        contract({"name": name, "type": "text"})
    assert refused.value.code == "secret_refused"
    with pytest.raises(InvalidParameters, match="sounds like a secret"):
        parse(contract(), {name: "x"}, BASE)


@pytest.mark.parametrize("name", ["max_tokens", "token_count", "key", "primary_key", "secretary", "password_length"])
def test_names_that_only_resemble_secrets_are_fine(name: str) -> None:
    contract({"name": name, "type": "integer"})


@pytest.mark.parametrize(
    "value",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "ghp_" + "a1" * 18,
        "postgresql://ada:lovelace@localhost/x",
    ],
)
def test_secret_like_values_are_refused_and_never_repeated(value: str) -> None:
    said = message({"type": "text"}, value)
    assert "looks like" in said
    assert value not in said


@pytest.mark.parametrize("kind", ["secret", "connection"])
def test_types_that_hold_secrets_are_refused_in_words(kind: str) -> None:
    with pytest.raises(WrongUse, match="plain text"):
        contract({"name": "p", "type": kind})


def test_parameters_at_the_size_bound_and_just_above() -> None:
    task = contract({"name": "p", "type": "text"})
    overhead = len('{"p":""}')
    parse(task, {"p": "x" * (limits.PARAMETERS_BYTES_MAX - overhead)}, BASE)
    with pytest.raises(InvalidParameters, match="file input"):
        parse(task, {"p": "x" * (limits.PARAMETERS_BYTES_MAX - overhead + 1)}, BASE)


def test_files_are_listed_with_names_paths_and_policies() -> None:
    task = contract(
        {"name": "one", "type": "file", "policy": "pin"},
        {"name": "many", "type": "files"},
        {"name": "none", "type": "file", "optional": True},
    )
    found = parse(task, {"one": "a", "many": ["b", "c"]}, BASE).files()
    assert found == [
        ("one", "/base/ada/a", "pin"),
        ("many[0]", "/base/ada/b", "auto"),
        ("many[1]", "/base/ada/c", "auto"),
    ]


@pytest.mark.parametrize(
    "declaration",
    [
        {"name": "p", "type": "mo ney"},
        {"name": "2p", "type": "text"},
        {"name": "ACTUM_X", "type": "text"},
        {"name": "p", "type": "text", "minimum": 1},
        {"name": "p", "type": "integer", "choices": ["1"]},
        {"name": "p", "type": "choice"},
        {"name": "p", "type": "integer", "default": "x"},
        {"name": "p", "type": "integer", "minimum": "x"},
        {"name": "p", "type": "float", "default": 0.5},
        {"name": "p", "type": "file", "policy": "link"},
        {"name": "p", "type": "text", "required": False},
        {"name": "p", "type": "list", "items": {"type": "file"}},
        {"name": "p", "type": "record"},
        {"name": "p", "type": "integer", "mininum": 1},
    ],
)
def test_declarations_that_make_no_sense_are_refused(declaration: dict[str, Any]) -> None:
    with pytest.raises(WrongUse) as refused:
        contract(declaration)
    assert refused.value.code == "contract_invalid"


def test_a_type_of_a_newer_program_is_handed_on_as_text() -> None:
    document = contract({"name": "p", "type": "money", "minimum": 1, "choices": ["x"]})
    assert not document.parameters[0].known
    typed = parse(document, {"p": " 12 EUR "}, Path("/"))
    assert typed.values == {"p": " 12 EUR "}
    assert parse(document, typed.to_json(), Path("/")).values == typed.values
    with pytest.raises(InvalidParameters) as refused:
        parse(document, {"p": 12}, Path("/"))
    assert "money" in refused.value.fields["p"]
