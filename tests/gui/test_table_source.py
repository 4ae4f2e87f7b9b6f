"""A table whose quicker copy is damaged is read from its authority, and says so, until the copy is there again (R14, R16)."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow.parquet as pq
import pytest
from actum_desktop.views.resultpage import ResultPage
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers import packages, results, workspaces
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise|grabbing the keyboard)")
WAIT_MS = 30_000
ROWS = 749


class Shown:
    """The page of the one result of a workspace."""

    def __init__(self, desks: Desks, qtbot: QtBot) -> None:
        self._desks, self._qtbot = desks, qtbot
        self.package = desks.ws.result_folder(1, 1)
        self.copy = self.package / "derived" / "prices.parquet"

    def open(self) -> ResultPage:
        desk = self._desks.open()
        desk.window._whole.setCurrentIndex(0)
        desk.window.open_result(1)
        self.page: ResultPage = desk.window._results.page
        return self.page

    def until(self, there: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(there()), timeout=WAIT_MS)

    @property
    def words(self) -> str:
        return self.page.tables.line.words.text()

    def first_row(self) -> bool:
        model = self.page.tables.model
        return model.total > 0 and model.cell(0, 1).text == "2023-01-03"


@pytest.fixture
def shown(no_desks: Desks, qtbot: QtBot) -> Shown:
    with workspaces.writing(no_desks.ws) as writer:
        digest = results.define(writer)
        results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest))
    return Shown(no_desks, qtbot)


def test_r14_without_its_copy_a_table_is_read_from_its_authority_until_the_copy_is_made_again(shown: Shown) -> None:
    packages.writable(shown.copy)
    good = shown.copy.read_bytes()
    shown.copy.unlink()
    page = shown.open()
    shown.until(lambda: shown.first_row() and "as they were sealed" in shown.words)
    assert shown.words.startswith("Read from the authority: the quicker copy is missing.")
    tables = page.tables
    assert (tables.model.total, tables.source.path, tables.line.isHidden()) == (
        ROWS,
        shown.package / "tables" / "prices.jsonl",
        False,
    )
    tables.bar.open()
    tables.bar.box.setText("volume is null")
    QTest.keyClick(tables.bar.box, Qt.Key.Key_Return)
    shown.until(lambda: tables.views.is_view and tables.model.total == 15)
    tables._unfilter.click()
    shown.until(lambda: tables.model.total == ROWS)
    tables.line.rebuild.click()
    assert "quarantine" in page.rebuild.popover._text.text()
    page.rebuild.popover._yes.click()
    shown.until(lambda: not page.checked.isHidden() and tables.source.path == shown.copy and shown.first_row())
    assert (tables.line.isHidden(), shown.copy.read_bytes()) == (True, good)


def test_r14_a_copy_that_fails_while_it_is_read_gives_way(shown: Shown) -> None:
    packages.writable(shown.copy)
    content = bytearray(shown.copy.read_bytes())
    with pq.ParquetFile(shown.copy) as file:
        column = file.metadata.row_group(0).column(0)
        at = column.dictionary_page_offset or column.data_page_offset
    content[at : at + 60] = bytes(60)
    shown.copy.write_bytes(bytes(content))
    page = shown.open()
    shown.until(lambda: shown.first_row() and "as they were sealed" in shown.words)
    assert shown.words.startswith("Read from the authority: the quicker copy is damaged.")
    assert page.tables.model.total == ROWS


def test_r14_rows_of_an_authority_that_differs_are_not_shown(shown: Shown) -> None:
    packages.writable(shown.copy).unlink()
    authority = packages.writable(shown.package / "tables" / "prices.jsonl")
    authority.write_bytes(authority.read_bytes().replace(b"ordinary", b"Ordinary", 1))
    page = shown.open()
    shown.until(lambda: "not shown" in shown.words)
    assert (page.tables.model.total, page.tables.line._tone, page.banner.isHidden()) == (0, "bad", False)
