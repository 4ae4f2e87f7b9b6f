"""P21, R01, R18: whoever leaves while a launch is being recorded performs it first; what waits begins with the next one.

The moment is exact: the point before STARTING is asked for makes its COMMIT wait, and has the supervisor leave meanwhile.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from actum import faults
from actum.errors import ActumError
from actum.model.facts import FACTS, FactName
from actum_desktop.controller.controller import Controller
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.app import App
from tests.helpers.headless import Place
from tests.helpers.workspaces import CONTRACT

ALL = [name.value for name in FACTS]
WAITING_COMMIT = "store.commit.before:delay=700"
BEFORE_STARTING = "launch.fsync.after:kill-work"  # in the supervisor nobody is the work: the role is the test's

TERMINATED_WHILE_LAUNCHING = """
import os, signal, sys
from actum import faults
from actum_desktop.entry import main
def leave_meanwhile():
    faults.arm("store.commit.before:delay=700")
    os.kill(os.getpid(), signal.SIGTERM)
faults.roles["work"] = leave_meanwhile
sys.argv[0] = "actum"
sys.exit(main())
"""


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    before = dict(faults.roles)
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    faults.arm("")
    faults.roles.clear()
    faults.roles.update(before)
    made.close()


def meanwhile(place: Place, leave: Callable[[Controller], object]) -> None:
    """Run a task; while its STARTING is being committed, `leave` is called. Returns when the supervisor has left."""
    controller = place.headless.controller

    def now() -> None:
        faults.arm(WAITING_COMMIT)
        controller.soon(lambda: leave(controller))

    faults.roles["work"] = now
    place.define()
    place.ask("run", task="plain")
    faults.arm(BEFORE_STARTING)
    place.until(place.free)
    faults.arm("")


@pytest.mark.parametrize("leave", [Controller.leave, Controller.hand_over])
def test_p21_a_launch_on_record_is_performed_before_the_lock_is_free(
    place: Place, leave: Callable[[Controller], object]
) -> None:
    meanwhile(place, leave)
    assert place.status() == ("STARTING", "LAUNCHING")
    assert place.row().facts[FactName.LAUNCHED]["epoch"] == 1, "the leaver's own, by the spawn's answer"
    place.open()
    place.until(lambda: place.status() == ("SUCCEEDED", "CLOSED"))
    assert list(place.row().facts) == [*FACTS]
    assert place.read(lambda reader: len(reader.attempts(1))) == 1


def test_p07_a_stop_that_came_just_before_is_on_record_and_nothing_is_launched(place: Place) -> None:
    """Its STARTING is on record too, so the next supervisor looks, finds nothing, and closes the run as stopped."""
    answers: list[tuple[Mapping[str, Any] | None, ActumError | None]] = []

    def stop_and_leave(controller: Controller) -> None:
        controller.command({"verb": "stop", "run": 1, "level": "ask"}, lambda ok, error: answers.append((ok, error)))
        controller.leave()

    meanwhile(place, stop_and_leave)
    assert answers == [({"run": 1, "answer": "accepted"}, None)]
    assert FactName.LAUNCHED not in place.row().facts
    place.open()
    place.until(lambda: place.status() == ("STOPPED", "CLOSED"))


def test_p03_a_host_whose_hello_is_on_its_way_is_answered_before_its_channel_ends(place: Place) -> None:
    """Else it ends itself with nothing done, and the run would count as failed to start."""
    controller = place.headless.controller
    faults.roles["work"] = lambda: faults.arm(WAITING_COMMIT)
    place.define()
    place.ask("run", task="plain")
    faults.arm("fact.launched.after:kill-work")
    place.until(lambda: controller._reach is not None and controller._reach.server.channels)
    controller.leave()
    faults.arm("")
    assert place.row().facts[FactName.CONTACT_MADE]["epoch"] == 1
    place.open()
    place.until(lambda: place.status() == ("SUCCEEDED", "CLOSED"))


def test_p21_no_slot_is_granted_while_leaving(place: Place) -> None:
    """The admission is answered after its commit, and the run waits for the next supervisor."""
    place.define()
    controller = place.headless.controller
    answers: list[Mapping[str, Any] | None] = []
    faults.arm(WAITING_COMMIT)
    controller.command({"verb": "run", "task": "plain"}, lambda ok, error: answers.append(ok))
    place.until(lambda: controller.supervisor._admitting)
    controller.leave()
    faults.arm("")
    assert answers[0] is not None
    assert answers[0]["run"] == 1
    assert place.status() == ("CREATED", "QUEUED")


def test_p21_exports_that_wait_when_a_successor_comes_are_left_to_it(place: Place) -> None:
    """Two tries are asked for: the end of one is recorded while leaving, the other is not begun; no defect is met."""
    policy = {"folder": str(place.folder), "tables": ["none"]}
    place.ask("task_add", contract={**CONTRACT, "name": "plain", "policies": {"export_on_success": policy}})
    for run in (1, 2):
        place.ask("run", task="plain")
        place.until(lambda run=run: place.journal(run).count("export_on_success") == 1)  # type: ignore[misc]
    controller = place.headless.controller
    place.until(lambda: not controller.settling)
    answers: dict[int, tuple[Mapping[str, Any] | None, ActumError | None]] = {}
    faults.arm(WAITING_COMMIT)
    for run in (1, 2):
        body = {"verb": "deliver", "run": run}
        controller.command(body, lambda ok, error, run=run: answers.update({run: (ok, error)}))  # type: ignore[misc]
    controller.hand_over()
    place.until(lambda: place.headless.retired)
    assert place.headless.handed_over
    assert place.headless.retired == "another supervisor took over"
    assert (answers[1][0] or {})["failed"][0]["table"] == "none"
    assert getattr(answers[2][1], "code", "") == "supervisor_left", answers
    assert [place.journal(run).count("export_on_success") for run in (1, 2)] == [2, 1]


def test_p21_sigterm_to_a_command_that_is_just_launching_its_run(tmp_path: Path) -> None:
    """The command ends, the run goes on with the supervisor it leaves behind, and never counts as failed to start."""
    app = App(tmp_path)
    try:
        app.define(gated=False)
        app.entry = TERMINATED_WHILE_LAUNCHING
        app.run("run", "work", code=128 + signal.SIGTERM, fault=BEFORE_STARTING)
        with app.reader() as reader:
            (launched,) = [row for row in reader.facts(1) if row.fact == FactName.LAUNCHED]
        assert launched.evidence["method"] == "the spawn returned", "by whoever left"
        app.wait_status("SUCCEEDED", "START_FAILED", "FAILED")
        assert app.facts() == ALL
        assert len(app.pids()) == 1
    finally:
        app.end()
