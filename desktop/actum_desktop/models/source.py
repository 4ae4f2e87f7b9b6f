"""What the screens read: bounded looks into the store, shaped for showing. The only place where the window meets the store.

Everything here is a short read through a read-only connection; nothing writes and nothing waits for the supervisor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from actum.model.facts import FACTS
from actum.model.status import RUN_TERMINAL

OPEN_STATUSES = ("CREATED", "STARTING", "RUNNING", "STOPPING", "RETRYING")
ENDED_STATUSES = tuple(sorted(status.value for status in RUN_TERMINAL))

# How many facts a pair of an open attempt implies; None = it has to be looked up.
_IMPLIED = {
    "QUEUED": 1,
    "FREEZING": 1,
    "LAUNCHING": 2,
    "COMPUTING": 4,
    "SEALING": 5,
    "VERIFYING": 9,
    "PUBLISHING": 11,
    "PUBLISH_PENDING": 11,
}


@dataclass(frozen=True, slots=True)
class RunItem:
    """One run as a list shows it. Times in UTC µs; `facts` None = not looked up yet."""

    number: int
    task: str
    title: str
    trigger: str
    status: str
    phase: str
    released: bool
    contact: str
    n: int
    failure: str | None = None
    progress: Mapping[str, Any] | None = None
    activity: Mapping[str, Any] | None = None
    created_us: int = 0
    started_us: int | None = None
    finished_us: int | None = None
    stop_us: int | None = None
    retry_us: int | None = None
    facts: tuple[str, ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        return self.status in OPEN_STATUSES

    def implied_facts(self) -> tuple[str, ...] | None:
        """The facts that status and phase imply; None where only the store knows."""
        if self.facts is not None:
            return self.facts
        if self.status == "SUCCEEDED":
            return tuple(fact.value for fact in FACTS)
        if self.status not in ("CREATED", "STARTING", "RUNNING"):
            return None
        count = 6 if self.phase == "CLEANING_UP" else _IMPLIED.get(self.phase)
        return None if count is None else tuple(fact.value for fact in FACTS[:count])


@dataclass(frozen=True, slots=True)
class AlertItem:
    """One open alert."""

    key: str
    code: str
    severity: str
    at_us: int
    run: int | None
    title: str | None
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    total: int = 0
    open: int = 0
    waiting: int = 0


class Source(Protocol):
    """The reading side as the screens know it; every call is bounded."""

    def runs_page(self, before: int | None, limit: int, statuses: Sequence[str], text: str) -> list[RunItem]: ...

    def runs(self, numbers: Iterable[int]) -> list[RunItem]: ...

    def fact_names(self, run: int) -> tuple[str, ...]: ...

    def counts(self) -> Counts: ...

    def alerts(self) -> list[AlertItem]: ...

    def setting(self, name: str) -> Any: ...

    def settings(self) -> Mapping[str, Any]: ...

    def close(self) -> None: ...
