"""SQLite's failures, sorted once: known (the user can do something) or bug (a crash report).

`known` answers with the ActumError behind a failure, or None when the failure is our own fault: a wrong statement, a
broken constraint nobody expected.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from actum.errors import ActumError, Busy, StorageFailed, WorkspaceUnusable, storage_code

_FULL = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE_FULL"})
_CORRUPT = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})
_READ_ONLY = frozenset({"SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"})


def primary(error: sqlite3.Error) -> str:
    """The primary result code by name ("SQLITE_FULL"); "" when the driver gave none."""
    name: str = getattr(error, "sqlite_errorname", None) or ""
    return "_".join(name.split("_")[:2])


def known(error: sqlite3.Error, database: Path, action: str) -> ActumError | None:
    """What the user is told when `action` ("opening the database") failed; None for a bug."""
    code = primary(error)
    if code in _FULL:
        return full(database, action)
    if code in _CORRUPT:
        return corrupt(database, str(error))
    if code in _READ_ONLY:
        return WorkspaceUnusable(
            "workspace_read_only",
            f"The workspace {database.parent} cannot be written.",
            f"{action[:1].upper()}{action[1:]} was refused: {error}.",
            "Make the folder writable, or choose another with --workspace.",
        )
    if code in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return Busy(
            "workspace_busy",
            "The workspace's database is busy.",
            f"{action[:1].upper()}{action[1:]} waited for another program and gave up.",
            "Try again in a moment.",
        )
    if code == "SQLITE_IOERR":
        return WorkspaceUnusable(
            "io_error",
            f"{action[:1].upper()}{action[1:]} failed.",
            f"The disk reported an error: {error}.",
            "Check the disk that holds the workspace, then try again.",
        )
    return None


def is_guard(error: sqlite3.Error) -> bool:
    """Whether one of the database's own guards (a trigger, a reference) refused the statement."""
    name = getattr(error, "sqlite_errorname", None)
    return name in ("SQLITE_CONSTRAINT_TRIGGER", "SQLITE_CONSTRAINT_FOREIGNKEY")


def full(database: Path, action: str) -> WorkspaceUnusable:
    return WorkspaceUnusable(
        "disk_full",
        "The disk that holds the workspace is full.",
        f"{action[:1].upper()}{action[1:]} needs room in {database.parent}.",
        "Make room, then try again. Nothing was lost.",
    )


def corrupt(database: Path, why: str) -> WorkspaceUnusable:
    return WorkspaceUnusable(
        "workspace_corrupt",
        "The workspace's database is damaged.",
        f"{database}: {why}.",
        "Restore one of the copies in backups/, or open another workspace. Published results in results/ stay readable.",
    )


def of_system(error: OSError, database: Path, action: str) -> ActumError:
    """The same for an error of the operating system met beside SQLite."""
    if storage_code(error) == "disk_full":
        return full(database, action)
    return StorageFailed(action, error, "Check the disk that holds the workspace, then try again.")
