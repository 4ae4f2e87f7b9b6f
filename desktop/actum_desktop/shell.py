"""The bare main window: on the screen before anything heavy is imported, then furnished with the pages.

It paints the grounds of sidebar, page and status line in the colours of the look chosen, so that nothing jumps when the
pages arrive.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QGuiApplication, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QMainWindow

from actum_desktop import tokens

WIDE, HIGH = 1280, 800
LEAST_WIDE, LEAST_HIGH = 760, 520


class Shell(QMainWindow):
    """Signals: `painted` () once, after the first frame; `closing` () whenever it is about to close.

    Attribute: may_close, asked before it closes; without an answer of True it stays.
    """

    painted = Signal()
    closing = Signal()

    def __init__(self, scheme: str, geometry: tuple[int, int, int, int] | None = None) -> None:
        super().__init__()
        asked = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        dark = scheme == "dark" or (scheme == "system" and asked)
        self._tokens = tokens.THEMES["dark" if dark else "light"]
        self._painted = False
        self.may_close: Callable[[], bool] = lambda: True
        self.setWindowTitle("Actum")
        self.setMinimumSize(LEAST_WIDE, LEAST_HIGH)
        self.resize(WIDE, HIGH)
        if geometry is not None:
            self.setGeometry(*geometry)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.centralWidget() is None:
            painter = QPainter(self)
            painter.fillRect(self.rect(), QColor(self._tokens.window))
            painter.fillRect(QRect(0, 0, tokens.SIDEBAR, self.height()), QColor(self._tokens.sidebar))
            low = self.height() - tokens.STATUS_LINE
            painter.fillRect(QRect(0, low, self.width(), tokens.STATUS_LINE), QColor(self._tokens.sidebar))
            painter.end()
        if not self._painted:
            self._painted = True
            self.painted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that nothing inside has taken. Enter presses the button that has the focus, as Space does."""
        inside, focused = self.centralWidget(), self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QAbstractButton):
            focused.click()
        elif inside is not None and event.key() == Qt.Key.Key_Escape:
            inside.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        if self.may_close():
            super().closeEvent(event)
        else:
            event.ignore()
