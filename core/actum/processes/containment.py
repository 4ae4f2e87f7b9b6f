"""What the kernel can hold a whole tree with: the port that the host uses, and which end of it this system has.

Theory. A container is a set of processes that the kernel keeps: whoever is started inside is inside, whatever it forgets of
its parents, its kernel session and its environment. It *adds* to what finds a tree; it never replaces identity, for no
process is signalled because it is in one (R07).

    POSIX      the child subreaper (host/family.py) always; a cgroup beside it, where one has been delegated to this user
    Windows    a Job Object (windows_job.py): there it is the proof; not yet run on Windows

`NoContainer` stands where there is none: subreaper and scan do the work, and the evidence names no container.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol


class Container(Protocol):
    """`method` names it in the evidence ("" = none); `name` is what another process finds it by ("" = it cannot)."""

    @property
    def method(self) -> str: ...

    @property
    def name(self) -> str: ...

    def start(self, spawn: Callable[[], int]) -> int:
        """Start a process inside: what `spawn` answers (a pid; on Windows a handle) is answered on."""
        ...

    def members(self) -> frozenset[int] | None:
        """The pids inside now; None where that cannot be told."""
        ...

    def close(self) -> None:
        """Give it back. What is still inside goes on (on Windows it ends)."""
        ...


class NoContainer:
    """Everything is left to the other means."""

    method = ""
    name = ""

    def start(self, spawn: Callable[[], int]) -> int:
        return spawn()

    def members(self) -> frozenset[int] | None:
        return None

    def close(self) -> None:
        """There is nothing to give back."""


def for_session(session: str) -> Container:
    """The container of one attempt's tree, made now; NoContainer where this system or this user has none."""
    if sys.platform == "win32":
        from actum.processes import windows_job

        return windows_job.Job(windows_job.SystemKernel())
    from actum.processes import cgroup

    return cgroup.make(session) or NoContainer()
