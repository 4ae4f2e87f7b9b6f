"""A combo box with the caret of the icon set: a style sheet on the box takes the style's own arrow away."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox

from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink


class Choice(QComboBox):
    """As `QComboBox`; the caret stands where the drop-down of the style sheet leaves room for it."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.view().setAccessibleName(_("Choices"))
        ink.theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        px = self._ink.theme.px
        token = "text2" if self.isEnabled() else "text3"
        self._ink.icon(painter, QPointF(self.width() - px(15), self.height() / 2), "caret-down", token, px(12))
        painter.end()
