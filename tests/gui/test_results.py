"""The Results screens over the real controller, helpers and packages: list, page, table, verify, export (R13–R16)."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from actum.results.manifest import Messages
from actum_desktop import i18n
from actum_desktop.desk import Desk
from actum_desktop.models.tablemodel import CELL
from actum_desktop.views.resultpage import ResultPage
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers import results, workspaces
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

Open = Callable[[], Desk]
WAIT_MS = 30_000
NEEDS_NAME = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView)


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    """A workspace with two results: run 1 with metrics and a table, run 2 with files alone."""
    with workspaces.writing(no_desks.ws) as writer:
        digest = results.define(writer)
        results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest))
        row = workspaces.admit(writer, digest, key="files")
        messages = Messages(metrics=results.METRICS[:1], done=True)
        results.publish(no_desks.ws, writer, row, {"report.html": "<p>x</p>"}, messages)
    return no_desks


def opened(desk: Desk, qtbot: QtBot, run: int = 1) -> ResultPage:
    """The page of a run's result, its first rows, statistics and plot there."""
    desk.window._whole.setCurrentIndex(0)
    desk.window.open_result(run)
    page = desk.window._results.page
    qtbot.waitUntil(lambda: page._seen is not None and page._seen.run == run, timeout=WAIT_MS)
    if page._seen is not None and page._seen.tables:
        qtbot.waitUntil(lambda: page.tables.model.total > 0, timeout=WAIT_MS)
        qtbot.waitUntil(lambda: page.tables.side.statistics is not None, timeout=WAIT_MS)
        qtbot.waitUntil(lambda: page.tables.plot.plot.point_count > 0, timeout=WAIT_MS)
    return page


def cell(page: ResultPage, row: int, name: str) -> Any:
    model = page.tables.model
    column = [item.name for item in model.columns].index(name) + 1
    return model.index(row, column).data(CELL)


def drawn(page: ResultPage, kind: str) -> bool:
    return (page.tables.plot.plot._found or {}).get("kind") == kind


def settle_view(page: ResultPage, qtbot: QtBot, rows: int) -> None:
    qtbot.waitUntil(lambda: page.tables.model.total == rows and not page.tables.views.is_making, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: cell(page, 0, "close").kind == "value", timeout=WAIT_MS)


