"""The window over the real controller, hosts and helpers: sample, ledger, warning, stop, close, reopen (R01, R08, R09, R13)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from actum_desktop.desk import Desk
from actum_desktop.ledger import Kind
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.desks import foot, kinds, phase, shut

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

Open = Callable[[], Desk]


def test_first_start_sample_ledger_closes(open_desk: Open, qtbot: QtBot) -> None:
    """R01: the ledger fills in live and is ruled off twice only when the run is recorded as succeeded."""
    desk = open_desk()
    window = desk.window
    first = window._runs._first
    assert first.isVisible()
    qtbot.waitUntil(first._cards[0].run.hasFocus, timeout=5_000)
    QTest.mouseClick(first._cards[0].run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window._page.run == 1, timeout=20_000)
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=60_000)
    qtbot.waitUntil(lambda: window._page._badge.word == "Succeeded", timeout=5_000)
    assert set(kinds(desk)) == {Kind.ESTABLISHED}
    assert foot(desk).foot.rule == "double"
    assert window._page._sentence.text().startswith("Done, checked")
    QTest.keyClick(window._page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window._pages.currentWidget() is window._runs, timeout=5_000)
    assert window._runs._pages.currentIndex() == 0, "the list is there from the first run on"
    qtbot.waitUntil(lambda: window._model.cells_of(0).status.word == "Succeeded", timeout=5_000)


def test_stall_is_a_warning_and_the_stop_shows_its_stages(open_desk: Open, qtbot: QtBot) -> None:
    """R08: no progress is said in words and changes no status; the stop is asked in place and ends in a closed account."""
    desk = open_desk()
    window, page = desk.window, desk.window._page
    window.asking.sample("demo-stall")
    qtbot.waitUntil(lambda: page._banner.isVisible(), timeout=60_000)
    assert page._banner._title.text().startswith("No progress for ")
    assert "Actum will not end it." in page._banner._text.text()
    assert page._badge.word == "Running"
    assert page._log.lines.total >= 1
    QTest.keyClick(page._ledger, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: page._popover.isVisible(), timeout=5_000)
    QTest.keyClick(page._popover._yes, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=60_000)
    assert page._badge.word == "Stopped"
    assert page._track.isVisible()
    assert "Released, done" in page._track.accessibleName()
    assert foot(desk).foot.rule == "double"
    assert not page._banner.isVisible(), "the warning went away by itself"


def test_a_failed_run_says_why_and_labels_its_files(open_desk: Open, qtbot: QtBot) -> None:
    """R13: what an unsuccessful attempt left is never shown as a result."""
    desk = open_desk()
    window, page = desk.window, desk.window._page
    window.asking.sample("demo-fails")
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=60_000)
    assert page._badge.word == "Failed"
    assert page._failed.isVisible()
    assert Kind.REFUSED in kinds(desk)
    assert page._show["result"] is None


def test_closed_and_opened_again_the_run_is_found(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    """R09: the launch screen shows each leftover with a verdict; the same session goes on and can be stopped."""
    desk = open_desk()
    desk.window.asking.sample("demo-stall")
    qtbot.waitUntil(lambda: desk.window._page._show.get("phase") == "COMPUTING", timeout=60_000)
    session = desk.window._page._show["attempts"][0]["session"]
    shut(desk, qapp)
    again = open_desk()
    window = again.window
    qtbot.waitUntil(lambda: window._whole.currentWidget() is window._launch, timeout=30_000)
    qtbot.waitUntil(lambda: window._launch._resume.isEnabled(), timeout=30_000)
    assert window._launch.model.rowCount() == 1
    assert "Still running" in window._launch.model.data(window._launch.model.index(0))
    QTest.mouseClick(window._launch._resume, Qt.MouseButton.LeftButton)
    window.open_run(1)
    qtbot.waitUntil(lambda: phase(again) == "COMPUTING", timeout=30_000)
    assert window._page._show["attempts"][0]["session"] == session
    window.send({"verb": "stop", "run": 1, "level": "ask"})
    qtbot.waitUntil(lambda: phase(again) == "CLOSED", timeout=60_000)
    assert foot(again).foot.rule == "double"


def test_language_and_look_change_while_it_is_open(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    desk.window.asking.sample("demo-fails")
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=60_000)
    assert desk.window._model.cells_of(0).title == "Fails on purpose"
    desk.window.scheme_chosen.emit("dark")
    assert desk.theme.dark
    desk.window._on_language("zh_CN")
    qtbot.waitUntil(lambda: desk.window._runs._title.text() == "运行", timeout=10_000)
    assert desk.window._model.cells_of(0).title != "Fails on purpose", "titles of tasks change with the language"
    desk.window._on_language("en")
    qtbot.waitUntil(lambda: desk.window._runs._title.text() == "Runs", timeout=10_000)
    desk.window.scheme_chosen.emit("light")


def test_an_error_is_told_above_the_page_with_its_remedy(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    desk.window.asking.sample("no-such-task")
    qtbot.waitUntil(lambda: desk.window._notice.isVisible(), timeout=20_000)
    assert "no-such-task" in desk.window._notice.notice._title.text()
    desk.window._on_escape()
    assert not desk.window._notice.isVisible()
