"""The policies of a contract in seconds, as deciding needs them; read by `contracts.policies`, so there is one reading."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.contracts.policies import read_policies


@dataclass(frozen=True, slots=True)
class Retry:
    """At most `maximum` further attempts, for these failure codes."""

    maximum: int
    codes: frozenset[str]
    first_delay_s: float
    factor: float
    longest_delay_s: float


@dataclass(frozen=True, slots=True)
class Policies:
    """Seconds throughout; None = no such deadline, infinite = no stall warning."""

    start_deadline_s: float
    deadline_s: float | None
    stage_deadlines_s: Mapping[str, float]
    stall_after_s: float
    grace_s: float
    accepted_exit_codes: frozenset[int]
    retry: Retry
    safe_to_repeat: bool
    resources: frozenset[str]  # exclusive: one attempt at a time holds each


def of(contract: Mapping[str, Any]) -> Policies:
    """The policies of a contract document."""
    read = read_policies(contract.get("policies") or {})
    return Policies(
        start_deadline_s=read.start_deadline.total_seconds(),
        deadline_s=None if read.deadline is None else read.deadline.total_seconds(),
        stage_deadlines_s={name: limit.total_seconds() for name, limit in read.stage_deadlines.items()},
        stall_after_s=math.inf if read.stall_after is None else read.stall_after.total_seconds(),
        grace_s=read.grace.total_seconds(),
        accepted_exit_codes=frozenset(read.accepted_exit_codes),
        retry=Retry(
            maximum=read.retry.maximum,
            codes=frozenset(read.retry.codes),
            first_delay_s=read.retry.first_delay.total_seconds(),
            factor=float(read.retry.factor),
            longest_delay_s=read.retry.longest_delay.total_seconds(),
        ),
        safe_to_repeat=read.safe_to_repeat,
        resources=frozenset(read.resources),
    )
