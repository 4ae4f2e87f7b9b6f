"""The command palette over the real store: typed, moved and chosen by keyboard; a run's number or id goes to the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from actum import limits
from actum.store.queries import Reader
from actum.workspace import Workspace, create_folders
from actum_desktop.desk import Desk
from actum_desktop.models import palette
from actum_desktop.models.palette import Entry, Found, Head
from actum_desktop.models.palettereader import PaletteReader
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import seed
from tests.helpers.desks import phase

pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise)")  # offscreen says it of every window

Open = Callable[[], Desk]


def opened(desk: Desk, qtbot: QtBot) -> None:
    QTest.keyClick(desk.shell, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: desk.window.finder.palette is not None and desk.window.finder.palette.isVisible(), timeout=5_000)


def typed(desk: Desk, qtbot: QtBot, text: str, group: str) -> list[Entry]:
    """Type, and wait until the store's answer is there."""
    found = desk.window.finder.palette
    assert found is not None
    found.line.clear()
    QTest.keyClicks(found.line, text)
    qtbot.waitUntil(lambda: bool(found.model._groups.get(group)), timeout=10_000)
    return list(found.model._groups[group])


def pressed(desk: Desk, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    found = desk.window.finder.palette
    assert found is not None
    QTest.keyClick(found.line, key, modifier)


def test_everything_by_keyboard_alone(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    """Run a task, go to its page, stop it, find it again by number and by id, change the look: only keys."""
    desk = open_desk()
    window = desk.window
    opened(desk, qtbot)
    tasks = typed(desk, qtbot, "stall", "tasks")
    assert [entry.value for entry in tasks] == ["demo-stall"]
    pressed(desk, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window._page.run == 1 and phase(desk) == "COMPUTING", timeout=60_000)

    opened(desk, qtbot)
    actions = typed(desk, qtbot, "stop", "actions")
    assert actions[0].value == "run stop"
    pressed(desk, Qt.Key.Key_Return)
    qtbot.waitUntil(window._page._popover.isVisible, timeout=5_000)
    QTest.keyClick(window._page._popover._yes, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=60_000)

    window.go("tasks")
    opened(desk, qtbot)
    assert typed(desk, qtbot, "1", "jump")[0].value == 1
    pressed(desk, Qt.Key.Key_Return)
    assert window._places.now == ("run", 1)

    window.go("tasks")
    with Reader(desk._ws) as reader:
        whole = reader.run(1).id
    opened(desk, qtbot)
    finder = window.finder.palette
    assert finder is not None
    qapp.clipboard().setText(whole)
    finder.line.paste()
    qtbot.waitUntil(lambda: window._places.now == ("run", 1), timeout=10_000)
    assert not finder.isVisible(), "a pasted id goes straight to the run"

    opened(desk, qtbot)
    typed(desk, qtbot, "dark", "settings")
    pressed(desk, Qt.Key.Key_Return)
    assert desk.theme.dark
    desk.window.scheme_chosen.emit("light")


def test_ctrl_enter_runs_what_was_run_last_and_says_which(open_desk: Open, qtbot: QtBot) -> None:
    """The values of the last preset, else of the last run: named beside the task before, and in the status line after."""
    desk = open_desk()
    window, ctrl = desk.window, Qt.KeyboardModifier.ControlModifier
    opened(desk, qtbot)
    assert typed(desk, qtbot, "fails", "tasks")[0].again is None, "nothing was run yet"
    pressed(desk, Qt.Key.Key_Return, ctrl)
    qtbot.waitUntil(lambda: window._page.run == 1 and phase(desk) == "CLOSED", timeout=60_000)

    window.go("tasks")  # on the page of a run, what can be done with it comes first
    opened(desk, qtbot)
    entry = typed(desk, qtbot, "fails", "tasks")[0]
    assert entry.again is not None
    assert (entry.again.run, entry.hint) == (1, "Ctrl Enter: as run 1")
    pressed(desk, Qt.Key.Key_Return, ctrl)
    assert window._status._left[0][1] == "With the values of run 1."
    qtbot.waitUntil(lambda: window._page.run == 2 and phase(desk) == "CLOSED", timeout=60_000)
    assert window._page._show["rerun_of"] == 1

    kept = [{"name": "first", "parameters": {}}, {"name": "nightly", "parameters": dict(entry.again.parameters)}]
    told: list[object] = []
    window.send({"verb": "set_setting", "name": "presets/demo-fails", "value": kept}, told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    window.go("tasks")  # on the page of a run, what can be done with it comes first
    opened(desk, qtbot)
    entry = typed(desk, qtbot, "fails", "tasks")[0]
    assert entry.again is not None
    assert (entry.again.preset, entry.hint) == ("nightly", "Ctrl Enter: preset “nightly”")
    pressed(desk, Qt.Key.Key_Return, ctrl)
    assert window._status._left[0][1] == "With the values of the preset “nightly”."
    qtbot.waitUntil(lambda: window._page.run == 3 and phase(desk) == "CLOSED", timeout=60_000)


def test_it_closes_where_it_was_opened_and_says_when_nothing_matches(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    desk.window.go("tasks")
    before = desk.window.focusWidget()
    opened(desk, qtbot)
    finder = desk.window.finder.palette
    assert finder is not None
    QTest.keyClicks(finder.line, "no such thing anywhere")
    qtbot.waitUntil(finder.none.isVisible, timeout=5_000)
    assert "no such thing anywhere" in finder.none.text()
    pressed(desk, Qt.Key.Key_Escape)
    assert not finder.isVisible()
    assert desk.window.focusWidget() is before
    opened(desk, qtbot)
    assert finder.line.text() == ""
    qtbot.waitUntil(lambda: finder.model.rowCount() > 5, timeout=5_000)
    first = finder.current()
    pressed(desk, Qt.Key.Key_Down)
    assert finder.current() != first
    pressed(desk, Qt.Key.Key_Up)
    assert finder.current() == first
    pressed(desk, Qt.Key.Key_Up)
    assert isinstance(finder.model.row(0), Head), "it goes round and never stands on a head"
    pressed(desk, Qt.Key.Key_Escape)


def test_the_palette_speaks_the_language_of_now(open_desk: Open, qtbot: QtBot) -> None:
    desk = open_desk()
    opened(desk, qtbot)
    pressed(desk, Qt.Key.Key_Escape)
    desk.window.choose_language("zh_CN")
    qtbot.waitUntil(lambda: desk.window._runs._title.text() == "运行", timeout=10_000)
    opened(desk, qtbot)
    finder = desk.window.finder.palette
    assert finder is not None
    titles = [row.title for at in range(finder.model.rowCount()) if isinstance(row := finder.model.row(at), Head)]
    assert titles[0] == "此处的操作"
    pressed(desk, Qt.Key.Key_Escape)


def test_r11_a_group_holds_so_many_rows(tmp_path: Path, qtbot: QtBot) -> None:
    for there in (limits.PALETTE_GROUP_ROWS_MAX, limits.PALETTE_GROUP_ROWS_MAX + 1):
        ws = Workspace(tmp_path / str(there))
        create_folders(ws)
        seed.fill(ws, there)
        reader = PaletteReader(ws)
        answers: list[Found] = []
        reader.found.connect(answers.append)
        reader.ask("")
        qtbot.waitUntil(lambda answers=answers: bool(answers), timeout=10_000)  # type: ignore[misc]
        assert len(answers[0].groups["runs"]) == limits.PALETTE_GROUP_ROWS_MAX
        reader.close()


def test_every_word_has_to_stand_somewhere_and_hits_do_not_overlap() -> None:
    assert palette.matches(("churn", "train"), "Train churn model")
    assert not palette.matches(("churn", "x"), "Train churn model", "note")
    assert palette.matches((), "anything")
    assert palette.hits(("train", "rain", "mod"), "Train churn model") == [(0, 5), (12, 15)]
    assert palette.hits(("i",), "İstanbul") == [], "letters that grow when small are not marked at a wrong place"
