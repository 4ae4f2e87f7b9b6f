"""Making a spool anew that somebody deleted or spoiled under a living host: work may do so, and its outcome must stand.

Theory. The new spool is made beside and renamed into place whole, with its alive file locked, the host's own claim and the
records so far, so nobody ever sees it without them: whoever looks finds the folder missing, which is "cannot tell" (§6), or
a host that lives and has claimed. What is gone for good are files of the output and log; sealing says so. Nothing is made
where the workspace itself is not there: its disk may be unmounted.

A spool that is there may hold a FIFO, a folder or a link in the place of the alive file, the claim or the records, which
nobody else could read then (ipc/regular.py). Each of them is made anew beside and renamed over it, so that no look finds it
absent; only a folder, which nothing can be renamed over, is set aside first. The records are also made anew where their
name leads to another file than the one that the host writes. Keeps R09, R12, R18, P01.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress

from actum import canonical, faults
from actum.host import foreign
from actum.host.launch import Launch
from actum.ipc import regular, spool


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
            self._make_way(spool.spool_path(folder).rstrip("/"))
            faults.point("spool.restored.rename.before")
            os.rename(beside, spool.spool_path(folder).rstrip("/"))
            faults.point("spool.restored.rename.after")
        except OSError:
            if lock >= 0:
                os.close(lock)
            _remove(beside)
            return False
        self._keep(lock)
        return True

    def mend(self, records: int) -> list[str]:
        """Make anew what is spoiled in a spool that is there; the names. `records` as above: if that name is among them, the
        descriptor leads to the old file. What cannot be mended now is tried again the next time."""
        if self.claim is None:
            return []
        mended = []
        for name in ("alive", "claim", "records.jsonl"):
            try:
                if _is_spoiled(spool.spool_path(self._launch.folder, name), records if name == "records.jsonl" else -1):
                    self._renew(name, self.claim, records)
                    mended.append(name)
            except OSError:
                continue
        for name in ("state.json", "tree.json", "stop", "history.jsonl"):  # whoever writes them next renames or gives up
            path = spool.spool_path(self._launch.folder, name)
            with suppress(OSError):
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    foreign.set_aside(path)
                    mended.append(name)
        return mended

    def _renew(self, name: str, claim: spool.Document, records: int) -> None:
        path = spool.spool_path(self._launch.folder, name)
        beside = f"{path}.{os.getpid()}.new"
        lock = -1
        try:
            lock = _make(name, beside, claim, records)
            if os.path.isdir(path) and not os.path.islink(path):
                foreign.set_aside(path)
            faults.point("spool.restored.rename.before")
            os.rename(beside, path)
            faults.point("spool.restored.rename.after")
        except OSError:
            if lock >= 0:
                os.close(lock)
            with suppress(OSError):
                os.unlink(beside)
            raise
        if lock >= 0:
            self._keep(lock)

    def _keep(self, lock: int) -> None:
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = lock

    @staticmethod
    def _make_way(place: str) -> None:
        """For a spool: an empty folder goes, what holds files is not ours to replace, and what is no folder is set aside."""
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(os.lstat(place).st_mode):
                os.rmdir(place)
            else:
                foreign.set_aside(place)

    @staticmethod
    def _fill(folder: str, claim: spool.Document, records: int) -> int:
        """The files of a fresh spool; the descriptor that holds its lock."""
        for name in ("claim", "records.jsonl") if records >= 0 else ("claim",):
            _make(name, os.path.join(folder, name), claim, records)
        return _make("alive", os.path.join(folder, "alive"), claim, records)


def _make(name: str, path: str, claim: spool.Document, records: int) -> int:
    """One file of a spool at `path`; for the alive file the descriptor that holds its lock, else -1. Raises OSError."""
    made = regular.descriptor(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR)
    if name == "alive":
        fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return made
    with open(made, "wb") as file:
        if name == "claim":
            file.write(canonical.dumps(claim).encode())
        elif records >= 0:
            with open(f"/proc/self/fd/{records}", "rb") as source:
                while data := source.read(1 << 20):
                    file.write(data)
    return -1


def _is_spoiled(path: str, own: int) -> bool:
    """Whether what stands there is no regular file, or not the one that the descriptor `own` (-1: any) leads to."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return own >= 0
    if own < 0 or not stat.S_ISREG(found.st_mode):
        return not stat.S_ISREG(found.st_mode)
    return not os.path.samestat(found, os.fstat(own))


def _remove(folder: str) -> None:
    """A spool that did not get its name; it may lack some of its files."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
