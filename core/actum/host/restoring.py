"""Making a spool anew that somebody deleted under a living host: work may delete its own folders, and its outcome must stand.

Theory. The new spool is made beside and renamed into place whole, with its alive file locked, the host's own claim and the
records so far, so nobody ever sees it without them: whoever looks finds the folder missing, which is "cannot tell" (§6), or
a host that lives and has claimed. What is gone for good are files of the output and log; sealing says so. Nothing is made
where the workspace itself is not there: its disk may be unmounted. Keeps R12, R18, P01.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from actum import canonical, faults
from actum.host.launch import Launch
from actum.ipc import spool


def is_gone(launch: Launch) -> bool:
    """Whether the alive file, which is made before every spawn and never removed, is not there any more."""
    return not os.path.lexists(spool.spool_path(launch.folder, "alive"))


class Restorer:
    """Keeps the claim that was made, and the lock on the alive file of the newest spool it made."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._lock = -1
        self.claim: spool.Document | None = None

    def restore(self, records: int) -> bool:
        """Make the spool anew, with the records that the descriptor `records` (-1: none) still reaches; whether it was made."""
        folder = self._launch.folder
        if self.claim is None or not os.path.isdir(os.path.join(self._launch.workspace, "attempts")):
            return False
        beside = os.path.join(folder, f".spool-{os.getpid()}")
        lock = -1
        try:
            os.makedirs(beside, mode=0o700, exist_ok=True)
            lock = self._fill(beside, self.claim, records)
            with suppress(FileNotFoundError, NotADirectoryError):
                os.rmdir(spool.spool_path(folder))  # an empty one; what holds files is not ours to replace
            faults.point("spool.restored.rename.before")
            os.rename(beside, spool.spool_path(folder).rstrip("/"))
            faults.point("spool.restored.rename.after")
        except OSError:
            if lock >= 0:
                os.close(lock)
            _remove(beside)
            return False
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = lock
        return True

    @staticmethod
    def _fill(folder: str, claim: spool.Document, records: int) -> int:
        """The files of a fresh spool; the descriptor that holds its lock."""
        with open(os.path.join(folder, "claim"), "w", encoding="utf-8") as file:
            file.write(canonical.dumps(claim))
        if records >= 0:
            with open(f"/proc/self/fd/{records}", "rb") as source, open(os.path.join(folder, "records.jsonl"), "wb") as target:
                while data := source.read(1 << 20):
                    target.write(data)
        lock = os.open(os.path.join(folder, "alive"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock


def _remove(folder: str) -> None:
    """A spool that did not get its name; it may lack some of its files."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
