"""A cgroup (version 2) for one attempt, where one has been delegated to this user; never one that belongs to the system.

Theory. The host makes `actum-<session>` below its own group, goes in, starts the work and goes out again, so that the work
is born inside and everything it starts stays inside. "Delegated" is what the system says: the group is owned by this user
and its cgroup.procs can be written; or, for root, who could write them all, it carries the mark of a delegation. Without
one nothing is made. The name is in tree.json, so that a supervisor finds the members after the host has died; it is taken
only if it is the session's own. Moving between groups costs milliseconds, once an attempt. A group that a killed host left
behind is removed by the supervisor when the tree is gone (`sweep`): the kernel removes only what is empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from actum import limits

PREFIX = "actum-"
_PROCS = "cgroup.procs"
_MARKS = ("user.delegate", "trusted.delegate")


class Cgroup:
    """One group. Attributes: method ("cgroup"), name (its folder)."""

    method = "cgroup"

    def __init__(self, folder: str, home: str) -> None:
        self.name = folder
        self._home = home  # where the host itself belongs

    def start(self, spawn: Callable[[], int]) -> int:
        """Raises what `spawn` raises; a group that cannot be entered is done without."""
        entered = _enter(self.name)
        try:
            return spawn()
        finally:
            if entered:
                _enter(self._home)

    def members(self) -> frozenset[int] | None:
        return members(self.name)

    def close(self) -> None:
        """Remove the group and those that the work made in it; where somebody is inside, it stays."""
        _remove(self.name)


def make(session: str, home: str | None = None) -> Cgroup | None:
    """The group of one attempt, or None where none is delegated. `home` is the group of this process."""
    home = own() if home is None else home
    if home is None or not is_delegated(home):
        return None
    folder = os.path.join(home, PREFIX + session)
    try:
        os.mkdir(folder, 0o755)
    except OSError:
        return None
    return Cgroup(folder, home)


def own() -> str | None:
    """The folder of the group of this process, in the version 2 hierarchy; None where there is none."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            path = next((line[3:].rstrip("\n") for line in file if line.startswith("0::")), None)
    except OSError:
        return None
    mount = _mount()
    return None if path is None or mount is None else os.path.join(mount, path.lstrip("/")).rstrip("/")


def _mount() -> str | None:
    """Where the version 2 hierarchy is; None where it is not."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return next((line.split()[4] for line in file if " - cgroup2 " in line), None)
    except OSError:
        return None


def is_delegated(folder: str) -> bool:
    """Whether this user may divide the group: it owns it and may write its list; root only where it is marked."""
    if not os.access(os.path.join(folder, _PROCS), os.W_OK) or not os.access(folder, os.W_OK):
        return False
    try:
        if os.geteuid() != 0:
            return os.stat(folder).st_uid == os.geteuid()
        return any(_mark(folder, name) == b"1" for name in _MARKS)
    except OSError:
        return False


def members(folder: str) -> frozenset[int] | None:
    """The pids in a group and in those below it, this process left out; None where that cannot be told."""
    found: set[int] = set()
    try:
        os.stat(os.path.join(folder, _PROCS))
        for below, _folders, _files in os.walk(folder):
            with open(os.path.join(below, _PROCS), "rb", buffering=0) as file:
                found.update(int(word) for word in file.read(limits.CGROUP_LIST_BYTES_MAX).split())
    except (OSError, ValueError):
        return None
    return frozenset(found - {os.getpid(), 0})


def recorded(document: object, session: str) -> frozenset[int]:
    """Who is in the group that tree.json names, if it is this session's own; else nobody."""
    name = _named(document, session)
    return frozenset() if name is None else members(name) or frozenset()


def sweep(document: object, session: str) -> bool:
    """Remove the group that tree.json names, if it is this session's own and empty; whether it was there and is gone.

    A folder of that name that is no group is left alone. Raises nothing.
    """
    name, mount = _named(document, session), _mount()
    if name is None or mount is None or not os.path.realpath(name).startswith(mount.rstrip("/") + "/"):
        return False
    if members(name) != frozenset():
        return False
    _remove(name)
    return not os.path.lexists(name)


def _named(document: object, session: str) -> str | None:
    """The group that tree.json names; None where it is not this session's own: the work can write that file."""
    name = document.get("cgroup") if isinstance(document, dict) else None
    return name if isinstance(name, str) and session and os.path.basename(name) == PREFIX + session else None


def _remove(name: str) -> None:
    """The group and those in it, the innermost first. The kernel refuses one that somebody is in."""
    for folder, _folders, _files in os.walk(name, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            return


def _enter(folder: str) -> bool:
    try:
        with open(os.path.join(folder, _PROCS), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
    except OSError:
        return False
    return True


def _mark(folder: str, name: str) -> bytes:
    try:
        return os.getxattr(folder, name)
    except OSError:
        return b""
