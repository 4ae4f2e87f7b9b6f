"""A real supervisor in the test's own process: controller, store, server, hosts and helpers on the test's event loop."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.generation import read_endpoint
from actum.ipc import spool
from actum.lock import Lock
from actum.model.identity import ProcessIdentity
from actum.processes import terminate
from actum.store.queries import Reader
from actum.workspace import Workspace, create_folders
from actum_desktop.controller.headless import Headless
from pytestqt.qtbot import QtBot

from tests.helpers.ends import End
from tests.helpers.workspaces import CONTRACT


class Place:
    """One workspace and its supervisors, one after the other. Attributes: ws, headless (the newest)."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.folder = folder
        self.ws = Workspace(folder / "workspace")
        create_folders(self.ws)
        self.headless: Headless
        self._all: list[Headless] = []
        self._ends: list[End] = []
        self._qtbot = qtbot

    # Supervisors

    def open(self) -> Headless:
        for earlier in self._all:
            earlier.leave()
        lock = Lock.try_acquire(self.ws)
        assert lock is not None, "the last supervisor let go of the workspace"
        self.headless = Headless(self.ws, lock)
        self._all.append(self.headless)
        return self.headless

    def halt(self, name: str) -> int:
        """Start the helper of this name and halt it: its next call is not answered before it is killed. Its pid."""
        answers: list[object] = []
        helper = self.headless.controller.helpers[name]
        helper.call("digest", {"paths": []}, answers.append)
        self.until(lambda: answers)
        pid = helper.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        return pid

    def until(self, condition: Callable[[], object], timeout_s: float = 30) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=int(timeout_s * 1000))

    def free(self) -> bool:
        """Whether nobody holds the workspace."""
        lock = Lock.try_acquire(self.ws)
        if lock is not None:
            lock.release()
        return lock is not None

    def close(self) -> None:
        """Everything in flight is ended by proven identity; then the supervisors go."""
        for row in self.open_rows():
            host = self.host(row.run)
            if host is not None:
                terminate.signal(host, signal.SIGKILL)
        if self.open_rows() and self.free():
            self.open()
        if self.open_rows():
            self.until(lambda: self.ask("reconcile", resume=True) and not self.open_rows())
        for end in self._ends:
            end.close()
        for headless in self._all:
            headless.leave()
            headless.controller.deleteLater()
            headless.deleteLater()

    # Commands

    def ask(self, verb: str, **body: Any) -> Mapping[str, Any]:
        return self.headless.submit({"verb": verb, **body})

    def error(self, verb: str, **body: Any) -> ActumError:
        try:
            ok = self.ask(verb, **body)
        except ActumError as error:
            return error
        raise AssertionError(f"{verb} was answered {ok}")

    def define(self, name: str = "plain", *parameters: Mapping[str, Any]) -> None:
        """A task that runs /bin/true."""
        self.ask("task_add", contract={**CONTRACT, "name": name, "title": name, "parameters": list(parameters)})

    def steps(self, seconds: int) -> int:
        """A run of the built-in job of so many seconds, computing, its host on record by its claim."""
        run = int(self.ask("run", task="demo-steps", parameters={"seconds": str(seconds)})["run"])
        self.until(lambda: self.status(run) == ("RUNNING", "COMPUTING") and self.host(run) is not None)
        return run

    # Far ends

    def end(self) -> End:
        endpoint = read_endpoint(self.ws)
        assert endpoint is not None
        self._ends.append(End(str(endpoint["socket"])))
        return self._ends[-1]

    def client(self) -> End:
        end = self.end()
        end.greet()
        self.until(lambda: end.heard("client-hello-ack"))
        return end

    def answer(self, end: End, **body: Any) -> Mapping[str, Any]:
        """The body of the answer to one command over the channel."""
        before = sum(frame["type"] == "answer" for frame in end.hear())
        end.command(**body)
        self.until(lambda: sum(frame["type"] == "answer" for frame in end.hear()) > before)
        told = end.heard("answer")
        assert told is not None
        return dict(told["body"])

    # What is on record

    def read(self, question: Callable[[Reader], Any]) -> Any:
        with Reader(self.ws) as reader:
            return question(reader)

    def open_rows(self) -> list[Any]:
        return list(self.read(lambda reader: reader.attempt_rows(open_only=True))) if self.ws.database.exists() else []

    def status(self, run: int = 1) -> tuple[str, str]:
        row = self.read(lambda reader: reader.attempt_rows(open_only=False, run=run))[-1]
        return str(row.pair.status), str(row.pair.phase)

    def row(self, run: int = 1) -> Any:
        return self.read(lambda reader: reader.attempt_rows(open_only=False, run=run))[-1]

    def alerts(self) -> list[str]:
        return [row.code for row in self.read(lambda reader: reader.alerts())]

    def journal(self, run: int | None = None) -> list[str]:
        return [row.kind for row in self.read(lambda reader: reader.journal(run))]

    def host(self, run: int = 1) -> Any:
        """The identity of the host as it claimed the attempt, or None."""
        row = self.row(run)
        claim = spool.read_claim(self.ws.attempt_folder(row.run, row.n))
        return ProcessIdentity.from_json(claim["identity"]) if isinstance(claim, dict) and "identity" in claim else None
