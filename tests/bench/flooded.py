"""A program for the bench of frames: eight processes flood the real local server, while a timer in the GUI thread watches.

`python -m tests.bench.flooded FOLDER FRAMES` prints {frames_per_s, delay_p99_ms, delay_max_ms}; with 0 frames the timer
watches an idle window.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from actum.ipc import framing
from actum.ipc.session import Expected
from actum_desktop.controller.server import Greeting, Server
from PySide6.QtCore import QObject, Qt, QThread, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from tests.bench.frames import expected, hello, progress

HOSTS = 8
TIMER_MS = 5
IDLE_S = 2.0

# Builds its frames before it says it is ready; the sending loop then costs the machine as little as it can.
FLOODER = """
import socket, sys
path, file = sys.argv[1:]
data = open(file, "rb").read()
sys.stdout.write("r"); sys.stdout.flush(); sys.stdin.read(1)
s = socket.socket(socket.AF_UNIX); s.connect(path); s.sendall(data); sys.stdin.read()
"""


class Counting(QObject):
    """The server's owner: counts, and tells when all has come."""

    done = Signal()

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.left = wanted
        self.listening = threading.Event()

    @Slot(str)
    def listen(self, path: str) -> None:
        Server(self, Greeting("bench", 1), self).listen(path)
        self.listening.set()

    def expected(self, hello: dict[str, Any]) -> Expected:
        return expected()

    def on_host_frame(self, channel: object, frame: object) -> None:
        self.left -= 1
        if self.left == 0:
            self.done.emit()

    def on_unknown_host(self, hello: object) -> None:
        raise AssertionError(hello)

    def on_violation(self, channel: object, why: str, *, closed: bool) -> None:
        raise AssertionError(why)

    def on_client_command(self, channel: object, body: object) -> None: ...

    def on_closed(self, channel: object) -> None: ...


class Watch(QObject):
    """How late a timer of the GUI thread fires."""

    def __init__(self) -> None:
        super().__init__()
        self.late_ms: list[float] = []
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timeout)

    def start(self) -> None:
        self._due = time.perf_counter() + TIMER_MS / 1000
        self._timer.start(TIMER_MS)

    @Slot()
    def end(self) -> None:
        """Only the GUI thread quits: connected directly, `quit` would run in the thread of the signal."""
        QApplication.quit()

    def _on_timeout(self) -> None:
        now = time.perf_counter()
        self.late_ms.append(max(0.0, (now - self._due) * 1000))
        self._due = now + TIMER_MS / 1000


class Start(QObject):
    """Crosses into the server's thread."""

    listen = Signal(str)


def flood(folder: Path, frames: int, counting: Counting) -> list[subprocess.Popen[bytes]]:
    """Eight flooders, connected to nothing yet: each waits for one byte."""
    path = str(folder / "s")
    data = folder / "frames"
    data.write_bytes(b"".join(map(framing.encode, [hello(), *(progress(seq) for seq in range(1, frames))])))
    start = Start()
    # Never BlockingQueuedConnection: the emitter would keep the interpreter lock that the other thread needs.
    start.listen.connect(counting.listen, Qt.ConnectionType.QueuedConnection)
    start.listen.emit(path)
    assert counting.listening.wait(10)
    command = [sys.executable, "-I", "-S", "-c", FLOODER, path, str(data)]
    flooders = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(HOSTS)]
    for flooder in flooders:
        assert flooder.stdout is not None
        flooder.stdout.read(1)
    return flooders


def main() -> None:
    folder, frames = Path(sys.argv[1]), int(sys.argv[2])
    sys.setswitchinterval(0.001)
    application = QApplication([])
    window = QMainWindow()
    window.show()
    thread, counting = QThread(), Counting(frames * HOSTS)
    counting.moveToThread(thread)
    thread.start()
    flooders = flood(folder, frames, counting) if frames else []
    watch = Watch()
    if frames:
        counting.done.connect(watch.end, Qt.ConnectionType.QueuedConnection)
    else:
        QTimer.singleShot(int(IDLE_S * 1000), application.quit)
    began = time.perf_counter()
    for flooder in flooders:
        assert flooder.stdin is not None
        flooder.stdin.write(b"g")
        flooder.stdin.flush()
    watch.start()
    application.exec()
    elapsed = time.perf_counter() - began
    for flooder in flooders:
        flooder.communicate()
    thread.quit()
    thread.wait()
    late = sorted(watch.late_ms)
    found = {"frames_per_s": frames * HOSTS / elapsed, "delay_p99_ms": late[len(late) * 99 // 100], "delay_max_ms": late[-1]}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
