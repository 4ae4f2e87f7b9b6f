"""Real hosts in tests: an attempt's folder, a spawned host, and the supervisor's end of its channel."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from actum import clock
from actum.host import host_main
from actum.ipc import framing, messages, spool
from actum.ipc.session import Accepted, Expected, Guard
from actum.model.identity import ProcessIdentity, new_token, uuid7
from actum.processes import identity as identities
from actum.processes import terminate, tree

from tests.helpers.waiting import wait_until

PYTHON = sys.executable
T = TypeVar("T")


@dataclass
class Attempt:
    """An attempt's folder as the supervisor's driver prepares it, and its host once spawned."""

    workspace: Path
    folder: Path
    launch: dict[str, Any]
    secret: str
    host: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def spawn(self, *, pass_fds: tuple[int, ...] = (), under: tuple[str, ...] = (), **extra: str) -> subprocess.Popen[bytes]:
        """Start the host as the driver does: a session of its own, Actum's variables stripped, streams to host.log.

        `under`: words of a program text that runs the host in its own process, the host's words behind its own.
        """
        variables = {name: value for name, value in os.environ.items() if not name.startswith("ACTUM_")}
        variables.update(self.environment, ACTUM_COOKIE=self.launch["cookie"], **extra)
        with open(self.folder / "host.log", "ab") as log:
            self.host = subprocess.Popen(
                [PYTHON, "-I", "-S", *under, host_main.__file__, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=variables,
                start_new_session=True,
                pass_fds=pass_fds,
            )
        return self.host

    def set_deadlines(self, deadlines: dict[str, Any]) -> None:
        """Other deadlines in launch.json, before the host is spawned."""
        self.launch["deadlines"] = deadlines
        (self.folder / "launch.json").write_text(json.dumps(self.launch))

    def wait(self, timeout_s: float = 20) -> int:
        """Until the host has exited; its exit code."""
        assert self.host is not None
        try:
            return self.host.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.end_all()
            raise AssertionError(f"the host lives on; {self.host_log()}") from None

    def outcome(self) -> dict[str, Any]:
        found = spool.read_outcome(self.folder)
        assert isinstance(found, dict), f"{found}; host.log: {self.host_log()}"
        return found

    def has_outcome(self) -> bool:
        return isinstance(spool.read_outcome(self.folder), dict)

    def state(self) -> dict[str, Any]:
        found = spool.read_state(self.folder)
        return found if isinstance(found, dict) else {}

    def host_log(self) -> str:
        return (self.folder / "host.log").read_text(errors="replace")

    def output(self, name: str) -> Path:
        return self.folder / "staging" / "files" / name

    def identity(self) -> ProcessIdentity:
        claim = spool.read_claim(self.folder)
        assert isinstance(claim, dict)
        return ProcessIdentity.from_json(claim["identity"])

    def leftovers(self) -> tuple[Any, ...]:
        """Living processes of this attempt, the host included."""
        found = spool.read_tree(self.folder)
        recorded = [ProcessIdentity.from_json(each) for each in found["members"]] if isinstance(found, dict) else []
        alive = spool.spool_path(self.folder, "alive")
        return tree.scan(cookie=self.launch["cookie"], alive_path=alive, members=recorded).members

    def end_all(self) -> None:
        """Whatever a test left: ended by identity."""
        if self.host is not None and self.host.poll() is None:
            self.host.kill()
            self.host.wait()
        wait_until(lambda: not [terminate.signal(m.identity, signal.SIGKILL) for m in self.leftovers()], what="the end")


def make_attempt(tmp: Path, source: str | None = None, *, command: list[str] | None = None, **changes: Any) -> Attempt:
    """An attempt of a program: `source` is run by Python, or `command` as it is. `changes` replace members of launch.json."""
    workspace = tmp / "workspace"
    number = 1 + len(list(workspace.glob("attempts/*")))
    folder = workspace / "attempts" / str(number) / "1"
    (folder / "staging" / "files").mkdir(parents=True)
    (folder / "log").mkdir()
    prepare_spool(folder)
    secret = new_token()
    (folder / "secret").write_text(secret)
    if source is not None:
        (folder / "work.py").write_text(source)
        command = [PYTHON, "-u", str(folder / "work.py")]
    launch = _launch_document(workspace, number, command or ["/bin/true"], tmp) | changes
    (folder / "launch.json").write_text(json.dumps(launch))
    for name in ("parameters.json", "inputs.json"):
        (folder / name).write_text("{}")
    if not (workspace / "endpoint").exists():
        write_endpoint(workspace, None)
    return Attempt(workspace, folder, launch, secret)


def prepare_spool(folder: Path) -> None:
    """spool/ with its alive file, as they must be before a host is spawned."""
    (folder / "spool").mkdir(0o700)
    (folder / "spool" / "alive").touch(0o600, exist_ok=False)


def _launch_document(workspace: Path, number: int, command: list[str], cwd: Path) -> dict[str, Any]:
    return {
        "v": 1,
        "workspace": str(workspace),
        "workspace_id": "f3b6c0de-0000-4000-8000-000000000001",
        "run": number,
        "attempt": uuid7(clock.utc_us()),
        "n": 1,
        "session": new_token(),
        "cookie": new_token(),
        "task": "try-out",
        "task_version": "1",
        "key": f"key-{number}",
        "request_digest": "0" * 64,
        "contract_digest": "1" * 64,
        "kind": "program",
        "command": command,
        "cwd": str(cwd),
        "variables": {},
        "required": [],
        "outputs": ["*"],
        "accepted_exit_codes": [0],
        "after_exit": "wait",
        "grace_s": 5,
        "deadlines": {"start_s": 30, "stages": {}, "overall_s": None},
        "stall_after_s": None,
        "when_supervisor_is_lost": "continue",
        "limits": {"memory_bytes": None, "log_bytes": None, "output_bytes": None},
        "contract": {"schema": "actum.contract/1", "tables": [], "metrics": [], "outputs": ["*"], "required": []},
        "parameters": {},
        "inputs": [],
        "code": {"path": "/bin/true", "sha256": "2" * 64, "git_commit": None, "git_dirty": None},
        "environment": {"interpreter": PYTHON, "version": "3", "distributions_sha256": "3" * 64, "variable_names": []},
    }


def write_endpoint(workspace: Path, path: str | None, pid: int | None = None) -> None:
    temporary = workspace / ".endpoint"
    temporary.write_text(json.dumps({"socket": path, "instance": "i", "epoch": 1, "pid": pid}))
    temporary.rename(workspace / "endpoint")


class Server:
    """The supervisor's end: accepts, proves hellos with a Guard, answers as the test says. One per workspace."""

    def __init__(self, attempt: Attempt, *, answer: str | None = "hello-ack", acknowledge: bool = True) -> None:
        """`answer` to a hello: hello-ack, stop, dismiss, or None for silence."""
        self.attempt, self.answer, self.acknowledge = attempt, answer, acknowledge
        self.folder = tempfile.mkdtemp(prefix="actum-test-")
        self.path = f"{self.folder}/s"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen()
        self.connection: socket.socket | None = None
        self.guard: Guard | None = None
        self.frames: list[dict[str, Any]] = []
        self.violations: list[framing.Violation] = []
        self.hellos = 0
        self._seq = 0
        write_endpoint(attempt.workspace, self.path, os.getpid())

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for each in (self.connection, self.listener):
            if each is not None:
                each.close()
        self.connection = None
        if os.path.exists(self.path):
            os.unlink(self.path)
            os.rmdir(self.folder)

    def hang_up(self) -> None:
        assert self.connection is not None
        self.connection.close()
        self.connection = None

    def serve(self, timeout_s: float = 0.02) -> None:
        """Take what is there."""
        sockets = [self.listener] + ([self.connection] if self.connection else [])
        readable, _, _ = select.select(sockets, [], [], timeout_s)
        if self.listener in readable:
            self.connection, _ = self.listener.accept()
            self.guard, self._seq = Guard(self._lookup), 0
        if self.connection in readable:
            self._receive()

    def wait_for(self, kind: str, timeout_s: float = 20) -> dict[str, Any]:
        """The first frame of this type, serving meanwhile."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            for frame in self.frames:
                if frame["type"] == kind:
                    return frame
            self.serve()
        raise AssertionError(f"no {kind} came; {self.types()}; host.log: {self.attempt.host_log()}")

    def serve_until(self, predicate: Callable[[], T], what: str) -> T:
        """The first true answer of `predicate`, serving meanwhile."""

        def look() -> T:
            self.serve()
            return predicate()

        return wait_until(look, what=what)

    def serve_until_exit(self, timeout_s: float = 20) -> None:
        host, end = self.attempt.host, time.monotonic() + timeout_s
        assert host is not None
        while host.poll() is None:
            assert time.monotonic() < end, f"the host lives on; {self.types()}; {self.attempt.host_log()}"
            self.serve()

    def send(self, kind: str, **fields: Any) -> None:
        assert self.connection is not None
        assert self.guard is not None
        self._seq += 1
        launch = self.attempt.launch
        frame = {
            "v": 1,
            "type": kind,
            "run": launch["run"],
            "attempt": launch["attempt"],
            "session": launch["session"],
            "channel": self.guard.channel,
            "seq": self._seq,
            "at": clock.utc_us(),
            **fields,
        }
        self.connection.sendall(framing.encode(messages.check(frame, messages.FROM_SUPERVISOR)))

    def types(self) -> list[str]:
        return [frame["type"] for frame in self.frames]

    def _lookup(self, hello: Any) -> Expected | None:
        launch = self.attempt.launch
        if hello["session"] != launch["session"]:
            return None
        digest = sha256(self.attempt.secret.encode()).hexdigest()
        return Expected(launch["run"], launch["attempt"], launch["session"], digest)

    def _receive(self) -> None:
        assert self.connection is not None
        assert self.guard is not None
        try:
            data = self.connection.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            self.connection.close()
            self.connection = None
            return
        for seen in self.guard.receive(data):
            if isinstance(seen, framing.Violation):
                self.violations.append(seen)
            elif isinstance(seen, Accepted):
                self.frames.append(seen.frame)
                self._answer(seen.frame)

    def _answer(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "hello":
            self.hellos += 1
            if self.answer == "hello-ack":
                self.send("hello-ack", epoch=1)
            elif self.answer == "stop":
                self.send("stop", level="ask", cause="user")
            elif self.answer == "dismiss":
                self.send("dismiss", why="released")
        elif frame["type"] in messages.TERMINAL_TYPES and self.acknowledge:
            self.send("ack", digest=frame["digest"])


def own_identity() -> dict[str, Any]:
    return identities.own().to_json()
