"""Numbers that say how they were rounded: a rule, its range, and what it did to one value (§9).

Theory. A `NumericRule` is a decimal type with manners: `precision` digits in all, `scale` of them after the point, one
way of rounding, or `exact`, which refuses to round at all. It is evaluated in a context of its own, so nothing that
other code does to the global decimal context changes an answer. A `Rounded` keeps the raw text beside the value.
A float64 enters only by its shortest repr, and `conversion` records that. NaN and infinities are not numbers here:
a missing value has a status and a reason instead (R15). Rules are named and versioned, and never change once released.
"""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from actum import limits
from actum.errors import ActumError

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_RULE_NAME = re.compile(r"[a-z][a-z0-9_]*\.v[1-9][0-9]*")
_ROUNDINGS = frozenset(name for name in dir(decimal) if name.startswith("ROUND_"))


class NumberRefused(ActumError):
    """A value that is no number, does not fit its rule's range, or would have to be rounded where that is forbidden."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """One value under one rule. `raw` is the text that came in; `conversion` is "float64" if it came as a float."""

    raw: str
    value: Decimal
    rule: NumericRule
    was_rounded: bool
    conversion: str | None = None

    @property
    def text(self) -> str:
        """The value with all digits of its scale, never in exponent notation: `7.597533`."""
        return plain(self.value)

    def to_json(self) -> dict[str, Any]:
        return {
            "raw": self.raw,
            "value": self.text,
            "scale": self.rule.scale,
            "rounding": "exact" if self.rule.exact else self.rule.rounding,
            "was_rounded": self.was_rounded,
            "rule": self.rule.id,
            "conversion": self.conversion,
        }


@dataclass(frozen=True, slots=True)
class NumericRule:
    """`precision` digits, `scale` after the point; values beyond ±(10^precision − 1)·10^−scale are refused, not cut."""

    name: str
    version: int
    precision: int
    scale: int
    rounding: str = ROUND_HALF_EVEN
    exact: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.precision <= limits.DECIMAL_DIGITS_MAX or not 0 <= self.scale <= self.precision:
            raise ValueError(f"{self.id}: precision {self.precision} and scale {self.scale} make no decimal type")
        if self.rounding not in _ROUNDINGS or not _RULE_NAME.fullmatch(self.id):
            raise ValueError(f"{self.id}: {self.rounding} is not a rounding, or the name is not a rule's name")

    @property
    def id(self) -> str:
        return f"{self.name}.v{self.version}"

    def apply(self, value: Decimal | int | float | str) -> Rounded:
        """`value` under this rule. Raises NumberRefused."""
        with own_context(self.precision, self.rounding):
            raw, number = _enter(value)
            if number and number.adjusted() + 1 > self.precision - self.scale:
                raise self._out_of_range(raw)
            try:
                rounded = number.quantize(Decimal(1).scaleb(-self.scale))
            except decimal.InvalidOperation:  # rounding up carried into one digit too many
                raise self._out_of_range(raw) from None
            was_rounded = rounded != number
            if was_rounded and self.exact:
                raise NumberRefused(
                    "number_not_exact",
                    f"“{raw}” has more than {self.scale} digits after the point.",
                    f"The rule {self.id} is exact and never rounds.",
                    "Round the value in the work, or declare a rule that rounds.",
                )
            settled = rounded if rounded else rounded.copy_abs()  # no negative zero
        return Rounded(raw, settled, self, was_rounded, "float64" if isinstance(value, float) else None)

    def _out_of_range(self, raw: str) -> NumberRefused:
        return NumberRefused(
            "number_out_of_range",
            f"“{raw}” is outside the range of the rule {self.id}.",
            f"It holds {self.precision - self.scale} digits before the point and {self.scale} after it.",
            "Declare a rule with a wider range.",
        )


def own_context(precision: int, rounding: str = ROUND_HALF_EVEN) -> Any:
    """A decimal context that owes nothing to the global one; use it in a `with` statement."""
    return decimal.localcontext(
        decimal.Context(
            prec=precision,
            rounding=rounding,
            Emin=decimal.MIN_EMIN,
            Emax=decimal.MAX_EMAX,
            capitals=1,
            clamp=0,
            flags=[],
            traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
        )
    )


def exact_number(value: Decimal | int | float | str) -> Decimal:
    """The decimal that `value` names, without any rounding; a float by its shortest repr. Raises NumberRefused."""
    with own_context(limits.DECIMAL_DIGITS_MAX):
        return _enter(value)[1]


def plain(value: Decimal) -> str:
    """All digits of `value` as they stand, without an exponent: `0.000001`, `1200`."""
    with own_context(limits.DECIMAL_DIGITS_MAX):
        return format(value, "f")


def _enter(value: Decimal | int | float | str) -> tuple[str, Decimal]:
    if isinstance(value, bool):
        raise _not_a_number(str(value))
    if isinstance(value, int) and value.bit_length() > 4 * limits.NUMBER_TEXT_CHARS_MAX:
        raise _not_a_number(f"a number of {value.bit_length():,} bits")  # Python would not even write it out
    # numpy's floats are floats with a repr of their own: `np.float64(1.5)`
    raw = float.__repr__(value) if isinstance(value, float) else str(value).strip()
    if len(raw) > limits.NUMBER_TEXT_CHARS_MAX or not _NUMBER.fullmatch(raw):
        raise _not_a_number(raw[:40])
    return raw, Decimal(raw)


def _not_a_number(raw: str) -> NumberRefused:
    return NumberRefused(
        "not_a_number",
        f"“{raw}” is not a number.",
        "NaN and infinities have no place among values that are shown.",
        "State the value as missing, with its reason.",
    )


RULES: dict[str, NumericRule] = {
    rule.id: rule
    for rule in (
        NumericRule("count", 1, precision=18, scale=0, exact=True),
        NumericRule("ratio", 1, precision=38, scale=6),
        NumericRule("percent", 1, precision=38, scale=2),
        NumericRule("money", 1, precision=38, scale=2),
        NumericRule("price", 1, precision=38, scale=6, exact=True),
        NumericRule("quantity", 1, precision=38, scale=9, exact=True),
    )
}


def rule(name: str) -> NumericRule:
    """The rule called `ratio.v1` and the like. Raises NumberRefused."""
    try:
        return RULES[name]
    except KeyError:
        known = ", ".join(sorted(RULES))
        raise NumberRefused("unknown_rule", f"There is no numeric rule “{name}”.", f"Known: {known}.") from None
