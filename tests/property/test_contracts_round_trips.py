"""Round trips and invariances that hold for every value (R05, R14, §9)."""

from __future__ import annotations

import decimal
import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from actum import canonical
from actum.contracts import durations, metrics, numbers, tables
from actum.contracts.commandline import fill
from actum.contracts.document import Contract
from actum.contracts.parameters import parse
from actum.contracts.request import canonical_request
from actum.contracts.tables import Column
from actum.errors import ActumError
from actum.model.run import InputRow
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.contracts import contract

quick = settings(deadline=None, max_examples=60)

BASE = Path("/base")
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ZONES = st.integers(-720, 720).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1900, 1, 2), datetime(2200, 1, 1), timezones=ZONES)
SPANS = st.timedeltas(timedelta(0), timedelta(days=3000))
NAMES = st.text("abcdefgh .,-_ä数", min_size=1, max_size=12).map(str.strip).filter(bool)
PATHS = NAMES.map(lambda name: f"/base/{name}").filter(lambda path: path == str(Path(path)))  # "/base/." is "/base"

# type → (declaration, strategy of typed values, what a person would write)
KINDS: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any], Any]] = {
    "text": ({}, TEXT, str),
    "integer": ({}, st.integers(-(10**30), 10**30), str),
    "decimal": ({}, DECIMALS, str),
    "float": ({}, FLOATS, repr),
    "boolean": ({}, st.booleans(), lambda value: "yes" if value else "off"),
    "choice": ({"choices": ["a", "b c"]}, st.sampled_from(["a", "b c"]), str),
    "date": ({}, st.dates(date(1, 1, 1)), lambda value: value.isoformat()),
    "datetime": ({}, MOMENTS, lambda value: value.isoformat()),
    "duration": ({}, SPANS, lambda value: f"{value // timedelta(microseconds=1)}us"),
    "file": ({}, PATHS, str),
    "files": ({}, st.lists(PATHS, max_size=3).map(tuple), lambda value: json.dumps(value)),
    "columns": ({}, st.lists(NAMES, max_size=3).map(tuple), lambda value: json.dumps(value)),
    "list": ({"items": {"type": "integer"}}, st.lists(st.integers(), max_size=4).map(tuple), lambda value: json.dumps(value)),
    "record": (
        {"fields": [{"name": "a", "type": "decimal"}, {"name": "b", "type": "date", "optional": True}]},
        st.fixed_dictionaries({"a": DECIMALS, "b": st.none() | st.dates()}),
        lambda value: json.dumps({"a": str(value["a"]), "b": value["b"] and value["b"].isoformat()}),
    ),
}


def one(kind: str) -> Contract:
    return contract({"name": "p", "type": kind, **KINDS[kind][0]})


@quick
@given(st.data(), st.sampled_from(sorted(KINDS)))
def test_every_type_survives_text_and_canonical_json(data: st.DataObject, kind: str) -> None:
    _, strategy, written = KINDS[kind]
    value = data.draw(strategy)
    typed = parse(one(kind), {"p": written(value)}, BASE)
    if kind != "file":
        assert typed.values["p"] == value
    stored = json.loads(canonical.dumps(typed.to_json()))
    again = parse(one(kind), stored, Path("/elsewhere"))
    assert again == typed
    assert again.to_json() == typed.to_json() == stored


def digest_of(task: Contract, raw: dict[str, Any], base: str = "/base") -> str:
    typed = parse(task, raw, Path(base))
    rows = [InputRow(name, path, "copy", "ab" * 32, 1) for name, path, _ in typed.files()]
    return canonical.digest(canonical_request("t", "1", typed, rows))


@quick
@given(st.integers(-(10**6), 10**6), DECIMALS, MOMENTS, SPANS)
def test_r05_equal_values_in_other_words_are_one_request(n: int, d: Decimal, at: datetime, span: timedelta) -> None:
    task = contract(
        {"name": "f", "type": "file"},
        {"name": "n", "type": "integer", "default": n},
        {"name": "d", "type": "decimal", "default": str(d)},
        {"name": "at", "type": "datetime"},
        {"name": "span", "type": "duration", "default": durations.text_of(span)},
    )
    plain = digest_of(task, {"f": "./x.csv", "at": at.isoformat()})
    other = {"f": "/base/x.csv", "n": f" {n:+d} ", "d": f"{d:f}00" if "." in f"{d:f}" else f"{d:f}.0"}
    other |= {"at": at.astimezone(UTC).isoformat(), "span": f"{durations.whole_us(span)}us"}
    assert digest_of(task, other) == plain
    assert digest_of(task, dict(reversed(other.items())), base="/") == plain
    assert digest_of(task, other | {"n": n + 1}) != plain


