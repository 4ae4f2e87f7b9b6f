"""The window's end of the controller thread: commands go in, frozen dataclasses come out (§3).

The Controller lives in a QThread of its own; the Bridge lives in the GUI thread. Commands and answers cross by queued
signals only, so nothing here blocks but `leave`, which waits for the thread's orderly end.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from actum.errors import ActumError
from actum.limits import ERROR_TEXT_CHARS_MAX, LEAVE_MS_MAX
from actum.lock import Lock
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Qt, QThread, Signal, Slot

from actum_desktop.controller.controller import Controller
from actum_desktop.controller.events import Answered

log = logging.getLogger(__name__)
_late: list[tuple[QThread, QObject | None]] = []  # threads that outlived their bridge: a running thread is never destroyed


class _Inside(QObject):
    """Lives in the controller thread: makes the Controller there, hands it commands, and takes it down."""

    answered = Signal(object)
    started = Signal(object)  # None, or the ActumError that kept it from starting
    left = Signal()

    def __init__(self, ws: Workspace, lock: Lock, bridge: Bridge) -> None:
        super().__init__()
        self._ws = ws
        self._lock = lock
        self._bridge = bridge
        self._controller: Controller | None = None

    @Slot()
    def start(self) -> None:
        controller = Controller(self._ws, self._lock, window=True)
        queued = Qt.ConnectionType.QueuedConnection
        controller.updated.connect(self._bridge.updated, queued)
        controller.progressed.connect(self._bridge.progressed, queued)
        controller.supervising.connect(self._bridge.supervising, queued)
        controller.retired.connect(self._bridge.retired, queued)
        controller.handed_over.connect(self._bridge.handed_over, queued)
        controller.window_asked.connect(self._bridge.window_asked, queued)
        try:
            controller.start()
        except Exception as error:
            controller.leave()
            if not isinstance(error, ActumError):
                log.exception("the supervisor could not start")
                why = f"{type(error).__name__}: {error}."[:ERROR_TEXT_CHARS_MAX]
                error = ActumError("bug", "The supervisor could not start.", why, "Close the window and open it again.")
            self.started.emit(error)
            return
        self._controller = controller
        self.started.emit(None)
        controller.supervising.emit(controller.state())  # where nothing changes, nothing else would tell the window

    @Slot(object)
    def command(self, token_and_body: tuple[int, Mapping[str, Any]]) -> None:
        token, body = token_and_body
        if self._controller is None:
            error = ActumError("not_started", "The supervisor is not running.", remedy="Close the window and open it again.")
            self.answered.emit(Answered(token, error=error))
            return
        self._controller.command(body, lambda ok, error: self.answered.emit(Answered(token, ok, error)))

    @Slot()
    def leave(self) -> None:
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.leave()
            controller.deleteLater()
        self.left.emit()
        QThread.currentThread().quit()


class Bridge(QObject):
    """Signals: started(None | ActumError), updated(Update), progressed(Progressed), supervising(Supervising),
    answered(Answered), retired(str), handed_over(), window_asked()."""

    started = Signal(object)
    updated = Signal(object)
    progressed = Signal(object)
    supervising = Signal(object)
    answered = Signal(object)
    retired = Signal(str)
    handed_over = Signal()
    window_asked = Signal()
    _start = Signal()
    _command = Signal(object)
    _leave = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: QThread | None = None
        self._inside: _Inside | None = None
        self._token = 0

    def start(self, ws: Workspace, lock: Lock) -> None:
        """Begin to supervise in the controller thread; `started` tells how it went."""
        thread = QThread(self)
        thread.setObjectName("actum-controller")
        inside = _Inside(ws, lock, self)
        inside.moveToThread(thread)
        queued = Qt.ConnectionType.QueuedConnection
        self._start.connect(inside.start, queued)  # before every command, and before a leave: they are taken in order
        inside.started.connect(self.started, queued)
        inside.answered.connect(self.answered, queued)
        self._command.connect(inside.command, queued)
        self._leave.connect(inside.leave, queued)
        self._thread, self._inside = thread, inside
        self._start.emit()
        thread.start()

    def command(self, body: Mapping[str, Any]) -> int:
        """Send one command; `answered` brings its token back with the answer. Never blocks."""
        self._token += 1
        self._command.emit((self._token, dict(body)))
        return self._token

    def leave(self) -> bool:
        """Stop supervising and end the thread; hosts go on. Waits at most LEAVE_MS_MAX; False when that was not enough.

        Then the thread finishes its commits beside the caller and ends by itself; until then it keeps the workspace lock.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return True
        self._leave.emit()
        if thread.wait(LEAVE_MS_MAX):
            self._inside = None
            return True
        log.warning("the controller thread still commits after %d ms", LEAVE_MS_MAX)
        thread.setParent(None)  # its end is not waited for by those who own this
        _late.append((thread, self._inside))
        return False
