"""The grid on a table of 20,000,000 rows: its first page, turning the wheel, jumping; against bare reads and a bare grid."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.harness import Comparison

ROWS = 20_000_000
GROUP = 131_072
TURNS = 300
JUMPS = 25


def write(path: Path, rows: int = ROWS) -> None:
    """Eight columns in row groups as derived tables have them; the groups differ in their first column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    group = range(GROUP)
    made = pa.table(
        {
            "id": pa.array(group, pa.int64()),
            "day": pa.array([n % 20_000 for n in group], pa.int32()).cast(pa.date32()),
            "a": [math.sin(n) for n in group],
            "b": [math.cos(n * 7) for n in group],
            "c": pa.array([n * 7919 % 1_000_003 for n in group], pa.int64()),
            "d": pa.array([n % 100 for n in group], pa.int64()),
            "name": [f"n{n % 5000}" for n in group],
            "flag": [n % 3 == 0 for n in group],
        }
    )
    import pyarrow.compute as pc

    with pq.ParquetWriter(path, made.schema, compression="zstd", compression_level=1) as writer:
        for start in range(0, rows, GROUP):
            moved = made.set_column(0, "id", pc.add(made.column("id"), start))
            writer.write_table(moved.slice(0, min(GROUP, rows - start)), row_group_size=GROUP)


class Browser:
    """The grid of the window on one file."""

    def __init__(self, path: Path) -> None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from actum_desktop.models.tablemodel import TableModel
        from actum_desktop.models.tablereader import TableReader
        from actum_desktop.theme import Theme
        from actum_desktop.views.ink import Ink
        from actum_desktop.views.tableview import TableView
        from PySide6.QtWidgets import QApplication

        existing = QApplication.instance()
        self.app = existing if isinstance(existing, QApplication) else QApplication(["bench"])
        self.app.setStyle("Fusion")
        self._path = path
        self.reader = TableReader()
        self.model = TableModel(self.reader)
        self.view = TableView(Ink(Theme(self.app, "light")), self.model)
        self.view.resize(720, 420)
        self.view.show()
        self.reader.opened.connect(self._on_opened)
        self.reader.paged.connect(self._fit)
        self._fresh = True

    def _on_opened(self, opened: Any) -> None:
        self.model.show(opened)
        self.view.fresh()
        self._fresh = True

    def _fit(self, _paged: object) -> None:
        if self._fresh:
            self._fresh = False
            self.view.fit_widths()

    def _there(self, row: int) -> bool:
        return self.model.total > 0 and self.model.cell(row, 1).kind == "value"

    def _wait(self, there: Callable[[], bool]) -> None:
        from PySide6.QtCore import QEventLoop

        while not there():
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 2)
        self.view.grab()

    def first_page(self) -> float:
        """Milliseconds from asking for the file until its first rows are painted."""
        self.model.clear()
        began = time.perf_counter()
        self.reader.open(self._path)
        self._wait(lambda: self._there(0))
        return (time.perf_counter() - began) * 1000

    def wheel(self) -> float:
        """p99 in milliseconds of one turn of the wheel, painted; the rows come meanwhile."""
        self.view.go_to(ROWS // 2)
        self._wait(lambda: self._there(ROWS // 2))
        return turned(self.app, self.view.grid)

    def jump(self) -> float:
        """p99 in milliseconds until the rows of another place are painted."""
        took = []
        for number in range(JUMPS):
            row = (number + 1) * 7_919_993 % ROWS
            began = time.perf_counter()
            self.view.bar.setValue(row)
            first = self.view.first_row()
            self._wait(partial(self._there, first))
            took.append((time.perf_counter() - began) * 1000)
        return p99(took)

    def close(self) -> None:
        self.reader.close()
        self.view.close()


def turned(app: Any, grid: Any) -> float:
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent

    took = []
    middle = QPointF(grid.viewport().rect().center())
    for _ in range(TURNS):
        buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(middle, middle, QPoint(), QPoint(0, -120), buttons, Qt.KeyboardModifier.NoModifier, phase, False)
        began = time.perf_counter()
        app.sendEvent(grid.viewport(), event)
        app.processEvents()
        took.append((time.perf_counter() - began) * 1000)
    return p99(took)


def p99(took: list[float]) -> float:
    return statistics.quantiles(took, n=100)[98]


def bare_wheel(app: Any) -> float:
    """A grid of Qt's own over a model of texts that are there."""
    from PySide6.QtGui import QStandardItem, QStandardItemModel
    from PySide6.QtWidgets import QAbstractItemView, QTableView

    model = QStandardItemModel(2_000, 8)
    for row in range(2_000):
        for column in range(8):
            model.setItem(row, column, QStandardItem(f"{row * column}"))
    view = QTableView()
    view.setModel(model)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.resize(720, 420)
    view.show()
    took = turned(app, view)
    view.close()
    return took


def bare_read(path: Path, group: int) -> float:
    """Milliseconds to open the file and decode one row group."""
    import pyarrow.parquet as pq

    began = time.perf_counter()
    with pq.ParquetFile(path) as file:
        file.read_row_group(group, use_threads=False)
    return (time.perf_counter() - began) * 1000


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    path = folder / "table.parquet"
    write(path)
    browser = Browser(path)
    groups = ROWS // GROUP
    try:
        yield [
            Comparison(
                "first page of 20,000,000 rows",
                "ms",
                browser.first_page,
                lambda: bare_read(path, 0),
                "opening, and one row group decoded",
                "≤ 150 ms",
                lambda ours, ratio: ours <= 150,
            ),
            Comparison(
                "one turn of the wheel, p99",
                "ms",
                browser.wheel,
                lambda: bare_wheel(browser.app),
                "a bare QTableView of texts",
                "≤ 16 ms",
                lambda ours, ratio: ours <= 16,
                rounds=3,
            ),
            Comparison(
                "a jump to another place, p99",
                "ms",
                browser.jump,
                lambda: bare_read(path, groups // 3),
                "opening, and one row group decoded",
                "≤ 40 ms",
                lambda ours, ratio: ours <= 40,
                rounds=3,
            ),
        ]
    finally:
        browser.close()
