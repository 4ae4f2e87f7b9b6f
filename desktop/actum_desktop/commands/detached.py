"""Leaving a supervisor behind: `actum supervise --until-idle` in a session of its own, its output in a log file."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from actum import limits
from actum.errors import StorageFailed
from actum.ipc import regular

if TYPE_CHECKING:
    from actum.workspace import Workspace

# A supervisor that is started from inside the work of some attempt is not part of that attempt.
_KEPT_VARIABLES = frozenset({"ACTUM_HOME", "ACTUM_FAULT", "ACTUM_LANGUAGE"})


def log_path(ws: Workspace) -> Path:
    """Where the detached supervisors of `ws` write."""
    from actum.errors import WorkspaceUnusable
    from actum.runtime import runtime_directory

    name = hashlib.sha256(os.fsencode(ws.path)).hexdigest()[:16]
    try:
        return runtime_directory() / f"supervise-{name}.log"
    except WorkspaceUnusable:  # no socket either: then files alone serve, and this is one more
        return ws.path / "supervise.log"


def start_supervisor(ws: Workspace, *, resume: bool = True) -> int:
    """Start a detached supervisor that leaves when idle; it waits for the lock. Returns its pid. Raises StorageFailed.

    `resume` lets it start queued runs that an earlier service instance admitted.
    """
    command = [*_program(), "--workspace", str(ws.path), "supervise", "--until-idle"]
    if not resume:
        command.append("--keep-paused")
    try:
        log = open_log(log_path(ws))
        try:
            return os.posix_spawn(
                command[0],
                command,
                _environment(),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, log, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                ],
                setsid=True,
            )
        finally:
            os.close(log)
    except OSError as error:
        raise StorageFailed("starting a detached supervisor", error) from error


def has_ended(pid: int) -> bool:
    """Whether a supervisor that this process started has ended."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def open_log(path: Path) -> int:
    """A descriptor that appends to the log; one above its bound starts afresh. Raises OSError."""
    too_long = path.exists() and path.stat().st_size > limits.DETACHED_LOG_BYTES_MAX
    return regular.descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if too_long else 0))


def _program() -> list[str]:
    """How this very program is started again."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    return [sys.executable, "-P", "-m", "actum_desktop.entry"]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ACTUM_") or name in _KEPT_VARIABLES}
