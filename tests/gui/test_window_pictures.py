"""The screens on prepared data: every control has a name, rows speak, and no text is cut, in both languages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum_desktop import i18n, measures
from actum_desktop.models.ledgermodel import LedgerModel
from actum_desktop.models.runsmodel import RunsModel
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from tests.helpers import showdocs, stage
from tests.helpers.screens import Screens

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

ROOT = Path(__file__).resolve().parents[2]
NEEDS_NAME = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView)


@pytest.fixture(params=[("light", "en"), ("dark", "zh_CN")], ids=["light-en", "dark-zh"])
def screens(request: pytest.FixtureRequest, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Screens]:
    monkeypatch.setattr(measures, "now_us", lambda: showdocs.NOW)
    scheme, language = request.param
    made = Screens(scheme, language, qapp)
    yield made
    made.close()
    made.theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    i18n.use("en")


def _inner(widget: QObject) -> bool:
    """Parts of Qt's own composite widgets: a combo's list, a view's header, a field's clear button."""
    name = widget.objectName()
    return name.startswith("qt_") or isinstance(widget.parent(), QLineEdit | QComboBox)


def test_every_control_has_a_name_and_no_text_is_cut(screens: Screens) -> None:
    nameless: set[str] = set()
    cut: set[str] = set()
    seen = 0
    for name, window in screens.each():
        for widget in window.findChildren(QWidget):
            if not widget.isVisible() or _inner(widget):
                continue
            seen += 1
            if isinstance(widget, NEEDS_NAME) and not widget.accessibleName() and not getattr(widget, "text", str)():
                nameless.add(f"{name}: {type(widget).__name__}")
            if (text := _cut(widget)) is not None:
                cut.add(f"{name}: {text}")
    assert seen > 500
    assert nameless == set()
    assert cut == set()


def _cut(widget: QWidget) -> str | None:
    """The text of a label or button that is wider or higher than its place."""
    if isinstance(widget, QLabel) and widget.text():
        metrics = QFontMetrics(widget.font())
        if widget.wordWrap():
            flags = Qt.TextFlag.TextWordWrap
            needed = metrics.boundingRect(0, 0, widget.width(), 10_000, flags, widget.text()).height()
            return widget.text() if needed > widget.height() + 1 else None
        return widget.text() if metrics.horizontalAdvance(widget.text()) > widget.width() + 1 else None
    if isinstance(widget, QPushButton) and widget.text():
        needed = QFontMetrics(widget.font()).horizontalAdvance(widget.text())
        needed += widget.iconSize().width() if not widget.icon().isNull() else 0
        return widget.text() if needed > widget.width() else None
    return None


def test_rows_speak_whole_sentences(qapp: QApplication) -> None:
    model = LedgerModel()
    model.show(showdocs.states()["verifying"], now=showdocs.NOW)
    spoken = [model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    assert len(spoken) == 12  # two heads, ten rows
    assert spoken[1].startswith("Request admitted, on record at ")
    assert any(text.startswith("Package verified, waited for") for text in spoken)
    assert spoken[-1] == "Recorded as succeeded, not yet"


def test_a_row_of_the_list_speaks_its_run(qapp: QApplication) -> None:
    model = RunsModel(stage.PreparedSource(stage.runs()))
    model.reload()
    model.apply((), stage.lives())
    text = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert "Train churn model" in text
    assert "Running" in text
    assert "No progress" in text
    assert "0 of 7 facts, waiting for: Work reported completion" in text


def test_facts_fill_in_without_rows_moving(qapp: QApplication) -> None:
    """R01: a ledger that goes on changes the rows concerned and resets nothing."""
    model = LedgerModel()
    model.show(showdocs.show("RUNNING", "COMPUTING", 4), now=showdocs.NOW)
    changed: list[int] = []
    resets: list[int] = []
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    model.modelReset.connect(lambda: resets.append(1))
    model.show(showdocs.show("RUNNING", "SEALING", 5), now=showdocs.NOW)
    titles = [model.entry(row) for row in set(changed)]
    assert resets == []
    assert 2 <= len(titles) <= 4  # the head's count, the fact, and the one waited for next


def test_live_cells_change_alone(qapp: QApplication) -> None:
    model = RunsModel(stage.PreparedSource(stage.runs()))
    model.reload()
    model.apply((), stage.lives())
    model.freshen()
    changed: set[tuple[int, int]] = set()
    model.dataChanged.connect(lambda first, _last: changed.add((first.row(), first.column())))
    live = stage.lives()[1]
    hotter = type(live)(live.run, live.attempt, 1, live.progress, live.heartbeat_at_us, live.activity, 55.0, 3, 1_600.0)
    model.apply((), (hotter,))
    model.freshen()
    cpu = 6
    assert {column for row, column in changed if row == 1} >= {cpu}
    assert not {column for _row, column in changed} & {0, 1, 3, 8}


def test_a_run_that_ends_moves_to_the_history_and_stays_selected(qapp: QApplication) -> None:
    from dataclasses import replace

    items = stage.runs()
    source = stage.PreparedSource(items)
    model = RunsModel(source)
    model.reload()
    before = model.row_of(216)
    source._items[1] = replace(items[1], status="SUCCEEDED", phase="CLOSED", finished_us=showdocs.NOW)
    model.apply((216,), ())
    after = model.row_of(216)
    assert before == 1
    assert after == len(model.open_items)  # the newest of the ended ones
    assert model.cells_of(after).status.word == "Succeeded"


@pytest.mark.parametrize("factor", ["1", "2"])
def test_the_screens_are_drawn_at_scale(factor: str, tmp_path: Path) -> None:
    """packaging/screens draws every screen without a word from Qt; at scale 2 the picture has twice the pixels."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": factor, "ACTUM_CONFIG": str(tmp_path)}
    words = [sys.executable, str(ROOT / "packaging" / "screens"), "--one", str(tmp_path), "light", "zh_CN", ""]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    from PySide6.QtGui import QImage

    pictures = sorted(tmp_path.glob("*.png"))
    assert len(pictures) >= 18
    assert QImage(str(pictures[0])).width() == 1280 * int(factor)
