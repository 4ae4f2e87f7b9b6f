"""Exports from the window over the real controller and helpers: every format, the filtered view, many results at once (§8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from actum.store.queries import Reader
from actum_desktop.batchdesk import BatchDesk
from actum_desktop.desk import Desk
from actum_desktop.views.batchview import BatchDialog
from actum_desktop.views.exportdialog import ExportDialog
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLineEdit
from pytestqt.qtbot import QtBot

from tests.gui.test_results import opened
from tests.helpers import results, workspaces
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

WAIT_MS = 30_000
NEEDS_NAME = (QAbstractButton, QLineEdit, QAbstractItemView)


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    """A workspace with the results of three runs, each with metrics and a table."""
    with workspaces.writing(no_desks.ws) as writer:
        digest = results.define(writer)
        for key in ("one", "two", "three"):
            results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest, key=key))
    return no_desks


def exported(dialog: ExportDialog, path: Path, qtbot: QtBot) -> None:
    dialog.place.setText(str(path))
    dialog._go.click()
    qtbot.waitUntil(lambda: dialog.state in ("written", "asking"), timeout=WAIT_MS)
    assert dialog.state == "written", dialog._note.text()


def test_the_filtered_view_is_exported_by_its_query_and_recorded(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    page = opened(desk, qtbot)
    query = {"schema": "actum.query/1", "where": None, "order": [{"column": "close", "descending": True}], "columns": None}
    page.tables.views.make(type(page.tables.query).from_json(query))
    qtbot.waitUntil(lambda: not page.tables.query.whole, timeout=WAIT_MS)
    page.export("prices")
    dialog = page.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog._found is not None, timeout=WAIT_MS)
    dialog.extent._buttons["filtered"].click()
    qtbot.waitUntil(lambda: dialog._found is not None and dialog._found["rows"] == 749, timeout=WAIT_MS)
    dialog._formats._buttons["arrow"].click()
    exported(dialog, tmp_path / "sorted.arrow", qtbot)
    with pa.ipc.open_file(str(tmp_path / "sorted.arrow")) as file:
        closes = [value for value in file.read_all().column("close").to_pylist() if value is not None]
    assert closes == sorted(closes, reverse=True)
    sidecar = json.loads((tmp_path / "sorted.arrow.actum.json").read_bytes())
    assert sidecar["options"] == {"query": query}
    with Reader(desks.ws) as reader:
        (row,) = reader.exports(1)
    assert (row.format, row.options) == ("arrow", {"query": query})
    dialog.accept()


def test_selected_rows_are_those_of_the_view(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    page = opened(desk, qtbot)
    query = {"schema": "actum.query/1", "where": None, "order": [{"column": "close", "descending": True}], "columns": None}
    page.tables.views.make(type(page.tables.query).from_json(query))
    qtbot.waitUntil(lambda: not page.tables.query.whole and page.tables.model.total == 749, timeout=WAIT_MS)
    page.tables.grid._select_again([(1, 3), (700, 700)], 1, 1)
    page.export("prices")
    dialog = page.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog._found is not None, timeout=WAIT_MS)
    assert [button.text() for button in dialog.extent._buttons.values()] == ["All  749", "Filtered  749", "Selected  4"]
    dialog.extent._buttons["selected"].click()
    qtbot.waitUntil(lambda: dialog._found is not None and dialog._found["rows"] == 4, timeout=WAIT_MS)
    dialog._formats._buttons["arrow"].click()
    exported(dialog, tmp_path / "some.arrow", qtbot)
    dialog.accept()
    with pa.ipc.open_file(str(tmp_path / "some.arrow")) as file:
        found = file.read_all().column("close").to_pylist()
    with Reader(desks.ws) as reader:
        (row,) = reader.exports(1)
    assert row.options == {"query": {**query, "rows": [[1, 3], [700, 700]]}}
    page.tables.grid.select_all()
    page.export("prices")
    assert page.dialog is not None
    assert set(page.dialog.extent._buttons) == {"all", "filtered"}  # every row is no selection
    exported(page.dialog, tmp_path / "whole.csv", qtbot)
    page.dialog.accept()
    assert len(found) == 4
    assert found[:3] == sorted(found[:3], reverse=True)


def test_a_workbook_says_what_it_costs_and_keeps_both(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    page = opened(desks.open(), qtbot)
    page.export("prices")
    dialog = page.dialog
    assert dialog is not None
    assert not dialog.extent.isVisibleTo(dialog)  # nothing is filtered
    qtbot.waitUntil(lambda: dialog._found is not None, timeout=WAIT_MS)
    dialog.sheet.radio.setChecked(True)
    assert dialog._format == "xlsx"
    typed = "Numbers, dates and texts keep their types; nothing is a formula"
    qtbot.waitUntil(lambda: typed in dialog.sheet.texts, timeout=WAIT_MS)
    assert "about" in dialog._note.text()
    there = tmp_path / "prices.xlsx"
    there.write_text("mine")
    dialog.place.setText(str(there))
    assert dialog._keep_both.isVisibleTo(dialog)
    dialog._keep_both.click()
    assert dialog.path == tmp_path / "prices (2).xlsx"
    exported(dialog, dialog.path, qtbot)
    assert there.read_text() == "mine"
    sheet = openpyxl.load_workbook(tmp_path / "prices (2).xlsx").active
    assert sheet.max_row == 750
    dialog.accept()


def open_batch(desk: Desk, qtbot: QtBot) -> tuple[BatchDesk, BatchDialog]:
    """The dialog for all results of the list, opened as a person does."""
    desk.window._whole.setCurrentIndex(0)
    QTest.keyClick(desk.shell, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    shown = desk.window._results.list
    qtbot.waitUntil(lambda: shown.table.model().rowCount() == 3, timeout=WAIT_MS)
    assert not shown.export_button.isEnabled()
    shown.table.selectAll()
    shown.export_button.click()
    work = desk.window._results.batch
    dialog = work.dialog
    assert dialog is not None
    return work, dialog


def outcomes(work: BatchDesk) -> list[str]:
    return [item.state for item in work.work.items]


def rows(dialog: BatchDialog) -> list[str]:
    return [str(dialog.model.index(row).data()) for row in range(dialog.model.rowCount())]


def test_many_results_are_exported_in_one_go_and_what_failed_is_tried_again(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    work, dialog = open_batch(desks.open(), qtbot)
    for kind in NEEDS_NAME:
        assert all(made.accessibleName() for made in dialog.findChildren(kind) if made.isVisibleTo(dialog)), kind
    dialog.place.setText(str(tmp_path / "absent"))
    dialog._go.click()
    assert (dialog.state, "does not exist" in dialog._note.text()) == ("asking", True)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "prices-2.csv").write_text("mine")
    dialog.place.setText(str(folder))
    dialog.metrics.setChecked(True)
    assert len(rows(dialog)) == 6
    dialog._go.click()
    qtbot.waitUntil(lambda: dialog.state == "ended", timeout=WAIT_MS)
    assert outcomes(work).count("written") == 5
    assert any(text.startswith("prices-2.csv: “prices-2.csv” exists.") for text in rows(dialog))
    assert "prices-1.csv: 749 rows" in " ".join(rows(dialog))
    assert (folder / "prices-2.csv").read_text() == "mine"
    (folder / "prices-2.csv").unlink()
    dialog._again.click()
    qtbot.waitUntil(lambda: dialog.state == "ended" and outcomes(work) == ["written"], timeout=WAIT_MS)
    assert not dialog._again.isVisibleTo(dialog)
    assert {path.name for path in folder.iterdir() if not path.name.endswith(".actum.json")} == {
        *(f"prices-{run}.csv" for run in (1, 2, 3)),
        *(f"metrics-{run}.csv" for run in (1, 2, 3)),
    }
    dialog._go.click()
    qtbot.waitUntil(lambda: work.dialog is None, timeout=WAIT_MS)


def test_a_cancelled_batch_leaves_whole_files_only(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    work, dialog = open_batch(desks.open(), qtbot)
    dialog.place.setText(str(tmp_path))
    dialog._go.click()
    qtbot.waitUntil(lambda: "written" in outcomes(work), timeout=WAIT_MS)
    dialog._cancel.click()
    qtbot.waitUntil(lambda: dialog.state == "ended", timeout=WAIT_MS)
    assert outcomes(work).count("cancelled") >= 1
    written = {item.path for item in work.work.items if item.state == "written"}
    left: set[Any] = {path for path in tmp_path.glob("*prices*") if path.suffix == ".csv"}
    assert left == written
    assert not list(tmp_path.glob(".*prices*"))
    dialog.accept()


def test_a_window_that_closes_ends_its_batch(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    _work, dialog = open_batch(desk, qtbot)
    dialog.place.setText(str(tmp_path))
    dialog._go.click()
    desks.shut(desk)
    assert not list(tmp_path.glob(".actum-export*"))
