"""Rows of runs and attempts as the supervisor, the commands and the screens read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from actum.model.facts import FactName
from actum.model.status import Contact, Pair, RunStatus


class Deletion(StrEnum):
    NONE = "none"
    SOFT = "soft"
    PURGING = "purging"
    PURGED = "purged"


class Trigger(StrEnum):
    MANUAL = "manual"
    RERUN = "rerun"
    COMMAND = "command"
    SCHEDULE = "schedule"
    BACKFILL = "backfill"
    DEPENDENCY = "dependency"
    ADOPTION = "adoption"
    API = "api"


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input of a run. `path` is absolute; `store` is the path in the input store or None when pinned."""

    name: str
    path: str
    policy: str
    sha256: str
    size: int
    store: str | None = None
    stat: tuple[int, int, int, int] | None = None  # inode, size, mtime ns, ctime ns, as they were at the freeze


@dataclass(frozen=True, slots=True)
class AdoptedRow:
    """The attempt whose sealed package a run with trigger `adoption` takes up: who it was, and where its folder is (P16)."""

    run: int
    attempt: str
    n: int
    session: str | None
    cookie: str | None
    host_identity: Mapping[str, Any] | None
    facts: Mapping[FactName, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """What the store holds of one attempt and its run, as far as deciding needs it."""

    run: int
    run_id: str
    run_status: RunStatus
    attempt: str
    n: int
    current: bool
    pair: Pair
    released: bool
    task: str
    task_version: str
    key: str
    request_digest: str
    contract_digest: str
    contract: Mapping[str, Any]
    parameters: Mapping[str, Any]
    admitted_epoch: int
    created_at_us: int
    stop_requested_at_us: int | None = None
    retry_at_us: int | None = None
    deletion: Deletion = Deletion.NONE
    session: str | None = None
    cookie: str | None = None
    secret_sha256: str | None = None
    folder: str | None = None
    contact: Contact = Contact.NONE
    failure_code: str | None = None
    failure_message: str = ""
    started_at_us: int | None = None
    host_identity: Mapping[str, Any] | None = None
    records_offset: int = 0
    facts: Mapping[FactName, Mapping[str, Any]] = field(default_factory=dict)
    inputs: tuple[InputRow, ...] = ()
    adopts: AdoptedRow | None = None
    attested: Mapping[str, Any] | None = None  # of one taken over: a person's word that still stands, as the fact says it

    @property
    def place(self) -> tuple[int, int]:
        """Run and number of the attempt in whose folder the work of this one was done: its own, or the one it adopts."""
        return (self.run, self.n) if self.adopts is None else (self.adopts.run, self.adopts.n)
