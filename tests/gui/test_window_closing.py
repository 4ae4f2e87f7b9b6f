"""Closing and coming back (§3): work in flight keeps the process, a notice says how one comes back, nothing left ends it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from actum import limits
from actum_desktop import closing
from actum_desktop.desk import Desk
from actum_desktop.models.runcells import Value
from actum_desktop.tray import Tray
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.desks import phase, shut

pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise)")  # offscreen says it of every window

Open = Callable[[], Desk]


def computing(desk: Desk, qtbot: QtBot, task: str = "demo-stall") -> None:
    desk.window.asking.sample(task)
    qtbot.waitUntil(lambda: phase(desk) == "COMPUTING", timeout=60_000)


def stopped(desk: Desk, qtbot: QtBot, run: int = 1) -> None:
    desk.window.send({"verb": "stop", "run": run, "level": "insist"})
    qtbot.waitUntil(lambda: not desk.window.in_flight, timeout=60_000)


def test_closed_with_nothing_in_flight_it_ends(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    with qtbot.waitSignal(desk.done, timeout=10_000):
        desk.shell.close()
    assert not desk.shell.isVisible()


def test_closed_with_work_in_flight_it_says_how_to_come_back_and_supervises_on(
    open_desk: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way: close, notice, closed, a second start shows it, the run ends while it is hidden, the process leaves."""
    monkeypatch.setattr(closing, "IDLE_LINGER_S", 0.2)
    assert limits.IDLE_LINGER_S > 0
    desk = open_desk()
    assert desk.closing is not None
    computing(desk, qtbot)
    ended: list[bool] = []
    desk.done.connect(lambda: ended.append(True))
    desk.shell.close()
    assert desk.shell.isVisible(), "it stays until the notice is read"
    assert desk.closing.dialog is not None
    assert desk.closing.dialog.isVisible()
    assert "goes on without this window" in desk.closing.dialog.accessibleName()
    QTest.keyClick(desk.closing.dialog, Qt.Key.Key_Escape)
    assert desk.shell.isVisible()
    desk.shell.close()
    QTest.keyClick(desk.closing.dialog.close_it, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not desk.shell.isVisible(), timeout=5_000)
    desk._on_window_asked()
    assert desk.shell.isVisible(), "a second start shows the window that is there"
    assert desk.window._page.run == 1
    desk.shell.close()
    assert not desk.shell.isVisible(), "the notice is given once"
    assert desk.window._state is not None
    assert not ended
    with qtbot.waitSignal(desk.done, timeout=30_000):
        stopped(desk, qtbot)
    assert desk.window._model.cells_of(0).status.word == "Stopped"


def test_the_notice_is_not_given_again_to_one_who_has_read_it(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    desk = open_desk()
    assert desk.closing is not None
    desk.closing.kept_told.emit()
    shut(desk, qapp)
    again = open_desk()
    computing(again, qtbot)
    again.shell.close()
    assert not again.shell.isVisible()
    stopped(again, qtbot)


def test_quit_says_what_goes_on_and_then_ends(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    assert desk.closing is not None
    computing(desk, qtbot)
    QTest.keyClick(desk.shell, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: desk.closing is not None and desk.closing.dialog is not None, timeout=5_000)
    assert desk.closing.dialog is not None
    assert "Verifying, publishing and every waiting run wait" in desk.closing.dialog.accessibleName()
    QTest.keyClick(desk.closing.dialog, Qt.Key.Key_Escape)
    stopped(desk, qtbot)
    desk.shell.activateWindow()
    qtbot.waitUntil(desk.shell.isActiveWindow, timeout=5_000)
    with qtbot.waitSignal(desk.done, timeout=10_000):
        QTest.keyClick(desk.shell, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_the_queue_is_paused_and_resumed_by_its_button_and_stays_so(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    desk = open_desk()
    window = desk.window
    window.send({"verb": "pause_queue"})
    qtbot.waitUntil(lambda: window.queue_paused, timeout=10_000)
    window.asking.sample("demo-fails")
    qtbot.waitUntil(lambda: window._page.run == 1 and bool(window._page._show), timeout=20_000)
    assert "Queue paused" in window._status.accessibleName()
    shut(desk, qapp)
    again = open_desk()
    assert again.window.queue_paused, "a person's pause outlives the process"
    again.window._runs._queue.click()
    again.window.open_run(1)
    qtbot.waitUntil(lambda: phase(again) == "CLOSED", timeout=60_000)
    assert again.window._page._badge.word == "Failed"
    assert not again.window.queue_paused
    assert isinstance(again.window._model.cells_of(0).cpu, Value)


def test_the_tray_says_what_is_in_flight_and_offers_the_way_back(open_desk: Open, qtbot: QtBot) -> None:
    """The menu, whether or not the desktop of the tests has a tray."""
    desk = open_desk()
    tray = Tray(desk.window._ink)
    tray.say(2, True)
    texts = [action.text() for action in tray.menu.actions() if action.text()]
    assert texts == ["2 runs in flight, queue paused", "Show the window", "Resume queue", "Quit Actum"]
    asked: list[object] = []
    tray.queue_asked.connect(asked.append)
    tray._queue.trigger()
    tray.say(0, False)
    tray._queue.trigger()
    assert asked == ["resume", "pause"]
    tray.close()
