"""A result from elsewhere in the window: opened, verified to a level, with what is and is not shown (R13, R16, R19)."""

from __future__ import annotations

from pathlib import Path

import pytest
from actum.results import pack
from actum_desktop.elsewheredesk import ElsewhereDesk
from actum_desktop.views.packagedrop import dropped
from PySide6.QtCore import QMimeData, QUrl
from pytestqt.qtbot import QtBot

from tests.helpers import packages
from tests.helpers.desks import Desks

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")
WAIT_MS = 30_000


@pytest.fixture
def desks(no_desks: Desks) -> Desks:
    return no_desks


@pytest.fixture
def packed(tmp_path: Path) -> tuple[Path, str]:
    made = packages.sample(tmp_path / "theirs")
    told = pack.make(made.path, tmp_path / "theirs.actumpack")
    return Path(told["path"]), told["manifest_sha256"]


def opened(desks: Desks, qtbot: QtBot, path: Path) -> ElsewhereDesk:
    desk = desks.open()
    found = desk.window._results
    found.open_elsewhere(str(path))
    elsewhere = found.elsewhere
    page = elsewhere.page
    qtbot.waitUntil(lambda: page._found is not None or not page.banner.isHidden(), timeout=WAIT_MS)
    return elsewhere


def verify(desk: ElsewhereDesk, qtbot: QtBot, level: str = "content", digest: str = "") -> str:
    page = desk.page
    page.level.choose(level)
    page.digest.setText(digest)
    page.verify_button.click()
    qtbot.waitUntil(lambda: page.verify_button.isVisibleTo(page), timeout=WAIT_MS)
    return page.now.word


def test_a_pack_is_looked_at_and_verified_as_far_as_is_asked(desks: Desks, qtbot: QtBot, packed: tuple[Path, str]) -> None:
    path, digest = packed
    desk = opened(desks, qtbot, path)
    page = desk.page
    assert page.now.word == "not verified"
    qtbot.waitUntil(lambda: page.tables.model.total == 2, timeout=WAIT_MS)
    assert page.tables._export.isHidden()
    assert verify(desk, qtbot) == "consistent with itself"
    assert "rows mean what their authority means" in page.shown.text()
    assert "whose result it is" in page.not_shown.text()
    assert verify(desk, qtbot, digest=digest.upper()) == "as it was sealed"
    assert "whose result it is" not in page.not_shown.text()
    assert verify(desk, qtbot, level="bytes") == "consistent with itself"
    assert "that its tables mean" in page.not_shown.text()
    assert verify(desk, qtbot, level="sample:4") == "consistent with itself"
    assert "No file was read whole" in page.shown.text()
    assert verify(desk, qtbot, level="sample:4", digest=digest) == "consistent with itself"
    assert verify(desk, qtbot, digest="0" * 64) == "not consistent"
    assert page.shown.isHidden()
    folder = desk._folder
    assert folder is not None
    desk.open(str(path))
    assert not folder.exists()


def test_a_wrong_digest_is_said_under_its_field_and_nothing_is_begun(
    desks: Desks, qtbot: QtBot, packed: tuple[Path, str]
) -> None:
    desk = opened(desks, qtbot, packed[0])
    desk.page.digest.setText("12")
    desk.page.verify_button.click()
    assert desk.page._problem.text() == "A digest has 64 signs, 0–9 and a–f."
    assert desk.page.now.word == "not verified"


def test_what_is_no_result_is_said_in_words_and_a_dropped_folder_is_opened(
    desks: Desks, qtbot: QtBot, packed: tuple[Path, str], tmp_path: Path
) -> None:
    bad = tmp_path / "no.actumpack"
    bad.write_bytes(b"PK\x03\x04 no pack")
    desk = opened(desks, qtbot, bad)
    assert not desk.page.banner.isHidden()
    assert desk.page.verify_button.isHidden()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "theirs" / "staging"))])
    path = dropped(data)
    assert path is not None
    desk.page.open_asked.emit(path)
    qtbot.waitUntil(lambda: desk.page._found is not None, timeout=WAIT_MS)
    assert verify(desk, qtbot) == "consistent with itself"
    page = desk.page
    for widget in (page.verify_button, page.cancel_button, page.another_button, page.copy_button, page.digest, page.level):
        assert widget.accessibleName(), widget
