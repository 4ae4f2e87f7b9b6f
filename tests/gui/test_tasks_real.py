"""Tasks in the window over the real controller and hosts, by keyboard: define, fill, run, read back (R05, R17, R19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from actum.store.queries import Reader
from actum_desktop.desk import Desk
from actum_desktop.views.programdialog import ProgramDialog
from actum_desktop.views.runform import RunForm
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.gui.test_forms import every_value, fill_by_keyboard
from tests.helpers import keyboard
from tests.helpers.everytype import EVERY
from tests.helpers.windows import Desks

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen: size hints, raising, grabbing keys

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    return no_desks


def open_task(desk: Desk, qtbot: QtBot, name: str) -> RunForm:
    """By keyboard: Ctrl+1, to the card, Enter."""
    window = desk.window
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    screen = window._tasks.screen
    qtbot.waitUntil(screen.cards.hasFocus, timeout=5_000)
    qtbot.waitUntil(lambda: screen.model.row_of(name) >= 0, timeout=10_000)
    keyboard.press(Qt.Key.Key_Home)
    for _turn in range(screen.model.rowCount()):
        if screen.cards.current() == name:
            break
        row = screen.cards.currentIndex().row()
        keyboard.press(Qt.Key.Key_Right)
        if screen.cards.currentIndex().row() == row:  # the end of a line of cards
            screen.cards.setCurrentIndex(screen.model.index(row + 1))
    keyboard.press(Qt.Key.Key_Return)
    page = screen.page
    assert page is not None
    assert page.item.name == name
    assert page.run_form is not None
    return page.run_form


def closed(desk: Desk, run: int) -> bool:
    page = desk.window._page
    return page.run == run and page._show.get("phase") == "CLOSED"


def test_a_task_added_meanwhile_is_filled_by_keyboard_and_read_back(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    """R19, §15: every type, and one that is not known, come through window, store, host and work unchanged."""
    desk = desks.open()
    window = desk.window
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    window.send({"verb": "task_add", "contract": EVERY})
    form = open_task(desk, qtbot, "every-type")
    fill_by_keyboard(form, every_value(tmp_path))
    record = form.form.boxes["range"].editor
    keyboard.tab_to(lambda widget: widget is record.targets[0], "range")
    keyboard.type_text("0.10")
    qtbot.waitUntil(lambda: not window._tasks.screen.background.busy, timeout=10_000)
    keyboard.press(Qt.Key.Key_Return, CTRL)
    assert form.form.shown_wrong() == []
    qtbot.waitUntil(lambda: closed(desk, 1), timeout=60_000)
    assert window._page._badge.word == "Succeeded"
    with Reader(desks.ws) as reader:
        stored = reader.run(1).parameters
        package = desks.ws.path / reader.results(1)[0].path
    place = tmp_path / "价格 of 2026"
    assert stored == {
        "prices": str(place / "prices one.csv"),
        "note": "  kept, “as is” {x} ",
        "empty": "",
        "count": 5000000,
        "small": "1e-06",
        "rate": "0.1",
        "left": None,
        "strict": True,
        "method": "median",
        "start": "2026-01-31",
        "end": "2026-02-01",
        "seen": "2026-03-31T07:41:00.000000Z",
        "wait": "1h30m",
        "money": "12,50 EUR",
        "label": None,
        "columns": ["date", "close"],
        "more": [str(place / "prices one.csv"), str(place / "prices 二.csv")],
        "out": str(place),
        "words": [1, 22, 5000000],
        "range": {"low": "0.1", "high": None},
    }
    given: dict[str, Any] = json.loads(next(package.rglob("given.json")).read_text())
    assert given["money"] == "12,50 EUR"
    assert given["empty"] == ""
    assert given["label"] is None
    assert float(given["small"]) == 1e-6
    assert Path(given["prices"]).read_text().startswith("date,close")


def test_r05_a_double_click_on_run_is_one_run(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    form = open_task(desk, qtbot, "demo-fails")
    QTest.mouseClick(form.run, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(form.run, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(form.run, Qt.MouseButton.LeftButton)  # the second half, as a mouse sends it
    qtbot.waitUntil(lambda: closed(desk, 1), timeout=60_000)
    with Reader(desks.ws) as reader:
        assert [row.number for row in reader.runs_page()] == [1]


def test_a_program_becomes_a_task_by_pointing_and_clicking(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    script = tmp_path / "Monthly Report.py"
    script.write_text("import os, sys\nopen(os.environ['ACTUM_OUTPUT'] + '/out.txt', 'w').write(' '.join(sys.argv[1:]))\n")
    QTest.keyClick(desk.window, Qt.Key.Key_1, CTRL)
    screen = desk.window._tasks.screen
    screen.new_asked.emit("program")
    dialog = desk.window._tasks.dialog
    assert isinstance(dialog, ProgramDialog)
    qtbot.waitUntil(lambda: not screen.background.busy, timeout=20_000)
    dialog.file.edit.setFocus()
    keyboard.type_text(str(script))
    qtbot.waitUntil(lambda: dialog._asked_near == str(script) and not screen.background.busy, timeout=20_000)
    assert dialog.name.text() == "monthly-report"
    assert dialog.interpreter.currentData(), "a script that cannot be started by itself gets an interpreter"
    dialog.arguments.setPlainText("--window={window}\nspaces and $HOME")
    assert [row.name.text() for row in dialog.parameters._rows] == ["window"]
    dialog.parameters._rows[0].default.setText("12")
    assert dialog.preview.text().endswith(f"'{script}' --window=12 'spaces and $HOME'")
    dialog.try_it()
    qtbot.waitUntil(lambda: "exit code 0" in dialog._trial_words.text(), timeout=30_000)
    assert "out.txt" in dialog._trial_words.text()
    dialog.required.setText("out.txt")
    dialog.define_it()
    qtbot.waitUntil(lambda: screen.page is not None and screen.page.item.name == "monthly-report", timeout=20_000)
    assert desk.window._tasks.dialog is None
    form = screen.page.run_form  # type: ignore[union-attr]
    assert form is not None
    assert form.form.raw() == {"window": "12"}
    assert form.before.texts()["Must be there"] == "out.txt"
    form.press()
    qtbot.waitUntil(lambda: closed(desk, 1), timeout=60_000)
    with Reader(desks.ws) as reader:
        package = desks.ws.path / reader.results(1)[0].path
    assert next(package.rglob("out.txt")).read_text() == "--window=12 spaces and $HOME"


FUNCTION = """
from actum.sdk import Context, task

