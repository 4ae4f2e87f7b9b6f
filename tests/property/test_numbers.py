"""Numbers that say how they were rounded, over all numbers: §9 as properties, whatever the global decimal context is."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from actum.contracts import numbers, tables
from actum.contracts.metrics import from_message, reason_of
from actum.contracts.numbers import NumberRefused, NumericRule, rule
from actum.contracts.tables import Column
from actum.sdk.cells import CellRefused, reason
from hypothesis import example, given
from hypothesis import strategies as st

ROUNDINGS = sorted(name for name in dir(decimal) if name.startswith("ROUND_"))
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=12)
RULES = st.builds(
    NumericRule,
    name=st.just("any"),
    version=st.integers(1, 9),
    precision=st.just(60),
    scale=st.integers(0, 30),
    rounding=st.sampled_from(ROUNDINGS),
)
HOSTILE = st.builds(
    lambda prec, rounding, traps: decimal.Context(
        prec=prec, rounding=rounding, Emin=-1, Emax=1, capitals=0, clamp=1, flags=[], traps=traps
    ),
    st.integers(1, 4),
    st.sampled_from(ROUNDINGS),
    st.lists(st.sampled_from([decimal.Inexact, decimal.Rounded, decimal.FloatOperation, decimal.Subnormal])),
)


@contextmanager
def hostile(context: decimal.Context) -> Iterator[None]:
    with decimal.localcontext(context):
        yield


@given(RULES, DECIMALS)
def test_rounding_again_changes_nothing(rule_: NumericRule, value: Decimal) -> None:
    once = rule_.apply(value)
    again = rule_.apply(once.text)
    assert (again.text, again.was_rounded) == (once.text, False)
    assert once.was_rounded == (Decimal(once.text) != value)
    assert once.to_json()["rule"] == f"any.v{rule_.version}"


@given(RULES, st.lists(DECIMALS, max_size=20))
def test_the_sum_of_rounded_parts_is_near_the_rounded_sum(rule_: NumericRule, parts: list[Decimal]) -> None:
    """Each rounding moves a part by less than one unit of the last place; exact parts sum up exactly."""
    with decimal.localcontext(decimal.Context(prec=200)):
        whole = rule_.apply(sum(parts, Decimal(0))).value
        rounded = sum((rule_.apply(part).value for part in parts), Decimal(0))
        assert abs(rounded - whole) < (len(parts) + 1) * Decimal(1).scaleb(-rule_.scale)
        exact = NumericRule("exact", 1, precision=60, scale=12, exact=True)
        assert sum((exact.apply(part).value for part in parts), Decimal(0)) == exact.apply(sum(parts, Decimal(0))).value


@given(RULES, DECIMALS, HOSTILE)
def test_the_global_context_changes_no_answer(rule_: NumericRule, value: Decimal, context: decimal.Context) -> None:
    column = Column("v", "decimal", precision=60, scale=12)
    text = str(value)
    calm = (rule_.apply(text).to_json(), numbers.plain(value), tables.encode(column, value))
    message = {"metric": "m", "value": text, "rule": "ratio.v1"}
    metric = from_message(message).to_json()
    with hostile(context):
        assert (rule_.apply(text).to_json(), numbers.plain(value), tables.encode(column, value)) == calm
        assert from_message(message).to_json() == metric
        assert tables.decode(column, calm[2]) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(-0.0)
@example(5e-324)
@example(1.7976931348623157e308)
def test_a_float_comes_back_whole_from_where_it_was_converted(value: float) -> None:
    settled = (
        from_message({"metric": "m", "value": value}).to_json()
        if abs(value) < 1e60 and (not value or abs(value) > 1e-60)
        else None
    )
    if settled is not None:
        assert float(settled["value"]) == value
        assert settled["conversion"] == "float64"
    cell = tables.encode(Column("v", "float64"), value)
    back = tables.decode(Column("v", "float64"), cell)
    assert (back, math.copysign(1, back)) == (value, math.copysign(1, value))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -math.inf, "nan", Decimal("NaN"), Decimal("sNaN")])
def test_nan_is_no_value_and_never_a_zero(value: Any) -> None:
    with pytest.raises(NumberRefused):
        rule("ratio.v1").apply(value)
    with pytest.raises(NumberRefused):
        numbers.exact_number(value)


def test_thirty_orders_of_magnitude_up_and_down() -> None:
    assert rule("ratio.v1").apply("1e30").text == "1" + "0" * 30 + ".000000"
    assert from_message({"metric": "m", "value": "1e30"}).to_json()["value"] == "1" + "0" * 30
    assert from_message({"metric": "m", "value": "-1e-30"}).to_json()["value"] == "-0." + "0" * 29 + "1"
    small = rule("ratio.v1").apply("1e-30")
    assert (small.text, small.was_rounded, small.raw) == ("0.000000", True, "1e-30")
    with pytest.raises(NumberRefused) as refused:
        rule("ratio.v1").apply("1e32")
    assert refused.value.code == "number_out_of_range"
    wide = NumericRule("wide", 1, precision=76, scale=30)
    assert wide.apply("1e30").text == "1" + "0" * 30 + "." + "0" * 30


@given(st.sampled_from(["insufficient_observations", "no_prices"]), st.integers(0, 10**15), st.none() | st.integers(0, 10**15))
def test_a_reason_that_counts_comes_apart_as_it_was_put_together(word: str, observations: int, needed: int | None) -> None:
    told = reason_of(reason(word, observations, needed))
    assert (told.word, told.observations, told.needed) == (word, observations, needed)
    assert reason_of(word).word == word


def test_a_reason_is_a_word_and_counts_only_what_it_says() -> None:
    for wrong in ("Not A Word", "", "3"):
        with pytest.raises(CellRefused):
            reason(wrong)
    with pytest.raises(CellRefused):
        reason("few", needed=30)
    free = reason_of("closed: 3 of 30, see the log")
    assert (free.word, free.observations) == ("closed: 3 of 30, see the log", None)


def test_r15_a_missing_metric_keeps_of_how_many_observations() -> None:
    message = {"unavailable": "sharpe", "reason": "insufficient_observations", "observations": 3, "needed": 30}
    document = from_message(message).to_json()
    assert (document["observation_count"], document["observations_needed"], document["value"]) == (3, 30, None)
