"""The About page in the window: it shows what was tried with its age and limits, and reads it anew each time (§17)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from actum import clock
from actum_desktop.desk import Desk
from actum_desktop.models.details import DETAIL, Section
from actum_desktop.views.aboutview import AboutView
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")
HOUR_US = 3_600 * clock.US


def tried(root: Path, **counts: int) -> None:
    """What the tests wrote two hours ago in the checkout at `root`: units only, with three skips."""
    entry: dict[str, Any] = {"commit": "b" * 40, "dirty": True, "complete": True, "seconds": 4, "note": ""}
    entry |= {"at": clock.rfc3339(clock.utc_us() - 2 * HOUR_US), "counts": counts, "skips": {"no such device": 3}}
    document = {"schema": "actum.evidence/1", "environment": {"python": "CPython 3"}, "kinds": {"unit": {"suite": entry}}}
    (root / "build").mkdir(exist_ok=True)
    (root / "build" / "evidence.json").write_text(json.dumps(document))


def shown(page: AboutView) -> list[str]:
    """The rows that the list shows, a text each; every one of them has its place in it."""
    model = page._list.model()
    for row in range(model.rowCount()):
        assert page._list.visualRect(model.index(row, 0)).height() > 0
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_the_page_shows_what_was_tried_with_its_age_and_its_limits_and_reads_it_anew(
    open_desk: Callable[[], Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actum.tried.checkout", lambda: tmp_path)
    tried(tmp_path, passed=1_200)
    window = open_desk().window
    window.go("about")
    page = window._pages.currentWidget()
    assert isinstance(page, AboutView)
    rows = shown(page)
    assert "Version, 0" in rows
    [units] = [row for row in rows if row.startswith("Units, ")]
    assert units.startswith("Units, 1,200 passed · ")
    assert "2 h ago" in units
    assert units.endswith("commit bbbbbbb · with changes not committed")
    assert "3 skipped: no such device" in rows
    assert any(row.startswith("Did not run, ") and "Soak" in row and "Fuzzing" in row for row in rows)
    assert any("It does not show that nothing else is wrong." in row for row in rows)
    heads = [page._list.model().index(row, 0).data(DETAIL) for row in range(len(rows))]
    assert [head.title for head in heads if isinstance(head, Section)] == [
        "Actum",
        "How this program was tried",
        "Observed in this workspace",
        "Done by hand",
    ]
    assert page._list.hasFocus()
    QTest.keyClick(page._list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "Units\t1,200 passed" in QGuiApplication.clipboard().text()
    tried(tmp_path, passed=1_199, failed=1)
    window.go("runs")
    window.go("about")
    assert any(row.startswith("Units, 1,199 passed, 1 failed · ") for row in shown(page))
    (tmp_path / "build" / "evidence.json").write_text("{")
    window.go("runs")
    window.go("about")
    assert any(row.startswith("The evidence cannot be read: ") for row in shown(page))
