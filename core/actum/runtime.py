"""Where sockets live: XDG_RUNTIME_DIR, else a private folder of the user's in the system's temporary directory.

A Unix socket path has about 108 bytes; ours have at most SOCKET_PATH_BYTES_MAX, so a long run-time directory is passed
over for the short one.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from pathlib import Path

from actum.errors import WorkspaceUnusable
from actum.limits import SOCKET_PATH_BYTES_MAX

_NAME_BYTES = len("/actum/") + 16 + len(".sock")


def runtime_directory() -> Path:
    """A folder only this user can enter; made when missing. Raises WorkspaceUnusable where there can be none."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if given and _usable(given) and len(os.fsencode(given)) + _NAME_BYTES <= SOCKET_PATH_BYTES_MAX:
        return _private(Path(given) / "actum")
    user = os.getuid() if hasattr(os, "getuid") else "user"
    place = Path(tempfile.gettempdir()) / f"actum-{user}"
    if len(os.fsencode(place)) + _NAME_BYTES > SOCKET_PATH_BYTES_MAX:
        place = Path("/tmp") / f"actum-{user}"
    return _private(place)


def socket_path() -> str:
    """A fresh socket name in the run-time directory, at most SOCKET_PATH_BYTES_MAX bytes."""
    path = str(runtime_directory() / f"{secrets.token_hex(8)}.sock")
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
        raise WorkspaceUnusable(
            "runtime_directory_too_long",
            "There is no place for the supervisor's socket.",
            f"{path} is longer than {SOCKET_PATH_BYTES_MAX} bytes.",
            "Set XDG_RUNTIME_DIR to a shorter folder of your own.",
        )
    return path


def _usable(text: str) -> bool:
    try:
        found = os.stat(text)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _private(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        pass  # not a folder: said below
    except OSError as error:
        raise _unusable(path, "made", error) from error
    try:
        found = path.lstat()
    except OSError as error:  # it was taken away again
        raise _unusable(path, "looked at", error) from error
    owned = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not stat.S_ISDIR(found.st_mode) or not owned:
        raise WorkspaceUnusable(
            "runtime_directory_foreign",
            f"{path} is not a folder of yours.",
            "Another user made it, or it is a link.",
            "Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
        )
    if stat.S_IMODE(found.st_mode) != 0o700 and os.name == "posix":
        try:
            path.chmod(0o700)
        except OSError as error:
            raise _unusable(path, "made private", error) from error
    return path


def _unusable(path: Path, what: str, error: OSError) -> WorkspaceUnusable:
    remedy = "Set XDG_RUNTIME_DIR to a folder of your own."
    return WorkspaceUnusable("runtime_directory_unusable", f"{path} cannot be {what}.", f"{error.strerror}.", remedy)
