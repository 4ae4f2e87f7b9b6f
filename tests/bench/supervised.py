"""A workspace with a headless supervisor of its own, for benches that measure whole runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum import canonical, clock
from actum.contracts import document
from actum.model.changes import AddTask, Persisted, SetSetting
from actum.model.identity import new_token, uuid7
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.workspace import Workspace
from actum_desktop.commands.connection import Client, reach

from tests.helpers.waiting import wait_until


def program(name: str, *command: str) -> dict[str, Any]:
    """The contract of a task that runs `command` and needs no output."""
    work = {"kind": "program", "program": command[0], "arguments": list(command[1:]), "cwd": None}
    return {"schema": "actum.contract/1", "name": name, "title": name, "version": "1", "work": work}


@dataclass(frozen=True, slots=True)
class Supervised:
    ws: Workspace
    process: subprocess.Popen[bytes]

    def client(self) -> Client:
        return wait_until(lambda: reach(self.ws), 30, "the supervisor's answer")

    def ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        with self.client() as client:
            return client.ask(body)

    def run(self, task: str) -> int:
        """Admit one run; its number."""
        about = {"version": None, "parameters": {}, "base": "/", "labels": [], "rerun_of": None, "trigger": "command"}
        return int(self.ask({"verb": "run", "task": task, "key": new_token(), **about})["run"])


def define(ws: Workspace, *contracts: Mapping[str, Any], slots: int) -> None:
    """Put tasks and the number of slots into a workspace that nobody supervises yet."""
    writer = Writer(ws)
    writer.start(uuid7(clock.utc_us()))
    now = clock.utc_us()
    requests: list[Any] = [SetSetting("slots", slots, now)]
    for given in contracts:
        whole = document.load(given).to_json()
        requests.append(AddTask(whole["name"], whole["version"], canonical.digest(whole), whole, False, now))
    for request in requests:
        answer = writer.ask(request)
        assert isinstance(answer, Persisted), answer
    writer.close()


@contextmanager
def supervised(folder: Path, *contracts: Mapping[str, Any], slots: int = 2) -> Iterator[Supervised]:
    ws = Workspace(folder / "workspace")
    define(ws, *contracts, slots=slots)
    (folder / "run").mkdir(mode=0o700)
    variables = {**os.environ, "ACTUM_HOME": str(ws.path), "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
    source = "import sys; from actum_desktop.entry import main; sys.exit(main(['supervise']))"
    with (folder / "supervisor.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", source], env=variables, stdout=log, stderr=log)
    try:
        yield Supervised(ws, process)
    finally:
        process.terminate()
        process.wait(60)


def closed(reader: Reader, runs: list[int]) -> bool:
    """Whether all of `runs` have succeeded and are released. Raises AssertionError for one that ended otherwise."""
    rows = reader.run_rows(runs)
    for row in rows:
        assert row.status in ("CREATED", "STARTING", "RUNNING", "SUCCEEDED"), f"run {row.number} is {row.status}"
    return all(row.status == "SUCCEEDED" for row in rows)
