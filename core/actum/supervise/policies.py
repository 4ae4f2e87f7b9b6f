"""The policies of a contract document as the supervisor needs them: seconds, codes, bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.contracts import durations
from actum.limits import STALL_AFTER_S_DEFAULT, START_DEADLINE_S_DEFAULT, STOP_GRACE_S_DEFAULT


@dataclass(frozen=True, slots=True)
class Retry:
    """At most `maximum` further attempts, for these failure codes (empty = every code that a repeat can mend)."""

    maximum: int
    codes: frozenset[str]
    first_delay_s: float
    factor: float
    longest_delay_s: float


@dataclass(frozen=True, slots=True)
class Policies:
    """Seconds throughout; None = no such deadline."""

    start_deadline_s: float
    deadline_s: float | None
    stage_deadlines_s: Mapping[str, float]
    stall_after_s: float
    grace_s: float
    accepted_exit_codes: frozenset[int]
    retry: Retry
    safe_to_repeat: bool


def of(contract: Mapping[str, Any]) -> Policies:
    """Read the policies of a contract document; what it leaves out has the default of `limits`."""
    policies = contract.get("policies") or {}
    retry = policies.get("retry") or {}
    return Policies(
        start_deadline_s=_seconds(policies.get("start_deadline"), START_DEADLINE_S_DEFAULT),
        deadline_s=_seconds(policies["deadline"], 0) if policies.get("deadline") else None,
        stage_deadlines_s={name: _seconds(text, 0) for name, text in (policies.get("stage_deadlines") or {}).items()},
        stall_after_s=_stall(policies),
        grace_s=_seconds(policies.get("grace"), STOP_GRACE_S_DEFAULT),
        accepted_exit_codes=frozenset(policies.get("accepted_exit_codes") or (0,)),
        retry=Retry(
            maximum=int(retry.get("maximum") or 0),
            codes=frozenset(retry.get("codes") or ()),
            first_delay_s=_seconds(retry.get("first_delay"), 10),
            factor=float(retry.get("factor") or 2),
            longest_delay_s=_seconds(retry.get("longest_delay"), 600),
        ),
        safe_to_repeat=policies.get("safe_to_repeat") is True,
    )


def _stall(policies: Mapping[str, Any]) -> float:
    """An explicit null is “no stall warning”, another thing than a policy left out."""
    if "stall_after" in policies and policies["stall_after"] is None:
        return math.inf
    return _seconds(policies.get("stall_after"), STALL_AFTER_S_DEFAULT)


def _seconds(text: str | None, default_s: float) -> float:
    return float(default_s) if text is None else durations.parse(text).total_seconds()
