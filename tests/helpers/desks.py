"""Windows over the real controller on one workspace: opened when they supervise, closed in order."""

from __future__ import annotations

from pathlib import Path

from actum.lock import Lock
from actum.workspace import Workspace, create_folders
from actum_desktop.desk import Desk
from actum_desktop.ledger import Kind
from actum_desktop.models.ledgermodel import Foot, Line
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot


class Desks:
    """Opens one window after another on the workspace in `folder`. Call `close` at the end."""

    def __init__(self, folder: Path, app: QApplication, qtbot: QtBot) -> None:
        self.ws = Workspace(folder / "ws")
        self._app, self._qtbot = app, qtbot
        self._open: list[Desk] = []
        app.setStyle("Fusion")
        app.setQuitOnLastWindowClosed(False)
        create_folders(self.ws)

    def open(self) -> Desk:
        """A window that is in front and supervises."""
        lock = Lock.try_acquire(self.ws)
        assert lock is not None, "the last window let go of the workspace"
        desk = Desk(self._app, self.ws, lock, "0")
        self._open.append(desk)
        desk.open()
        self._qtbot.waitUntil(lambda: desk.source is not None and desk.window._state is not None, timeout=30_000)
        desk.shell.activateWindow()
        self._qtbot.waitUntil(desk.shell.isActiveWindow, timeout=10_000)
        return desk

    def shut(self, desk: Desk) -> None:
        """As a person closes it, and its objects with it."""
        shut(desk, self._app)

    def close(self) -> None:
        for desk in self._open:
            self.shut(desk)


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
