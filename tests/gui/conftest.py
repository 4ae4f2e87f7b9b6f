"""Windows over the real controller, hosts and helpers, opened on one workspace a test and closed behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum.lock import Lock
from actum.workspace import Workspace, create_folders
from actum_desktop import i18n
from actum_desktop.desk import Desk
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.desks import shut


@pytest.fixture
def open_desk(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Desk]]:
    """Opens a window on one workspace and waits until it supervises; whatever is open at the end is closed."""
    monkeypatch.setenv("ACTUM_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("LC_ALL", "C")
    qapp.setStyle("Fusion")
    qapp.setQuitOnLastWindowClosed(False)
    ws = Workspace(tmp_path / "ws")
    create_folders(ws)
    desks: list[Desk] = []

    def opened() -> Desk:
        lock = Lock.try_acquire(ws)
        assert lock is not None, "the last window let go of the workspace"
        desk = Desk(qapp, ws, lock, "0")
        desks.append(desk)
        desk.open()
        qtbot.waitUntil(lambda: desk.source is not None and desk.window._state is not None, timeout=30_000)
        desk.shell.activateWindow()
        qtbot.waitUntil(desk.shell.isActiveWindow, timeout=10_000)
        return desk

    yield opened
    for desk in desks:
        shut(desk, qapp)
    i18n.use("en")
