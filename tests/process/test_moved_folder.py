"""An attempt's folder moved away and put back: nothing is concluded while it is away, and the run goes on (R09, R18, §6)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum.ipc import spool

from tests.helpers.app import App
from tests.helpers.hosts import Server, make_attempt
from tests.helpers.waiting import wait_until

WRITES_THEN_WAITS = """
import os, sys, time
open(os.path.join(os.environ["ACTUM_OUTPUT"], "a.csv"), "w").write("x\\n1\\n")
open("GATE.begun", "w").close()
while not os.path.exists("GATE"):
    time.sleep(0.02)
"""


def serve_until(server: Server, there: Callable[[], bool], what: str) -> None:
    wait_until(lambda: there() or server.serve(), what=what)


@pytest.mark.parametrize("what", ["attempts", "one"])
def test_r09_work_that_ends_while_its_folder_is_away_is_sealed_when_it_is_back(tmp_path: Path, what: str) -> None:
    """Its output is not missing, it is elsewhere: the host says so, makes nothing in its place, and waits."""
    gate = tmp_path / "gate"
    attempt = make_attempt(tmp_path, WRITES_THEN_WAITS.replace("GATE", str(gate)), required=["*.csv"])
    moved = attempt.folder if what == "one" else attempt.workspace / "attempts"
    with Server(attempt) as server:
        attempt.spawn()
        serve_until(server, Path(f"{gate}.begun").exists, "the output")
        moved.rename(tmp_path / "away")
        (attempt.workspace / "attempts").mkdir(exist_ok=True)  # as a supervisor that starts meanwhile does
        assert server.wait_for("notice")["code"] == "folder_moved"
        gate.touch()
        frames = len(server.frames)
        serve_until(server, lambda: "heartbeat" in server.types()[frames:], "one more heartbeat")
        inside = tmp_path / "away" if what == "one" else tmp_path / "away" / "1" / "1"
        assert isinstance(spool.read_outcome(inside), spool.Absent)
        assert not attempt.folder.exists()
        if what == "attempts":
            (attempt.workspace / "attempts").rmdir()
        (tmp_path / "away").rename(moved)
        server.serve_until_exit()
    assert attempt.outcome()["kind"] == "sealed"
    assert [f["data"]["holds"] for f in server.frames if f["type"] == "notice"] == [True, False]


def sealed(app: App) -> None:
    app.define(gated=False)
    app.run("run", "work", fault="fact.sealed.after:kill-app", code=-signal.SIGKILL)


def published(app: App) -> None:
    app.define(gated=False)
    app.run("run", "work", fault="publish.rename.before:kill-app", code=-signal.SIGKILL)


def never_spawned(app: App) -> None:
    app.define(gated=False)
    app.run("run", "work", fault="controller.spawn.before:kill-app", code=-signal.SIGKILL)


CASES = [(sealed, "SUCCEEDED"), (published, "SUCCEEDED"), (never_spawned, "START_FAILED")]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


@pytest.mark.parametrize(("arrange", "end"), CASES, ids=[arrange.__name__ for arrange, _ in CASES])
def test_r09_a_missing_folder_is_cannot_tell_and_the_run_goes_on_when_it_is_back(
    app: App, arrange: Callable[[App], None], end: str
) -> None:
    """In whatever state: held, with the missing folder named; then what is found there decides."""
    arrange(app)
    before = app.json("show", "1")
    app.ws.attempts.rename(app.folder / "away")
    app.run("reconcile", "--wait", code=7)
    shown = app.json("show", "1")
    assert (shown["status"], shown["phase"], shown["failure"]) == (before["status"], before["phase"], None)
    assert (shown["contact"]["state"], shown["released"]) == ("cannot_tell", before["released"])
    assert f"the folder {app.ws.attempt_folder(1, 1)}/spool is missing" in shown["contact"]["why"]
    app.ws.attempts.rmdir()
    (app.folder / "away").rename(app.ws.attempts)
    app.run("reconcile", "--wait")
    assert (app.status(), app.json("show", "1")["released"]) == (end, True)
    assert not [line for line in app.lines("alerts") if line["code"] == "cannot_tell"]
    app.run("audit")
