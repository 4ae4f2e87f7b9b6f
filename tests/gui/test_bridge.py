"""The window's bridge to a real controller in its own thread: answers, updates, an orderly end, nothing left (§3, R11)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.errors import ActumError, Busy
from actum.generation import read_endpoint
from actum.lock import Lock
from actum.store.queries import Reader
from actum.workspace import Workspace, create_folders
from actum_desktop.controller import bridge as bridging
from actum_desktop.controller.bridge import Bridge
from actum_desktop.controller.events import Answered, Supervising, Update
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import workspaces
from tests.helpers.waiting import wait_until


class Bench:
    """A bridge and what it told the GUI thread."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.ws = Workspace(folder / "workspace")
        create_folders(self.ws)
        self.bridge = Bridge()
        self.started: list[ActumError | None] = []
        self.updates: list[Update] = []
        self.supervising: list[Supervising] = []
        self.answers: dict[int, Answered] = {}
        self.retired: list[str] = []
        self.threads: set[int] = set()
        self._qtbot = qtbot
        self.bridge.started.connect(self.started.append)
        self.bridge.updated.connect(self._on_updated)
        self.bridge.supervising.connect(self.supervising.append)
        self.bridge.answered.connect(self._on_answered)
        self.bridge.retired.connect(self.retired.append)

    def _on_updated(self, update: Update) -> None:
        self.threads.add(threading.get_ident())
        self.updates.append(update)

    def _on_answered(self, answered: Answered) -> None:
        self.threads.add(threading.get_ident())
        assert answered.token not in self.answers, "a command is answered once"
        self.answers[answered.token] = answered

    def start(self) -> None:
        lock = Lock.try_acquire(self.ws)
        assert lock is not None
        self.bridge.start(self.ws, lock)
        self.until(lambda: self.started)

    def ask(self, verb: str, **body: Any) -> Mapping[str, Any]:
        token = self.bridge.command({"verb": verb, **body})
        self.until(lambda: token in self.answers)
        answer = self.answers[token]
        if answer.error is not None:
            raise answer.error
        assert answer.ok is not None
        return answer.ok

    def until(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=30_000)


@pytest.fixture
def bench(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, qtbot)
    yield made
    made.bridge.leave()
    made.bridge.deleteLater()


def test_a_run_from_the_window_is_told_in_updates_until_it_is_done(bench: Bench) -> None:
    """§3: commands go in, frozen dataclasses come out, in the GUI thread; leaving ends thread, helpers and lock."""
    bench.start()
    assert bench.started == [None]
    created = bench.ask("run", task="demo-steps", parameters={"seconds": "1"})
    run = created["run"]
    assert created["created"] is True

    def status() -> str:
        with Reader(bench.ws) as reader:
            return str(reader.run(run).status)

    bench.until(lambda: status() == "SUCCEEDED")
    bench.until(lambda: bench.supervising and bench.supervising[-1].slots_taken == 0)
    assert any(run in update.changes.runs for update in bench.updates)
    live = [each for update in bench.updates for each in update.live if each.run == run]
    assert any((each.progress or {}).get("done") for each in live), "progress was shown"
    assert bench.threads == {threading.get_ident()}
    assert bench.ask("status")["window"] is True
    assert bench.bridge.leave() is True
    assert read_endpoint(bench.ws) is None
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None
    lock.release()
    assert bench.bridge.leave() is True, "twice is once"


def test_every_command_is_answered_under_its_token_in_order(bench: Bench) -> None:
    bench.start()
    order: list[int] = []
    bench.bridge.answered.connect(lambda answered: order.append(answered.token))
    tokens = [bench.bridge.command({"verb": "set_setting", "name": "slots", "value": 1 + n % 5}) for n in range(50)]
    wrong = bench.bridge.command({"verb": "stop", "run": 999})
    bench.until(lambda: len(bench.answers) == 51)
    assert [bench.answers[token].error for token in tokens] == [None] * 50
    error = bench.answers[wrong].error
    assert error is not None
    assert error.exit_code == 3
    assert [token for token in order if token != wrong] == tokens, "the wrong one needs no commit and may be first"


def test_a_command_before_the_supervisor_is_up_is_answered(bench: Bench) -> None:
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None
    bench.bridge.start(bench.ws, lock)
    token = bench.bridge.command({"verb": "status"})
    bench.until(lambda: token in bench.answers)
    assert bench.answers[token].ok is not None, "it waited its turn behind the start"


def test_leaving_at_once_lets_go_of_the_workspace(bench: Bench) -> None:
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None
    bench.bridge.start(bench.ws, lock)
    assert bench.bridge.leave() is True
    again = Lock.try_acquire(bench.ws)
    assert again is not None
    again.release()


def test_a_workspace_that_cannot_be_opened_is_told_and_let_go(bench: Bench) -> None:
    bench.ws.database.write_bytes(b"this is no database, and long enough to be looked at" * 100)
    bench.start()
    (error,) = bench.started
    assert error is not None
    assert error.exit_code == 8
    with pytest.raises(ActumError) as caught:
        bench.ask("status")
    assert caught.value.code == "not_started"
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None, "nothing holds the workspace"
    lock.release()


@pytest.mark.logs("could not start")
def test_a_start_that_fails_in_a_way_nobody_foresaw_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridging.Controller, "start", lambda controller: 1 // 0)
    bench.start()
    (error,) = bench.started
    assert error is not None
    assert error.code == "bug"
    assert "ZeroDivisionError" in error.why


def test_p23_a_window_whose_epoch_is_over_says_so_and_lets_go(bench: Bench) -> None:
    bench.start()
    with workspaces.writing(bench.ws):
        pass
    with pytest.raises(Busy):
        bench.ask("set_setting", name="slots", value=2)
    bench.until(lambda: bench.retired)
    assert "newer service instance" in bench.retired[0]
    with pytest.raises(Busy):
        bench.ask("status")
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None
    lock.release()


@pytest.mark.logs("still commits")
def test_r11_leaving_waits_only_so_long_for_open_commits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is small here. The thread goes on by itself, lets go of the lock, and is never torn down while it runs."""
    assert limits.LEAVE_MS_MAX >= 1_000, "a slow disk has its time"
    gate = threading.Event()
    close = bridging.Controller.leave

    def slow(controller: Any) -> None:
        gate.wait(20)
        close(controller)

    bench.start()
    monkeypatch.setattr(bridging.Controller, "leave", slow)
    monkeypatch.setattr(bridging, "LEAVE_MS_MAX", 100)
    assert bench.bridge.leave() is False
    assert Lock.try_acquire(bench.ws) is None, "what is not committed yet is not let go"
    thread, _ = bridging._late[-1]
    assert thread.isRunning()
    bench.bridge.deleteLater()
    bench.bridge = Bridge()
    gate.set()
    wait_until(thread.isFinished, what="the end of the controller thread")
    lock = Lock.try_acquire(bench.ws)
    assert lock is not None
    lock.release()
    bridging._late.clear()


def test_leaving_before_anything_was_started_is_nothing(bench: Bench) -> None:
    assert bench.bridge.leave() is True
    assert not [thread for thread in bench.bridge.findChildren(QThread) if thread.isRunning()]
