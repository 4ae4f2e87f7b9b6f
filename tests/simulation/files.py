"""The files and the processes of the simulated machine: attempt folders, packages, a process table with few pids."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.model.identity import ProcessIdentity

PIDS = range(100, 124)  # few, so that they are used again and again (R07)


@dataclass(slots=True)
class Process:
    """Attributes: role (host | work | daemon | stranger), attempt it belongs to, shows_cookie, deaf (to SIGTERM), frozen."""

    identity: ProcessIdentity
    role: str
    attempt: str
    shows_cookie: bool = True
    deaf: bool = False
    frozen: bool = False
    alive: bool = True


@dataclass(slots=True)
class Machine:
    """One machine: its boot and its process table. A pid is given to the next process as soon as it is free, and after a
    boot the start ticks begin anew, so that pid and ticks of a dead process can both come back: only the boot id differs.
    `version` counts what began and ended."""

    boot: int = 1
    ticks: int = 0
    version: int = 0
    strangers: list[Process] = field(default_factory=list)
    _alive: dict[ProcessIdentity, Process] = field(default_factory=dict)

    def spawn(self, role: str, attempt: str, **how: bool) -> Process:
        self.ticks += 1
        self.version += 1
        taken = {identity.pid for identity in self._alive}
        pid = next((pid for pid in PIDS if pid not in taken), PIDS.stop + self.ticks)
        process = Process(ProcessIdentity("here", f"boot-{self.boot}", "ns", pid, self.ticks), role, attempt, **how)
        self._alive[process.identity] = process
        if role == "stranger":
            self.strangers.append(process)
        return process

    def end(self, process: Process) -> None:
        process.alive = False
        self.version += 1
        self._alive.pop(process.identity, None)

    def alive(self) -> list[Process]:
        return list(self._alive.values())

    def find(self, identity: ProcessIdentity) -> Process | None:
        return self._alive.get(identity)

    def living(self, attempt: str, *roles: str) -> list[Process]:
        return [each for each in self._alive.values() if each.attempt == attempt and each.role in roles]

    def lives(self, attempt: str, *roles: str) -> bool:
        return any(each.attempt == attempt and each.role in roles for each in self._alive.values())

    def reboot(self) -> None:
        self.boot += 1
        self.ticks = 0
        for process in self.alive():
            self.end(process)
        self.strangers.clear()


@dataclass(slots=True)
class Folder:
    """attempts/<run>/<n>/ with its spool. `readable` False = an unmounted disk: nothing can be told. `writable` False = nobody
    can write there, and what is there can be read. `spoiled` are lines among `records` that are none.

    `package` and `published` are digests; `*_durable` tells what a power cut cannot take any more.
    """

    attempt: str
    readable: bool = True
    writable: bool = True
    secret: str = ""
    claim: Mapping[str, Any] | None = None
    alive_held_by: ProcessIdentity | None = None
    tree: list[ProcessIdentity] = field(default_factory=list)
    state: Mapping[str, Any] | None = None
    stop: Mapping[str, Any] | None = None
    outcome: Mapping[str, Any] | None = None
    outcome_durable: bool = False
    records: int = 0
    spoiled: set[int] = field(default_factory=set)
    package: str | None = None
    package_durable: bool = False
    published: str | None = None
    published_durable: bool = True
    quarantined: str | None = None
    adopter: str | None = None  # the attempt of the newest run that was to take its package up
    touched: bool = False  # a stranger changed or removed the package

    @property
    def takes(self) -> bool:
        """Whether it can be written."""
        return self.readable and self.writable

    def power_cut(self, rng: random.Random) -> None:
        """What was not fsync'ed may have reached the disk or not: each thing for itself."""
        self.alive_held_by = None
        self.state = self.state if rng.random() < 0.5 else None
        if not self.outcome_durable and rng.random() < 0.7:
            self.outcome = None
        if self.published is not None and not self.published_durable and rng.random() < 0.7:
            self.package, self.published, self.published_durable = self.published, None, True
        if self.package is not None and not self.package_durable:
            self.package = rng.choice((self.package, "torn", None))
