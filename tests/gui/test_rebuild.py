"""A damaged result in the window: what can be done is said, and derived tables are made again after a question (R14, R16)."""

from __future__ import annotations

import pytest
from actum_desktop.views.resultpage import ResultPage
from pytestqt.qtbot import QtBot

from tests.helpers import packages, results, workspaces
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")
WAIT_MS = 30_000


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    with workspaces.writing(no_desks.ws) as writer:
        digest = results.define(writer)
        results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest))
    return no_desks


def verified(desks: Desks, qtbot: QtBot) -> ResultPage:
    desk = desks.open()
    desk.window._whole.setCurrentIndex(0)
    desk.window.open_result(1)
    page: ResultPage = desk.window._results.page
    qtbot.waitUntil(lambda: page._seen is not None and page._seen.package is not None, timeout=WAIT_MS)
    page._verify.click()
    qtbot.waitUntil(lambda: not page._watch and not page.banner.isHidden(), timeout=WAIT_MS)
    return page


def test_derived_tables_are_made_again_after_a_question(desks: Desks, qtbot: QtBot) -> None:
    path = packages.writable(desks.ws.result_folder(1, 1) / "derived" / "prices.parquet")
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"?")
    page = verified(desks, qtbot)
    assert "can be made again" in page.banner._text.text()
    assert not page.rebuild.button.isHidden()
    page.rebuild.button.click()
    assert "quarantine" in page.rebuild.popover._text.text()
    assert (page.rebuild.popover._no.text(), path.read_bytes()[-1:]) == ("Leave as it is", b"?")
    page.rebuild.popover._yes.click()
    qtbot.waitUntil(lambda: not page.checked.isHidden(), timeout=WAIT_MS)
    assert page.banner.isHidden()
    assert (desks.ws.result_folder(1, 1) / "derived" / "prices.parquet").read_bytes() == good


def test_a_damaged_authority_offers_nothing_but_words(desks: Desks, qtbot: QtBot) -> None:
    path = packages.writable(desks.ws.result_folder(1, 1) / "tables" / "prices.jsonl")
    path.write_bytes(path.read_bytes()[:-2] + b"?\n")
    page = verified(desks, qtbot)
    assert page.rebuild.button.isHidden()
    assert "never repaired" in page.banner._text.text()
