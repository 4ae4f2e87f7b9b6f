"""An export on success that did not work is an alert with a button; pressing it does what is missing, or says why not (R14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from actum.store.queries import Reader
from pytestqt.qtbot import QtBot

from tests.helpers import results, workspaces
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

WAIT_MS = 30_000


@pytest.fixture
def desks(no_desks: Desks, tmp_path: Path) -> Desks:
    """A workspace with a result whose task exports into a folder that is not there."""
    with workspaces.writing(no_desks.ws) as writer:
        policies = {"export_on_success": {"folder": str(tmp_path / "mine"), "name": "{table}", "format": "parquet"}}
        digest = results.define(writer, policies)
        results.publish_prices(no_desks.ws, writer, workspaces.admit(writer, digest, key="one"))
    return no_desks


def test_the_alert_exports_again_and_goes_when_that_worked(desks: Desks, qtbot: QtBot, tmp_path: Path) -> None:
    desk = desks.open()
    view = desk.window._alerts
    qtbot.waitUntil(lambda: [item.code for item, _words in view.model.items] == ["export_failed"], timeout=WAIT_MS)
    desk.window.go("alerts")
    view._list.setCurrentIndex(view.model.index(0))
    assert view._deliver.isVisibleTo(view)
    assert not view._adopt.isVisibleTo(view)
    view._deliver.click()
    assert not view._deliver.isEnabled()
    qtbot.waitUntil(view._deliver.isEnabled, timeout=WAIT_MS)
    assert "Still not exported: The folder of “prices.parquet” does not exist." in view._checked.text()
    (tmp_path / "mine").mkdir()
    view._deliver.click()
    qtbot.waitUntil(lambda: not view.model.items, timeout=WAIT_MS)
    assert (tmp_path / "mine" / "prices.parquet").read_bytes()[:4] == b"PAR1"
    with Reader(desks.ws) as reader:
        assert [row.path for row in reader.exports(1)] == [str(tmp_path / "mine" / "prices.parquet")]
