"""What crosses from the controller thread to the screens: one frozen dataclass per signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.errors import ActumError
from actum.model.changes import Changes


@dataclass(frozen=True, slots=True)
class Live:
    """What is known *now* of an open attempt; replaced, never stored. Times in UTC microseconds, None = not yet.

    `progress` = {done, total, unit, stage, message, at}; `activity` = {cpu_s, rss_bytes, read_bytes, written_bytes};
    `warnings` = observations that go away by themselves: {code, since_us, data}; code is no_progress, no_cpu, lost_contact or
    cannot_tell;
    `stop` = {stage: requested|delivered|asked|insisting|tree_gone|released, at, next_in_s} or None.
    """

    run: int
    attempt: str
    n: int
    progress: Mapping[str, Any] | None = None
    heartbeat_at_us: int | None = None
    activity: Mapping[str, Any] = field(default_factory=dict)
    cpu_percent: float | None = None
    processes: int | None = None
    active_s: float = 0.0
    warnings: tuple[Mapping[str, Any], ...] = ()
    stop: Mapping[str, Any] | None = None
    step: Mapping[str, Any] | None = None  # freezing, verifying, publishing: {verb, done, total, unit}


@dataclass(frozen=True, slots=True)
class Update:
    """At most fifteen a second: rows that changed in the store, and the newest live state of the runs that have one."""

    changes: Changes
    live: tuple[Live, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to the command `token`, after its commit: exactly one of `ok` and `error`."""

    token: int
    ok: Mapping[str, Any] | None = None
    error: ActumError | None = None


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far a command has come whose body had a member `watch`: that word, and what was done of how much."""

    watch: str
    done: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of the launch screen: what was left over, what was seen, what follows, what was done."""

    run: int
    attempt: str
    n: int
    row: int  # the row of §6 that matched
    verdict: str
    action: str
    evidence: Mapping[str, Any]
    recorded: Mapping[str, Any] = field(default_factory=dict)  # {status, phase} as it was on record


@dataclass(frozen=True, slots=True)
class Awake:
    """Whether the machine is kept awake: `by` names what holds it, `why` why nothing does; both empty = nobody asked.

    `setting` is the user's: keep awake while work computes.
    """

    by: str = ""
    why: str = ""
    setting: bool = True


@dataclass(frozen=True, slots=True)
class Supervising:
    """The state of the supervisor itself. `error` is set when it cannot go on (lock lost, store unusable)."""

    instance: str
    epoch: int
    slots_taken: int
    slots: int
    queue_paused: bool
    verdicts: tuple[Verdict, ...] = ()
    verdicts_complete: bool = False
    error: ActumError | None = None
    queue_held: bool = False  # paused by a person, for every run; else only for runs of before a crash
    awake: Awake = field(default_factory=Awake)
    looking: bool = False  # the newest of what is closed is still looked at; its verdicts follow
