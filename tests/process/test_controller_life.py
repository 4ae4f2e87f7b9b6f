"""The life of a supervisor: it begins alone, meets defects, is replaced, leaves nothing behind (R02, R09, R18, P21, P23)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import faults, limits
from actum.clock import US, Now
from actum.errors import ActumError, Busy
from actum.generation import read_endpoint, write_endpoint
from actum.ipc import spool
from actum.lock import Lock
from actum.model.changes import SetSetting
from actum.processes import identity
from actum.store.queries import Reader
from actum_desktop.controller import controller as controlling
from actum_desktop.controller import performer, steps
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import workspaces
from tests.helpers.headless import Place
from tests.helpers.waiting import wait_until


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    made.close()


class Clock:
    """Clocks that stand where the test puts them. Attributes: monotonic_us, asleep_us (time spent in sleep so far)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        start = controlling.clock.read()
        self.monotonic_us, self.asleep_us = start.monotonic_us, start.boottime_us - start.monotonic_us
        monkeypatch.setattr(controlling.clock, "read", self.read)

    def read(self) -> Now:
        return Now(controlling.clock.utc_us(), self.monotonic_us, self.monotonic_us + self.asleep_us)


# Beginning and leaving


def test_a_second_supervisor_is_impossible_while_one_lives(place: Place) -> None:
    assert Lock.try_acquire(place.ws) is None
    place.headless.leave()
    assert place.free()


def test_leaving_ends_channels_removes_the_endpoint_and_lets_go(place: Place) -> None:
    client = place.client()
    endpoint = read_endpoint(place.ws)
    assert endpoint is not None
    assert endpoint["pid"] == os.getpid()
    place.headless.leave()
    assert client.ended()
    assert read_endpoint(place.ws) is None
    assert not Path(endpoint["socket"]).exists()
    place.headless.leave()  # twice is once


def test_leaving_does_not_remove_the_endpoint_of_the_next_one(place: Place) -> None:
    write_endpoint(place.ws, {"socket": "/elsewhere", "instance": "next", "epoch": 99, "pid": 1})
    place.headless.leave()
    assert read_endpoint(place.ws) == {"v": 1, "socket": "/elsewhere", "instance": "next", "epoch": 99, "pid": 1}


def test_p21_a_successor_is_let_in_after_the_answer(place: Place) -> None:
    client = place.client()
    assert place.answer(client, verb="take_over") == {"ok": {"leaving": True}}
    place.until(client.ended)
    assert place.headless.handed_over
    assert place.free()
    place.open()
    assert place.ask("status")["epoch"] == 2


def test_p21_what_is_being_committed_is_on_record_before_the_lock_is_free(place: Place) -> None:
    """Whoever has waited for the lock finds all that this instance wrote."""
    found: list[object] = []

    def successor() -> None:
        with wait_until(lambda: Lock.try_acquire(place.ws), what="the lock"), Reader(place.ws) as reader:
            found.append(reader.setting_rows().get("slots"))

    waiting = threading.Thread(target=successor)
    waiting.start()
    faults.arm("store.commit.before:delay=500")
    try:
        place.headless.controller.persist(SetSetting("slots", 3, 1), lambda answer: None)
        place.headless.leave()
    finally:
        faults.arm("")
        waiting.join()
    assert found == [3]


# Defects


@pytest.mark.logs("met a defect")
def test_r18_a_defect_retires_the_instance_and_the_next_one_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The defect comes between the recorded session and the spawn: nothing was started, and the next start says so."""
    place.define()

    def defect(folder: Path) -> list[str]:
        raise KeyError("nobody foresaw this")

    monkeypatch.setattr(performer.launch, "host_command", defect)
    client = place.client()
    place.ask("run", task="plain")
    place.until(lambda: place.headless.retired)
    assert "defect" in place.headless.retired
    place.until(client.ended)
    assert read_endpoint(place.ws) is None
    assert place.free()
    assert isinstance(place.error("status"), Busy), "who does not supervise answers so"
    monkeypatch.undo()
    place.open()
    place.until(lambda: place.ask("reconcile") and place.status() == ("START_FAILED", "CLOSED"))
    assert place.row().failure_code == "launch_lost"


@pytest.mark.logs("met a defect")
def test_a_defect_in_the_receiver_of_a_helpers_answer_retires_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that would never be answered is no supervisor that looks alive."""
    place.define()

    def defect(found: Any) -> None:
        raise TypeError("nobody foresaw this")

    monkeypatch.setattr(steps, "_stat", defect)
    place.ask("run", task="plain")
    place.until(lambda: place.headless.retired)
    assert place.free()
    monkeypatch.undo()
    place.open()
    place.ask("resume_queue")
    place.until(lambda: place.status()[1] == "CLOSED")


