"""Numeric rules: exact text in, a rule's value out, and what was done to it (§9)."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest
from actum import limits
from actum.contracts import numbers
from actum.contracts.numbers import NumberRefused, NumericRule, rule


def test_a_rounded_value_keeps_raw_scale_rounding_and_rule() -> None:
    rounded = rule("ratio.v1").apply("0.14608412383228303")
    assert rounded.to_json() == {
        "raw": "0.14608412383228303",
        "value": "0.146084",
        "scale": 6,
        "rounding": "ROUND_HALF_EVEN",
        "was_rounded": True,
        "rule": "ratio.v1",
        "conversion": None,
    }


def test_half_goes_to_even_and_a_float_enters_by_a_recorded_conversion() -> None:
    assert rule("money.v1").apply("0.125").text == "0.12"
    assert rule("money.v1").apply("0.135").text == "0.14"
    entered = rule("ratio.v1").apply(0.1)
    assert (entered.raw, entered.text, entered.conversion, entered.was_rounded) == ("0.1", "0.100000", "float64", False)


def test_an_exact_rule_raises_instead_of_rounding() -> None:
    assert rule("price.v1").apply("39.81").text == "39.810000"
    with pytest.raises(NumberRefused) as refused:
        rule("price.v1").apply("39.8100001")
    assert refused.value.code == "number_not_exact"


def test_the_range_is_part_of_the_rule_at_the_bound_and_just_above() -> None:
    small = NumericRule("small", 1, precision=4, scale=2)
    assert small.apply("99.99").text == "99.99"
    for beyond in ("100", "-100", "99.995"):  # the last one carries into a fifth digit
        with pytest.raises(NumberRefused) as refused:
            small.apply(beyond)
        assert refused.value.code == "number_out_of_range"


@pytest.mark.parametrize("text", ["NaN", "inf", "-Infinity", "", "1,5", "0x10", "１", "1_000", "--1", "1e99999"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NumberRefused) as refused:
        numbers.exact_number(text)
    assert refused.value.code == "not_a_number"


def test_a_truth_value_is_no_number_and_zero_has_no_sign() -> None:
    with pytest.raises(NumberRefused):
        rule("count.v1").apply(True)
    assert rule("ratio.v1").apply("-0.0000001").text == "0.000000"


def test_the_longest_number_text_and_one_just_above() -> None:
    at = "0." + "1" * (limits.NUMBER_TEXT_CHARS_MAX - 2)
    assert numbers.exact_number(at) == Decimal(at)
    with pytest.raises(NumberRefused):
        numbers.exact_number(at + "1")


def test_a_rule_has_at_most_so_many_digits() -> None:
    NumericRule("wide", 1, precision=limits.DECIMAL_DIGITS_MAX, scale=0)
    with pytest.raises(ValueError, match="make no decimal type"):
        NumericRule("wide", 1, precision=limits.DECIMAL_DIGITS_MAX + 1, scale=0)
    with pytest.raises(ValueError, match="rounding"):
        NumericRule("odd", 1, precision=4, scale=0, rounding="ROUND_AS_YOU_LIKE")


def test_a_hostile_global_context_changes_nothing() -> None:
    with decimal.localcontext() as hostile:
        hostile.prec, hostile.rounding, hostile.capitals = 1, decimal.ROUND_UP, 0
        hostile.traps[decimal.Inexact] = hostile.traps[decimal.FloatOperation] = True
        assert rule("ratio.v1").apply("7.5975327679").text == "7.597533"
        assert rule("ratio.v1").apply(1e-7).raw == "1e-07"
        assert numbers.plain(Decimal("123456789.5")) == "123456789.5"


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(NumberRefused, match=r"count\.v1"):
        rule("ratio.v9")


def test_a_float_of_numpy_is_a_float_and_a_bottomless_integer_no_number() -> None:
    """Its repr is `np.float64(1.5)`; and of an integer beyond 4,300 digits Python makes no text at all."""
    found = numbers.rule("ratio.v1").apply(np.float64(1.5))
    assert (found.raw, found.text, found.conversion) == ("1.5", "1.500000", "float64")
    for sign in (1, -1):
        with pytest.raises(numbers.NumberRefused, match="is not a number"):
            numbers.exact_number(sign * 10**5000)
