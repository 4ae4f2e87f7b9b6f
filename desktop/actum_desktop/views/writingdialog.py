"""What the dialogs that write files have in common: while they write, Cancel and Esc ask to stop, and else they close."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPushButton

from actum_desktop.i18n import _
from actum_desktop.views.widgets import Label


class WritingDialog(QDialog):
    """Signal: `cancel_asked` (). Whoever inherits makes the button `_cancel` and the line `_foot`, and keeps `_state`."""

    cancel_asked = Signal()

    _state = "asking"
    _cancel: QPushButton
    _foot: Label

    def _on_cancel(self) -> None:
        if self._state == "writing":
            self._cancel.setEnabled(False)
            self._foot.setText(_("Being cancelled…"))
            self.cancel_asked.emit()
        else:
            self.reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._state == "writing":
            self._on_cancel()
            return
        super().keyPressEvent(event)
