"""Stall and deadlines: the host enforces them with or without an app, warnings come and go and change no status (R08)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.app import App
from tests.helpers.waiting import wait_until

SLEEPS = """
import os, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
while True:
    time.sleep(0.05)
"""

BURNS_IN_A_GRANDCHILD = """
import os, subprocess, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
burn = "while True: pass"
middle = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}]).wait()"
subprocess.Popen([sys.executable, "-c", middle]).wait()
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def timed_out(app: App, code: str) -> None:
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("TIMEOUT", code, True)
    assert len(app.pids()) == 1
    app.run("audit")


def test_overall_deadline_of_work_that_sleeps(app: App) -> None:
    app.define("--timeout", "1s", source=SLEEPS)
    app.run("run", "work", code=1)
    timed_out(app, "overall_deadline")


def test_stage_deadline(app: App) -> None:
    staged = 'import json, os, sys, time\nopen(sys.argv[1], "a").write(f"{os.getpid()}\\n")\n'
    staged += 'open(os.environ["ACTUM_MESSAGES"], "a").write(json.dumps({"stage": "load"}) + "\\n")\n'
    app.define("--stage-timeout", "load=1s", source=staged + "while True: time.sleep(0.05)\n")
    app.run("run", "work", code=1)
    timed_out(app, "stage_deadline")


def test_deadline_of_work_that_burns_cpu_in_a_grandchild(app: App) -> None:
    """The tree's activity is seen, and the whole tree is ended."""
    app.define("--timeout", "4s", source=BURNS_IN_A_GRANDCHILD)
    app.run("run", "work", code=1)
    timed_out(app, "overall_deadline")
    used = app.json("show", "1")["activity"]["cpu_s"]
    state = json.loads((app.ws.attempt_folder(1, 1) / "spool" / "state.json").read_text())
    assert used == state["activity"]["cpu_s"], "what the host counted last is what is kept"
    assert used > 0.2, "more than two interpreters need to start"


def test_a_deadline_that_passes_while_the_app_is_dead(app: App) -> None:
    """The host keeps the deadline while no supervisor lives; the next one finds the outcome."""
    app.define("--timeout", "2s", source=SLEEPS)
    command = app.start("run", "work")
    work = wait_until(app.pids, what="the start of the work")[0]
    command.kill()
    command.communicate()
    wait_until(lambda: not Path(f"/proc/{work}").exists(), what="the end of the work")
    app.run("reconcile", "--wait")
    timed_out(app, "overall_deadline")


def test_a_stalled_run_is_warned_about_and_goes_on(app: App) -> None:
    """The warning is an alert that clears by itself; the status stays RUNNING all the while."""
    app.define("--stall-after", "1s")
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    wait_until(lambda: [a["code"] for a in app.lines("alerts")] == ["no_progress"], what="the stall warning")
    assert app.status() == "RUNNING"
    app.gate.touch()
    out, err = command.communicate(timeout=60)
    assert command.returncode == 0, (out, err)
    assert app.lines("alerts") == []


def test_deadline_while_the_host_is_stopped(app: App) -> None:
    """P19: host under SIGSTOP, deadline passed: after the grace the supervisor ends work and host by identity."""
    app.define("--timeout", "1s", source=SLEEPS)
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    host = app.json("show", "1")["attempts"][0]["pid"]
    os.kill(host, signal.SIGSTOP)
    out, err = command.communicate(timeout=120)
    assert command.returncode == 1, (out, err)
    timed_out(app, "overall_deadline")
    assert not Path(f"/proc/{host}").exists()
