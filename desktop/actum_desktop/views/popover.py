"""A question at the button that asks it: the consequence in one sentence, the verb, and a way out. Nothing waits for it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label, button


class Popover(QWidget):
    """Signal: `confirmed` ()."""

    confirmed = Signal()

    def __init__(self, ink: Ink, parent: QWidget, keep: str = "") -> None:
        """`keep`: the word on the way out."""
        super().__init__(parent)
        theme, px = ink.theme, ink.theme.px
        self._theme = theme
        self._title = Label(theme, "", "body", 600)
        self._text = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._yes = button(theme, "", self._on_yes, small=True)
        self._yes.setAccessibleName(_("yes"))  # until it has its verb
        self._no = button(theme, keep or _("Keep it running"), self._close, small=True)
        self._home: QWidget | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(6))
        column.addWidget(self._title)
        column.addWidget(self._text)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._no)
        row.addWidget(self._yes)
        column.addSpacing(px(4))
        column.addLayout(row)
        self.setFixedWidth(px(340))
        self.hide()

    def ask(self, home: QWidget, title: str, text: str, verb: str) -> None:
        """Open below `home`; above it where there is no room below."""
        self._home = home
        self._title.setText(title)
        self._text.setText(text)
        self._yes.say(verb)
        self.setAccessibleName(f"{title} {text}")
        self.layout().activate()  # type: ignore[union-attr]
        height = self.layout().totalHeightForWidth(self.width())  # type: ignore[union-attr]
        self.resize(self.width(), max(height, self.sizeHint().height()))
        parent = self.parentWidget()
        assert parent is not None, "a popover has a page"
        corner = home.mapTo(parent, QPoint(home.width() - self.width(), home.height() + 6))
        above = home.mapTo(parent, QPoint(0, 0)).y() - self.height() - 6
        self.move(max(8, corner.x()), above if corner.y() + self.height() > parent.height() and above >= 0 else corner.y())
        self.show()
        self.raise_()
        self._yes.setFocus()

    def _close(self) -> None:
        self.hide()
        if self._home is not None and self._home.isVisible():
            self._home.setFocus()

    def _on_yes(self) -> None:
        self._close()
        self.confirmed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._yes.hasFocus():
            self._on_yes()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("line2"), 1))
        painter.setBrush(self._theme.color("raised"))
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, tokens.RADIUS_DIALOG, tokens.RADIUS_DIALOG)
        painter.end()
