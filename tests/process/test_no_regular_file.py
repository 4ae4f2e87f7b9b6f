"""FIFOs in a spool whose host is dead: nobody waits behind them, and the run holds until a person attests (R09, R18)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.ipc import regular
from actum.processes import identity

from tests.helpers.app import App
from tests.helpers.waiting import wait_until

SPOOL = ("claim", "alive", "state.json", "tree.json", "records.jsonl", "history.jsonl", "stop", "outcome.json")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def died(app: App, *names: str) -> None:
    """A run whose processes are killed, and in whose spool FIFOs stand in the place of `names`."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    host = int(app.json("show", "1")["attempts"][0]["pid"])
    command.kill()
    command.communicate()
    for pid in (host, *app.pids()):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: identity.of(host) is None, what="the end of the host")
    for name in names:
        path = app.ws.attempt_folder(1, 1) / "spool" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def test_r09_r18_fifos_in_every_place_hold_the_run_and_nobody_else(app: App) -> None:
    """Every command answers, the alert and `show` say what it is, and a person's word ends the hold."""
    died(app, *SPOOL)
    app.run("reconcile", "--wait", code=7)
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"], shown["contact"]["state"]) == ("RUNNING", False, "cannot_tell")
    assert f"outcome.json {regular.WORDS}" in shown["contact"]["why"]
    [alert] = [line for line in app.lines("alerts") if line["code"] == "cannot_tell"]
    assert regular.WORDS in alert["data"]["waiting_for"]
    assert "recorded" in app.run("stop", "1").stdout
    app.run("logs", "1")
    app.run("reconcile", "--attest", "1", "--yes", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"], shown["phase"]) == ("STOPPED", True, "CLOSED")
    assert "records_skipped" in app.journal()
    assert "cannot_tell" not in [line["code"] for line in app.lines("alerts")]
