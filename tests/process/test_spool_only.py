"""§7: where no local socket can be, the spool alone serves a whole life: success, stop, deadline, records, another supervisor.

The place is made so that nothing can listen: the runtime folder's own part is a file. No part of the program knows of it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import clock, limits
from actum.contracts import document
from actum.errors import CannotTell
from actum.generation import read_endpoint, write_endpoint
from actum.lock import Lock
from actum.model.changes import AddTask, Persisted
from actum.model.facts import FACTS
from actum.store.writer import Writer
from actum.workspace import Workspace
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session

from tests.helpers.app import App
from tests.helpers.waiting import wait_until

ALL = [name.value for name in FACTS]
RECORDS = """
import json, os, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
messages = open(os.environ["ACTUM_MESSAGES"], "a", buffering=1)
for number in range(3):
    messages.write(json.dumps({"record": "trade", "data": {"number": number}}) + "\\n")
messages.write(json.dumps({"progress": [1, 2]}) + "\\n")
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
"""


class Deaf(App):
    """An app whose runtime folder holds no socket; `hearing` is one that may. Their names are short, as sockets need."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        super().__init__(folder)
        self.runtime, self.hearing = runtime / "deaf", runtime / "hearing"
        for each in (self.runtime, self.hearing):
            each.mkdir(mode=0o700)
        (self.runtime / "actum").touch()

    def start(self, *args: str, fault: str = "", **environment: str) -> subprocess.Popen[str]:
        return super().start(*args, fault=fault, **{"XDG_RUNTIME_DIR": str(self.runtime), **environment})

    def evidence(self, fact: str, run: int = 1) -> Any:
        with self.reader() as reader:
            return next(row.evidence for row in reader.facts(run) if row.fact == fact)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Deaf]:
    with tempfile.TemporaryDirectory(prefix="actum-r") as runtime:
        app = Deaf(tmp_path, Path(runtime))
        yield app
        app.end()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out + err


def test_a_success_and_its_records_without_any_channel(app: Deaf) -> None:
    """R01, R12: the claim is the first sign, progress and records come from files, every fact is established."""
    app.define(source=RECORDS)
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    endpoint = read_endpoint(app.ws)
    assert endpoint is not None
    assert (endpoint["socket"], endpoint["pid"]) == (None, command.pid)
    app.wait_status("RUNNING")
    with app.reader() as reader:
        assert [row.code for row in reader.alerts()] == ["no_socket"]
    wait_until(lambda: (app.json("show", "1").get("progress") or {}).get("done") == 1, what="progress from state.json")
    app.gate.touch()
    code, said = ended(command)
    assert (code, app.status(), app.facts()) == (0, "SUCCEEDED", ALL), said
    assert app.evidence("contact_made")["method"] == "claim"
    package = app.ws.result_folder(1, 1)
    records = [json.loads(line)["data"]["number"] for line in (package / "records.jsonl").read_text().splitlines()]
    assert records == [0, 1, 2]
    with app.reader() as reader:
        assert reader.attempts(1)[0].records_offset > 0
    assert len(app.pids()) == 1
    app.run("audit")


def test_a_stop_goes_by_its_file(app: Deaf) -> None:
    """R08: asked by whoever supervises, delivered by spool/stop, confirmed, released."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    app.wait_status("RUNNING")
    command.send_signal(signal.SIGINT)
    assert command.stderr is not None
    assert any("Ctrl-C again" in line for line in command.stderr)  # that is said once the first one was heard
    command.send_signal(signal.SIGINT)
    code, said = ended(command)
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"], code) == ("STOPPED", True, 130), said
    assert shown["attempts"][0]["exit"]["signal"] == signal.SIGTERM
    app.run("audit")


def test_a_deadline_ends_the_work(app: Deaf) -> None:
    app.define("--timeout", "1s")
    assert ended(app.start("run", "work"))[0] == 1
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("TIMEOUT", "overall_deadline", True)
    app.run("audit")


def test_r08_work_that_may_not_go_on_alone_is_ended_when_its_supervisor_was_killed(app: Deaf) -> None:
    """stop_after: what it wrote into the endpoint stays, its lock does not; the next supervisor records the end as it was."""
    app.define()
    with app.reader() as reader:
        contract = dict(reader.task("work").contract)
    policies = {**contract["policies"], "when_supervisor_is_lost": {"stop_after": "1s"}}
    task_on_record(app.ws, {**contract, "version": "2", "policies": policies})
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    app.wait_status("RUNNING")
    command.kill()
    ended(command)
    outcome = app.ws.attempt_folder(1, 1) / "spool" / "outcome.json"
    wait_until(outcome.exists, what="the host's own end")
    endpoint = read_endpoint(app.ws)
    assert endpoint is not None
    assert (endpoint["socket"], endpoint["pid"]) == (None, command.pid)
    ended(app.start("reconcile", "--wait"))
    with app.reader() as reader:
        attempt = reader.attempts(1)[0]
    assert (app.status(), attempt.failure_code, attempt.released) == ("FAILED", "supervisor_lost", True)


def task_on_record(ws: Workspace, contract: dict[str, Any]) -> None:
    """A new version of a task, for what no option of the command says."""
    writer = Writer(ws)
    writer.start(str(uuid.uuid4()))
    try:
        name, version = contract["name"], contract["version"]
        answer = writer.ask(AddTask(name, version, document.digest(contract), contract, False, clock.utc_us()), 30)
        assert isinstance(answer, Persisted), answer
    finally:
        writer.close()


def test_supervisors_with_and_without_a_socket_follow_each_other(app: Deaf) -> None:
    """R18: with a socket, killed; without, killed; with one again: the work goes on and is told of once."""
    sockets = {"XDG_RUNTIME_DIR": str(app.hearing)}
    app.define()
    first = app.start("run", "work", **sockets)
    wait_until(app.pids, what="the start of the work")
    app.wait_status("RUNNING")
    first.kill()
    ended(first)
    second = app.start("reconcile", "--wait")
    wait_until(lambda: (read_endpoint(app.ws) or {}).get("pid") == second.pid, what="the second supervisor")
    assert read_endpoint(app.ws)["socket"] is None  # type: ignore[index]
    wait_until(lambda: app.json("show", "1")["contact"]["state"] == "ok", what="contact by the spool")
    second.kill()
    ended(second)
    third = app.start("reconcile", "--wait", **sockets)
    wait_until(lambda: (read_endpoint(app.ws) or {}).get("pid") == third.pid, what="the third supervisor")
    wait_until(lambda: app.journal().count("contact_resumed") >= 1, what="the host's hello")
    app.gate.touch()
    code, said = ended(third)
    assert (code, app.status(), app.facts()) == (0, "SUCCEEDED", ALL), said
    assert len(app.pids()) == 1
    with app.reader() as reader:
        assert "no_socket" not in [row.code for row in reader.alerts()]
    app.run("audit")


def test_a_command_that_finds_no_socket_says_why(app: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    """P22: it waits its time for socket or lock, then cannot tell, in words that name the supervisor."""
    app.define()
    monkeypatch.setattr(limits, "LOCK_WAIT_S", 0.3)
    lock = Lock.try_acquire(app.ws)
    assert lock is not None
    with lock:
        write_endpoint(app.ws, {"socket": None, "instance": "deaf", "epoch": 99, "pid": 4321, "window": False})
        with Interrupts() as interrupts, Session(app.ws, interrupts) as session, pytest.raises(CannotTell) as caught:
            session.submit({"verb": "status"})
    assert (caught.value.code, "4321" in caught.value.why) == ("no_socket", True)
