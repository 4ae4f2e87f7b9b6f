"""SIGINT, SIGTERM and SIGHUP as turns of the event loop, through Python's wake-up descriptor."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSocketNotifier


class Signals(QObject):
    """Tells the numbers of the signals that came, in the main thread. Made and closed there."""

    def __init__(
        self,
        tell: Callable[[int], None],
        parent: QObject | None,
        numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
    ) -> None:
        super().__init__(parent)
        self._tell = tell
        self._receiver, self._sender = socket.socketpair()
        for end in (self._receiver, self._sender):
            end.setblocking(False)
        self._previous = {number: signal.signal(number, _noted) for number in numbers}
        self._previous_fd = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(self._receiver.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_ready)

    def close(self) -> None:
        if self._receiver.fileno() < 0:
            return
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._previous_fd)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._receiver.close()
        self._sender.close()

    def _on_ready(self, *_: object) -> None:
        for number in self._receiver.recv(64):
            if number in self._previous:
                self._tell(number)


def _noted(signum: int, frame: object) -> None:
    """The wake-up descriptor tells; nothing is done inside a signal handler."""
