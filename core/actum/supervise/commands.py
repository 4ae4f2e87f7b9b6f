"""Commands that wait for an answer: what is kept of each, and how a refusal is put (R04)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from actum.errors import ActumError, Conflict, WorkspaceUnusable, from_json
from actum.model.changes import MISPLACED, RefusalKind, Refused
from actum.model.run import AttemptRow


@dataclass(slots=True)
class Reconcile:
    """A reconciliation somebody asked for: attempts it still waits for, and the verdicts so far."""

    command: int
    waiting: set[str]
    verdicts: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Stopping:
    """A run between two attempts whose stop is being recorded, and whom to answer."""

    row: AttemptRow
    commands: list[int]


def misplaced(refused: Refused) -> ActumError | None:
    """The store's own words where nothing was recorded because its files are not the workspace's any more."""
    gone = refused.kind is RefusalKind.STORAGE and refused.details.get("code") in MISPLACED
    return from_json(refused.details) if gone else None


def refusal_error(refused: Refused) -> ActumError:
    if refused.kind is RefusalKind.KEY:
        return Conflict("key_conflict", refused.message, remedy="Use another key for another request.", **refused.details)
    if (error := misplaced(refused)) is not None:
        return error
    if refused.kind is RefusalKind.STORAGE:
        return WorkspaceUnusable("not_recorded", "The request could not be recorded; nothing was created.", refused.message)
    return ActumError(f"refused_{refused.kind.value}", refused.message, **refused.details)
