"""Plots of a table: what is drawn is what was answered; a plot is saved whole, and its numbers are those it was drawn from."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from actum.errors import StorageFailed, WrongUse
from actum_desktop.charts import levels, picture
from actum_desktop.charts.tableplot import TablePlot, basis
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

HALF_HOUR_S = 1_800.0


def answer(kind: str) -> dict[str, Any]:
    whole: dict[str, Any] = {"kind": kind, "x_time": False, "y_time": False, "rows": 4, "without": 1, "how": "all"}
    if kind == "box":
        boxes = [
            {"group": name, "rows": rows, "low": low, "lower": low + 1, "median": low + 2.5, "upper": low + 3, "high": low + 9}
            for name, rows, low in (("UA", 58_665, -20.0), ("<b>DL</b>", 48_110, 0.1), ("美国航空", 32_729, 4.0))
        ]
        return whole | {"points": 3, "groups": 16, "boxes": boxes, "x": [], "y": []}
    if kind == "histogram":
        return whole | {"points": 4, "x": [0.0, 0.5, 1.0], "y": [3, 1]}
    return whole | {"points": 3, "x": [0.0, HALF_HOUR_S, 1e9], "y": [0.1, 1 / 3, -2.0], "x_time": True}


@pytest.fixture
def plot(qapp: QApplication, qtbot: QtBot) -> TablePlot:
    made = TablePlot(Ink(Theme(qapp, "light")))
    qtbot.addWidget(made)
    made.resize(640, 320)
    made.show()
    return made


def colours(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})


@pytest.mark.parametrize("kind", ["line", "scatter", "histogram", "box"])
def test_a_plot_is_saved_as_it_is_seen(plot: TablePlot, tmp_path: Path, kind: str) -> None:
    plot.show_plot(answer(kind), "at", "delay, min")
    plot.save(tmp_path / "p.png")
    image = QImage(str(tmp_path / "p.png"))
    assert (image.width(), image.height()) == (1_280, 640)
    assert colours(image) > 5
    assert "delay, min" in image.text("Title")
    plot.save(tmp_path / "p.svg")
    drawn = (tmp_path / "p.svg").read_text("utf-8")
    assert drawn.rstrip().endswith("</svg>")
    assert drawn.count("<path") + drawn.count("<polyline") + drawn.count("<rect") > 3
    assert not list(tmp_path.glob(".*")), "nothing half-written is left"


def test_the_numbers_of_a_plot_keep_every_digit(plot: TablePlot, tmp_path: Path) -> None:
    def saved(kind: str) -> list[list[str]]:
        plot.show_plot(answer(kind), "at", "y")
        plot.save(tmp_path / "p.csv")
        with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    line = saved("line")
    assert line[0] == ["at", "y"]
    assert [float(row[1]) for row in line[1:]] == [0.1, 1 / 3, -2.0]
    assert line[2][0] == "1970-01-01T00:30:00Z"
    assert saved("histogram")[1:] == [["0.0", "0.5", "3"], ["0.5", "1.0", "1"]]
    assert saved("box")[2][:3] == ["<b>DL</b>", "48110", "0.1"]


def test_a_plot_that_cannot_be_saved_says_why_and_leaves_nothing(plot: TablePlot, tmp_path: Path) -> None:
    plot.show_plot(answer("line"), "at", "y")
    with pytest.raises(WrongUse, match=r"“\.gif”"):
        plot.save(tmp_path / "p.gif")
    with pytest.raises(StorageFailed):
        plot.save(tmp_path / "nowhere" / "p.png")
    (tmp_path / "p.csv").mkdir()
    with pytest.raises(StorageFailed):
        plot.save(tmp_path / "p.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_boxes_are_read_by_keyboard_and_names_are_data(plot: TablePlot) -> None:
    """R19: a group called like markup is shown as it is called."""
    plot.show_plot(answer("box"), "carrier", "delay, min")
    boxes = plot._boxes
    boxes.setFocus()
    for _step in range(2):
        QTest.keyClick(boxes, Qt.Key.Key_Down)
    assert boxes.accessibleDescription().startswith("<b>DL</b>, 48,110 rows, least 0.1, ")
    assert boxes.words(2).startswith("美国航空")
    assert basis(answer("box")) == (
        "all 4 rows, quartiles, least and greatest · the 3 most frequent of 16 groups · 1 without a value left out"
    )


def test_levels_are_round_and_inside() -> None:
    assert levels.levels(-0.3, 1.2) == [0, 0.5, 1.0]
    assert levels.levels(5, 5) == [5]
    assert levels.text(1e30, timed=True) == levels.text(1e30, timed=False), "beyond the calendar a time is a number"


def test_the_formats_are_those_the_dialog_offers() -> None:
    assert picture.FORMATS == ("png", "svg", "csv")


@pytest.mark.parametrize("days", [3, 40, 100, 900, 4_000])
def test_the_dates_of_an_axis_are_numbers_in_every_language(plot: TablePlot, days: int) -> None:
    plot.show_plot(answer("line") | {"x": [1.2e9, 1.2e9 + days * 43_200, 1.2e9 + days * 86_400]}, "at", "y")
    made = plot._plot.getPlotItem().getAxis("bottom")
    low, high = 1.2e9, 1.2e9 + days * 86_400
    plot.grab()  # an axis measures its texts when it is drawn
    made.setZoomLevelForDensity((high - low) / 600)
    told = [text for step, ticks in made.tickValues(low, high, 600) for text in made.tickStrings(ticks, 1.0, step)]
    assert told
    assert not any(sign.isalpha() for text in told for sign in text), told


def test_between_whole_numbers_an_axis_has_no_half_steps(plot: TablePlot) -> None:
    plot.show_plot(answer("line") | {"x": [1.0, 2.0, 3.0], "x_time": False}, "row", "y")
    made = plot._plot.getPlotItem().getAxis("bottom")
    for high in (2.0, 3.0, 5.0, 12.0, 3_000.0):
        ticks = [tick for _step, level in made.tickValues(1.0, high, 600.0) for tick in level]
        assert ticks
        assert all(float(tick).is_integer() for tick in ticks), ticks
