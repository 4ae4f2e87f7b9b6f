"""Runs compared in the window, over real results: what differs, by how much, curves on demand, all by keyboard (§17, R15)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from actum import limits
from actum.results.comparison import compare
from actum.results.manifest import Messages
from actum_desktop.desk import Desk
from actum_desktop.models.comparemodel import CELL, CompareModel, letter
from actum_desktop.models.comparing import Compared, Head
from actum_desktop.views.compareview import CompareView
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import results, workspaces
from tests.helpers.desks import Desks
from tests.unit.test_comparison import metric, subject

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window
WAIT_MS = 30_000


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    """A workspace with four results: runs 1 to 3 with metrics and a table, run 4 with files alone."""
    with workspaces.writing(no_desks.ws) as writer:
        digest = results.define(writer)
        for key in ("a", "b", "c"):
            results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest, key=key))
        row = workspaces.admit(writer, digest, key="files")
        changed = {**results.METRICS[0], "value": "10.9672"}
        results.publish(no_desks.ws, writer, row, {"report.html": "<p>x</p>"}, Messages(metrics=[changed], done=True))
    return no_desks


def compared(desk: Desk, qtbot: QtBot, runs: tuple[int, ...]) -> CompareView:
    page = desk.window._compare.page
    qtbot.waitUntil(lambda: page.runs == runs, timeout=WAIT_MS)
    return page


def drawn(page: CompareView, qtbot: QtBot, letters: str) -> None:
    qtbot.waitUntil(lambda: "".join(curve.letter for curve in page.overlay.curves) == letters, timeout=WAIT_MS)


def test_two_results_chosen_in_the_list_are_compared_by_keyboard(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    desk.window._whole.setCurrentIndex(0)
    QTest.keyClick(desk.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    listed = desk.window._results.list
    qtbot.waitUntil(lambda: listed._model.rowCount() == 4, timeout=WAIT_MS)
    assert not listed.compare_button.isEnabled()
    QTest.keyClick(listed.table, Qt.Key.Key_Home)
    for _step in range(3):
        QTest.keyClick(listed.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert listed.compare_button.isEnabled()
    QTest.keyClick(listed.table, Qt.Key.Key_C)
    page = compared(desk, qtbot, (4, 3, 2, 1))
    drawn(page, qtbot, "BCD")  # A has no table
    names = [line.title for line in page.model.lines]
    row = names.index("Annual return, %")
    cells = [page.model.index(row, column).data(CELL) for column in range(4)]
    assert [(cell.text, cell.aside) for cell in cells] == [("10.9672", ""), *[("11.8372", "+0.8700")] * 3]
    assert page.model.index(names.index("Sortino ratio"), 1).data(CELL).missing
    assert [box.name for box in page.boxes.boxes] == ["B", "C", "D"]

    grid = page.grid
    grid.setCurrentIndex(page.model.index(row, 1))
    QTest.keyClick(grid, Qt.Key.Key_Space)
    drawn(page, qtbot, "CD")
    QTest.keyClick(grid, Qt.Key.Key_F)
    page = compared(desk, qtbot, (3, 4, 2, 1))
    QTest.keyClick(desk.window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    page = compared(desk, qtbot, (4, 3, 2, 1))
    grid.setCurrentIndex(page.model.index(row, 0))
    QTest.keyClick(grid, Qt.Key.Key_Delete)
    page = compared(desk, qtbot, (3, 2, 1))
    page.add.setFocus()
    for text, said in (("x", "A run has a number"), ("2", "compared already"), ("99", "There is no run 99.")):
        page.add.setText(text)
        QTest.keyClick(page.add, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda said=said: said in page._wrong.text(), timeout=WAIT_MS)
    page.add.setText("4")
    QTest.keyClick(page.add, Qt.Key.Key_Return)
    compared(desk, qtbot, (3, 2, 1, 4))


def test_a_comparison_is_taken_along_whole(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    desk.window.compare([4, 1, 2])
    page = compared(desk, qtbot, (4, 1, 2))
    drawn(page, qtbot, "BC")
    page.save_to(str(tmp_path / "c.json"))
    document = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert (document["schema"], document["runs"]) == ("actum.compare/1", [4, 1, 2])
    assert document["metrics"][0]["cells"][1]["difference"] == "0.8700"
    page.save_to(str(tmp_path / "c.csv"))
    with (tmp_path / "c.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["", "run 4", "run 1", "run 2"]
    assert ["Annual return, %", "10.9672", "11.8372 (+0.8700)", "11.8372 (+0.8700)"] in rows
    page.save_plot_to(str(tmp_path / "p.csv"))
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
        assert {row[0] for row in list(csv.reader(file))[1:]} == {"1", "2"}
    page.save_plot_to(str(tmp_path / "p.png"))
    assert (tmp_path / "p.png").stat().st_size > 5_000
    page._copy.click()
    assert QGuiApplication.clipboard().text().startswith("\trun 4\trun 1\trun 2\n")


def test_what_is_equal_is_shown_on_demand_and_letters_go_on_after_z(qapp: QApplication) -> None:
    subjects = [subject(1, metric("1")), subject(2, metric("1"))]
    whole = Compared((1, 2), tuple(Head(run, "T", "2026-01-01T00:00:00.000000Z") for run in (1, 2)), compare(subjects))
    model = CompareModel()
    model.show_compared(whole, everything=False)
    few = model.rowCount()
    model.show_compared(whole, everything=True)
    assert model.rowCount() > few
    assert [letter(place) for place in (0, 25, 26, 199)] == ["A", "Z", "AA", "GR"]
    assert limits.COMPARED_RUNS_MAX == 200


def test_overlaid_curves_max_and_one_more(desks: Desks, qtbot: QtBot) -> None:
    """OVERLAID_CURVES_MAX: a tenth run is compared and its curve waits until one is hidden, which is said."""
    with workspaces.writing(desks.ws) as writer:
        digest = results.define(writer)
        for place in range(limits.OVERLAID_CURVES_MAX - 2):
            results.publish_prices(desks.ws, writer, workspaces.admit(writer, digest, key=f"more{place}"))
    runs = (1, 2, 3, *range(5, 5 + limits.OVERLAID_CURVES_MAX - 2))
    assert len(runs) == limits.OVERLAID_CURVES_MAX + 1
    desk = desks.open()
    desk.window.compare(list(runs))
    page = compared(desk, qtbot, runs)
    drawn(page, qtbot, "ABCDEFGHI")
    page._on_toggled(9)
    assert "Hide one first" in page._wrong.text()
    page._on_toggled(0)
    page._on_toggled(9)
    drawn(page, qtbot, "BCDEFGHIJ")
