"""How the values of a table are shown: exact texts made readable, and words where there is no value (R15, UI.md §5).

Copies and exports never pass through here: they carry the exact text.
"""

from __future__ import annotations

import math
import re

from actum.contracts.metrics import reason_of
from actum.limits import CELL_SHOWN_CHARS_MAX
from actum.results.browse import NO_REASON

from actum_desktop import measures
from actum_desktop.i18n import N_, _, ngettext

RIGHT_KINDS = frozenset({"integer", "decimal", "float64", "uint64", "float", "double"})
_GROUPED_FROM = 5  # digits before the point; shorter ones (years, ports) stay whole
_NUMBER = re.compile(r"(-?)(\d+)(\..*|e.*)?", re.IGNORECASE)
_ODD = {"nan": N_("not a number"), "inf": "∞", "-inf": "−∞"}

# The statuses of a missing value (contracts.metrics) and the reasons that recipes and the program itself give.
_REASONS = {
    NO_REASON: N_("no reason given"),
    "unavailable": N_("unavailable"),
    "not_applicable": N_("not applicable"),
    "failed": N_("failed"),
    "not_computed": N_("not computed"),
    "insufficient_observations": N_("too few observations"),
    "no_previous_row": N_("no row before it"),
    "division_by_zero": N_("division by zero"),
    "market_closed": N_("market closed"),
    "no_reason_given": N_("no reason given"),
    "not_reported": N_("not reported by the work"),
    # of the tasks that come with Actum
    "no_prices": N_("no prices"),
    "price_missing": N_("price missing"),
    "previous_price_missing": N_("price before it missing"),
    "first_observation": N_("first observation"),
    "several_symbols": N_("several symbols"),
    "zero_volatility": N_("volatility is 0"),
    "overflow": N_("beyond the range of numbers"),
    "no_values": N_("no values"),
    "not_numbers": N_("not numbers"),
    "neither_numbers_nor_times": N_("neither numbers nor times"),
    "no_finite_values": N_("no finite values"),
    "none_missing": N_("none missing"),
    "no_remark": N_("no remark"),
    "no_cells": N_("no cells"),
}

_STATUSES = ("unavailable", "not_applicable", "failed", "not_computed")


def reason(text: str | None) -> str:
    """A recorded reason in words; one the program does not know is shown as it was recorded, without its underscores.

    Where it says how many observations there were, so do the words: `3 of 30 observations`.
    """
    told = reason_of(text) if text else None
    if told is None or told.observations is None:
        return _word(text)
    observations = counted(told.observations, told.needed)
    return observations if told.word == "insufficient_observations" else f"{_word(told.word)}: {observations}"


def counted(observations: int, needed: int | None = None) -> str:
    """`3 of 30 observations`, or `3 observations` where nobody said how many it takes."""
    if needed is None:
        return ngettext("{n} observation", "{n} observations", observations).format(n=measures.count(observations))
    words = ngettext("{n} of {needed} observation", "{n} of {needed} observations", needed)
    return words.format(n=measures.count(observations), needed=measures.count(needed))


def _word(word: str | None) -> str:
    known = _REASONS.get(word or NO_REASON)
    return _(known) if known else str(word).replace("_", " ")


def missing(word: str | None) -> str:
    """What stands in a cell without a value: its reason, or that none was given."""
    if word in _STATUSES or word is None or word == NO_REASON:
        return reason(word)
    return _("unavailable: {reason}").format(reason=reason(word))


def value(kind: str, text: str) -> str:
    """A value as a cell shows it: grouped digits, a true minus, one line, cut where it is very long."""
    if kind in RIGHT_KINDS:
        odd = _ODD.get(text.lower())
        return _(odd) if odd else number(text)
    if kind == "boolean":
        return _("true") if text == "true" else _("false")
    if kind == "timestamp":
        return text.replace("T", " ", 1).removesuffix("Z").removesuffix(".000000")
    if text == "":
        return "“”"
    shown = text[:CELL_SHOWN_CHARS_MAX].replace("\r\n", " ⏎ ").replace("\n", " ⏎ ").replace("\r", " ⏎ ").replace("\t", " ⇥ ")
    return shown + ("…" if len(text) > CELL_SHOWN_CHARS_MAX else "")


def number(text: str) -> str:
    """`−1,204,331.50`; digits are grouped from five before the point on."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    sign, whole, rest = match.groups()
    grouped = f"{int(whole):,}" if len(whole) >= _GROUPED_FROM else whole
    return ("−" if sign else "") + grouped + (rest or "").replace("e-", "e−").replace("E-", "E−")


def measure(value: float) -> str:
    """A computed number to seven digits, without an exponent where a person would write none."""
    if not math.isfinite(value):
        return str(value)
    if value and not 1e-4 <= abs(value) < 1e15:
        return number(f"{value:.7g}")
    digits = 6 - (math.floor(math.log10(abs(value))) if value else 0)
    text = f"{value:.{max(0, digits)}f}"
    return number(text.rstrip("0").rstrip(".") if "." in text else text)


def kind_words(kind: str, precision: int | None = None, scale: int | None = None, unit: str | None = None) -> str:
    """`decimal(18, 6), USD`."""
    known = {
        "text": N_("text"),
        "integer": N_("whole number"),
        "float64": N_("floating point number"),
        "boolean": N_("true or false"),
        "date": N_("date"),
        "timestamp": N_("time, shown in UTC"),
        "binary": N_("bytes, shown as base64"),
    }
    words = _("decimal({precision}, {scale})").format(precision=precision, scale=scale) if kind == "decimal" else ""
    words = words or (_(known[kind]) if kind in known else kind)
    return f"{words}, {unit}" if unit else words
