"""What a page shows while a file is held over it: the ring of the focus, and a word for what dropping would do (UI.md §6)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from actum_desktop import tokens
from actum_desktop.views.ink import Ink


class DropCue(QWidget):
    """Lies over `page` while it is shown; takes no event away from it."""

    def __init__(self, ink: Ink, page: QWidget) -> None:
        super().__init__(page)
        self._ink, self._words = ink, ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, words: str) -> None:
        """Show what dropping would do; "" = nothing is held here any more."""
        self._words = words
        self.setAccessibleName(words)
        page = self.parentWidget()
        if page is not None:
            self.setGeometry(page.rect())
        self.setVisible(bool(words))
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, ink, px = QPainter(self), self._ink, self._ink.theme.px
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink.theme.color("accent"), tokens.FOCUS))
        inner = QRectF(self.rect()).adjusted(px(6), px(6), -px(6), -px(6))
        painter.drawRoundedRect(inner, tokens.RADIUS_CARD, tokens.RADIUS_CARD)
        wide = ink.width(self._words, "body", 600) + px(32)
        label = QRectF((self.width() - wide) / 2, self.height() - px(72), wide, px(36))
        painter.setBrush(ink.theme.color("raised"))
        painter.drawRoundedRect(label, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        ink.text(painter, label.adjusted(px(16), 0, -px(16), 0), self._words, "accent", "body", 600, middle=True)
        painter.end()
