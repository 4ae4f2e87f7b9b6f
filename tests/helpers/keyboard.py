"""Working a window with the keyboard alone: Tab to a control, type; what is not ASCII comes as from an input method."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

TABS_MAX = 120


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "something has the focus"
    return widget


def tab_to(wanted: Callable[[QWidget], bool], what: str = "the control") -> QWidget:
    """Press Tab until the focus is where it is wanted."""
    for _turn in range(TABS_MAX):
        if wanted(focus()):
            return focus()
        QTest.keyClick(focus(), Qt.Key.Key_Tab)
    raise AssertionError(f"{what} cannot be reached by Tab")


def tab_to_name(start: str) -> QWidget:
    """The control whose accessible name begins so."""
    return tab_to(lambda widget: widget.accessibleName().startswith(start), start)


def type_text(text: str) -> None:
    """Into whatever has the focus; what no key gives comes as an input method commits it."""
    for sign in text:
        if sign.isascii():
            QTest.keyClick(focus(), sign)
        else:
            event = QInputMethodEvent()
            event.setCommitString(sign)
            QApplication.sendEvent(focus(), event)


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(focus(), key, modifiers)
