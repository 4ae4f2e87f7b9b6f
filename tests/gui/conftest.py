"""Windows over the real controller, hosts and helpers, opened on one workspace a test and closed behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum_desktop import i18n
from actum_desktop.desk import Desk
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import stalls
from tests.helpers.desks import Desks


@pytest.fixture(autouse=True)
def stalls_counted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Which calls of the program hold the GUI thread: said in the summary, never a reason to fail."""
    if "qapp" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("qapp")
    with stalls.counted(request.node):
        yield


@pytest.fixture
def no_desks(tmp_path: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desks]:
    """A workspace with nothing in it, and the windows that will be opened on it; whatever is open at the end is closed."""
    monkeypatch.setenv("ACTUM_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("LC_ALL", "C")
    desks = Desks(tmp_path, qapp, qtbot)
    yield desks
    desks.close()
    i18n.use("en")


@pytest.fixture
def open_desk(no_desks: Desks) -> Callable[[], Desk]:
    """Opens a window on one workspace and waits until it supervises."""
    return no_desks.open
