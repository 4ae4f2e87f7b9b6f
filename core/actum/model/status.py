"""The status of an attempt and of a run: one table, one look-up (§4, R02, R03).

Theory. An attempt is always in one *pair* (status, phase). `ARROWS` lists every way out of a pair: event → next pair.
A pair that is not in the table has no way out: it is closed. `after()` is the only thing in the program that yields a
new pair; a miss raises `IllegalArrow` and changes nothing. The store writes what `after()` answers, conditional on the
pair it came from, and the database refuses the rest by a trigger seeded from the same table. There is no setter and no
way to force a pair.

Entering CLOSED sets `released`. Terminal is final: no arrow leads from a terminal status to another status.
Keeps R02, R03, R06 (with `RELEASING`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from actum.errors import ActumError


class Status(StrEnum):
    CREATED = "CREATED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    START_FAILED = "START_FAILED"
    STOPPED = "STOPPED"
    TIMEOUT = "TIMEOUT"


class Phase(StrEnum):
    QUEUED = "QUEUED"
    FREEZING = "FREEZING"
    LAUNCHING = "LAUNCHING"
    COMPUTING = "COMPUTING"
    SEALING = "SEALING"
    CLEANING_UP = "CLEANING_UP"
    VERIFYING = "VERIFYING"
    PUBLISHING = "PUBLISHING"
    PUBLISH_PENDING = "PUBLISH_PENDING"
    CLOSED = "CLOSED"


class AttemptEvent(StrEnum):
    """What can happen to an attempt. Nouns: the event is a thing that has happened."""

    SLOT_GRANTED = "slot_granted"
    ADOPTED = "adopted"
    INPUTS_FROZEN = "inputs_frozen"
    FREEZE_FAILED = "freeze_failed"
    STOP_ASKED = "stop_asked"
    CONTACT_MADE = "contact_made"
    SPAWN_FAILED = "spawn_failed"
    LAUNCH_LOST = "launch_lost"
    WORK_COMPLETED = "work_completed"
    OUTCOME_SEALED = "outcome_sealed"
    OUTCOME_FAILED = "outcome_failed"
    DEADLINE_PASSED = "deadline_passed"
    TREE_CLEAR = "tree_clear"
    VERIFIED = "verified"
    REJECTED = "rejected"
    RENAME_FAILED = "rename_failed"
    RETRY_DUE = "retry_due"
    RECORDED = "recorded"
    PACKAGE_LOST = "package_lost"


class Pair(NamedTuple):
    status: Status
    phase: Phase

    def __str__(self) -> str:
        return f"{self.status} / {self.phase}"


class FailureCode(StrEnum):
    """Why an attempt ended unsuccessfully. Closed list of §4."""

    START_ERROR = "start_error"
    START_DEADLINE = "start_deadline"
    LAUNCH_LOST = "launch_lost"
    INPUT_UNREADABLE = "input_unreadable"
    INPUT_CHANGED = "input_changed"
    CONTRACT_INVALID = "contract_invalid"
    WORK_FAILED = "work_failed"
    WORK_CRASHED = "work_crashed"
    OUT_OF_MEMORY = "out_of_memory"
    LIMIT_EXCEEDED = "limit_exceeded"
    DISK_FULL = "disk_full"
    IO_ERROR = "io_error"
    SUPERVISOR_LOST = "supervisor_lost"
    HOST_LOST = "host_lost"
    RESULT_INCOMPLETE = "result_incomplete"
    RESULT_REJECTED = "result_rejected"
    PACKAGE_LOST = "package_lost"
    WORKSPACE_COPIED = "workspace_copied"
    STAGE_DEADLINE = "stage_deadline"
    OVERALL_DEADLINE = "overall_deadline"


class Contact(StrEnum):
    """What is known of the host *now*; a column beside status, never a status."""

    NONE = "none"
    OK = "ok"
    LOST = "lost"
    CANNOT_TELL = "cannot_tell"


_S, _P, _E = Status, Phase, AttemptEvent

LEGAL: dict[Status, tuple[Phase, ...]] = {
    _S.CREATED: (_P.QUEUED, _P.FREEZING),
    _S.STARTING: (_P.LAUNCHING,),
    _S.RUNNING: (
        _P.COMPUTING,
        _P.SEALING,
        _P.CLEANING_UP,
        _P.VERIFYING,
        _P.PUBLISHING,
        _P.PUBLISH_PENDING,
    ),
    _S.STOPPING: (_P.CLEANING_UP,),
    _S.STOPPED: (_P.CLOSED,),
    _S.FAILED: (_P.CLEANING_UP, _P.CLOSED),
    _S.START_FAILED: (_P.CLEANING_UP, _P.CLOSED),
    _S.TIMEOUT: (_P.CLEANING_UP, _P.CLOSED),
    _S.SUCCEEDED: (_P.CLOSED,),
}

TERMINAL = frozenset({_S.STOPPED, _S.FAILED, _S.START_FAILED, _S.TIMEOUT, _S.SUCCEEDED})
RETRYABLE = frozenset({_S.FAILED, _S.START_FAILED, _S.TIMEOUT})

# (status, phases) → event → next pair. Each row is one transaction (§4).
_ROWS: tuple[tuple[Status, tuple[Phase, ...], AttemptEvent, Status, Phase], ...] = (
    (_S.CREATED, (_P.QUEUED,), _E.SLOT_GRANTED, _S.CREATED, _P.FREEZING),
    (_S.CREATED, (_P.QUEUED,), _E.ADOPTED, _S.RUNNING, _P.VERIFYING),  # only of a run that adopts (P16)
    (_S.CREATED, (_P.FREEZING,), _E.INPUTS_FROZEN, _S.STARTING, _P.LAUNCHING),
    (_S.CREATED, (_P.FREEZING,), _E.FREEZE_FAILED, _S.START_FAILED, _P.CLOSED),
    (_S.CREATED, (_P.QUEUED, _P.FREEZING), _E.STOP_ASKED, _S.STOPPED, _P.CLOSED),
    (_S.STARTING, (_P.LAUNCHING,), _E.CONTACT_MADE, _S.RUNNING, _P.COMPUTING),
    (_S.STARTING, (_P.LAUNCHING,), _E.SPAWN_FAILED, _S.START_FAILED, _P.CLOSED),
    (_S.STARTING, (_P.LAUNCHING,), _E.LAUNCH_LOST, _S.START_FAILED, _P.CLEANING_UP),
    (_S.STARTING, (_P.LAUNCHING,), _E.STOP_ASKED, _S.STOPPING, _P.CLEANING_UP),
    (
        _S.RUNNING,
        (_P.COMPUTING, _P.SEALING, _P.CLEANING_UP, _P.VERIFYING, _P.PUBLISH_PENDING),
        _E.STOP_ASKED,
        _S.STOPPING,
        _P.CLEANING_UP,
    ),
    (_S.RUNNING, (_P.PUBLISHING,), _E.STOP_ASKED, _S.RUNNING, _P.PUBLISHING),
    (_S.STOPPING, (_P.CLEANING_UP,), _E.STOP_ASKED, _S.STOPPING, _P.CLEANING_UP),
    (_S.RUNNING, (_P.COMPUTING,), _E.WORK_COMPLETED, _S.RUNNING, _P.SEALING),
    (_S.RUNNING, (_P.COMPUTING, _P.SEALING), _E.OUTCOME_SEALED, _S.RUNNING, _P.CLEANING_UP),
    (_S.RUNNING, (_P.COMPUTING, _P.SEALING), _E.OUTCOME_FAILED, _S.FAILED, _P.CLEANING_UP),
    (_S.RUNNING, (_P.COMPUTING, _P.SEALING), _E.DEADLINE_PASSED, _S.TIMEOUT, _P.CLEANING_UP),
    (_S.RUNNING, (_P.CLEANING_UP,), _E.TREE_CLEAR, _S.RUNNING, _P.VERIFYING),
    (_S.RUNNING, (_P.VERIFYING,), _E.VERIFIED, _S.RUNNING, _P.PUBLISHING),
    (_S.RUNNING, (_P.VERIFYING,), _E.REJECTED, _S.FAILED, _P.CLOSED),
    (_S.RUNNING, (_P.PUBLISHING,), _E.RENAME_FAILED, _S.RUNNING, _P.PUBLISH_PENDING),
    (_S.RUNNING, (_P.PUBLISH_PENDING,), _E.RETRY_DUE, _S.RUNNING, _P.PUBLISHING),
    (_S.RUNNING, (_P.PUBLISHING,), _E.RECORDED, _S.SUCCEEDED, _P.CLOSED),
    (_S.RUNNING, (_P.PUBLISHING,), _E.PACKAGE_LOST, _S.FAILED, _P.CLOSED),
    (_S.STOPPING, (_P.CLEANING_UP,), _E.TREE_CLEAR, _S.STOPPED, _P.CLOSED),
    (_S.FAILED, (_P.CLEANING_UP,), _E.TREE_CLEAR, _S.FAILED, _P.CLOSED),
    (_S.START_FAILED, (_P.CLEANING_UP,), _E.TREE_CLEAR, _S.START_FAILED, _P.CLOSED),
    (_S.TIMEOUT, (_P.CLEANING_UP,), _E.TREE_CLEAR, _S.TIMEOUT, _P.CLOSED),
)

PAIRS = tuple(Pair(status, phase) for status, phases in LEGAL.items() for phase in phases)

ARROWS: dict[Pair, dict[AttemptEvent, Pair]] = {pair: {} for pair in PAIRS}
for _status, _phases, _event, _next_status, _next_phase in _ROWS:
    for _phase in _phases:
        ARROWS[Pair(_status, _phase)][_event] = Pair(_next_status, _next_phase)

# Entering one of these pairs sets `released` in the same transaction: the slot is free from then on (R06).
RELEASING = frozenset({pair for pair in PAIRS if pair.phase is Phase.CLOSED} | {Pair(_S.RUNNING, _P.VERIFYING)})


class IllegalArrow(ActumError):
    """An event that the table does not allow in this pair; nothing was changed."""

    def __init__(self, before: Pair, event: AttemptEvent) -> None:
        super().__init__("illegal_arrow", f"“{event}” is not possible in {before}.", "The status table has no such arrow.")
        self.before = before
        self.event = event


def after(before: Pair, event: AttemptEvent) -> Pair:
    """The pair that `event` leads to from `before`. Raises IllegalArrow."""
    try:
        return ARROWS[before][event]
    except KeyError:
        raise IllegalArrow(before, event) from None


def arrows() -> list[tuple[Pair, AttemptEvent, Pair]]:
    """Every legal arrow, in table order: seeds the database's trigger, the diagrams and the tests."""
    return [(before, event, target) for before, ways in ARROWS.items() for event, target in ways.items()]


class RunStatus(StrEnum):
    """The status of a run: that of its current attempt, or RETRYING between two attempts."""

    CREATED = "CREATED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    RETRYING = "RETRYING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    START_FAILED = "START_FAILED"
    STOPPED = "STOPPED"
    TIMEOUT = "TIMEOUT"


RUN_TERMINAL = frozenset(RunStatus(status.value) for status in TERMINAL)


def run_status(attempt: Status, *, retries: bool) -> RunStatus:
    """The run's status that goes with its current attempt's, in the same transaction (P09).

    `retries` = the policy has a retry for the failure, and neither stop nor delete was asked.
    """
    if retries and attempt in RETRYABLE:
        return RunStatus.RETRYING
    return RunStatus(attempt.value)
