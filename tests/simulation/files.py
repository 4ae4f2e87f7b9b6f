"""The files and the processes of the simulated machine: attempt folders, packages, a process table with small pids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.model.identity import ProcessIdentity


@dataclass(slots=True)
class Process:
    """Attributes: role (host | work | daemon), attempt it belongs to, shows_cookie, deaf (to SIGTERM), frozen (SIGSTOP)."""

    identity: ProcessIdentity
    role: str
    attempt: str
    shows_cookie: bool = True
    deaf: bool = False
    frozen: bool = False
    alive: bool = True


@dataclass(slots=True)
class Machine:
    """One machine: its boot, and every process there ever was. Pids are drawn from a few, so they are used again (R07)."""

    boot: int = 1
    ticks: int = 0
    processes: list[Process] = field(default_factory=list)

    def spawn(self, role: str, attempt: str, **how: bool) -> Process:
        self.ticks += 1
        taken = {each.identity.pid for each in self.processes if each.alive}
        pid = next(pid for pid in range(100, 200) if pid not in taken)
        process = Process(ProcessIdentity("here", f"boot-{self.boot}", "ns", pid, self.ticks), role, attempt, **how)
        self.processes.append(process)
        return process

    def find(self, identity: ProcessIdentity) -> Process | None:
        return next((each for each in self.processes if each.identity == identity and each.alive), None)

    def living(self, attempt: str, *roles: str) -> list[Process]:
        return [each for each in self.processes if each.alive and each.attempt == attempt and each.role in roles]

    def reboot(self) -> None:
        self.boot += 1
        for process in self.processes:
            process.alive = False


@dataclass(slots=True)
class Folder:
    """attempts/<run>/<n>/ with its spool. `readable` False = an unmounted disk: nothing can be told.

    `package` and `published` are digests; `*_durable` tells what a power cut cannot take any more.
    """

    attempt: str
    readable: bool = True
    claim: Mapping[str, Any] | None = None
    alive_held_by: ProcessIdentity | None = None
    tree: list[ProcessIdentity] = field(default_factory=list)
    state: Mapping[str, Any] | None = None
    stop: Mapping[str, Any] | None = None
    outcome: Mapping[str, Any] | None = None
    outcome_durable: bool = False
    records: int = 0
    package: str | None = None
    published: str | None = None
    published_durable: bool = True
    touched: bool = False  # a stranger changed or removed the package

    def power_cut(self) -> None:
        self.alive_held_by = None
        if not self.outcome_durable:
            self.outcome = None
        if self.published is not None and not self.published_durable:
            self.package, self.published, self.published_durable = self.published, None, True
