"""Notices when one call holds the GUI thread for long, and keeps its length and its stack in a file of bounded size.

Theory. A timer of the GUI thread beats; a thread beside it looks whether the last beat is overdue and, if so, takes down what
the GUI thread is doing just then. When the beat comes back, the gap is known and both make one `Stall`. Nothing is changed by
it and nothing is sent anywhere (R20); the file says, after the fact, which call made the window stand still.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from actum.limits import GUI_STALL_S_MIN, STALL_FRAMES_MAX, STALL_LOG_BYTES_MAX, STALLS_WAITING_MAX
from PySide6.QtCore import QObject, QTimer

_BEATS_PER_STALL = 4
FILE = "stalls.log"


@dataclass(frozen=True, slots=True)
class Stall:
    """The GUI thread did nothing else for `seconds`; `stack` is what it did, outermost first, [] where a call that also held
    the interpreter let nobody look."""

    seconds: float
    stack: tuple[str, ...] = ()

    def text(self) -> str:
        """As it stands in the file."""
        head = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} the window stood still for {self.seconds:.2f} s\n"
        return head + ("".join(self.stack) or "  (the call held the interpreter too)\n")


class StallWatch(QObject):
    """Made, started and stopped in the GUI thread. `told` is called with each Stall in a thread of its own."""

    def __init__(self, told: Callable[[Stall], None], over_s: float = GUI_STALL_S_MIN, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._told, self._over_s = told, over_s
        self._beat_s = over_s / _BEATS_PER_STALL
        self._last = 0.0
        self._gaps: deque[float] = deque(maxlen=STALLS_WAITING_MAX)
        self._gui = threading.get_ident()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(int(self._beat_s * 1000))
        self._timer.timeout.connect(self._on_beat)

    def start(self) -> None:
        if self._thread is None:
            self._last = time.monotonic()
            self._end.clear()
            self._timer.start()
            self._thread = threading.Thread(target=self._watch, name="stalls", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """What was noticed by now is told first."""
        self._timer.stop()
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _on_beat(self) -> None:
        now = time.monotonic()
        gap, self._last = now - self._last - self._beat_s, now
        if gap >= self._over_s:
            self._gaps.append(gap)

    # ---- in the watching thread

    def _watch(self) -> None:
        seen: tuple[str, ...] = ()
        while not self._end.wait(self._beat_s):
            if time.monotonic() - self._last >= self._over_s + self._beat_s:
                seen = seen or _stack(sys._current_frames().get(self._gui))
            seen = self._tell(seen)
        self._tell(seen)

    def _tell(self, seen: tuple[str, ...]) -> tuple[str, ...]:
        while self._gaps:
            self._told(Stall(self._gaps.popleft(), seen))
            seen = ()
        return seen


def _stack(frame: FrameType | None) -> tuple[str, ...]:
    """The innermost STALL_FRAMES_MAX calls. Names and lines only: whose values they are is nobody's business."""
    if frame is None:
        return ()
    found = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False, limit=STALL_FRAMES_MAX)
    found.reverse()
    return tuple(found.format())


class StallFile:
    """Keeps stalls in `folder`; above STALL_LOG_BYTES_MAX the file starts afresh."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def keep(self, stall: Stall) -> None:
        """A file that cannot be written costs the report, nothing else."""
        text = stall.text().encode("utf-8", "replace")[:STALL_LOG_BYTES_MAX]
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            there = self._path.stat().st_size if self._path.exists() else 0
            with self._path.open("wb" if there + len(text) > STALL_LOG_BYTES_MAX else "ab") as file:
                file.write(text)
        except OSError:
            return