def test_the_list_leads_to_the_page_and_the_page_to_its_run_by_keyboard(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    window = desk.window
    window._whole.setCurrentIndex(0)
    QTest.keyClick(desk.shell, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    table = window._results.list.table
    qtbot.waitUntil(lambda: table.model().rowCount() == 2, timeout=WAIT_MS)
    spoken = [table.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert spoken[0].startswith("Return and risk, run 2")  # newest first
    assert "Not checked since it was published" in spoken[1]
    window._results.list.focus_start()
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Return)
    page = window._results.page
    qtbot.waitUntil(lambda: page.run == 1 and page.tables.model.total == 749, timeout=WAIT_MS)
    assert window._sidebar._buttons["results"].isChecked()
    page._crumb_run.click()
    assert window._page.run == 1
    buttons = window._page.findChildren(QAbstractButton)
    link = next(made for made in buttons if made.accessibleName() == "Open result")
    qtbot.waitUntil(link.isVisible, timeout=WAIT_MS)
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Return)  # Enter presses the button that has the focus
    assert window._pages.currentWidget() is page
    QTest.keyClick(desk.shell, Qt.Key.Key_Escape)
    assert window._pages.currentWidget() is window._results.list


def test_r15_metrics_and_cells_without_a_value_say_why(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    page = opened(desk, qtbot)
    assert desk.shell.focusWidget() is page.tables.grid.grid  # where work starts, once it is there
    spoken = {card.words.name: card.accessibleName() for card in page.metrics.cards}
    assert spoken["Sortino ratio"] == "Sortino ratio, Unavailable, Only 3 observations"
    assert spoken["Max drawdown"].startswith("Max drawdown, −23.41 %")
    names = [column.name for column in page.tables.model.columns]
    assert names == ["date", "close", "return", "volume", "note", "at"]  # the companion is the words of the missing cells
    assert (cell(page, 0, "return").kind, cell(page, 0, "return").text) == ("missing", "unavailable: no row before it")
    assert cell(page, 40, "return").text == "unavailable: market closed"
    assert cell(page, 7, "volume").text == "no reason given"
    assert cell(page, 1, "note").text == "“”"
    assert page.tables._note.text() == "all 749 rows"


def test_r16_verify_now_changes_what_holds_and_not_the_history(desks: Desks, qtbot: QtBot) -> None:
    desk = desks.open()
    page = opened(desk, qtbot)
    assert page.now.word == "Not checked since it was published"
    page._verify.click()
    qtbot.waitUntil(page.checked.isVisible, timeout=WAIT_MS)
    assert page.now.word.startswith("Readable, checked")
    report = desks.ws.result_folder(1, 1) / "files" / "report.html"
    report.chmod(0o644)
    report.write_text("<p>no</p>")
    page._verify.click()
    qtbot.waitUntil(page.banner.isVisible, timeout=WAIT_MS)
    assert (page.now.word, page._history.word) == ("Damaged", "Succeeded")
    assert not page.checked.isVisible()


def test_sorting_and_filtering_are_exact_and_can_be_taken_back(desks: Desks, qtbot: QtBot) -> None:
    page = opened(desks.open(), qtbot)
    panel = page.tables
    panel.grid.go_to(0, column=3)
    panel.grid.grid.setFocus()
    QTest.keyClick(panel.grid.grid, Qt.Key.Key_F)
    assert panel.bar.text == "`return`" or panel.bar.text == "return"
    QTest.keyClicks(panel.bar.box, "< -0.01")
    QTest.keyClick(panel.bar.box, Qt.Key.Key_Return)
    expected = [row for row in results.prices() if row["return"] is not None and row["return"] < -0.01]
    settle_view(page, qtbot, len(expected))
    assert panel._note.text() == f"{len(expected)} of 749 rows, exact  ·  return < -0.01"
    panel.side._down.click()  # the current column, largest first
    best = max(expected, key=lambda row: row["return"])
    qtbot.waitUntil(lambda: cell(page, 0, "return").text == f"{best['return']}".replace("-", "−"), timeout=WAIT_MS)
    assert panel.grid.grid.heads.order == (("return", True),)
    panel.bar.box.setText("return < a lot")
    QTest.keyClick(panel.bar.box, Qt.Key.Key_Return)
    assert panel.bar.wrong.isVisible()
    assert panel.bar.wrong.text == "“a” cannot be compared with “return”. Write it like 12.5."
    assert panel.model.total == len(expected)  # what was shown stays
    QTest.keyClicks(panel.bar.box, "x")
    panel.bar.clear()
    QTest.keyClick(panel.bar.box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.model.total == 749, timeout=WAIT_MS)
    panel._unsort.click()
    qtbot.waitUntil(lambda: not panel.views.is_view and panel.model.total == 749, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: cell(page, 0, "close").kind == "value", timeout=WAIT_MS)


def test_statistics_plots_and_copies(desks: Desks, qtbot: QtBot) -> None:
    page = opened(desks.open(), qtbot)
    panel = page.tables
    panel.grid.go_to(3, column=3)
    qtbot.waitUntil(lambda: (panel.side.statistics or {}).get("column") == "return", timeout=WAIT_MS)
    assert panel.side._basis.word == "exact"
    assert "Row 1: no row before it." in panel.side._reasons.text()
    panel.side._copy.click()
    assert "Without value\t" in QGuiApplication.clipboard().text()
    panel.side._show_row.click()
    assert panel.grid.grid.currentIndex().row() == 40  # the most frequent reason's first row
    for kind, basis in (("histogram", "all 749 rows"), ("scatter", "all 749 rows")):
        panel.plot.kinds._buttons[kind].click()
        qtbot.waitUntil(partial(drawn, page, kind), timeout=WAIT_MS)
        assert panel.plot.basis == basis
    QTest.keyClick(panel.plot.plot, Qt.Key.Key_Right)
    assert panel.plot.plot.accessibleDescription().startswith("date 2023-01-03")
    panel.grid.go_to(3, column=1)
    QTest.keyClick(panel.grid.grid, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QGuiApplication.clipboard().clear()
    QTest.keyClick(panel.grid.grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().startswith("date\t"), timeout=WAIT_MS)
    copied = list(csv.reader(QGuiApplication.clipboard().text().splitlines(keepends=True), delimiter="\t"))
    assert copied[0] == ["date", "close", "return", "return__reason", "volume", "note", "at"]
    assert [row[5] for row in copied[1:]] == ["half\tday", "a\nb"]


def test_r14_an_export_says_its_losses_first_and_overwrites_nothing(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    page = opened(desks.open(), qtbot)
    page.export("prices")
    dialog = page.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: any(text.startswith("note: 150 cells") for text in dialog.sheet.texts), timeout=WAIT_MS)
    assert "at: times in UTC, without zone" in dialog.sheet.texts
    assert not any("return__reason" in text for text in dialog.sheet.texts)
    dialog.sheet.radio.setChecked(True)
    assert not dialog._formats._buttons["parquet"].isVisibleTo(dialog)
    there = tmp_path / "mine.csv"
    there.write_text("mine")
    dialog.place.setText(str(there))
    dialog._go.click()
    assert (dialog.state, there.read_text()) == ("asking", "mine")
    assert dialog.overwrite.isVisible()
    dialog.place.setText(str(tmp_path / "sheet.csv"))
    dialog._go.click()
    qtbot.waitUntil(lambda: dialog.state == "written", timeout=WAIT_MS)
    assert dialog._foot.text().startswith("749 rows written, read back and equal.")
    assert (tmp_path / "sheet.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    dialog._go.click()
    qtbot.waitUntil(lambda: page.dialog is None, timeout=WAIT_MS)
    page.export("prices")
    again = page.dialog
    assert again is not None
    again.place.setText(str(there))
    again.overwrite.setChecked(True)
    again._go.click()
    qtbot.waitUntil(lambda: again.state == "written", timeout=WAIT_MS)
    assert there.read_text().startswith("date,close,return")
    again.accept()


def test_an_export_can_be_cancelled_and_leaves_nothing(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    page = opened(desk, qtbot)
    told: list[Any] = []

    def failed(error: object) -> bool:
        told.append(error)
        return True

    folder = tmp_path / "out"
    folder.mkdir()
    body = {"verb": "export", "run": 1, "name": "prices", "format": "csv", "profile": "data", "watch": "w"}
    desk.window.send({**body, "path": str(folder / "x.csv")}, told.append, failed)
    desk.window.send({"verb": "cancel", "watch": "w"})
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert getattr(told[0], "code", "") == "cancelled"
    assert list(folder.iterdir()) == []
    told.clear()
    desk.window.send({**body, "path": str(folder / "x.csv")}, told.append, failed)
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert told[0]["rows"] == 749  # the helper begins anew
    assert page.dialog is None


def test_a_result_without_tables_says_what_it_published(desks: Desks, qtbot: QtBot) -> None:
    page = opened(desks.open(), qtbot, run=2)
    assert page._files_title.text() == "No table; 1 file was published"
    assert "report.html" in page._files_text.text()
    assert not page.tables.isVisible()


def test_r13_a_package_that_is_gone_is_said_and_its_metrics_are_the_recorded_ones(desks: Desks, qtbot: QtBot) -> None:
    desks.ws.result_folder(1, 1).rename(desks.ws.path / "elsewhere")
    desk = desks.open()
    desk.window._whole.setCurrentIndex(0)
    desk.window.open_result(1)
    page = desk.window._results.page
    qtbot.waitUntil(lambda: page._seen is not None, timeout=WAIT_MS)
    assert page.banner.isVisible()
    assert len(page.metrics.cards) == 5
    assert not page.tables.isVisible()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_control_has_a_name_and_no_label_is_cut(desks: Desks, qtbot: QtBot, language: str) -> None:
    from tests.gui.test_window_pictures import _cut, _inner

    desk = desks.open()
    i18n.use(language)
    desk.theme.refresh()
    desk.window.rebuild()
    desk.shell.resize(1280, 800)
    page = opened(desk, qtbot)
    page.tables.focus_filter()
    page.export("prices")
    dialog = page.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: len(dialog.sheet.texts) > 3, timeout=WAIT_MS)
    QApplication.processEvents()
    nameless, cut = set(), set()
    for top in (page, dialog, desk.window._results.list):
        for widget in top.findChildren(QWidget):
            if _inner(widget) or "pyqtgraph" in type(widget).__module__:
                continue
            if isinstance(widget, NEEDS_NAME) and not widget.accessibleName():
                nameless.add(f"{type(widget).__name__} {widget.objectName()}")
            if widget.isVisible() and (text := _cut(widget)) is not None:
                cut.add(text)
    dialog.reject()
    assert nameless == set()
    assert cut == set()


def test_the_first_rows_are_there_quickly(desks: Desks, qtbot: QtBot) -> None:
    """A generous bound: tests/bench/table_browser.py measures it on 20,000,000 rows."""
    desk = desks.open()
    page = opened(desk, qtbot)
    desk.window._go("results")
    page.open(2)
    page.open(1)
    began = time.perf_counter()
    desk.window.open_result(1)
    qtbot.waitUntil(lambda: page.tables.model.total > 0 and cell(page, 0, "close").kind == "value", timeout=WAIT_MS)
    assert time.perf_counter() - began < 5
