"""Whole journeys over the real controller, hosts and helpers, each by keys alone and by mouse (R01, R08, R14).

First start, a sample, its form, a run, watching, stopping; a result sorted, filtered, drawn, exported, and read by others.
That a killed window's run is found and its ledger completes is in test_app_process.py (R18), with a real SIGKILL.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas
import pytest
from actum_desktop.desk import Desk
from actum_desktop.i18n import resources
from actum_desktop.models.tablemodel import CELL
from actum_desktop.views.tablepanel import TablePanel
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers import keyboard
from tests.helpers.desks import foot, phase
from tests.helpers.hands import CTRL, Hand, Keys, Mouse, named

pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise)")  # offscreen says it of every window

Open = Callable[[], Desk]
BOTH = pytest.mark.parametrize("hand", [Keys(), Mouse()], ids=["keys", "mouse"])
WAIT_MS = 60_000
SYMBOL = "IBM"


@BOTH
def test_from_the_first_start_to_a_stopped_run(open_desk: Open, qtbot: QtBot, hand: Hand) -> None:
    """R08: the sample is started from the first page, watched while it works, and ended by nothing but the stop asked for."""
    desk = open_desk()
    window, page = desk.window, desk.window._page
    first = window._runs._first
    qtbot.waitUntil(first._cards[0].run.hasFocus, timeout=5_000)
    stall = next(card for card in first._cards if card._sample.task == "demo-stall")
    hand.push(stall.run)
    qtbot.waitUntil(lambda: page.run == 1 and phase(desk) == "COMPUTING", timeout=WAIT_MS)
    qtbot.waitUntil(lambda: page._log.lines.total > 0 and page._badge.word == "Running", timeout=WAIT_MS)
    hand.push(page._stop)
    qtbot.waitUntil(page._popover.isVisible, timeout=5_000)
    hand.push(page._popover._yes)
    qtbot.waitUntil(lambda: phase(desk) == "CLOSED", timeout=WAIT_MS)
    assert page._badge.word == "Stopped"
    assert foot(desk).foot.rule == "double"


@BOTH
def test_from_a_file_of_ones_own_to_an_export_that_others_read(
    open_desk: Open, qtbot: QtBot, tmp_path: Path, hand: Hand
) -> None:
    """R01, R14: every step is in sight or within reach of Tab, and what is exported is what was filtered and sorted."""
    own = tmp_path / "my prices.csv"
    own.write_bytes((resources() / "samples" / "stocks.csv").read_bytes())
    desk = open_desk()
    run_the_sample(desk, qtbot, hand, own)
    panel = result_table(desk, qtbot, hand)
    whole = panel.model.total
    filter_and_sort(desk, qtbot, hand)
    assert 0 < panel.model.total < whole
    draw(desk, qtbot, hand)
    path = tmp_path / "out" / "returns.csv"
    path.parent.mkdir()
    export(desk, qtbot, hand, path)
    read = pandas.read_csv(path)
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT * FROM read_csv(?)", [str(path)]).fetchall()
    assert len(read) == len(rows) == panel.model.total
    assert (read["price"] > 100).all()


def run_the_sample(desk: Desk, qtbot: QtBot, hand: Hand, own: Path) -> None:
    """From the tasks to the form, filled, and on to a run that is done."""
    window = desk.window
    if isinstance(hand, Keys):
        QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    else:
        hand.push(window._sidebar._buttons["tasks"])
    screen = window._tasks.screen
    qtbot.waitUntil(lambda: screen.model.row_of("return-and-risk") >= 0 and screen.cards.isVisible(), timeout=WAIT_MS)
    index = screen.model.index(screen.model.row_of("return-and-risk"))
    if isinstance(hand, Keys):
        qtbot.waitUntil(screen.cards.hasFocus, timeout=5_000)
        while screen.cards.currentIndex() != index:
            keyboard.press(Qt.Key.Key_Right if screen.cards.currentIndex().row() < index.row() else Qt.Key.Key_Left)
        keyboard.press(Qt.Key.Key_Return)
    else:
        middle = screen.cards.visualRect(index).center()
        QTest.mouseClick(screen.cards.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: screen.page is not None and screen.page.run_form is not None, timeout=5_000)
    form = screen.page.run_form  # type: ignore[union-attr]
    assert form is not None
    for name, text in (("prices", str(own)), ("symbol", SYMBOL)):
        hand.enter(form.form.boxes[name].editor.targets[0], text)
    qtbot.waitUntil(lambda: not screen.background.busy, timeout=WAIT_MS)
    hand.push(form.run)
    qtbot.waitUntil(lambda: window._page.run == 1 and phase(desk) == "CLOSED", timeout=WAIT_MS)
    assert window._page._badge.word == "Succeeded"


def result_table(desk: Desk, qtbot: QtBot, hand: Hand) -> TablePanel:
    window = desk.window
    hand.push(named(window._page, "Open result"))
    page = window._results.page
    qtbot.waitUntil(lambda: page.run == 1 and page.isVisible() and page.tables.model.total > 0, timeout=WAIT_MS)
    return page.tables


def filter_and_sort(desk: Desk, qtbot: QtBot, hand: Hand) -> None:
    """Prices above 100, the largest first."""
    page = desk.window._results.page
    panel, before = page.tables, page.tables.model.total
    grid = panel.grid.grid
    column = [each.name for each in panel.model.columns].index("price") + 1
    cell = panel.model.index(0, column)
    qtbot.waitUntil(lambda: cell.data(CELL).kind == "value", timeout=WAIT_MS)
    if isinstance(hand, Keys):
        keyboard.tab_to(lambda widget: widget is grid, "the rows")
        keyboard.press(Qt.Key.Key_Home)
        while grid.currentIndex().column() != column:
            keyboard.press(Qt.Key.Key_Right)
    else:
        QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.visualRect(cell).center())
    hand.push(named(page, "Filter"))
    box = panel.bar.box
    qtbot.waitUntil(box.isVisible, timeout=5_000)
    hand.enter(box, "price > 100")
    keyboard.press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: 0 < panel.model.total < before, timeout=WAIT_MS)
    hand.push(named(page, "Sort by this column, largest first"))
    qtbot.waitUntil(lambda: cell.data(CELL).kind == "value" and falling(panel, column), timeout=WAIT_MS)


def falling(panel: TablePanel, column: int) -> bool:
    cells = [panel.model.index(row, column).data(CELL) for row in range(3)]
    prices = [float(each.text) for each in cells if each.kind == "value"]
    return len(prices) == 3 and prices == sorted(prices, reverse=True)


def draw(desk: Desk, qtbot: QtBot, hand: Hand) -> None:
    plot = desk.window._results.page.tables.plot
    hand.push(plot.kinds._buttons["histogram"])
    qtbot.waitUntil(lambda: (plot.plot._found or {}).get("kind") == "histogram", timeout=WAIT_MS)
    assert plot.plot.point_count > 0


def export(desk: Desk, qtbot: QtBot, hand: Hand, path: Path) -> None:
    """What is shown, as CSV; it is offered after it was read back."""
    page = desk.window._results.page
    hand.push(named(page.tables, "Export…"))
    dialog = page.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow, timeout=5_000)
    hand.push(dialog.extent._buttons["filtered"])
    hand.enter(dialog.place, str(path))
    hand.push(named(dialog, "Export"))
    qtbot.waitUntil(lambda: dialog.state == "written", timeout=WAIT_MS)
    assert "read back and equal" in dialog._foot.text()
    hand.push(dialog._go)
    qtbot.waitUntil(lambda: page.dialog is None, timeout=5_000)
