"""Times: UTC microseconds for records, (boot id, monotonic clock) for deadlines.

CLOCK_MONOTONIC stops while the machine sleeps on Linux and macOS, so it counts *active* time (§12); CLOCK_BOOTTIME does
not, and the difference is the time spent asleep.
"""

from __future__ import annotations

import time
from typing import NamedTuple

US = 1_000_000


def utc_us() -> int:
    """Now, in microseconds since 1970 UTC."""
    return time.time_ns() // 1000


def monotonic_us() -> int:
    """Active time of this boot, in microseconds."""
    return time.monotonic_ns() // 1000


def boottime_us() -> int:
    """Time since this boot including sleep, in microseconds (monotonic where the system has no such clock)."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return monotonic_us() if clock is None else time.clock_gettime_ns(clock) // 1000


class Now(NamedTuple):
    """One reading of the clocks, passed into code that does no I/O. All in microseconds."""

    utc_us: int
    monotonic_us: int
    boottime_us: int


def read() -> Now:
    return Now(utc_us(), monotonic_us(), boottime_us())


def passed_s(since_us: int, until_us: int, *, set_us: int = 0, active_s: object = None) -> float | None:
    """Seconds between two wall-clock times, less by what the clock was set meanwhile as far as anybody saw it.

    Where it went back between them (nobody need have lived to see that) the active time that was counted stands in; without
    one it cannot be told: None, never a negative time or none at all.
    """
    span_us = until_us - since_us - set_us
    if span_us >= -US:  # two processes may read the clock in another order than they write
        return max(0, span_us) / US
    return float(active_s) if isinstance(active_s, int | float) and active_s >= 0 else None


def rfc3339(us: int) -> str:
    """`2026-01-31T09:41:02.118000Z`: six digits, always UTC."""
    from datetime import UTC, datetime  # late: a host never needs it

    moment = datetime.fromtimestamp(us // US, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{us % US:06d}Z"


def parse_rfc3339(text: str) -> int:
    """UTC microseconds of an RFC 3339 time with a zone. Raises ValueError."""
    from datetime import datetime

    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"no zone in the time {text!r}")
    whole = moment.replace(microsecond=0)
    return int(whole.timestamp()) * US + moment.microsecond
