"""The grid on 20,000,000 rows: its window moves, places and selections are those of the table, caches are bounded (R11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.results import spreadsheet
from actum_desktop.models import celltext, losswords, resultreader, statwords, tablereader
from actum_desktop.models.tablemodel import CELL, TableModel
from actum_desktop.models.tablereader import Copied, TableReader
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.metriccards import words
from actum_desktop.views.tableview import TableView
from PySide6.QtCore import QEvent, QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import results, workspaces

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

ROWS = 20_000_000
GROUP = 1_000_000  # few large groups are written quickly; the columns are almost constant
WAIT_MS = 20_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    base = pa.table({"million": pa.array([0] * GROUP, pa.int32()), "note": pa.array(["x"] * GROUP)})
    with pq.ParquetWriter(path, base.schema, write_statistics=False) as writer:
        for number in range(ROWS // GROUP):
            writer.write_table(base.set_column(0, "million", pc.add(base.column(0), number).cast(pa.int32())))
    return path


class Shown:
    """A grid on one file."""

    def __init__(self, app: QApplication, qtbot: QtBot) -> None:
        app.setStyle("Fusion")
        self._app, self._qtbot = app, qtbot
        self.theme = Theme(app, "light")
        self.reader = TableReader()
        self.model = TableModel(self.reader)
        self.view = TableView(Ink(self.theme), self.model)
        self.reader.opened.connect(self.model.show)
        self.view.resize(600, 400)
        self.view.show()

    def open(self, path: Path) -> None:
        with self._qtbot.waitSignal(self.reader.opened, timeout=WAIT_MS):
            self.reader.open(path)
        self.view.fresh()

    def cell(self, row: int, column: int = 1) -> Any:
        return self.model.cell(row, column)

    def wait(self, row: int) -> None:
        self._qtbot.waitUntil(lambda: self.cell(row).kind == "value", timeout=WAIT_MS)

    def close(self) -> None:
        self.reader.close()
        self.view.close()
        for gone in (self.view, self.model, self.reader, self.theme):
            gone.deleteLater()
        self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(qapp, qtbot)
    yield made
    made.close()


def test_every_row_of_20_million_can_be_reached(shown: Shown, large: Path) -> None:
    shown.open(large)
    view, model = shown.view, shown.model
    assert model.total == ROWS
    assert model.rowCount() == limits.TABLE_WINDOW_ROWS_MAX
    assert model.rowCount() * view.grid.row_height < 1 << 31
    view.bar.setValue(12_345_678)
    assert view.first_row() == 12_345_678
    shown.wait(12_345_678)
    assert shown.cell(12_345_678).text == "12"
    assert shown.cell(12_345_678, 0).text == "12,345,679"
    view.bar.setValue(view.bar.maximum())
    inner = view.grid.verticalScrollBar()
    assert inner.value() == inner.maximum()  # the last row is whole, the first in sight may be cut
    assert view.first_row() + view.rows_in_sight() in (ROWS - 1, ROWS)
    view.grid.setFocus()
    QTest.keyClick(view.grid, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert view.first_row() == 0
    QTest.keyClick(view.grid, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    current = view.grid.currentIndex().row() + model.base
    assert current == ROWS - 1
    assert view.selected_ranges() == [(ROWS - 1, ROWS - 1)]


def test_scrolling_past_the_edge_moves_the_window_and_nothing_on_the_screen(shown: Shown, large: Path) -> None:
    shown.open(large)
    view, model = shown.view, shown.model
    chosen = model.index(99_000, 1)
    flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
    view.grid.selectionModel().select(chosen, flags)
    step = view.grid.row_height
    view.grid.verticalScrollBar().setValue(98_990 * step + 7)  # as the wheel does, within the last rows of the window
    assert model.base == 98_990 - limits.TABLE_WINDOW_ROWS_MAX // 2
    assert view.first_row() == 98_990
    assert view.grid.verticalScrollBar().value() % step == 7
    assert view.bar.value() == 98_990
    assert view.selected_ranges() == [(99_000, 99_000)]


def test_r11_the_window_holds_all_rows_up_to_its_bound(shown: Shown, tmp_path: Path) -> None:
    for rows in (limits.TABLE_WINDOW_ROWS_MAX, limits.TABLE_WINDOW_ROWS_MAX + 1):
        path = tmp_path / f"{rows}.parquet"
        pq.write_table(pa.table({"n": pa.array(range(rows), pa.int32())}), path)
        shown.open(path)
        assert shown.model.rowCount() == limits.TABLE_WINDOW_ROWS_MAX
        shown.view.go_to(rows - 1)
        shown.wait(rows - 1)
        assert shown.cell(rows - 1).text == f"{rows - 1:,}"


def test_r11_pages_and_waiting_reads_have_a_bound(shown: Shown, large: Path) -> None:
    shown.open(large)
    for page in range(limits.TABLE_PAGES_CACHED_MAX + 1):
        shown.wait(page * limits.TABLE_PAGE_ROWS)
        assert len(shown.model._pages) == min(page + 1, limits.TABLE_PAGES_CACHED_MAX)
    for page in range(1_000, 1_000 + limits.READS_WAITING_MAX + 2):
        shown.reader.ask(shown.model._token, page, ["million"])
    assert len(shown.reader._waiting) == limits.READS_WAITING_MAX  # one is under way, and the oldest gave way
    shown.wait(5 * limits.TABLE_PAGE_ROWS)


def test_what_is_scrolled_to_was_read_ahead(shown: Shown, large: Path, qtbot: QtBot) -> None:
    shown.open(large)
    shown.wait(0)
    near = limits.TABLE_PAGE_ROWS - limits.TABLE_AHEAD_ROWS - shown.view.rows_in_sight() + 1
    shown.view.grid.verticalScrollBar().setValue(near * shown.view.grid.row_height)
    qtbot.waitUntil(lambda: 1 in shown.model._pages, timeout=WAIT_MS)


@pytest.mark.parametrize(("asked", "left_out"), [(50, 0), (51, 1)])
def test_r11_copies_have_a_bound_and_say_so(
    shown: Shown, large: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, asked: int, left_out: int
) -> None:
    monkeypatch.setattr(tablereader, "TABLE_COPY_ROWS_MAX", 50)
    assert limits.TABLE_COPY_ROWS_MAX > 50
    shown.open(large)
    got: list[Copied] = []
    shown.reader.copied.connect(got.append)
    shown.reader.copy([(999_990, 999_990 + asked - 1)], ["million", "note"])
    qtbot.waitUntil(lambda: bool(got), timeout=WAIT_MS)
    assert (got[0].rows, got[0].left_out) == (50, left_out)
    assert got[0].text.splitlines()[:2] == ["million\tnote", "0\tx"]
    assert got[0].text.splitlines()[11] == "1\tx"


def test_a_file_that_is_no_table_is_refused_in_words(shown: Shown, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "x.parquet").write_bytes(b"no")
    told: list[Any] = []
    shown.reader.opened.disconnect(shown.model.show)
    shown.reader.opened.connect(told.append)
    shown.reader.open(tmp_path / "x.parquet")
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert told[0].error.code == "result_damaged"


def test_rows_speak_and_cells_say_that_they_are_being_read(shown: Shown, large: Path) -> None:
    shown.open(large)
    index = shown.model.index(70_000, 1)
    assert index.data(CELL).kind == "waiting"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "being read"
    shown.wait(70_000)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "million: 0"
    assert shown.model.headerData(1, Qt.Orientation.Horizontal, int(Qt.ItemDataRole.ToolTipRole)) == "million: whole number"


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("integer", "2013", "2013"),  # a year stays whole
        ("integer", "-1204331", "−1,204,331"),
        ("decimal", "12345.500", "12,345.500"),
        ("float64", "-1e-07", "−1e−07"),
        ("float64", "nan", "not a number"),
        ("float64", "-inf", "−∞"),
        ("timestamp", "2026-03-24T14:30:00.000000Z", "2026-03-24 14:30:00"),
        ("text", "a\r\nb\tc", "a ⏎ b ⇥ c"),
        ("text", "", "“”"),
    ],
)
def test_values_are_made_readable(kind: str, text: str, said: str) -> None:
    assert celltext.value(kind, text) == said


def test_r11_a_long_text_is_cut_from_its_bound_on() -> None:
    most = limits.CELL_SHOWN_CHARS_MAX
    assert celltext.value("text", "x" * most) == "x" * most
    assert celltext.value("text", "x" * (most + 1)) == "x" * most + "…"


def test_r15_reasons_have_words_and_unknown_ones_stay_as_recorded() -> None:
    assert celltext.reason(None) == "no reason given"
    assert celltext.reason("no reason given") == "no reason given"
    assert celltext.reason("sensor_was_off") == "sensor was off"


def test_r15_a_metric_without_a_value_has_a_word_and_a_reason() -> None:
    metric = {"name": "s", "value": None, "status": "not_applicable", "reason": "no_trades", "observation_count": 0}
    told = words(metric, {"title": "Sharpe", "meaning": "return per risk"})
    assert (told.name, told.value, told.status, told.caption) == ("Sharpe", None, "Not applicable", "No trades")
    rounded = {"name": "r", "value": "11.84", "raw": "11.83721999999", "was_rounded": True, "rule": "pct.v1", "unit": "%"}
    told = words(rounded)
    assert told.caption == "rounded from 11.83721…"
    assert "exactly 11.83721999999" in told.tip


def test_every_loss_has_a_sentence_with_its_column() -> None:
    codes = set(losswords._WORDS) - {"parts", "columns"}  # those are of the whole table
    losses = [spreadsheet.Loss("pri{n}ce", code, 2).to_json() for code in codes]
    told = {loss["code"]: losswords.sentence(loss) for loss in losses}
    assert all("pri{n}ce" in text for text, _lossy in told.values())  # a name is data, never a template
    assert {code for code, (_text, lossy) in told.items() if lossy} == spreadsheet.LOSSY - {"columns"}
    assert losswords.sentence({"column": None, "code": "parts", "count": 3})[0] == "more rows than a sheet has: split into 3"


def test_statistics_say_what_they_are_of() -> None:
    found: dict[str, Any] = {
        "sample": 500,
        "rows": 1_000,
        "values": 400,
        "missing": 100,
        "not_finite": 0,
        "distinct": 9,
        "distinct_exact": False,
    }
    found |= {"type": "integer", "reasons": [], "top": [], "minimum": "-5", "mean": "0.5", "precision": None, "scale": None}
    said = {row.label: row.value for row in statwords.rows(found)}
    assert (said["Values"], said["Distinct"], said["Minimum"]) == ("400 of 500", "about 9", "−5")
    assert statwords.basis(found)[1] == "sample of 500"


def test_r11_results_are_listed_in_pages(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from actum_desktop.models.resultsmodel import ROOT, ResultsModel

    monkeypatch.setattr(resultreader, "RESULT_LIST_PAGE_ROWS", 2)
    assert limits.RESULT_LIST_PAGE_ROWS <= limits.PAGE_ROWS_MAX
    ws = workspaces.make(tmp_path / "ws")
    with workspaces.writing(ws) as writer:
        digest = results.define(writer)
        for key in "abc":
            workspaces.succeed(writer, workspaces.admit(writer, digest, key=key))
    reader = resultreader.ResultReader(ws)
    model = ResultsModel(reader.ask_page)
    reader.page.connect(model.take)
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 2, timeout=WAIT_MS)
    assert model.canFetchMore(ROOT)
    model.fetchMore(ROOT)
    qtbot.waitUntil(lambda: model.rowCount() == 3, timeout=WAIT_MS)
    assert [model.item(row).run for row in range(3)] == [3, 2, 1]
    qtbot.waitUntil(lambda: not model.canFetchMore(ROOT), timeout=WAIT_MS)
    reader.close()
