"""Sleep and a wall clock that is set, by the real controller and a real host: nothing ends, nothing is told wrongly (R08)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.clock import US, Now
from actum.generation import read_endpoint
from actum.store.show import show_document
from actum.supervise import deadlines
from actum_desktop.controller import controller as controlling
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.app import ENTRY, App
from tests.helpers.headless import Place
from tests.helpers.waiting import wait_until

DAY_S = 86_400
TIME_NAMESPACE = ("unshare", "--time", "--fork", "--monotonic", str(DAY_S), "--boottime", str(DAY_S))


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    made.close()


class Clock:
    """The clocks of the controller, put ahead of the real ones by so many seconds. Attributes: wall_s, asleep_s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._utc_us = controlling.clock.utc_us
        self.wall_s = self.asleep_s = 0.0
        monkeypatch.setattr(controlling.clock, "read", self.read)
        monkeypatch.setattr(controlling.clock, "utc_us", self.utc_us)

    def utc_us(self) -> int:
        return self._utc_us() + int((self.wall_s + self.asleep_s) * US)

    def read(self) -> Now:
        boottime_us = controlling.clock.boottime_us() + int(self.asleep_s * US)
        return Now(self.utc_us(), controlling.clock.monotonic_us(), boottime_us)


def rows(place: Place, run: int, kind: str) -> list[Any]:
    return [row.data for row in place.read(lambda reader: reader.journal(run)) if row.kind == kind]


def test_r08_a_night_asleep_is_no_stall_no_silence_and_no_deadline(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the journal of the run, from when to when; everything is looked at again, and nothing is warned of."""
    run = place.steps(60)
    [m] = place.headless.controller.supervisor.machines.values()
    looked = m.seen.evidence
    clock = Clock(monkeypatch)
    clock.asleep_s = 8 * 3600
    place.until(lambda: rows(place, run, "slept"))
    [slept] = rows(place, run, "slept")
    assert slept["slept_us"] == pytest.approx(8 * 3600 * US, abs=US)
    assert slept["to_us"] - slept["from_us"] == slept["slept_us"]
    place.until(lambda: m.seen.evidence is not looked)
    now = clock.read()
    assert deadlines.silent_s(m, now) < limits.HOST_SILENT_S
    assert deadlines.warnings(m, now) == ()
    assert place.status(run) == ("RUNNING", "COMPUTING")


@pytest.mark.parametrize("days", [1, -1])
def test_r08_a_wall_clock_set_by_a_day_changes_no_duration_and_no_run(
    place: Place, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    run = place.steps(60)
    [m] = place.headless.controller.supervisor.machines.values()
    clock = Clock(monkeypatch)
    clock.wall_s = days * DAY_S
    place.until(lambda: rows(place, run, "clock_set"))
    [told] = rows(place, run, "clock_set")
    assert told["by_us"] == pytest.approx(days * DAY_S * US, abs=US)
    assert told["to_us"] - told["from_us"] == told["by_us"]
    assert deadlines.warnings(m, clock.read()) == ()
    place.ask("stop", run=run, level="insist")
    place.until(lambda: place.row(run).released)
    assert place.status(run) == ("STOPPED", "CLOSED")
    shown = place.read(lambda reader: show_document(reader, place.ws, run))
    assert 0 < shown["duration_s"] < 60


def test_r11_a_clock_set_by_the_bound_is_not_told_and_by_more_it_is(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLOCK_SET_NOTICED_S, forth and back; said once."""
    now = controlling.clock.read()
    clocks = place.headless.controller._clocks
    clocks.begin(now)
    for sign in (1, -1):
        for more, told in ((0, 0), (1, 1)):
            set_us = sign * (limits.CLOCK_SET_NOTICED_S * US + more)
            before = place.journal().count("clock_set")
            clocks.begin(now)
            clocks.look(now._replace(utc_us=now.utc_us + set_us))
            place.ask("set_setting", name="slots", value=2)
            assert place.journal().count("clock_set") == before + told


def test_r08_a_supervisor_whose_clocks_are_a_day_ahead_ends_nothing(tmp_path: Path) -> None:
    """In a time namespace monotonic time and the start ticks of every process are others: the host is not taken for gone, its
    deadline has not passed, and of its tree nothing can be told from there (R07)."""
    there = shutil.which("unshare") is not None
    if not there or subprocess.run([*TIME_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this needs a time namespace, which cannot be made here")
    app = App(tmp_path)
    try:
        app.define("--timeout", "1h", "--stall-after", "1h")
        command = app.start("run", "work")
        wait_until(app.pids, what="the start of the work")
        state = app.ws.attempt_folder(1, 1) / "spool" / "state.json"
        wait_until(state.exists, what="the state of the host")
        command.kill()
        command.communicate()
        words = [*TIME_NAMESPACE, sys.executable, "-c", ENTRY, "--workspace", str(app.ws.path), "supervise"]
        ahead = subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wait_until(lambda: "contact_resumed" in app.journal(), what="contact from the namespace")
        assert app.status() == "RUNNING"
        app.gate.touch()
        wait_until(lambda: "sealed" in app.facts(), what="the sealed package")
        endpoint = read_endpoint(app.ws)
        assert endpoint is not None
        os.kill(endpoint["pid"], signal.SIGTERM)
        out, _ = ahead.communicate(timeout=60)
        app.run("reconcile", "--wait")
        assert app.status() == "SUCCEEDED", out
    finally:
        app.end()
