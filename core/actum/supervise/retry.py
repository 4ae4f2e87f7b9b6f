"""Whether a failed attempt is followed by another, and when (§12, R05)."""

from __future__ import annotations

import random

from actum.clock import US
from actum.model.status import FailureCode
from actum.supervise.policies import Policies

# A repeat of the same request cannot mend these.
NEVER = frozenset(
    {
        FailureCode.CONTRACT_INVALID,
        FailureCode.INPUT_CHANGED,
        FailureCode.WORKSPACE_COPIED,
        FailureCode.SUPERVISOR_LOST,
    }
)


def retry_at_us(policies: Policies, n: int, code: str, *, work_started: bool, now_us: int) -> int | None:
    """UTC microseconds of the next attempt after attempt `n` failed with `code`, or None for no retry.

    Exponential back-off, jittered over its upper half, never further than the longest delay from now. A task that is not
    declared safe to repeat has no automatic retry once its work has started.
    """
    retry = policies.retry
    if n > retry.maximum or code in NEVER or code not in retry.codes:
        return None
    if work_started and not policies.safe_to_repeat:
        return None
    delay_s = min(retry.longest_delay_s, retry.first_delay_s * retry.factor ** (n - 1))
    return now_us + int(delay_s * (0.5 + random.random() / 2) * US)
