"""One notice above the page: what happened, why, what to do; it stays until it is closed or the next takes its place."""

from __future__ import annotations

from actum.errors import ActumError
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Banner, button


class Notice(Banner):
    """Signal: `closed` ()."""

    closed = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink, "bad", "x-circle-fill")
        self.add(button(ink.theme, _("Close"), self._on_close, small=True))
        self.hide()

    def tell(self, error: ActumError) -> None:
        self.say(error.what, " ".join(part for part in (error.why, error.remedy) if part))
        self.show()

    def _on_close(self) -> None:
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._on_close()
            return
        super().keyPressEvent(event)


class NoticeBox(QWidget):
    """The place of the notice above the page; takes no room while there is none. Attribute: notice."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        px = ink.theme.px
        self.notice = Notice(ink)
        self.notice.closed.connect(self.hide)
        row = QVBoxLayout(self)
        row.setContentsMargins(px(24), px(12), px(24), 0)
        row.addWidget(self.notice)
        self.hide()

    def tell(self, error: ActumError) -> None:
        self.notice.tell(error)
        self.show()
