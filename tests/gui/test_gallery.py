"""The gallery of tasks: found by words, opened and run by keys and mouse; a file dropped on it finds its task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.model.changes import Changes
from actum_desktop import i18n, measures
from actum_desktop.controller.events import Live, Update
from actum_desktop.models.tasks import card_runs
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.taskcards import CardDelegate
from actum_desktop.views.tasksscreen import CommandAsked, TasksScreen
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers import keyboard, showdocs, stage
from tests.helpers.everytype import TABLE
from tests.helpers.taskstage import PRESETS, PreparedShelf
from tests.helpers.widgets import clipped, nameless

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen: size hints, raising, grabbing keys


@pytest.fixture
def screen(qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[TasksScreen]:
    monkeypatch.setattr(measures, "now_us", lambda: showdocs.NOW)
    qapp.setStyle("Fusion")
    theme = Theme(qapp, "light")
    made = TasksScreen(Ink(theme))
    made.opened.connect(lambda name: made.show_task(name) if name else made.show_gallery())
    made.resize(1064, 772)
    made.show()
    made.join(PreparedShelf(PRESETS))
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=5_000)
    made.focus_start()
    yield made
    made.part()
    made.close()
    made.deleteLater()
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


def known(screen: TasksScreen, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not screen.background.busy, timeout=10_000)


def test_tasks_of_ones_own_come_first_and_are_found_by_words(screen: TasksScreen, qtbot: QtBot) -> None:
    titles = [screen.model.item(row).title for row in range(screen.model.rowCount())]
    assert titles[:2] == ["Convert invoices", "Every type"]
    keyboard.press(Qt.Key.Key_Slash)
    assert keyboard.focus().accessibleName() == "Search tasks"
    keyboard.type_text("invoices xlsx")
    qtbot.waitUntil(lambda: screen.model.rowCount() == 1, timeout=5_000)
    keyboard.type_text("zz")
    qtbot.waitUntil(lambda: screen.model.rowCount() == 0, timeout=5_000)
    assert screen._none.text() == "No tasks match “invoices xlsxzz”."
    keyboard.press(Qt.Key.Key_Escape)
    assert screen.model.rowCount() == len(titles)
    assert screen.cards.hasFocus()


def test_a_card_speaks_a_whole_sentence(screen: TasksScreen) -> None:
    screen.on_update(Update(Changes(), stage.lives()))
    row = screen.model.row_of("train-churn")
    spoken = screen.model.data(screen.model.index(row), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Train churn model. Fits 30 folds")
    assert "11 of 13 succeeded. Running 60 %." in spoken
    card = screen.model.card(screen.model.item(row))
    assert card.newest is not None
    assert card.newest.badge.startswith("No progress")
    assert card_runs([], {}, showdocs.NOW).sentence == "never run"


def test_enter_opens_and_the_button_runs(screen: TasksScreen, qtbot: QtBot) -> None:
    asked: list[CommandAsked] = []
    screen.command_asked.connect(asked.append)
    keyboard.press(Qt.Key.Key_Return)
    assert screen.page is not None
    assert screen.page.item.name == "convert"
    screen.show_gallery()
    index = screen.model.index(screen.model.row_of("demo-steps"))
    screen.cards.scrollTo(index)
    delegate = screen.cards.itemDelegate()
    assert isinstance(delegate, CardDelegate)
    place = delegate.play_box(screen.cards.visualRect(index)).center().toPoint()
    QTest.mouseClick(screen.cards.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [each.body["task"] for each in asked] == ["demo-steps"]
    assert asked[0].body["key"]
    screen.show_gallery()
    index = screen.model.index(screen.model.row_of("return-and-risk"))
    screen.cards.setCurrentIndex(index)
    screen.cards.setFocus()
    keyboard.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(asked) == 1, "what is missing is asked for first"
    assert screen.page.item.name == "return-and-risk"
    assert screen.page.run_form is not None
    assert screen.page.run_form.form.shown_wrong() == ["prices"]
    known(screen, qtbot)


def drop(widget: QWidget, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    widget.dropEvent(QDropEvent(QPointF(5, 5), copy, data, Qt.MouseButton.LeftButton, none))


def test_a_file_dropped_on_the_gallery_finds_its_task(screen: TasksScreen, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "价格.csv"
    path.write_text(TABLE)
    drop(screen, path)
    offered = {action.text(): action for action in screen._menu.actions()}
    assert "Return and risk: use as Prices" in offered
    offered["Return and risk: use as Prices"].trigger()
    screen._menu.close()
    assert screen.page is not None
    assert screen.page.run_form is not None
    assert screen.page.run_form.form.raw()["prices"] == str(path)
    known(screen, qtbot)


def test_a_file_dropped_on_a_task_goes_to_the_one_field_that_takes_it(
    screen: TasksScreen, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    screen.show_task("return-and-risk")
    assert screen.page is not None
    form = screen.page.run_form
    assert form is not None
    drop(form, path)
    assert form.form.raw()["prices"] == str(path)
    screen.show_task("every-type")
    form = screen.page.run_form
    assert form is not None
    drop(form, path)
    assert [action.text() for action in form._menu.actions()] == ["Use as Prices", "Use as Further files"]
    form._menu.actions()[1].trigger()
    form._menu.close()
    assert form.form.raw()["more"] == [str(path)]
    known(screen, qtbot)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_pages_of_a_task_have_names_and_no_word_is_cut(screen: TasksScreen, qtbot: QtBot, language: str) -> None:
    i18n.use(language)
    screen.show_task("return-and-risk")
    known(screen, qtbot)
    page = screen.page
    assert page is not None
    for key in ("run", "runs", "policies", "about"):
        page._tabs.choose(key)
        page._on_tab(key)
        for _turn in range(30):
            QApplication.processEvents()
        assert nameless(screen) == []
        assert clipped(screen) == [], key


def test_r11_live_states_are_kept_up_to_a_bound(screen: TasksScreen) -> None:
    screen.model.runs_changed(Live(number, "a", 1) for number in range(limits.LIVE_RUNS_KEPT_MAX))
    assert len(screen.model._live) == limits.LIVE_RUNS_KEPT_MAX
    screen.model.runs_changed([Live(-1, "a", 1)])
    assert len(screen.model._live) == 0, "emptied, and filled again by the next looks"


def test_what_dropping_would_do_is_said_while_a_file_is_held_over_the_gallery(screen: TasksScreen) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/prices.csv")])
    copy, nothing = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    assert not screen._cue.isVisible()
    enter = QDragEnterEvent(QPoint(40, 40), copy, data, Qt.MouseButton.LeftButton, nothing)
    screen.dragEnterEvent(enter)
    assert enter.isAccepted()
    assert screen._cue.isVisible()
    assert screen._cue.size() == screen.size()
    assert screen.childAt(40, 40) is not screen._cue  # it takes nothing away from the page
    assert "task" in screen._cue.accessibleName()
    screen.dragLeaveEvent(QDragLeaveEvent())
    assert not screen._cue.isVisible()
