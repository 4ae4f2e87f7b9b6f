"""The dialog that defines a task: every control has a name, no word is cut, what it shows is what is defined (UI.md §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum.engines.tryout import try_out
from actum_desktop import i18n
from actum_desktop.models.background import Background
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.programdialog import ProgramDialog
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import keyboard
from tests.helpers.widgets import clipped, nameless

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen: size hints, raising, grabbing keys

Show = Callable[[str], ProgramDialog]


@pytest.fixture
def show(qapp: QApplication, qtbot: QtBot) -> Iterator[Show]:
    qapp.setStyle("Fusion")
    theme, background = Theme(qapp, "light"), Background()
    made: list[ProgramDialog] = []

    def shown(kind: str) -> ProgramDialog:
        dialog = ProgramDialog(Ink(theme), background, kind, try_out)
        made.append(dialog)
        dialog.open()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow, timeout=5_000)
        qtbot.waitUntil(lambda: not background.busy, timeout=20_000)
        dialog.focus_start()
        return dialog

    yield shown
    for dialog in made:
        dialog.reject()
        dialog.deleteLater()
    background.close()
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("kind", ["program", "function"])
def test_every_control_has_a_name_and_no_word_is_cut(show: Show, kind: str, language: str, tmp_path: Path) -> None:
    i18n.use(language)
    dialog = show(kind)
    (tmp_path / "a b.py").write_text("")
    dialog.file.fill(str(tmp_path / "a b.py"))
    dialog.arguments.setPlainText("{window}")
    dialog.parameters.add("mode", "choice")
    dialog._tell_trial("It wrote a.csv.", "said\nmore")
    for _turn in range(50):
        QApplication.processEvents()
    assert nameless(dialog) == []
    assert clipped(dialog) == []


def test_all_of_it_is_reached_by_keyboard(show: Show, tmp_path: Path) -> None:
    dialog = show("program")
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    keyboard.type_text(str(script))
    for name in ("Interpreter", "Arguments", "Add parameter", "Name", "Title", "Working folder", "Files to publish"):
        keyboard.tab_to_name(name)
    keyboard.tab_to_name("Files that must be there")
    keyboard.type_text("*.csv")
    for name in ("Overall deadline", "Deadline to start", "Deadlines of stages", "Warn without", "Environment", "Test run"):
        keyboard.tab_to_name(name)
    keyboard.tab_to_name("Define task")
    defined: list[dict[str, object]] = []
    dialog.defined.connect(defined.append)
    keyboard.press(Qt.Key.Key_Space)
    for _turn in range(200):
        QApplication.processEvents()
        if defined:
            break
        dialog._background._pool.waitForDone(50)
    assert defined[0]["name"] == "job"
    assert defined[0]["required"] == ["*.csv"]


def test_a_trial_asks_for_defaults_instead_of_guessing(show: Show) -> None:
    dialog = show("program")
    dialog.try_it()
    assert dialog._trial_words.text() == "Name a program first."
    dialog.file.fill("/bin/echo")
    dialog.arguments.setPlainText("{word}")
    dialog.try_it()
    assert dialog._trial_words.text() == "A test run needs a default for: word."


def test_the_names_of_the_environment_are_shown_and_no_value(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_NAME_TO_SEE", "a value that stays hidden")
    dialog = show("program")
    assert "A_NAME_TO_SEE" in dialog.variables.toolTip()
    assert "hidden" not in dialog.variables.toolTip() + dialog.variables.text()
