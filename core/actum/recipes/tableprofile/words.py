"""A column's values as texts, exactly and the same in every locale."""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from actum import limits
from actum.contracts.numbers import plain
from actum.recipes.tableprofile import typing_rules as types
from actum.recipes.tableprofile.typing_rules import Type

_DAY_ZERO = date(1970, 1, 1)
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


def words(kind: Type, value: Any) -> str | None:
    """A value of a column, by its key (see `Type.key`). A text that is too long is cut."""
    if value is None:
        return None
    if isinstance(value, Fraction):
        return _fraction(value)
    if kind.name == types.DATE:
        return _date(value)
    if kind.name in (types.TIMESTAMP, types.LOCAL):
        return _moment(value, kind)
    if isinstance(value, Decimal):
        text = plain(value)
        return text.rstrip("0").rstrip(".") if kind.trim and "." in text else text
    return repr(value) if isinstance(value, float) else cut(str(value))


def cut(text: str) -> str:
    most = limits.PROFILE_TEXT_CHARS_MAX
    return text if len(text) <= most else text[:most] + "…"


def _fraction(value: Fraction) -> str:
    """All digits; the shares of quantiles are hundredths, so there is an end to them."""
    if value.denominator == 1:
        return str(value.numerator)
    with decimal.localcontext(decimal.Context(prec=120)):
        return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def _date(days: int) -> str:
    try:
        return (_DAY_ZERO + timedelta(days=days)).isoformat()
    except OverflowError:
        return f"{days} days from 1970-01-01"


def _moment(count: int, kind: Type) -> str:
    whole, rest = divmod(count, 1_000_000_000 if kind.nano else 1_000_000)
    digits = f"{rest:0{9 if kind.nano else 6}}".rstrip("0")
    zone = "Z" if kind.name == types.TIMESTAMP else ""
    try:
        text = (_ZERO + timedelta(seconds=whole)).replace(tzinfo=None).isoformat()
    except OverflowError:
        return f"{whole} seconds from 1970-01-01"
    return f"{text}{'.' if digits else ''}{digits}{zone}"
