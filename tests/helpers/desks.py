"""What tests do with an open window: look at the run it shows, and close it."""

from __future__ import annotations

from actum_desktop.desk import Desk
from actum_desktop.ledger import Kind
from actum_desktop.models.ledgermodel import Foot, Line
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication


def shut(desk: Desk, qapp: QApplication) -> None:
    if desk.closed:
        return
    desk.close()
    desk.theme.deleteLater()
    desk.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def kinds(desk: Desk) -> list[Kind]:
    """The rows of the ledger that is shown."""
    model = desk.window._page._ledger.ledger
    entries = [model.entry(row) for row in range(model.rowCount())]
    return [entry.row.kind for entry in entries if isinstance(entry, Line)]


def foot(desk: Desk) -> Foot:
    entry = desk.window._page._ledger.foot.ledger.entry(0)
    assert isinstance(entry, Foot)
    return entry


def phase(desk: Desk) -> str:
    return str(desk.window._page._show.get("phase"))
