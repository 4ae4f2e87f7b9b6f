"""A supervisor without a window: the controller in the main thread of a command, on a QCoreApplication (§3)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from typing import Any

from actum.errors import ActumError
from actum.lock import Lock
from actum.workspace import Workspace
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer

from actum_desktop import qtguard
from actum_desktop.controller.controller import Controller
from actum_desktop.controller.events import Update
from actum_desktop.controller.ossignals import Signals


class Headless(QObject):
    """Attributes: interrupted (how often SIGINT came), retired (why this process supervises no longer, or ""),
    handed_over (whether that was to let a successor in)."""

    def __init__(self, ws: Workspace, lock: Lock) -> None:
        """Open the workspace and begin to supervise. Raises WorkspaceUnusable, StorageFailed."""
        qtguard.check()
        self._application = QCoreApplication.instance() or QCoreApplication(["actum"])
        super().__init__()
        self.interrupted = 0
        self.terminated = False
        self.retired = ""
        self.handed_over = False
        self._left = False
        self._loop = QEventLoop(self)
        self._on_update: Callable[[Update], None] | None = None
        self._predicate: Callable[[], bool] = lambda: False
        self._signals = Signals(self._on_signal, self)
        self.controller = Controller(ws, lock)
        self.controller.updated.connect(self._on_updated)
        self.controller.retired.connect(self._on_retired)
        self.controller.handed_over.connect(self._on_handed_over)
        try:
            self.controller.start()
        except BaseException:
            self.controller.leave()
            self._signals.close()
            raise

    def submit(self, body: Mapping[str, Any], *, interruptible: bool = False) -> dict[str, Any]:
        """One command and its answer, after the commit. SIGINT is only counted meanwhile, unless it may end the wait.

        Raises what the command raised; Busy when the supervisor left or SIGTERM came; KeyboardInterrupt.
        """
        box: list[tuple[Mapping[str, Any] | None, ActumError | None]] = []

        def keep(ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
            box.append((ok, error))
            self._wake()

        before = self.interrupted
        self.controller.command(body, keep)
        while not (box or self.retired or self.terminated or (interruptible and self.interrupted > before)):
            self.run_until(lambda: bool(box))
        if not box and interruptible and self.interrupted > before:
            raise KeyboardInterrupt
        if not box:
            raise self.controller.left_error()
        ok, error = box[0]
        if error is not None:
            raise error
        return dict(ok or {})

    def run_until(self, predicate: Callable[[], bool], on_update: Callable[[Update], None] | None = None) -> None:
        """Supervise until `predicate` holds, a signal comes, or this instance is retired."""
        self._on_update = on_update
        self._predicate = predicate
        before = self.interrupted
        timer = QTimer(self)
        timer.setInterval(50)
        timer.timeout.connect(self._wake)
        timer.start()
        try:
            while not (predicate() or self.retired or self.terminated or self.interrupted > before):
                self._loop.exec()
        finally:
            timer.stop()
            timer.deleteLater()
            self._on_update = None

    def is_idle(self) -> bool:
        return self.controller.idle

    def leave(self) -> None:
        """Stop supervising and let go of the workspace; hosts go on."""
        if not self._left:
            self._left = True
            self._signals.close()
            self.controller.leave()

    def _wake(self) -> None:
        if self._loop.isRunning():
            self._loop.quit()

    def _on_updated(self, update: Update) -> None:
        if self._on_update is not None:
            self._on_update(update)
        self._wake()

    def _on_retired(self, why: str) -> None:
        self.retired = why
        self._wake()

    def _on_handed_over(self) -> None:
        self.handed_over = True
        self.retired = "another supervisor took over"
        self._wake()

    def _on_signal(self, signum: int) -> None:
        if signum == signal.SIGINT:
            self.interrupted += 1
        else:
            self.terminated = True
        self._wake()
