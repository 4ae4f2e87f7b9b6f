"""Metrics: one named value with its unit, or the status and the reason why there is none (§9, R15).

A missing metric is never 0 and never NaN. `available` has a value and no reason; every other status has a reason and no
value. Where a rule is named, by the work or by the contract, the value is that rule's answer and the raw text stays beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from actum import limits
from actum.contracts import numbers
from actum.errors import ActumError

_REASON = re.compile(r"[a-z][a-z0-9_]*")


_SPELLED = re.compile(r"([a-z][a-z0-9_]*):([0-9]{1,18})(?:/([0-9]{1,18}))?")


class MetricStatus(StrEnum):
    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"  # it would be there with other data: too few observations
    NOT_APPLICABLE = "not_applicable"  # it has no meaning for this data
    FAILED = "failed"  # its computation went wrong
    NOT_COMPUTED = "not_computed"  # nobody asked for it


class MetricRefused(ActumError):
    """The work states a metric that contradicts itself or its contract."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric as result.json keeps it. `value` is exact text; `rounded` says how it came about, where a rule did it."""

    name: str
    status: MetricStatus
    value: str | None = None
    reason: str | None = None
    unit: str | None = None
    title: str | None = None
    observation_count: int | None = None
    observations_needed: int | None = None  # of a missing one, where too few is why
    rounded: numbers.Rounded | None = None
    conversion: str | None = None

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > limits.NAME_CHARS_MAX:
            raise _refused(self.name[:40], f"a metric's name has 1 to {limits.NAME_CHARS_MAX} characters")
        available = self.status is MetricStatus.AVAILABLE
        if available != (self.value is not None):
            raise _refused(self.name, "it has a value exactly if it is available")
        if available == (self.reason is not None):
            raise _refused(self.name, "it has a reason exactly if it is not available")
        if self.reason is not None and not (_REASON.fullmatch(self.reason) and len(self.reason) <= limits.NAME_CHARS_MAX):
            raise _refused(self.name, "its reason is a word such as insufficient_observations")
        if any(count is not None and count < 0 for count in (self.observation_count, self.observations_needed)):
            raise _refused(self.name, "its number of observations is negative")

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "value": self.value,
            "unit": self.unit,
            "status": self.status.value,
            "reason": self.reason,
            "observation_count": self.observation_count,
            "observations_needed": self.observations_needed,
            "rule": None,
            "conversion": self.conversion,
        }
        if self.rounded is not None:
            document.update(self.rounded.to_json())
            document["conversion"] = self.conversion or self.rounded.conversion
        return document


def from_message(message: Mapping[str, Any], declared: Mapping[str, Any] | None = None) -> Metric:
    """The metric that one message of the work states, under its contract's declaration (`{name, title, unit, rule}`).

    `{"metric", "value", "unit", "rule", "observations", "conversion"}` or
    `{"unavailable", "status", "reason", "observations", "needed"}`. Raises MetricRefused, NumberRefused.
    """
    told = declared or {}
    missing = "unavailable" in message
    name = message["unavailable" if missing else "metric"]
    if not isinstance(name, str):
        raise _refused(str(name)[:40], "its name is text")
    unit = _agreed(name, "unit", message.get("unit"), told.get("unit"))
    observations, needed = message.get("observations"), message.get("needed")
    if not all(count is None or type(count) is int for count in (observations, needed)):
        raise _refused(name, "its number of observations is a whole number")
    reason, conversion = message.get("reason"), message.get("conversion")
    if not all(text is None or isinstance(text, str) for text in (reason, conversion)):
        raise _refused(name, "its reason and its conversion are words")
    if missing:
        return Metric(name, _status(name, message), None, reason, unit, told.get("title"), observations, needed)
    rule = _agreed(name, "rule", message.get("rule"), told.get("rule"))
    value = message.get("value")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _refused(name, "its value is a number or the text of one")
    conversion = "float64" if isinstance(value, float) else conversion
    rounded = numbers.rule(rule).apply(value) if rule else None
    text = rounded.text if rounded else numbers.plain(numbers.exact_number(value))
    available = MetricStatus.AVAILABLE
    return Metric(name, available, text, None, unit, told.get("title"), observations, None, rounded, conversion)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a value is missing, taken apart. `observations` and `needed` where it says so: 3 of 30."""

    word: str
    observations: int | None = None
    needed: int | None = None


def reason_of(text: str) -> Reason:
    """The reason a companion column holds (`insufficient_observations:3/30`, as the SDK spells it), or any text as it is."""
    match = _SPELLED.fullmatch(text)
    if match is None:
        return Reason(text)
    return Reason(match[1], int(match[2]), int(match[3]) if match[3] else None)


def _status(name: str, message: Mapping[str, Any]) -> MetricStatus:
    try:
        return MetricStatus(message.get("status", MetricStatus.UNAVAILABLE))
    except ValueError:
        known = ", ".join(status.value for status in MetricStatus)
        raise _refused(name, f"“{message.get('status')}” is not a status; known: {known}") from None


def _agreed(name: str, what: str, said: Any, declared: Any) -> str | None:
    """What the work says or the contract declares; both may, if they say the same."""
    if said is not None and declared is not None and said != declared:
        raise _refused(name, f"its {what} is “{said}”, and the contract declares “{declared}”")
    agreed = declared if said is None else said
    if agreed is not None and not isinstance(agreed, str):
        raise _refused(name, f"its {what} is text")
    return agreed


def _refused(name: str, why: str) -> MetricRefused:
    return MetricRefused("contract_invalid", f"The metric “{name}” cannot be taken: {why}.")
