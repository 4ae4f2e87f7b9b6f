"""The errors Actum raises on purpose; each says what happened, why, and what to do.

    ActumError                 exit code
    ├── WrongUse                   2   wrong use or invalid parameters
    │   └── InvalidParameters      2   the same, with one message per field
    ├── NotFound                   3
    ├── Conflict                   4   same key, another request; name taken
    ├── CheckFailed                5   verification or audit failed
    ├── CannotTell                 7   an answer was lost, or a place could not be read
    ├── WorkspaceUnusable          8   read-only, newer, corrupt, full, copied
    ├── StorageFailed              8   one file operation, named as a phrase
    └── Busy                      75   a migration or a take-over is in progress

Anything else that is raised is a bug and gets a crash report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXIT_BUG = 70  # of a command, and of a window, that met a defect of its own


class ActumError(Exception):
    """A known failure. Attributes: code (a word for programs), what, why, remedy (sentences), details (JSON)."""

    exit_code = 1

    def __init__(self, code: str, what: str, why: str = "", remedy: str = "", **details: Any) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.why = why
        self.remedy = remedy
        self.details: dict[str, Any] = details

    def to_json(self) -> dict[str, Any]:
        """The error object of the commands: `{"error": {code, what, why, remedy, …}}`."""
        error: dict[str, Any] = {"code": self.code, "what": self.what, "why": self.why, "remedy": self.remedy}
        if self.details:
            error["details"] = self.details
        error["exit_code"] = self.exit_code
        return {"error": error}

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.remedy) if part)


class WrongUse(ActumError):
    exit_code = 2


class InvalidParameters(WrongUse):
    """Parameters that do not fit the contract. `fields` maps a parameter's name ("" = across fields) to its message."""

    def __init__(self, what: str, fields: Mapping[str, str], remedy: str = "") -> None:
        super().__init__("invalid_parameters", what, "; ".join(fields.values()), remedy, fields=dict(fields))
        self.fields = dict(fields)


class NotFound(ActumError):
    exit_code = 3


class Conflict(ActumError):
    exit_code = 4


class CheckFailed(ActumError):
    exit_code = 5


class CannotTell(ActumError):
    exit_code = 7


class WorkspaceUnusable(ActumError):
    exit_code = 8


class StorageFailed(ActumError):
    """A file operation failed. `action` is a phrase ("renaming the sealed package"); `errno` is the system's."""

    exit_code = 8

    def __init__(self, action: str, error: OSError, remedy: str = "") -> None:
        name = error.filename or ""
        super().__init__(
            storage_code(error),
            f"{action[:1].upper()}{action[1:]} failed.",
            f"{error.strerror or error}{f': {name}' if name else ''}.",
            remedy,
        )
        self.action = action
        self.errno = error.errno


class Busy(ActumError):
    exit_code = 75


BY_EXIT_CODE = {kind.exit_code: kind for kind in (WrongUse, NotFound, Conflict, CheckFailed, CannotTell, Busy)}


def storage_code(error: OSError) -> str:
    """`disk_full` for a full disk or quota, `io_error` for anything else."""
    import errno

    return "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "io_error"


def memory_ran_out(error: BaseException | None) -> bool:
    """Whether there was too little memory below this error: whoever met it may have told it in words of its own."""
    import errno

    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


def from_json(document: Mapping[str, Any]) -> ActumError:
    """The error that `to_json` described, as received from another process."""
    error = dict(document.get("error", document))
    kind: type[ActumError] = BY_EXIT_CODE.get(error.get("exit_code", 1), ActumError)
    details = error.get("details") or {}
    if error.get("code") == "invalid_parameters":
        return InvalidParameters(error.get("what", ""), details.get("fields", {}), error.get("remedy", ""))
    if error.get("exit_code") == WorkspaceUnusable.exit_code:
        kind = WorkspaceUnusable
    return kind(error.get("code", "unknown"), error.get("what", ""), error.get("why", ""), error.get("remedy", ""), **details)
