"""The grid on tables of 1, 20 and 100 million rows: first page, wheel, jumps, memory; against bare reads and a bare grid.

`ACTUM_BENCH_MILLIONS` names other sizes (`1,20`). Each table has 8 columns of mixed types in row groups as derived tables have
them; the first holds the number of its row, so that what is painted can be told right from wrong. Each is measured as the
Parquet that is browsed, and as the Arrow authority that is browsed where the Parquet is missing or damaged.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.harness import Comparison

MILLIONS = tuple(int(part) for part in os.environ.get("ACTUM_BENCH_MILLIONS", "1,20,100").split(","))
GROUP = 131_072
TURNS = 300
JUMPS = 60
BYTES_PER_ROW = 80  # on the disk, with room to spare
BATCH = 65_536  # rows of one batch of an Arrow file
_READ = {
    ".parquet": "import pyarrow.parquet as pq; pq.ParquetFile(sys.argv[1]).read_row_group(0, use_threads=False)",
    ".arrow": "import pyarrow as pa; pa.ipc.open_file(pa.memory_map(sys.argv[1])).get_batch(0).validate(full=True)",
}
_PEAK = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"


def write(path: Path, rows: int) -> None:
    """Whole number (of the row), date, float with gaps and their reasons, whole number, decimal, text, time."""
    import duckdb

    if shutil.disk_usage(path.parent).free < 2 * rows * BYTES_PER_ROW:
        raise SystemExit(f"there is no room for a table of {rows:,} rows in {path.parent}")
    sql = f"""COPY (SELECT i AS id, CAST(DATE '1990-01-01' + CAST(i % 20000 AS INTEGER) AS DATE) AS day,
        CASE WHEN i % 1000 = 7 THEN NULL ELSE sin(i) END AS wave,
        CASE WHEN i % 1000 = 7 THEN 'sensor_was_off' END AS wave__reason,
        CAST(hash(i) % 1000000007 AS BIGINT) AS scattered,
        CAST(hash(i + 1) % 100000 AS DECIMAL(12, 2)) / 100 AS amount,
        'n' || CAST(hash(i) % 5000 AS VARCHAR) AS name,
        TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(CAST(i AS BIGINT)) AS at
        FROM range({rows}) r(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {GROUP}, COMPRESSION zstd, COMPRESSION_LEVEL 1)"""
    with duckdb.connect(config={"memory_limit": "1500MB", "threads": "2"}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(sql)


def write_arrow(path: Path, source: Path) -> None:
    """The rows of a Parquet as an Arrow file, as the task authors' package writes it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source, pre_buffer=False) as file:
        rows = file.metadata.num_rows
        if shutil.disk_usage(path.parent).free < 2 * rows * BYTES_PER_ROW:
            raise SystemExit(f"there is no room for a table of {rows:,} rows in {path.parent}")
        with pa.ipc.new_file(path, file.schema_arrow) as out:
            for batch in file.iter_batches(BATCH):
                out.write_batch(batch)


class Browser:
    """The grid of the window on one file."""

    def __init__(self, path: Path, rows: int) -> None:
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
        self._path, self.rows = path, rows
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
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
        if not self.model.total:
            return False
        cell = self.model.cell(row, 1)
        if cell.kind == "waiting":
            return False
        shown = cell.text.replace(",", ""), self.model.cell(row, 0).text.replace(",", "")
        assert shown == (str(row), str(row + 1)), f"row {row} shows {shown}"
        return True

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
        self.view.go_to(self.rows // 2)
        self._wait(lambda: self._there(self.rows // 2))
        return turned(self.app, self.view.grid)

    def jump(self) -> float:
        """p99 in milliseconds until the rows of another place are painted; first, middle and last are among them."""
        took = []
        places = [0, self.rows // 2, self.rows - 1, *((number + 1) * 7_919_993 % self.rows for number in range(JUMPS))]
        for row in places:
            began = time.perf_counter()
            self.view.bar.setValue(row)
            first = self.view.first_row()
            self._wait(partial(self._there, first))
            took.append((time.perf_counter() - began) * 1000)
        self.view.go_to(self.rows - 1)
        self._wait(lambda: self._there(self.rows - 1))
        return p99(took)

    def memory(self) -> float:
        """Peak of this process in MB since this file was opened, after all of it; pages of a mapped file count."""
        told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(told["VmHWM"].split()[0]) / 1024

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
    """Milliseconds to open the file and decode one row group, or look at the values of one batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    began = time.perf_counter()
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as mapped:
            pa.ipc.open_file(mapped).get_batch(group).validate(full=True)
    else:
        with pq.ParquetFile(path) as file:
            file.read_row_group(group, use_threads=False)
    return (time.perf_counter() - began) * 1000


def bare_memory(path: Path) -> float:
    """Peak in MB of a process that decodes one row group, or looks at one batch."""
    code = f"import sys; {_READ[path.suffix]}; {_PEAK}"
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return float(told.stdout) / 1024


@contextmanager
def prepare(folder: Path) -> Iterator[Iterator[Comparison]]:
    yield (comparison for millions in MILLIONS for comparison in _of(folder, millions))


def _of(folder: Path, millions: int) -> Iterator[Comparison]:
    """One size: its files are written before, not in the process that is measured, and taken away after."""
    path, rows = folder / f"{millions}.parquet", millions * 1_000_000
    arrow = path.with_suffix(".arrow")
    code = "import sys; from pathlib import Path; from tests.bench import table_browser as t; "
    write = code + f"t.write(Path(sys.argv[1]), {rows})"
    try:
        subprocess.run([sys.executable, "-c", write, str(path)], check=True)
        yield from _of_file(path, rows, f"{rows:,} rows", "opening, and one row group decoded", rows // GROUP // 3)
        convert = code + "t.write_arrow(Path(sys.argv[1]), Path(sys.argv[2]))"
        subprocess.run([sys.executable, "-c", convert, str(arrow), str(path)], check=True)
        path.unlink()
        yield from _of_file(arrow, rows, f"Arrow, {rows:,} rows", "opening, and one batch checked", rows // BATCH // 3)
    finally:
        path.unlink(missing_ok=True)
        arrow.unlink(missing_ok=True)


def _of_file(path: Path, rows: int, named: str, read: str, middle: int) -> Iterator[Comparison]:
    browser = Browser(path, rows)
    try:
        yield Comparison(
            f"first page, {named}",
            "ms",
            browser.first_page,
            lambda: bare_read(path, 0),
            read,
            "≤ 150 ms",
            lambda ours, _: ours <= 150,
        )
        bare = "a bare QTableView of texts"
        yield Comparison(
            f"one turn of the wheel, p99, {named}",
            "ms",
            browser.wheel,
            lambda: bare_wheel(browser.app),
            bare,
            "≤ 16 ms",
            lambda ours, _: ours <= 16,
            rounds=3,
        )
        yield Comparison(
            f"a jump to another place, p99, {named}",
            "ms",
            browser.jump,
            lambda: bare_read(path, middle),
            read,
            "≤ 40 ms",
            lambda ours, _: ours <= 40,
            rounds=3,
        )
        yield Comparison(
            f"peak memory of the grid's process, {named}",
            "MB",
            browser.memory,
            lambda: bare_memory(path),
            "a process that reads one part",
            "≤ 600 MB",
            lambda ours, _: ours <= 600,
            rounds=1,
        )
    finally:
        browser.close()