@task(title="Counted words", version="2", timeout="5m")
def count(ctx: Context, text: str, least: int = 2) -> None:
    \"\"\"Counts long words.\"\"\"
    ctx.metric("words", len([word for word in text.split() if len(word) >= least]), rule="count.v1")
"""


def test_a_function_becomes_a_task_and_runs(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    """§15: its contract is read in a child, away from the GUI thread; the form is built from it alone."""
    desk = desks.open()
    QTest.keyClick(desk.window, Qt.Key.Key_1, CTRL)
    screen = desk.window._tasks.screen
    screen.new_asked.emit("function")
    dialog = desk.window._tasks.dialog
    assert isinstance(dialog, ProgramDialog)
    (tmp_path / "words.py").write_text(FUNCTION)
    qtbot.waitUntil(lambda: not screen.background.busy, timeout=20_000)
    dialog.file.fill(str(tmp_path / "words.py"))
    dialog.name.setText("words")
    dialog.function.setText("count")
    dialog.define_it()
    qtbot.waitUntil(lambda: screen.page is not None and screen.page.item.name == "words", timeout=30_000)
    assert screen.page is not None
    form = screen.page.run_form
    assert form is not None
    assert {name: box.parameter.type for name, box in form.form.boxes.items()} == {"text": "text", "least": "integer"}
    assert form.before.texts()["Deadlines"].startswith("overall 5 min")
    form.form.fill({**form.form.raw(), "text": "a bb ccc"})
    form.press()
    qtbot.waitUntil(lambda: closed(desk, 1), timeout=60_000)
    with Reader(desks.ws) as reader:
        assert reader.results(1)[0].metrics[0]["value"] == "2"


def test_what_cannot_be_defined_is_said_in_the_dialog(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    QTest.keyClick(desk.window, Qt.Key.Key_1, CTRL)
    screen = desk.window._tasks.screen
    screen.new_asked.emit("function")
    dialog = desk.window._tasks.dialog
    assert isinstance(dialog, ProgramDialog)
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_module\n")
    dialog.file.fill(str(broken))
    dialog.name.setText("broken")
    dialog.function.setText("report")
    dialog.define_it()
    qtbot.waitUntil(dialog.banner.isVisible, timeout=30_000)
    assert "gives no contract" in dialog.banner.accessibleName()
    assert "no_such_module" in dialog.banner.accessibleName()
    dialog.reject()


def test_presets_are_there_when_the_window_is_opened_again(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    form = open_task(desk, qtbot, "return-and-risk")
    form.form.fill({**form.form.raw(), "window": "3O"})
    form.line.save_asked.emit("Monthly review")
    shelf = desk.shelf
    assert shelf is not None
    qtbot.waitUntil(lambda: bool(shelf.setting("presets/return-and-risk")), timeout=10_000)
    desks.shut(desk)
    again = desks.open()
    form = open_task(again, qtbot, "return-and-risk")
    form.choose_preset("Monthly review")
    assert form.form.raw()["window"] == "3O"


def test_the_first_steps_lead_to_work_of_ones_own(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    first = desk.window._runs._first
    qtbot.waitUntil(first._cards[0].run.hasFocus, timeout=5_000)
    keyboard.tab_to_name("Run a program")
    keyboard.press(Qt.Key.Key_Space)
    dialog = desk.window._tasks.dialog
    assert isinstance(dialog, ProgramDialog)
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: not desk.window._tasks.screen.background.busy, timeout=20_000)
    keyboard.press(Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: desk.window._tasks.dialog is None, timeout=5_000)
    assert desk.window._tasks.screen.isVisible()