@pytest.mark.logs("met a defect")
def test_a_command_under_way_when_the_instance_retires_is_answered(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command has one answer: here that it is not known, and should be asked again."""
    answers: list[tuple[Any, ActumError | None]] = []
    place.define()
    place.halt("admit")
    body = {"verb": "run", "task": "plain"}
    place.headless.controller.command(body, lambda ok, error: answers.append((ok, error)))
    monkeypatch.setattr(place.headless.controller.supervisor, "handle", lambda event, now: 1 // 0)
    place.until(lambda: answers)
    ((ok, error),) = answers
    assert ok is None
    assert isinstance(error, Busy)
    assert place.free()


# Replaced


def test_p23_a_newer_epoch_retires_this_instance_and_it_signals_nothing(place: Place) -> None:
    """Somebody opened the next epoch beside the lock: the stop is refused, not written, and nobody is signalled."""
    run = place.steps(60)
    with workspaces.writing(place.ws):
        pass
    error = place.error("stop", run=run)
    assert isinstance(error, Busy)
    place.until(lambda: place.headless.retired)
    assert "newer service instance" in place.headless.retired
    row = place.row(run)
    assert isinstance(spool.read_stop(place.ws.attempt_folder(row.run, row.n)), spool.Absent)
    host = place.host(run)
    assert identity.state(host) == "alive"
    assert row.stop_requested_at_us is None
    place.open()
    place.until(lambda: place.row(run).contact == "ok")
    assert place.ask("stop", run=run)["answer"] == "accepted"
    place.until(lambda: place.status(run) == ("STOPPED", "CLOSED"))
    place.until(lambda: identity.state(host) == "gone")


def test_p23_a_setting_that_meets_a_newer_epoch_retires_too(place: Place) -> None:
    with workspaces.writing(place.ws):
        pass
    assert isinstance(place.error("set_setting", name="slots", value=3), Busy)
    place.until(lambda: place.headless.retired)
    assert place.free()


def test_r11_a_replaced_lock_file_is_seen_at_the_next_look_and_retires(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs could each hold “the” lock: this one gives way. Just at the bound it has not looked yet."""
    clock = Clock(monkeypatch)
    controller = place.headless.controller
    controller._lock_looked_us = clock.monotonic_us
    place.ws.lock.rename(place.ws.path / "lock.old")
    place.ws.lock.touch()
    clock.monotonic_us += limits.LOCK_LOOK_EVERY_S * US
    controller._on_tick()
    assert controller.supervisor.retired is None
    clock.monotonic_us += 1
    controller._on_tick()
    assert controller.supervisor.retired is not None
    place.until(lambda: place.headless.retired)
    assert "lock file was replaced" in place.headless.retired
    place.open()


@pytest.mark.parametrize("spoilt", [False, True])
def test_an_endpoint_file_that_is_lost_is_written_again(place: Place, monkeypatch: pytest.MonkeyPatch, spoilt: bool) -> None:
    """Else the workspace is held by somebody whom neither hosts nor commands find, until that process ends."""
    clock = Clock(monkeypatch)
    controller = place.headless.controller
    controller._lock_looked_us = clock.monotonic_us
    before = read_endpoint(place.ws)
    place.ws.endpoint.unlink()
    if spoilt:
        place.ws.endpoint.write_text("{")
    clock.monotonic_us += limits.LOCK_LOOK_EVERY_S * US + 1
    controller._on_tick()
    assert before is not None
    assert read_endpoint(place.ws) == before


def test_r11_whoever_gave_way_waits_for_its_successor(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """P21: the lock is not taken again before TAKE_OVER_FREE_S have passed, and after it is. The time is short here."""
    import time

    from actum_desktop.commands.interrupts import Interrupts
    from actum_desktop.commands.supervision import InThisProcess, Session

    place.headless.leave()
    monkeypatch.setattr(limits, "TAKE_OVER_FREE_S", 0.5)
    with Interrupts() as interrupts, Session(place.ws, interrupts) as session:
        ours = session.supervisor()
        assert isinstance(ours, InThisProcess)
        place.headless = ours.headless
        place._all.append(ours.headless)
        ours.headless.controller.hand_over()
        place.until(lambda: ours.headless.handed_over)
        session.leave()
        left_at = time.monotonic()
        again = session.supervisor()
        assert isinstance(again, InThisProcess), "nobody came"
        place._all.append(again.headless)
        assert time.monotonic() - left_at >= limits.TAKE_OVER_FREE_S


# Signals


def test_ctrl_c_is_counted_and_the_command_is_answered_all_the_same(place: Place) -> None:
    """The caller decides what an interrupt means; here it goes on waiting. The helper that dies meanwhile is asked again."""
    place.define()
    place.ask("pause_queue")
    helper = place.halt("admit")

    def end_the_helper() -> None:
        if place.headless.interrupted:
            os.kill(helper, signal.SIGKILL)
        else:
            QTimer.singleShot(10, place.headless, end_the_helper)

    QTimer.singleShot(0, place.headless, lambda: os.kill(os.getpid(), signal.SIGINT))
    QTimer.singleShot(10, place.headless, end_the_helper)
    run = place.ask("run", task="plain")["run"]
    assert place.headless.interrupted == 1
    place.ask("stop", run=run, level="ask")


def test_a_command_that_may_be_interrupted_is(place: Place) -> None:
    place.define()
    place.halt("admit")
    QTimer.singleShot(0, place.headless, lambda: os.kill(os.getpid(), signal.SIGINT))
    body = {"verb": "run", "task": "plain"}
    with pytest.raises(KeyboardInterrupt):
        place.headless.submit(body, interruptible=True)
    assert place.ask("status")["pid"] == os.getpid(), "it supervises on"


# Time


def test_r11_a_gap_at_the_bound_is_no_sleep_and_a_longer_one_is(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    controller = place.headless.controller
    controller._on_tick()
    clock.asleep_us += limits.SLEEP_NOTICED_S * US
    controller._on_tick()
    place.ask("status")
    assert "slept" not in place.journal()
    clock.asleep_us += limits.SLEEP_NOTICED_S * US + 1
    controller._on_tick()
    place.until(lambda: place.journal().count("slept") == 1)
    controller._on_tick()
    place.ask("set_setting", name="slots", value=2)
    assert place.journal().count("slept") == 1, "said once"


def test_r11_the_supervisor_ticks_this_often(place: Place) -> None:
    assert place.headless.controller._tick.interval() == limits.TICK_MS
    assert min(limits.LOOK_AGAIN_S, limits.RECORDS_EVERY_S, limits.STATE_POLL_S) > limits.TICK_MS / 1000


def test_r11_many_changes_are_told_at_most_so_many_times_a_second(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds of commits as fast as they go; every change is in some update, and in no more than the bound allows."""
    import time

    told: list[float] = []
    controller = place.headless.controller
    controller.updated.connect(lambda update: told.append(time.monotonic()))
    begun = time.monotonic()
    commits = 0
    while time.monotonic() - begun < 2:
        place.ask("set_setting", name="slots", value=1 + commits % 9)
        commits += 1
    elapsed = time.monotonic() - begun
    assert commits > len(told) > 0
    assert len(told) <= limits.CHANGES_PER_S_MAX * elapsed + 1
    assert controller._show.interval() * limits.CHANGES_PER_S_MAX >= 1000