COLUMNS: dict[str, tuple[Column, st.SearchStrategy[Any]]] = {
    "text": (Column("c", "text"), st.text(st.characters(blacklist_categories=["Cs"]))),
    "integer": (Column("c", "integer"), st.integers(-(2**63), 2**63 - 1)),
    "decimal": (Column("c", "decimal", precision=38, scale=6), DECIMALS),
    "float64": (Column("c", "float64"), st.floats()),
    "boolean": (Column("c", "boolean"), st.booleans()),
    "date": (Column("c", "date"), st.dates()),
    "timestamp": (Column("c", "timestamp"), MOMENTS),
    "binary": (Column("c", "binary"), st.binary()),
}


@quick
@given(st.data(), st.sampled_from(sorted(COLUMNS)))
def test_every_cell_survives_its_line(data: st.DataObject, kind: str) -> None:
    column, strategy = COLUMNS[kind]
    value = data.draw(st.none() | strategy)
    text = tables.line([column], [value])
    assert "\n" not in text
    found = tables.read_line([column], text)["c"]
    assert found == value or (isinstance(value, float) and math.isnan(value) and math.isnan(found))
    assert tables.line([column], [found]) == text


@quick
@given(st.sampled_from(sorted(COLUMNS)), st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just([]))
def test_a_foreign_cell_is_read_or_refused_and_never_crashes(kind: str, cell: Any) -> None:
    column = COLUMNS[kind][0]
    try:
        value = tables.decode(column, cell)
    except tables.TableRefused:
        return
    again = tables.encode(column, value)
    assert again == cell or (again == "NaN" and cell != cell)


RULES = st.sampled_from(sorted(numbers.RULES)).map(numbers.rule)
NUMBERS = st.integers() | DECIMALS | FLOATS | DECIMALS.map(str)


@quick
@given(RULES, NUMBERS, st.integers(1, 5), st.sampled_from([decimal.ROUND_UP, decimal.ROUND_DOWN, decimal.ROUND_05UP]))
def test_a_rule_is_idempotent_whatever_the_global_context(
    rule: numbers.NumericRule, value: Any, precision: int, rounding: str
) -> None:
    calm = outcome(rule, value)
    with hostile(precision, rounding):
        assert outcome(rule, value) == calm
        if isinstance(calm, dict):
            again = rule.apply(calm["value"])
            assert (again.text, again.was_rounded) == (calm["value"], False)


def outcome(rule: numbers.NumericRule, value: Any) -> dict[str, Any] | str:
    """What the rule makes of the value, or the code of its refusal."""
    try:
        return rule.apply(value).to_json()
    except numbers.NumberRefused as refused:
        return refused.code


def hostile(precision: int, rounding: str) -> Any:
    everything = [decimal.Inexact, decimal.Rounded, decimal.Subnormal, decimal.FloatOperation, decimal.Clamped]
    return decimal.localcontext(decimal.Context(prec=precision, rounding=rounding, traps=everything, capitals=0))


@quick
@given(RULES, DECIMALS)
def test_a_rounded_value_is_within_half_a_unit_of_the_raw_one(rule: numbers.NumericRule, value: Decimal) -> None:
    try:
        rounded = rule.apply(value)
    except numbers.NumberRefused:
        return
    with numbers.own_context(76):
        assert abs(rounded.value - value) * 2 <= Decimal(1).scaleb(-rule.scale)
        assert rounded.was_rounded == (rounded.value != value)


JUNK = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=4)


@quick
@given(
    st.dictionaries(
        st.sampled_from(["metric", "value", "unit", "rule", "observations", "status", "reason", "conversion"]), JUNK
    ),
    st.sampled_from(["metric", "unavailable"]),
    JUNK,
)
def test_a_foreign_metric_is_read_or_refused_and_never_crashes(message: dict[str, Any], kind: str, name: Any) -> None:
    try:
        document = metrics.from_message({**message, kind: name}).to_json()
    except ActumError:
        return
    assert (document["value"] is None) == (document["reason"] is not None)


@quick
@given(SPANS)
def test_durations_survive_their_text(span: timedelta) -> None:
    assert durations.parse(durations.text_of(span)) == span


@quick
@given(st.lists(TEXT, max_size=4), TEXT)
def test_r19_a_value_stays_one_argument_and_literal_braces_survive(arguments: list[str], value: str) -> None:
    quoted = [text.replace("{", "{{").replace("}", "}}") for text in arguments]
    assert fill([*quoted, "{v}", "={v}="], {"v": value}) == [*arguments, value, f"={value}="]
