"""What the store is asked to write, and what it says has changed (R01, R02, R04).

Every mutation is one of the request records below: plain data, one transaction (a savepoint inside a group commit). The
store answers each with `Persisted` after the commit with synchronous=FULL, or with `Refused` when its condition did not
hold; nothing is half done. A request never names a next status: it names the pair it believes in and the event, and the
store writes what `status.after` answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from actum.model.facts import Fact
from actum.model.run import AttemptRow, InputRow
from actum.model.status import AttemptEvent, Pair


@dataclass(frozen=True, slots=True)
class JournalEntry:
    kind: str
    at_us: int
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RaiseAlert:
    """Opens the alert `key` (one open alert per key; raising again replaces its words)."""

    key: str
    code: str
    severity: str  # "info" | "warning" | "bad"
    at_us: int
    data: Mapping[str, Any] = field(default_factory=dict)
    run: int | None = None


@dataclass(frozen=True, slots=True)
class ClearAlert:
    """Closes the open alert `key`; no alert of that key = nothing to do."""

    key: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """One arrow of §4, conditional on `before`, the current attempt and the epoch."""

    before: Pair
    event: AttemptEvent


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The published package of an attempt. `path` is relative to the workspace; `digest` is sha256 of manifest.json."""

    path: str
    digest: str
    derived_digest: str | None
    files: tuple[Mapping[str, Any], ...]
    metrics: tuple[Mapping[str, Any], ...]
    tables: tuple[Mapping[str, Any], ...]
    rows_total: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RecordRow:
    seq: int
    at_us: int
    kind: str
    data: Mapping[str, Any]


# Columns of `attempt` that a transaction may set beside the arrow. status, phase and released are not among them.
ATTEMPT_COLUMNS = frozenset(
    {
        "session",
        "cookie",
        "secret_sha256",
        "folder",
        "host_identity",  # JSON
        "contact",
        "contact_since_us",
        "contact_why",
        "failure_code",
        "failure_message",
        "failure_details",  # JSON
        "exit_code",
        "exit_signal",
        "started_at_us",
        "finished_at_us",
        "progress",  # JSON: the last one seen
        "activity",  # JSON
        "environment",  # JSON
        "code",  # JSON
        "stop_stage",  # JSON {stage, at_us, next_in_s}
        "records_offset",
    }
)
RUN_COLUMNS = frozenset({"stop_requested_at_us", "labels"})


@dataclass(frozen=True, slots=True)
class Change:
    """One transaction about one attempt: at most one arrow, facts in order, journal rows, columns.

    With `arrow` None it is conditional on the epoch alone and `expects`, where given. `retry_at_us` makes the run
    RETRYING in the same transaction when the arrow ends in FAILED, START_FAILED or TIMEOUT (the store drops it when
    a stop or delete was asked meanwhile).
    """

    attempt: str
    run: int
    arrow: Arrow | None = None
    expects: Pair | None = None
    facts: tuple[Fact, ...] = ()
    journal: tuple[JournalEntry, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    run_columns: Mapping[str, Any] = field(default_factory=dict)
    alerts: tuple[RaiseAlert | ClearAlert, ...] = ()
    records: tuple[RecordRow, ...] = ()
    inputs: tuple[InputRow, ...] | None = None  # the frozen inputs, written with inputs_frozen
    result: ResultRow | None = None
    retry_at_us: int | None = None


@dataclass(frozen=True, slots=True)
class StopRun:
    """A stop of a run in RETRYING: the run becomes STOPPED, its attempt keeps its status (P10)."""

    run: int
    at_us: int
    journal: tuple[JournalEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Admit:
    """Insert a run and its attempt 1, or find the run that has this key."""

    run_id: str
    attempt: str
    task: str
    task_version: str
    contract_digest: str
    key: str
    request_digest: str
    request: str  # canonical JSON
    parameters: Mapping[str, Any]
    inputs: tuple[InputRow, ...]
    trigger: str
    labels: tuple[str, ...]
    at_us: int
    fact: Fact
    journal: tuple[JournalEntry, ...] = ()
    rerun_of: int | None = None
    adopts: str | None = None  # the attempt whose sealed package the run takes up (P16)


@dataclass(frozen=True, slots=True)
class NextAttempt:
    """Attempt n+1 of a run in RETRYING whose attempt n is released; carries the frozen inputs over."""

    run: int
    attempt: str
    previous: str
    n: int
    at_us: int
    facts: tuple[Fact, ...]
    journal: tuple[JournalEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class AddTask:
    """Define a task or a new version of it. Same version with the same contract: nothing to do; another contract: Conflict."""

    task: str
    version: str
    contract_digest: str
    contract: Mapping[str, Any]
    built_in: bool
    at_us: int


@dataclass(frozen=True, slots=True)
class Note:
    """Journal rows and alerts that belong to no single arrow (violations, clock jumps, service events)."""

    journal: tuple[JournalEntry, ...] = ()
    alerts: tuple[RaiseAlert | ClearAlert, ...] = ()
    run: int | None = None
    attempt: str | None = None


@dataclass(frozen=True, slots=True)
class AddResultCheck:
    """One check of a published package: what holds *now* (R16)."""

    run: int
    attempt: str
    state: str  # readable | unchecked | damaged | missing | replaced | forbidden | foreign
    reason: str
    level: str
    details: Mapping[str, Any]
    at_us: int


@dataclass(frozen=True, slots=True)
class AddExport:
    run: int
    attempt: str
    name: str
    format: str
    profile: str
    path: str
    sha256: str
    size_bytes: int
    rows: int
    options: Mapping[str, Any]
    at_us: int


@dataclass(frozen=True, slots=True)
class SetSetting:
    name: str
    value: Any
    at_us: int


Request = Change | StopRun | Admit | NextAttempt | AddTask | Note | AddResultCheck | AddExport | SetSetting


class RefusalKind(StrEnum):
    CONDITION = "condition"  # 0 rows: another pair, or another current attempt
    EPOCH = "epoch"  # a newer service instance exists: this one stops at once (P23)
    KEY = "key"  # same key, another request
    TASK = "task"  # same version, another contract; or no such task
    STORAGE = "storage"  # the store could not commit (full, read-only, damaged)
    LOST = "lost"  # the commit's answer was lost: reopen and read


# Codes in `Refused.details`: the store's files are not the workspace's any more, and this instance stops at once. In words:
MISPLACED = {
    "database_moved": "the workspace's database was moved, replaced or removed",
    "log_gone": "the write-ahead log of the workspace's database was removed or replaced",
}


@dataclass(frozen=True, slots=True)
class Changes:
    """What one commit changed, for whoever shows it: run numbers, and the kinds of rows touched."""

    runs: frozenset[int] = frozenset()
    tasks: frozenset[str] = frozenset()
    alerts: bool = False
    settings: bool = False

    def __or__(self, other: Changes) -> Changes:
        return Changes(
            self.runs | other.runs,
            self.tasks | other.tasks,
            self.alerts or other.alerts,
            self.settings or other.settings,
        )

    def __bool__(self) -> bool:
        return bool(self.runs or self.tasks or self.alerts or self.settings)


@dataclass(frozen=True, slots=True)
class Persisted:
    """Committed. `row` is the attempt as it now stands (where a request is about one), `created` whether Admit made it."""

    changes: Changes
    row: AttemptRow | None = None
    created: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    kind: RefusalKind
    message: str
    row: AttemptRow | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


Answer = Persisted | Refused
