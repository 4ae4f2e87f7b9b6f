"""The settings of a workspace in the window: what is set, taken when left, refused under the field (§15, §17)."""

from __future__ import annotations

from typing import Any

import pytest
from actum import settings
from actum.limits import SLOTS_MAX
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.settingsview import NUMBERS, SettingsView
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def shown(qapp: QApplication, qtbot: QtBot) -> tuple[SettingsView, list[Any]]:
    view = SettingsView(Ink(Theme(qapp, "light")), "en")
    qtbot.addWidget(view)
    view.show_values(settings.merged({}))
    view.show()
    asked: list[Any] = []
    view.set_asked.connect(asked.append)
    return view, asked


def typed(view: SettingsView, name: str, text: str) -> None:
    field = view.fields[name]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_every_number_has_its_field_and_its_bounds() -> None:
    for number in NUMBERS:
        low, high = settings.KNOWN[number.name].bounds
        assert low < high
        assert settings.KNOWN[number.name].default % number.each == 0


def test_a_number_is_taken_in_its_unit_and_an_impossible_one_is_refused_in_place(shown: tuple[SettingsView, list[Any]]) -> None:
    """SLOTS_MAX is taken, one more is not; what was typed stays."""
    view, asked = shown
    typed(view, "free_bytes_min", "1,024")
    typed(view, "slots", str(SLOTS_MAX))
    assert asked == [("free_bytes_min", 1 << 30), ("slots", SLOTS_MAX)]
    for text in (str(SLOTS_MAX + 1), "0", "-1", "2.5", "x", ""):
        typed(view, "slots", text or " ")
        assert not view.wrongs["slots"].isHidden()
        assert view.wrongs["slots"].text() == "A whole number from 1 to 1,024 is needed."
    assert len(asked) == 2
    view.show_values(settings.merged({"slots": 7}))
    assert view.fields["slots"].text() != "7", "what is being typed is left alone"
    view._scheme.setFocus()
    view.fields["slots"].setModified(False)
    view.show_values(settings.merged({"slots": 7}))
    assert (view.fields["slots"].text(), view.wrongs["slots"].isHidden()) == ("7", True)


def test_what_waits_after_a_crash_and_keeping_awake_are_asked_for(shown: tuple[SettingsView, list[Any]]) -> None:
    view, asked = shown
    view._resume._buttons["start"].click()
    view._awake._buttons["off"].click()
    assert asked == [("resume_queue_after_crash", True), ("keep_awake", False)]
