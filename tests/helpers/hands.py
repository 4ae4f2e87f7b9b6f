"""Two hands that work a window: one with keys alone, one with the mouse; a journey is told once and walked by both."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from tests.helpers import keyboard

CTRL = Qt.KeyboardModifier.ControlModifier


class Hand(Protocol):
    def push(self, button: QWidget) -> None:
        """A button, a segment, a link."""

    def enter(self, field: QWidget, text: str) -> None:
        """Replace what stands in a field."""


class Keys:
    """Tab to a control, then Space, or type. What cannot be reached so is named in the failure."""

    def push(self, button: QWidget) -> None:
        group = button.group() if isinstance(button, QAbstractButton) else None
        if group is None or not group.exclusive():
            keyboard.tab_to(lambda widget: widget is button, button.accessibleName())
        else:  # one stop for all of its choices; arrows go from one to the next
            keyboard.tab_to(lambda widget: widget in group.buttons(), button.accessibleName())
            for _turn in group.buttons():
                if keyboard.focus() is not button:
                    keyboard.press(Qt.Key.Key_Right)
            assert keyboard.focus() is button, f"{button.accessibleName()} cannot be reached by arrow keys"
        keyboard.press(Qt.Key.Key_Space)

    def enter(self, field: QWidget, text: str) -> None:
        keyboard.tab_to(lambda widget: widget is field, field.accessibleName())
        keyboard.press(Qt.Key.Key_A, CTRL)
        keyboard.type_text(text)


class Mouse:
    """Clicks in the middle of what is in sight."""

    def push(self, button: QWidget) -> None:
        assert button.isVisible(), button.accessibleName()
        assert not button.visibleRegion().isEmpty(), f"{button.accessibleName()} is out of sight"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def enter(self, field: QWidget, text: str) -> None:
        self.push(field)
        keyboard.press(Qt.Key.Key_A, CTRL)
        keyboard.type_text(text)


def named(root: QWidget, name: str) -> QAbstractButton:
    """The visible button below `root` whose accessible name is `name`."""
    found = [made for made in root.findChildren(QAbstractButton) if made.accessibleName() == name and made.isVisible()]
    names = sorted({made.accessibleName() for made in root.findChildren(QAbstractButton) if made.isVisible()})
    assert found, f"no button is named {name}; there are {names}"
    return found[0]
