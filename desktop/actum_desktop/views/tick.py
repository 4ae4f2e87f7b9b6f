"""A box to tick, drawn from the tokens: seen in light and dark, with its ring when it has the focus."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox

from actum_desktop.views.ink import Ink

_BOX, _GAP, _RADIUS = 16, 7, 4


class Tick(QCheckBox):
    """A check box with its words at the right; the whole of it can be clicked."""

    def __init__(self, ink: Ink, text: str, size: str = "body") -> None:
        super().__init__(text)
        self._ink, self._size = ink, size
        self.setAccessibleName(text)
        self.setFont(ink.theme.font(size))
        ink.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        px = self._ink.theme.px
        return QSize(px(_BOX + _GAP + 4) + round(self._ink.width(self.text(), self._size)) + 1, px(26))

    minimumSizeHint = sizeHint

    def hitButton(self, position: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px, theme = self._ink, self._ink.theme.px, self._ink.theme
        edge = px(_BOX)
        box = QRectF(2, (self.height() - edge) / 2, edge, edge)
        checked = self.checkState() == Qt.CheckState.Checked
        painter.setPen(QPen(theme.color("fill" if checked else "line2"), 1))
        painter.setBrush(theme.color("fill" if checked else "surface"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        if checked:
            ink.icon(painter, QPointF(box.center()), "check", "on_fill", px(12))
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), _RADIUS + 1, _RADIUS + 1)
        words = QRectF(box.right() + px(_GAP), 0, self.width() - box.right() - px(_GAP) + 1, self.height())
        ink.text(painter, words, self.text(), "text" if self.isEnabled() else "text3", self._size)
        painter.end()
