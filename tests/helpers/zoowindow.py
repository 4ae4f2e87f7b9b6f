"""The zoo under a real window, which supervises and shows the run of each animal: what holds its GUI thread is counted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actum.lock import Lock
from actum.workspace import Workspace, create_folders
from actum_desktop.desk import Desk
from actum_desktop.stalls import Stall, StallWatch
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from tests.helpers.stalls import OVER_S, where
from tests.helpers.zookeeper import SLOTS, Den, Keeper, peak_mib, set_setting

PATIENCE_S = 120


class WindowKeeper(Keeper):
    """A keeper in this process: its window supervises, and is in front. Attributes: stalls (of the program, since `watch`)."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pid = folder, os.getpid()
        self.ws = Workspace(folder / "workspace")
        self.host_mib: dict[int, float] = {}
        self.stalls: list[tuple[str, float]] = []
        create_folders(self.ws)
        set_setting(self.ws, "slots", SLOTS)
        made = QApplication.instance()
        self._app = made if isinstance(made, QApplication) else QApplication([])
        self._app.setStyle("Fusion")
        self._app.setQuitOnLastWindowClosed(False)
        lock = Lock.try_acquire(self.ws)
        assert lock is not None
        self._desk = Desk(self._app, self.ws, lock, "0")
        self._desk.open()
        self._until(lambda: self._desk.source is not None and self._desk.window._state is not None, "the window supervises")
        self._watch = StallWatch(self._on_stall, OVER_S)
        self._watch.start()

    def command(self, **body: Any) -> dict[str, Any]:
        told: list[Any] = []
        self._desk.window.send(body, told.append)
        self._until(lambda: bool(told), f"the answer to {body['verb']}")
        return dict(told[0] or {})

    def live(self, den: Den, *, stopped: bool, timeout_s: float) -> dict[str, Any]:
        """Show the run of an animal until it has ended, stopped by a person where it is so; its `show`."""
        self._desk.window.open_run(den.run)
        if stopped:
            self._until((den.den / "ready").exists, f"run {den.run} to be ready")
            den.stop()
        ended: list[dict[str, Any]] = []
        waiting = threading.Thread(target=lambda: ended.append(den.closed(timeout_s)))
        waiting.start()
        while waiting.is_alive():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)
        assert ended, f"run {den.run} did not end"
        return ended[0]

    def close(self) -> None:
        self._watch.stop()
        self._desk.close()

    def memory_mib(self) -> float:
        return peak_mib(self.pid)

    def _on_stall(self, stall: Stall) -> None:
        if place := where(stall):
            self.stalls.append((place, stall.seconds))

    def _until(self, there: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not there():
            assert time.monotonic() < end, f"never: {what}"
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)
