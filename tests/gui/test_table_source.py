"""A table whose quicker copy is damaged is read from its authority, and says so, until the copy is there again (R14, R16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from actum.errors import ActumError
from actum.results import digests
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


def test_r14_r16_a_value_changed_in_a_copy_gives_way_as_soon_as_its_bytes_were_compared(shown: Shown) -> None:
    """It can be read, and says another price: its digest is what tells; nothing is asked of the person for it."""
    packages.writable(shown.copy)
    table = pq.read_table(shown.copy)
    place = table.column_names.index("note")
    lie = pa.array(["a lie"] * table.num_rows, table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), lie), shown.copy)
    page = shown.open()
    shown.until(lambda: shown.first_row() and "as they were sealed" in shown.words)
    assert shown.words.startswith("Read from the authority: the quicker copy is damaged.")
    assert (page.tables.source.path, page.tables.model.total) == (shown.package / "tables" / "prices.jsonl", ROWS)
    column = next(at for at, each in enumerate(page.tables.model.columns) if each.name == "note")
    shown.until(lambda: page.tables.model.cell(0, column + 1).kind != "waiting")
    assert page.tables.model.cell(0, column + 1).text != "a lie"


def test_r14_r16_a_copy_sealed_again_over_another_value_is_never_shown(shown: Shown) -> None:
    packages.writable(shown.copy)
    pq.write_table(pq.read_table(shown.copy).slice(1), shown.copy)
    listed = packages.writable(shown.package / "derived" / "derived.json")
    document = packages.read_json(listed)
    found = digests.of_file(shown.copy)
    document["files"][0] |= {"sha256": found.sha256, "size": found.size, "rows": ROWS - 1}
    packages.write_json(listed, document)
    page = shown.open()
    shown.until(lambda: shown.first_row() and "as they were sealed" in shown.words)
    assert (page.tables.source.path, page.tables.model.total) == (shown.package / "tables" / "prices.jsonl", ROWS)


def test_r14_a_copy_that_is_as_published_is_compared_without_a_word(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    page = shown.open()
    compared: list[str] = []
    ask = page.tables.source._helper.ask

    def asked(kind: str, args: Mapping[str, Any], done: Callable[..., None], progress: Any = None) -> None:
        def answered(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            done(found, error)
            compared.extend([kind] if found is not None else [])

        ask(kind, args, answered, progress)

    monkeypatch.setattr(page.tables.source._helper, "ask", asked)
    shown.until(lambda: shown.first_row() and "rehash" in compared)
    assert (page.tables.source.path, page.tables.line.isHidden()) == (shown.copy, True)


def test_r14_rows_of_an_authority_that_differs_are_not_shown(shown: Shown) -> None:
    packages.writable(shown.copy).unlink()
    authority = packages.writable(shown.package / "tables" / "prices.jsonl")
    authority.write_bytes(authority.read_bytes().replace(b"ordinary", b"Ordinary", 1))
    page = shown.open()
    shown.until(lambda: "not shown" in shown.words)
    assert (page.tables.model.total, page.tables.line._tone, page.banner.isHidden()) == (0, "bad", False)
