"""What readers get: rows of runs, attempts, facts, journal, alerts, tasks and results as frozen records.

Times are UTC microseconds; JSON columns are parsed. `AttemptRow` of `model.run` is what deciding needs; these are what
commands and screens show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from actum.model.status import RETRYABLE, Status

if TYPE_CHECKING:
    from actum.results.tables import Published

UNSUCCESSFUL = frozenset({*RETRYABLE, Status.STOPPED})  # how an attempt, or a run, is closed without a result


class RunListRow(NamedTuple):
    """One line of a list of runs: the run and what its current attempt is doing. A tuple, for pages are made of 200 of them."""

    number: int
    id: str
    task: str
    task_version: str
    trigger: str
    key: str
    labels: tuple[str, ...]
    status: str
    attempt: str
    n: int
    attempt_status: str
    phase: str
    released: bool
    contact: str
    failure_code: str | None
    progress: Mapping[str, Any] | None
    activity: Mapping[str, Any] | None
    created_at_us: int
    started_at_us: int | None
    finished_at_us: int | None
    stop_requested_at_us: int | None
    retry_at_us: int | None
    deletion: str
    result_digest: str | None


@dataclass(frozen=True, slots=True)
class Adopter:
    """The newest run that took an attempt's package up. `stands` while it is open or has succeeded; else the next may (P16)."""

    number: int
    id: str
    status: str
    request_digest: str

    @property
    def stands(self) -> bool:
        return self.status not in UNSUCCESSFUL


@dataclass(frozen=True, slots=True)
class RunRow:
    """Everything of one run's own row."""

    number: int
    id: str
    task: str
    task_version: str
    contract_digest: str
    contract: Mapping[str, Any]
    key: str
    request_digest: str
    request: str
    parameters: Mapping[str, Any]
    trigger: str
    labels: tuple[str, ...]
    status: str
    current_attempt: str
    created_at_us: int
    started_at_us: int | None
    finished_at_us: int | None
    stop_requested_at_us: int | None
    retry_at_us: int | None
    deletion: str
    rerun_of: int | None
    adopted_attempt: str | None
    admitted_epoch: int


@dataclass(frozen=True, slots=True)
class AttemptDetail:
    """Everything of one attempt's row."""

    seq: int
    id: str
    run: int
    n: int
    status: str
    phase: str
    released: bool
    session: str | None
    service_instance: str | None
    folder: str | None
    host_identity: Mapping[str, Any] | None
    contact: str
    contact_since_us: int | None
    contact_why: str | None
    failure_code: str | None
    failure_message: str | None
    failure_details: Mapping[str, Any] | None
    exit_code: int | None
    exit_signal: int | None
    created_at_us: int
    started_at_us: int | None
    finished_at_us: int | None
    progress: Mapping[str, Any] | None
    activity: Mapping[str, Any] | None
    environment: Mapping[str, Any] | None
    code: Mapping[str, Any] | None
    stop_stage: Mapping[str, Any] | None
    records_offset: int


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact; `observer` is the service instance that wrote it."""

    attempt: str
    n: int
    fact: str
    at_us: int
    evidence: Mapping[str, Any]
    epoch: int
    observer: str | None


@dataclass(frozen=True, slots=True)
class JournalRow:
    seq: int
    run: int | None
    n: int | None
    at_us: int
    kind: str
    data: Mapping[str, Any]
    epoch: int


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record that the work declared."""

    n: int
    seq: int
    at_us: int
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AlertRow:
    seq: int
    key: str
    code: str
    severity: str
    run: int | None
    data: Mapping[str, Any]
    opened_at_us: int
    raised_at_us: int
    cleared_at_us: int | None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in its newest version."""

    name: str
    version: str
    contract_digest: str
    contract: Mapping[str, Any]
    built_in: bool
    disabled: bool
    created_at_us: int


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One look at a published package: what held then."""

    state: str
    reason: str
    level: str
    details: Mapping[str, Any]
    at_us: int


@dataclass(frozen=True, slots=True)
class ResultView:
    """A published result and its newest check (None = never looked at since).

    `derived_digests` = those that derived.json may have: as published, and as each verification of every row found it.
    """

    id: str
    run: int
    attempt: str
    n: int
    path: str
    digest: str
    derived_digest: str | None
    derived_digests: tuple[str, ...]
    metrics: Sequence[Mapping[str, Any]]
    tables: Sequence[Mapping[str, Any]]
    rows_total: int
    size_bytes: int
    committed_at_us: int
    files: Sequence[Mapping[str, Any]]
    check: CheckRow | None

    @property
    def published(self) -> Published:
        """What whoever reads the package is to find there."""
        from actum.results.tables import Published

        return Published(self.digest, self.derived_digests)


@dataclass(frozen=True, slots=True)
class ExportRow:
    seq: int
    run: int
    n: int
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
class InstanceRow:
    """One service instance; `closed_at_us` None = alive, or it did not end in order."""

    epoch: int
    id: str
    pid: int
    identity: Mapping[str, Any]
    program_version: str
    opened_at_us: int
    closed_at_us: int | None
