"""What ends the window's event loop: the desk when it is done; a signal or the end of the session, orderly and unasked."""

from __future__ import annotations

import signal

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from actum_desktop.controller.ossignals import Signals
from actum_desktop.desk import Desk

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending(QObject):
    """Lives in the GUI thread, as long as the loop."""

    def __init__(self, app: QApplication, desk: Desk) -> None:
        super().__init__()
        self._app, self._desk = app, desk
        self._signals = Signals(self._on_signal, self, _NUMBERS)
        app.commitDataRequest.connect(desk.leave)
        desk.done.connect(self._on_done)

    def close(self) -> None:
        self._signals.close()

    def _on_signal(self, number: int) -> None:
        self._desk.leave()

    @Slot()
    def _on_done(self) -> None:
        self._app.quit()
