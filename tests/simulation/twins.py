"""The same situations on the simulated machine and on this one: attempt folders, processes, locks, packages.

A `Desk` is where one attempt lies. Both kinds do the same things to it; one by words to the simulated world, the other by
files, locks and processes. `SITUATIONS` and `PLACES` say what is to be seen then.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from actum import faults
from actum.ipc import spool
from actum.model.evidence import Evidence
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.run import AttemptRow
from actum.processes import evidence, identity
from actum.supervise import effects, events
from actum.workspace import Workspace, create_folders

from tests.simulation.files import Folder
from tests.simulation.gathering import Gathering, package_seen
from tests.simulation.helpers import Helping
from tests.simulation.host import Host, Plan
from tests.simulation.world import World

SESSION, COOKIE = "a" * 32, "c" * 32
OUTCOME = {
    "v": 1,
    "run": 1,
    "attempt": "attempt",
    "session": SESSION,
    "kind": "sealed",
    "code": None,
    "cause": None,
    "message": "",
    "details": {},
    "ended": None,
    "tree": {"method": "subreaper", "at": 1, "nested": 0},
    "manifest_sha256": "package",
    "at": 1,
}


class Desk(Protocol):
    """One attempt. `host_lives` and `host_died` make a claim by such a host; `work_left` leaves a process of its tree."""

    def host_lives(self) -> None: ...
    def host_died(self) -> None: ...
    def work_left(self, *, recorded: bool) -> None: ...
    def outcome(self, **changes: Any) -> None: ...
    def place(self, **changes: str) -> None: ...
    def hold_lock(self) -> None: ...
    def unmount(self) -> None: ...
    def claim(self) -> bool: ...
    def revoke(self) -> tuple[bool, str]: ...
    def write_outcome(self) -> list[str]: ...
    def look(self) -> Evidence: ...
    def clear(self) -> None: ...


class SimulatedDesk:
    def __init__(self) -> None:
        self.world = world = World(1, armed=False)
        self.app = world.open_app()
        world.people.admit(self.app)
        self.app.step_write()
        self.row = replace(world.store.rows()[0], session=SESSION, cookie=COOKIE)
        self.folder = world.folders[self.row.attempt] = Folder(self.row.attempt)

    def host_lives(self) -> None:
        process = self.world.machine.spawn("host", self.row.attempt)
        self.folder.alive_held_by = process.identity
        self._claimed_by(process.identity)

    def host_died(self) -> None:
        process = self.world.machine.spawn("host", self.row.attempt)
        self._claimed_by(process.identity)
        self.world.machine.end(process)

    def _claimed_by(self, host: ProcessIdentity) -> None:
        self.folder.claim = {"v": 1, "by": "host", "session": SESSION, "identity": host.to_json(), "at": 1}

    def work_left(self, *, recorded: bool) -> None:
        process = self.world.machine.spawn("work", self.row.attempt, shows_cookie=not recorded)
        self.folder.tree = [process.identity] if recorded else []

    def outcome(self, **changes: Any) -> None:
        self.folder.outcome = {**OUTCOME, **changes}

    def place(self, **changes: str) -> None:
        assert self.folder.claim is not None
        if "pid_namespace" in changes:
            self.app.place = "namespace"
        else:
            self._claimed_by(ProcessIdentity.from_json(self.folder.claim["identity"])._replace(**changes))

    def hold_lock(self) -> None:
        self.folder.alive_held_by = ProcessIdentity("here", "boot-1", "ns", 1, 1)

    def unmount(self) -> None:
        self.folder.readable = False

    def claim(self) -> bool:
        host = Host(
            self.world, self.row, self.folder, Plan(1.0), self.world.machine.spawn("host", self.row.attempt), "starting"
        )
        host._claim()
        return host.process.alive

    def revoke(self) -> tuple[bool, str]:
        self.app._revoke_claim(effects.RevokeClaim(self.row))
        answer = self.app.queues["own"].pop()
        assert isinstance(answer, events.ClaimAnswered)
        return answer.revoked, str(answer.claim["by"])

    def write_outcome(self) -> list[str]:
        """What becomes of an outcome step by step, as a power cut after each would find it."""
        process = self.world.machine.spawn("host", self.row.attempt)
        host = Host(self.world, self.row, self.folder, Plan(1.0), process, "outcome", result={"kind": "failed"})
        said = []
        while host.phase != "done":
            host.step()
            said.append("on the disk" if self.folder.outcome_durable else "written")
        return [*said, "told"]

    def look(self) -> Evidence:
        look = Gathering(self.app, self.row, False)
        while not look.step():
            pass
        answer = self.app.queues[f"look {self.row.attempt}"].pop()
        assert isinstance(answer, events.Looked)
        return answer.evidence

    def clear(self) -> None:
        pass


class RealDesk:
    def __init__(self, tmp: Path) -> None:
        self.path = tmp / "attempts" / "1" / "1"
        (self.path / "spool").mkdir(parents=True)
        (self.path / "spool" / "alive").touch(0o600)
        self.lock: int | None = None
        self.processes: list[subprocess.Popen[bytes]] = []
        self.claimant: ProcessIdentity | None = None

    def _spawn(self, **variables: str) -> tuple[subprocess.Popen[bytes], ProcessIdentity]:
        source = "import sys; print(flush=True); sys.stdin.read()"
        command = [sys.executable, "-I", "-S", "-c", source]
        made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**variables})
        assert made.stdout is not None
        made.stdout.readline()  # it is through exec: its environment is its own
        found = identity.of(made.pid)
        assert found is not None
        self.processes.append(made)
        return made, found

    def host_lives(self) -> None:
        self.hold_lock()
        _, host = self._spawn()
        self._claimed_by(host)

    def host_died(self) -> None:
        process, host = self._spawn()
        process.kill()
        process.wait()
        self._claimed_by(host)

    def _claimed_by(self, host: ProcessIdentity) -> None:
        self.claimant = host
        (self.path / "spool" / "claim").unlink(missing_ok=True)
        spool.create_claim(self.path, self._claim(host))

    def _claim(self, host: ProcessIdentity) -> dict[str, Any]:
        return {"v": 1, "by": "host", "session": SESSION, "identity": host.to_json(), "at": 1}

    def work_left(self, *, recorded: bool) -> None:
        _, work = self._spawn(**({} if recorded else {"ACTUM_COOKIE": COOKIE}))
        members = [{**work.to_json(), "command": "work"}] if recorded else []
        spool.write_tree(self.path, {"v": 1, "session": SESSION, "at": 1, "members": members})

    def outcome(self, **changes: Any) -> None:
        spool.link_outcome(self.path, {**OUTCOME, **changes})

    def place(self, **changes: str) -> None:
        assert self.claimant is not None
        self._claimed_by(self.claimant._replace(**changes))

    def hold_lock(self) -> None:
        self.lock = spool.hold_alive(self.path, 1.0)

    def unmount(self) -> None:
        (self.path / "spool").rename(self.path / "spool.away")

    def claim(self) -> bool:
        return spool.create_claim(self.path, self._claim(identity.own()))

    def revoke(self) -> tuple[bool, str]:
        revoked = spool.create_claim(self.path, {"v": 1, "by": "supervisor", "revoked": True, "epoch": 1, "at": 1})
        found = spool.read_claim(self.path)
        assert isinstance(found, dict)
        return revoked, str(found["by"])

    def write_outcome(self) -> list[str]:
        """The order of its steps, by the calls to the system: fsync of the file, link, fsync of the folder."""
        called: list[str] = []
        fsync, link = os.fsync, os.link

        def seen_fsync(descriptor: int) -> None:
            called.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
            fsync(descriptor)

        def seen_link(source: Any, target: Any) -> None:
            called.append("link")
            link(source, target)

        os.fsync, os.link = seen_fsync, seen_link  # type: ignore[assignment]
        try:
            spool.link_outcome(self.path, OUTCOME)
        finally:
            os.fsync, os.link = fsync, link
        durable = called == ["file", "link", "folder"]
        assert "spool.outcome.fsync.after" in faults.CATALOGUE
        return ["written", "on the disk" if durable else f"not on the disk: {called}", "told"]

    def look(self) -> Evidence:
        return evidence.gather(attempt_folder=self.path, session=SESSION, cookie=COOKIE)

    def clear(self) -> None:
        if self.lock is not None:
            os.close(self.lock)
        for process in self.processes:
            process.kill()
            process.communicate()


@dataclass(frozen=True, slots=True)
class Situation:
    """`seen` = host, outcome, tree, claim; `methods` of host and tree; `unknown` = what a sentence is given for."""

    name: str
    arrange: Callable[[Desk], None]
    seen: tuple[str, str, str, str]
    methods: tuple[str, str]
    unknown: tuple[str, ...] = ()


def _all(*acts: Callable[[Desk], None]) -> Callable[[Desk], None]:
    def arrange(desk: Desk) -> None:
        for act in acts:
            act(desk)

    return arrange


def lives(desk: Desk) -> None:
    desk.host_lives()


def died(desk: Desk) -> None:
    desk.host_died()


def revoked(desk: Desk) -> None:
    desk.revoke()


def unmounted(desk: Desk) -> None:
    desk.unmount()


SCAN = "lock + scan"
ALL = ("host", "outcome", "tree", "claim")
SITUATIONS = (
    Situation("nothing was spawned", lambda desk: None, ("gone", "none", "clear", "none"), ("alive_lock", SCAN)),
    Situation("a living host", lives, ("alive", "none", "clear", "host"), ("identity", SCAN)),
    Situation("a dead host", died, ("gone", "none", "clear", "host"), ("identity", SCAN)),
    Situation(
        "a dead host whose work lives and shows its cookie",
        _all(died, lambda desk: desk.work_left(recorded=False)),
        ("gone", "none", "left", "host"),
        ("identity", SCAN),
    ),
    Situation(
        "a dead host whose work lives and hides its cookie",
        _all(died, lambda desk: desk.work_left(recorded=True)),
        ("gone", "none", "left", "host"),
        ("identity", SCAN),
    ),
    Situation("a revoked claim", revoked, ("gone", "none", "clear", "revoked"), ("alive_lock", SCAN)),
    Situation(
        "sealed and gone",
        _all(died, lambda desk: desk.outcome()),
        ("gone", "sealed", "clear", "host"),
        ("identity", "subreaper"),
    ),
    Situation(
        "sealed, and the host still there",
        _all(lives, lambda desk: desk.outcome()),
        ("alive", "sealed", "clear", "host"),
        ("identity", SCAN),
    ),
    Situation(
        "stopped by a deadline",
        _all(died, lambda desk: desk.outcome(kind="stopped", cause="stage_deadline")),
        ("gone", "deadline", "clear", "host"),
        ("identity", "subreaper"),
    ),
    Situation(
        "an outcome of another session",
        _all(died, lambda desk: desk.outcome(session="b" * 32)),
        ("gone", "unknown", "clear", "host"),
        ("identity", SCAN),
        ("outcome",),
    ),
    Situation(
        "another boot",
        _all(died, lambda desk: desk.place(boot="another")),
        ("gone", "none", "clear", "host"),
        ("boot", "boot"),
    ),
    Situation(
        "another boot, and its lock is held",
        _all(lives, lambda desk: desk.place(boot="another")),
        ("unknown", "none", "unknown", "host"),
        ("alive_lock", ""),
        ("host", "tree"),
    ),
    Situation(
        "another machine",
        _all(died, lambda desk: desk.place(machine="another")),
        ("unknown", "none", "unknown", "host"),
        ("machine", ""),
        ("host", "tree"),
    ),
    Situation(
        "another namespace, lock held",
        _all(lives, lambda desk: desk.place(pid_namespace="another")),
        ("alive", "none", "unknown", "host"),
        ("alive_lock", ""),
        ("tree",),
    ),
    Situation(
        "another namespace, lock free",
        _all(died, lambda desk: desk.place(pid_namespace="another")),
        ("gone", "none", "unknown", "host"),
        ("alive_lock", ""),
        ("tree",),
    ),
    Situation("an unmounted disk", unmounted, ("unknown",) * 4, ("alive_lock", SCAN), ALL),
    Situation(
        "an unmounted disk, and the work shows its cookie",
        _all(died, lambda desk: desk.work_left(recorded=False), unmounted),
        ("unknown", "unknown", "left", "unknown"),
        ("alive_lock", SCAN),
        ("host", "outcome", "claim"),
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a package lies before it is published, what that comes to, where it is then, and whether it is durable there."""

    name: str
    staged: str | None
    published: str | None
    before: str
    failure: str | None
    after: str
    durable: bool

    def simulated(self) -> tuple[str, str | None, str, bool]:
        desk = SimulatedDesk()
        folder = desk.folder
        folder.package, folder.published, folder.published_durable = self.staged, self.published, False
        helping = Helping(desk.app, effects.Publish(desk.row, {"manifest_sha256": "right"}))
        before = package_seen(folder, "right").value
        while not helping.step():
            pass
        answer = desk.app.queues["helper"].pop()
        assert isinstance(answer, events.Published)
        return before, answer.failure, package_seen(folder, "right").value, folder.published_durable

    def real(self, tmp: Path, publish: Any, steps: Any) -> tuple[str, str | None, str, bool]:
        ws = Workspace(tmp / "ws")
        create_folders(ws)
        staging, target = ws.attempt_folder(1, 1) / "staging", ws.result_folder(1, 1)
        for place, word in ((staging, self.staged), (target, self.published)):
            if word is not None:
                place.mkdir(parents=True)
                if word != "empty":
                    (place / "manifest.json").write_text(word)
        staging.parent.mkdir(parents=True, exist_ok=True)
        digest = publish.digests.of_bytes(b"right")
        row = _row({"manifest_sha256": digest})
        before = steps.where(ws, row).value
        durable: set[str] = set()
        fsync = os.fsync

        def seen_fsync(descriptor: int) -> None:
            durable.add(os.readlink(f"/proc/self/fd/{descriptor}"))
            fsync(descriptor)

        os.fsync = seen_fsync
        try:
            answer = steps.publish_now(ws, row)
        finally:
            os.fsync = fsync
        both_ends = {str(target), str(target.parent), str(staging.parent)} <= durable
        for folder in (staging, target):
            if folder.is_dir():
                folder.chmod(0o700)
        return before, answer.failure, steps.where(ws, row).value, both_ends


def _row(recorded: dict[str, str]) -> AttemptRow:
    row = SimulatedDesk().row
    return replace(row, facts={**row.facts, FactName.CONTENT_VERIFIED: {"recorded": recorded}})


PLACES = (
    Place("in staging", "right", None, "staging", None, "results", True),
    Place("at its target already", None, "right", "results", None, "results", True),
    Place("altered in staging", "wrong", None, "differs", "differs", "differs", False),
    Place("altered at its target", None, "wrong", "differs", "differs", "differs", False),
    Place("something else is at the target", "right", "empty", "differs", "differs", "differs", False),
    Place("in neither place", None, None, "neither", "neither", "neither", False),
)
