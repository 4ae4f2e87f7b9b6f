"""The workspace lock: flock on `<workspace>/lock`, held by the one supervisor (PROTOCOL "Lock").

No pid file and no POSIX record lock: the kernel lets go of a flock when its holder dies, whatever the cause. The file is
never unlinked; close-on-exec keeps children from inheriting it. A holder compares the inode of the path with its
descriptor each minute: if someone replaced the file, two programs could each hold "the" lock.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from actum import faults
from actum.ipc import regular

if TYPE_CHECKING:
    from actum.workspace import Workspace


class Lock:
    """The lock of one workspace, held. Released by `release` or by the death of the process."""

    def __init__(self, ws: Workspace, descriptor: int) -> None:
        self._ws = ws
        self._descriptor: int | None = descriptor

    @classmethod
    def try_acquire(cls, ws: Workspace) -> Lock | None:
        """The lock, or None when another program holds it. The folder must exist. Raises WorkspaceUnusable."""
        from actum.workspace import unusable

        try:
            descriptor = regular.descriptor(ws.lock, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise unusable("opening the workspace lock", error, ws.path) from error
        try:
            taken = _try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise unusable("locking the workspace", error, ws.path) from error
        if not taken:
            os.close(descriptor)
            return None
        faults.i_am("app")
        faults.point("lock.acquire.after")
        lock = cls(ws, descriptor)
        if not lock.still_mine():  # the file was replaced between open and flock
            lock.release()
            return None
        return lock

    def still_mine(self) -> bool:
        """Whether the file at the lock's path is still the one this object holds."""
        if self._descriptor is None:
            return False
        try:
            path, held = os.stat(self._ws.lock), os.fstat(self._descriptor)
        except OSError:
            return False
        return (path.st_dev, path.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        """Let go; twice is once."""
        if self._descriptor is not None:
            faults.point("lock.release.before")
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def held_by_someone(ws: Workspace) -> bool | None:
    """Whether a supervisor holds the lock now; None where that cannot be told. Takes nothing and creates nothing."""
    try:
        descriptor = regular.descriptor(ws.lock)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        return not _try_lock(descriptor, shared=True)
    except OSError:
        return None
    finally:
        os.close(descriptor)


if sys.platform != "win32":
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

else:  # pragma: no cover - the Windows port: a mandatory lock on the first byte
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
