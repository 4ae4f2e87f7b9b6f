"""Whether a failed attempt is followed by another, when, and with what (§12, R05)."""

from __future__ import annotations

import random

from actum.clock import US, Now
from actum.model.changes import JournalEntry, NextAttempt
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.model.run import AttemptRow
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


def next_attempt(row: AttemptRow, now: Now) -> NextAttempt:
    """Attempt n+1 with the frozen inputs of attempt 1, each fact saying so (FORMATS)."""
    facts: tuple[Fact, ...] = (
        Fact(FactName.ADMITTED, now.utc_us, {"method": "retry", "from": 1, "after": row.n}),
        Fact(FactName.INPUTS_FROZEN, now.utc_us, {"method": "frozen once per run", "from": 1}),
    )
    if FactName.INPUTS_FROZEN not in row.facts:
        facts = facts[:1]
    entry = JournalEntry("retry", now.utc_us, {"n": row.n + 1, "after": row.failure_code})
    return NextAttempt(row.run, uuid7(now.utc_us), row.attempt, row.n + 1, now.utc_us, facts, (entry,))
