"""Scrolling asks for what comes into sight only; lines that grow are read again; a stage's curve is its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.host.logs import LogWriter
from actum.ipc.logfile import STDOUT, Line
from actum_desktop.charts.progresschart import ProgressChart
from actum_desktop.models.history import Sample
from actum_desktop.models.runsmodel import COLUMNS, RunsModel
from actum_desktop.models.source import RunItem
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.loglines import LogLines
from actum_desktop.views.runsdelegate import RunsDelegate
from actum_desktop.views.runsview import RunsTable
from PySide6.QtCore import QEvent, QRectF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import stage

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window


@pytest.fixture
def ink(qapp: QApplication) -> Iterator[Ink]:
    theme = Theme(qapp, "light")
    yield Ink(theme)
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class Counting(RunsDelegate):
    painted: set[int] = set()

    def paint(self, painter, option, index) -> None:  # type: ignore[no-untyped-def]
        self.painted.add(index.row())
        super().paint(painter, option, index)


def test_a_scroll_paints_the_rows_that_come_into_sight(ink: Ink, qtbot: QtBot) -> None:
    items = [RunItem(n, "t", "T", "manual", "SUCCEEDED", "CLOSED", True, "ok", 1) for n in range(200, 0, -1)]
    model = RunsModel(stage.PreparedSource(items))
    model.reload()
    table = RunsTable(ink, model)
    table.setItemDelegate(Counting(ink, table))
    qtbot.addWidget(table)
    table.resize(1_000, 640)
    with qtbot.waitExposed(table):
        table.show()
    qtbot.waitUntil(lambda: len(Counting.painted) > 8, timeout=5_000)
    assert model.columnCount() == len(COLUMNS)
    Counting.painted.clear()
    table.verticalScrollBar().setValue(2 * table.rowHeight(0))
    qtbot.waitUntil(lambda: bool(Counting.painted), timeout=5_000)
    shown = table.viewport().height() // table.rowHeight(0)
    assert len(Counting.painted) <= 4, f"{len(Counting.painted)} of {shown} rows were painted for two"
    assert min(Counting.painted) >= shown - 1


def logged(folder: Path, text: str) -> LogWriter:
    writer = LogWriter(str(folder))
    assert writer.write(STDOUT, text.encode(), 0) is None
    return writer


def texts(lines: LogLines, first: int, count: int) -> list[str]:
    return [row.line.text for row in lines.rows(first, count)]


def test_a_scroll_reads_the_lines_that_come_into_sight(ink: Ink, qtbot: QtBot, tmp_path: Path) -> None:
    writer = logged(tmp_path / "log", "".join(f"line {n}\n" for n in range(200)))
    lines = LogLines(ink)
    qtbot.addWidget(lines)
    lines.open(tmp_path / "log")
    assert lines._reader is not None
    asked: list[tuple[int, int]] = []
    read = lines._reader.lines

    def counted(first: int, count: int) -> list[Line]:
        asked.append((first, count))
        return read(first, count)

    lines._reader.lines = counted  # type: ignore[method-assign]
    assert texts(lines, 50, 20) == [f"line {n}" for n in range(50, 70)]
    assert texts(lines, 53, 20) == [f"line {n}" for n in range(53, 73)]
    assert texts(lines, 49, 20) == [f"line {n}" for n in range(49, 69)]
    assert texts(lines, 51, 5) == [f"line {n}" for n in range(51, 56)]
    assert texts(lines, 150, 3) == ["line 150", "line 151", "line 152"]
    assert asked == [(50, 20), (70, 3), (49, 4), (150, 3)]
    writer.close()


def test_the_newest_line_is_read_again_when_it_has_grown(ink: Ink, qtbot: QtBot, tmp_path: Path) -> None:
    writer = logged(tmp_path / "log", "one\ntwo\nthr")
    lines = LogLines(ink)
    qtbot.addWidget(lines)
    lines.open(tmp_path / "log")
    assert texts(lines, 0, 5) == ["one", "two", "thr"]
    assert writer.write(STDOUT, b"ee\nfour\n", 1) is None
    lines.look()
    assert texts(lines, 0, 5) == ["one", "two", "three", "four"]
    writer.close()


def test_each_stage_has_a_curve_of_its_own(ink: Ink, qtbot: QtBot) -> None:
    chart = ProgressChart(ink)
    qtbot.addWidget(chart)
    parts = (("load", 0.5), ("load", 1.0), ("write", 0.0), ("write", 1.0))
    chart._samples = [
        Sample(n * 1_000_000, fraction, None, None, None, None, name, False) for n, (name, fraction) in enumerate(parts)
    ]
    values = [sample.fraction for sample in chart._samples]
    box, span = QRectF(0, 0, 100, 100), (0, 3_000_000)
    assert [len(piece) for piece in chart._pieces(box, span, values, by_stage=True)] == [2, 2]
    assert [len(piece) for piece in chart._pieces(box, span, values, by_stage=False)] == [4]
    assert [point.y() for point in chart._pieces(box, span, values, by_stage=True)[1]] == [100, 0]
