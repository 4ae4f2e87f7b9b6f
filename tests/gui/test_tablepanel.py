"""The table browser over real helpers: typed filter, search, row, columns arranged, copies (R11, R15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.processes import identity, terminate
from actum.results import digests
from actum.results.tables import Readable
from actum_desktop.controller.tablehelper import TableHelper
from actum_desktop.models.arrangement import Arrangements
from actum_desktop.models.tablereader import TableReader
from actum_desktop.theme import Theme
from actum_desktop.views.columnmenu import Asked
from actum_desktop.views.ink import Ink
from actum_desktop.views.tablepanel import TablePanel
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

# Offscreen says these of every window and menu.
pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise|grabbing the keyboard)")

WAIT_MS = 20_000
ROWS = 400_000
CONTROL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More rows than the window of the grid holds; `delay` is missing in every 1,000th, with a reason."""
    rows = range(ROWS)
    made = pa.table(
        {
            "id": pa.array(rows, pa.int64()),
            "day": [date(2026, 1, 1) + timedelta(days=n % 300) for n in range(1_000)] * (ROWS // 1_000),
            "delay": pa.array([None if n % 1_000 == 0 else n % 977 for n in rows], pa.int32()),
            "delay__reason": ["sensor_was_off" if n % 1_000 == 0 else None for n in rows],
            "carrier": ["UA", "DL", "AA", "=1+1"] * (ROWS // 4),
            "fee": pa.array([Decimal(n) / 4 for n in range(1_000)] * (ROWS // 1_000), pa.decimal128(9, 2)),
        }
    )
    path = tmp_path_factory.mktemp("panel") / "flights.parquet"
    pq.write_table(made, path, row_group_size=131_072)
    return path


class Shown:
    """The panel of one table with its reader and helpers."""

    def __init__(self, app: QApplication, qtbot: QtBot, table: Path, config: Path) -> None:
        app.setStyle("Fusion")
        self._app, self._qtbot, self._config = app, qtbot, config
        self.theme = Theme(app, "light")
        self.reader, self.helper = TableReader(), TableHelper()
        self.window = QWidget()
        self.panel = TablePanel(Ink(self.theme), self.reader, self.helper, Arrangements(config))
        self.panel.setParent(self.window)
        self.panel.resize(1_000, 620)
        self.window.resize(1_000, 620)
        self.window.show()
        self.panel.show_tables("flights", [{"name": "flights"}], {"flights": Readable(table, digests.of_file(table).sha256)})
        self.until(lambda: self.panel.model.total == ROWS and self.text(0, "id") == "0")

    def until(self, there: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(there()), timeout=WAIT_MS)

    def names(self) -> list[str]:
        return [column.name for column in self.panel.model.columns]

    def text(self, row: int, name: str) -> str | None:
        cell = self.panel.model.cell(row, self.names().index(name) + 1)
        return None if cell.kind == "waiting" else cell.text

    def current(self) -> tuple[int, str]:
        index = self.panel.grid.grid.currentIndex()
        return self.panel.model.base + index.row(), self.names()[index.column() - 1]

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.panel.grid.grid, key, modifier)

    def filter(self, text: str) -> None:
        self.panel.bar.box.setText(text)
        QTest.keyClick(self.panel.bar.box, Qt.Key.Key_Return)

    def ask(self, what: str, name: str) -> None:
        self.panel.columns.menu.asked.emit(Asked(what, name))

    def settle(self, rows: int) -> None:
        self.until(lambda: self.panel.model.total == rows and not self.panel.views.is_making)
        self.until(lambda: rows == 0 or self.text(0, "id") is not None)

    def close(self) -> None:
        self.helper.close()
        self.reader.close()
        self.window.close()
        for gone in (self.window, self.reader, self.helper, self.theme):
            gone.deleteLater()
        self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot, table: Path, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(qapp, qtbot, table, tmp_path / "tables.json")
    yield made
    made.close()


def test_a_filter_is_typed_with_names_offered_and_errors_at_their_place(shown: Shown) -> None:
    bar = shown.panel.bar
    shown.key(Qt.Key.Key_Slash)
    bar.box.clear()
    QTest.keyClicks(bar.box, "de")
    assert bar.box.offers == ["delay", "delay__reason"]
    QTest.keyClick(bar.box, Qt.Key.Key_Tab)
    assert bar.box.text() == "delay "
    QTest.keyClick(bar.box, Qt.Key.Key_Space, CONTROL)
    assert ">=" in bar.box.offers
    QTest.keyClicks(bar.box, '> 900 and carrier in ("UA", DL)')
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    assert bar.wrong.text == '“carrier” holds text: put the value in quotes, for example "DL".'
    assert bar.wrong._at > bar.box.x_of(20)
    shown.panel.resize(shown.panel.width(), shown.panel.minimumSizeHint().height())
    QTest.qWaitForWindowExposed(shown.panel)
    assert bar.wrong.height() >= bar.wrong.sizeHint().height()  # a page that is full still gives the words their line
    bar.box.setCursorPosition(len(bar.box.text()) - 1)
    QTest.keyClick(bar.box, Qt.Key.Key_QuoteDbl)
    bar.box.setCursorPosition(bar.box.text().index("DL"))
    QTest.keyClick(bar.box, Qt.Key.Key_QuoteDbl)
    assert bar.wrong.text == ""  # it is looked at on each key
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    expected = [n for n in range(ROWS) if n % 1_000 and n % 977 > 900 and n % 4 < 2]
    shown.settle(len(expected))
    assert shown.text(0, "id") == f"{expected[0]:,}".replace(",", "") or shown.text(0, "id") == f"{expected[0]:,}"
    assert shown.panel.model.cell(0, 0).text == f"{expected[0] + 1:,}"  # the row of the published table
    assert shown.panel._note.text().startswith(f"{len(expected):,} of {ROWS:,} rows, exact")
    shown.panel.place.setText(f"{expected[70] + 1:,}")
    QTest.keyClick(shown.panel.place, Qt.Key.Key_Return)
    shown.until(lambda: shown.current()[0] == 70)
    shown.panel.place.setText("1")
    QTest.keyClick(shown.panel.place, Qt.Key.Key_Return)
    shown.until(lambda: shown.panel._note.text() == "The filter leaves out row 1.")


def test_fields_write_a_condition_into_the_line(shown: Shown) -> None:
    bar = shown.panel.bar
    bar.open("carrier")
    bar.box.setText("id < 1000 or id = 5000")
    bar._fields.click()
    bar.operator.setCurrentIndex(bar.operator.findData("begins"))
    bar.value.setText("=")
    QTest.keyClick(bar.value, Qt.Key.Key_Return)
    assert bar.text == '(id < 1000 or id = 5000) and carrier ^= "="'
    shown.settle(250)


def test_a_newer_question_takes_the_place_of_an_older_and_cancel_keeps_what_was_shown(shown: Shown) -> None:
    panel = shown.panel
    shown.filter("id < 5")
    shown.filter("id < 6")
    assert panel._cancel.isVisible()
    shown.settle(6)
    panel._on_sort(("delay", False))
    panel._cancel.click()
    shown.until(lambda: not panel.views.is_making)
    assert (panel.model.total, panel.query.order) == (6, ())
    folder = panel.views.path
    assert folder is not None
    assert len(list(folder.parent.parent.iterdir())) == 1  # views that are not shown are removed
    shown.filter("id < 0")
    shown.settle(0)
    panel._unfilter.click()
    shown.settle(ROWS)
    assert (panel.bar.text, list(folder.parent.parent.iterdir())) == ("", [])


def test_r18_a_helper_that_dies_is_told_and_begins_anew(shown: Shown) -> None:
    helper = shown.helper._helpers["view"]
    shown.filter("id < 7")
    process = helper._process
    assert process is not None
    shown.until(lambda: process.processId() > 0)
    who = identity.of(process.processId())
    assert who is not None
    terminate.signal(who, 9)
    shown.until(lambda: shown.panel.bar.wrong.text)
    assert shown.panel.bar.wrong.text == "The table could not be asked. The helper ended unexpectedly."
    assert shown.panel.model.total == ROWS
    shown.filter("id < 7")
    shown.settle(7)


def test_a_text_is_found_counted_and_gone_to(shown: Shown) -> None:
    panel = shown.panel
    panel.searching.start()
    panel.search.field.setText("sensor was")
    QTest.keyClick(panel.search.field, Qt.Key.Key_Return)
    shown.until(lambda: panel.search.said == f"{ROWS // 1_000} cells")
    shown.until(lambda: shown.current() == (0, "delay") and not panel.searching._finding)
    panel.find_next()
    shown.until(lambda: shown.current() == (1_000, "delay"))
    panel.find_previous()
    shown.until(lambda: shown.current() == (0, "delay"))
    panel.find_previous()
    shown.until(lambda: shown.current() == (ROWS - 1_000, "delay"))
    assert panel.search.said.startswith("from the top again")
    panel.search.field.setText("249.75")
    panel.searching.start("fee")
    shown.until(lambda: panel.search.said == "400 cells")
    panel.searching.start("carrier")
    shown.until(lambda: panel.search.said == "0 cells")
    panel.find_next()
    shown.until(lambda: panel.search.said == "not found · 0 cells")
    QTest.keyClick(panel.search.field, Qt.Key.Key_Escape)
    assert panel.search.text == ""


def test_each_press_counts_while_a_text_is_looked_for(shown: Shown) -> None:
    """SEARCH_STEPS_MAX: as many as fit wait their turn; the oldest of more goes, and leaving forgets them."""
    panel = shown.panel
    panel.searching.start("delay")
    panel.search.field.setText("sensor was")
    panel.grid.go_to(5, column=shown.names().index("delay") + 1)
    for _press in range(3):
        panel.find_next()
    shown.until(lambda: shown.current() == (3_000, "delay"))
    for _press in range(limits.SEARCH_STEPS_MAX + 2):
        panel.find_previous()
    assert len(panel.searching._steps) == limits.SEARCH_STEPS_MAX
    QTest.keyClick(panel.search.field, Qt.Key.Key_Escape)
    assert not panel.searching._steps


def test_columns_are_sorted_by_several_hidden_moved_frozen_and_remembered(
    shown: Shown, qapp: QApplication, qtbot: QtBot, table: Path
) -> None:
    panel = shown.panel
    shown.filter("id < 100")
    shown.settle(100)
    panel._on_sort(("carrier", False))
    shown.until(lambda: shown.text(0, "carrier") == "=1+1")
    panel._on_sort(("id", True))
    panel._on_sort(("id", True))
    shown.until(lambda: shown.text(0, "id") == "99" and shown.text(25, "carrier") == "AA")
    assert panel.grid.grid.heads.order == (("carrier", False), ("id", True))
    assert "then by id, largest first" in panel._note.text()
    shown.ask("hide", "day")
    assert shown.names() == ["id", "delay", "carrier", "fee"]
    panel.grid.go_to(30, column=4)
    shown.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    assert shown.names() == ["id", "delay", "fee", "carrier"]
    assert shown.current() == (30, "fee")
    shown.ask("freeze", "delay")
    assert panel.grid.frozen.isVisible()
    assert panel.grid.grid.isColumnHidden(2)
    shown.key(Qt.Key.Key_Left)
    assert shown.current() == (30, "delay")  # over the edge, by keyboard
    shown.key(Qt.Key.Key_Right)
    assert shown.current() == (30, "fee")
    panel.grid.bar.setValue(60)
    assert panel.grid.frozen.verticalScrollBar().value() == panel.grid.grid.verticalScrollBar().value()
    heads = panel.grid.grid.heads
    edge = QPoint(heads.sectionViewportPosition(4) + heads.sectionSize(4) - 2, heads.height() // 2)
    QTest.mousePress(heads.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(heads.viewport(), edge + QPoint(20, 0))
    QTest.mouseMove(heads.viewport(), edge + QPoint(40, 0))
    QTest.mouseRelease(heads.viewport(), Qt.MouseButton.LeftButton, pos=edge + QPoint(40, 0))
    shown.until(lambda: not panel.columns._settle.isActive())
    again = Shown(qapp, qtbot, table, shown._config)
    try:
        assert again.names() == ["id", "delay", "fee", "carrier"]
        assert again.panel.model.frozen == 2
        assert set(again.panel.columns.arrangement.widths) == {"carrier"}  # no other was widened by hand
        again.ask("show_all", "id")
        again.ask("unfreeze", "id")
        assert again.names() == ["id", "delay", "fee", "carrier", "day"]
        assert not again.panel.grid.frozen.isVisible()
    finally:
        again.close()


def test_a_head_that_is_dragged_moves_its_column(shown: Shown) -> None:
    heads = shown.panel.grid.grid.heads
    heads.moveSection(1, 3)  # as dragging does
    shown.until(lambda: shown.names() == ["day", "delay", "id", "carrier", "fee"])
    assert [heads.logicalIndex(place) for place in range(6)] == list(range(6))
    shown.ask("freeze", "delay")
    shown.panel.grid.frozen.heads.moveSection(2, 1)
    shown.until(lambda: shown.names() == ["delay", "day", "id", "carrier", "fee"])
    shown.until(lambda: shown.text(3, "fee") == "0.75")


def test_the_menu_of_a_column_opens_by_key_and_offers_what_can_be_done(shown: Shown) -> None:
    menu = shown.panel.columns.menu
    shown.panel.grid.go_to(0, column=3)
    shown.key(Qt.Key.Key_Menu)
    assert menu.isVisible()
    offered = {action.data().what for action in menu.actions() if action.data() is not None}
    assert {"sort_up", "filter", "values", "hide", "freeze", "copy", "copy_sheet"} <= offered
    menu.close()
    shown.panel.columns.menu.offer(QPoint(0, 0), "id", 0, 1, ["day"], ["fee"], rows=False)
    offered = {action.data().what for action in menu.actions() if action.data() is not None}
    assert {"also_up", "unsort", "unfreeze"} <= offered
    assert "copy" not in offered
    menu.close()


def test_r15_values_are_counted_beside_the_table(shown: Shown) -> None:
    shown.ask("values", "carrier")
    shown.until(lambda: shown.panel.side.values is not None)
    assert "(exact)" in shown.panel.side._values_title.text()
    shown.panel.side._values_list.copy_asked.emit()
    assert QGuiApplication.clipboard().text().splitlines()[1] == f"=1+1\t{ROWS // 4}"


def test_what_is_being_counted_can_be_given_up(shown: Shown) -> None:
    side = shown.panel.side
    shown.ask("values", "id")
    side._stop.click()
    shown.until(lambda: side._values_title.text() == "Not counted.")
    assert not side._stop.isVisible()
    assert side._values.isVisible()


def test_r11_copies_are_exact_or_safe_for_a_sheet_and_reach_beyond_the_window(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied(modifier: Qt.KeyboardModifier) -> list[str]:
        QGuiApplication.clipboard().clear()
        shown.key(Qt.Key.Key_C, modifier)
        shown.until(lambda: QGuiApplication.clipboard().text())
        return QGuiApplication.clipboard().text().splitlines()

    monkeypatch.setattr("actum_desktop.models.tablereader.TABLE_COPY_ROWS_MAX", 1_500)
    shown.panel.grid.go_to(3, column=1)
    assert copied(CONTROL)[1] == "3\t2026-01-04\t3\t\t=1+1\t0.75"
    assert copied(CONTROL | ALT)[1] == "3\t2026-01-04\t3\t\t'=1+1\t0.75"
    shown.key(Qt.Key.Key_A, CONTROL)
    assert shown.panel.grid.selected_ranges() == [(0, ROWS - 1)]
    shown.panel.grid.bar.setValue(250_000)  # the window moves, and all rows stay selected
    assert shown.panel.grid.selected_ranges() == [(0, ROWS - 1)]
    assert len(copied(CONTROL)) == 1_501
    assert shown.panel._note.text() == "The first 1,500 rows copied; export the table for all"
    whole = copied(CONTROL)
    assert sum(map(len, whole)) < limits.TABLE_COPY_CHARS_MAX
    most = sum(len(line) for line in whole[1:11])
    for bound, rows in ((most - 1, 10), (most, 11)):  # the row that goes beyond the bound is the last
        monkeypatch.setattr("actum_desktop.models.tablereader.TABLE_COPY_CHARS_MAX", bound)
        assert len(copied(CONTROL)) == rows + 1
    shown.panel.grid.go_to(9)
    assert shown.panel.grid.selected_ranges() == [(9, 9)]


def test_r15_a_cell_without_a_value_says_why(shown: Shown) -> None:
    assert shown.text(0, "delay") == "unavailable: sensor was off"
    index: Any = shown.panel.model.index(0, 3)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "delay: unavailable: sensor was off"
