"""Who a process, a session and a run are: identities that cannot be confused (R07, §7).

Every host imports this before it starts its work: named tuples, and late imports, for dataclasses alone would cost it
more than all the rest of its start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_TOKEN = re.compile(r"[0-9a-f]{32}")

PID_MAX = (1 << 31) - 1  # pid_t: what is larger cannot be asked of any kernel
START_TICKS_MAX = (1 << 63) - 1  # what a database keeps


class ProcessIdentity(NamedTuple):
    """One life of one process. `start_ticks` is field 22 of /proc/PID/stat: clock ticks since boot, immune to clock changes."""

    machine: str
    boot: str
    pid_namespace: str
    pid: int
    start_ticks: int

    def to_json(self) -> dict[str, Any]:
        return {
            "machine": self.machine,
            "boot": self.boot,
            "pid_namespace": self.pid_namespace,
            "pid": self.pid,
            "start_ticks": self.start_ticks,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ProcessIdentity:
        """Raises ValueError when a member is missing, of another type, or a number that no process can have."""
        try:
            identity = cls(
                document["machine"],
                document["boot"],
                document["pid_namespace"],
                document["pid"],
                document["start_ticks"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a process identity: {error}") from error
        words = (identity.machine, identity.boot, identity.pid_namespace)
        if not all(type(word) is str for word in words) or not is_pid(identity.pid) or not is_start(identity.start_ticks):
            raise ValueError("not a process identity: a member has the wrong type, or is a number that no process has")
        return identity


def is_pid(value: object) -> bool:
    return type(value) is int and 0 <= value <= PID_MAX


def is_start(value: object) -> bool:
    return type(value) is int and 0 <= value <= START_TICKS_MAX


class AttemptId(NamedTuple):
    """Names one attempt everywhere outside the database: run number, attempt number, UUID and session."""

    run: int
    n: int
    attempt: str
    session: str


def new_token() -> str:
    """A random 128-bit token in 32 hex digits (session, cookie, secret)."""
    return os.urandom(16).hex()


def is_token(text: object) -> bool:
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def uuid7(utc_us: int) -> str:
    """A UUIDv7 (RFC 9562 §5.7) for the given time. Never order by it: clocks go back."""
    import uuid

    value = (utc_us // 1000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
