"""The window, from the start of the process until it is painted, on 1,000,000 runs of history; against a bare QMainWindow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.workspace import Workspace

from tests.bench.harness import Comparison
from tests.bench.listing import fill

# In place of the event loop: turn it until a window is exposed and painted, say when and how large, and close.
LOOP = """
import json, sys, time
from PySide6.QtCore import QCoreApplication, QEventLoop
from PySide6.QtWidgets import QApplication

def measured(*arguments):
    def painted():
        windows = (w for w in QApplication.topLevelWidgets() if w.isVisible() and w.windowHandle())
        return [w for w in windows if w.windowHandle().isExposed()]
    while not painted():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)
    painted()[0].grab()
    at = time.monotonic()
    with open("/proc/self/status") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    sys.stdout.write(json.dumps({"at": at, "mb": kib / 1024}) + "\\n")
    sys.stdout.flush()
    for window in QApplication.topLevelWidgets():
        window.close()
    QCoreApplication.processEvents()
    return 0

QApplication.exec = measured
QCoreApplication.exec = measured
"""
BARE = LOOP + "a = QApplication(sys.argv)\nfrom PySide6.QtWidgets import QMainWindow\nw = QMainWindow()\nw.show()\na.exec()\n"
OURS = LOOP + "from actum_desktop.entry import main\nmain([])\n"


def started(source: str, variables: dict[str, str]) -> dict[str, float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", source], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise RuntimeError(f"the window did not open: {done.stderr[-1000:]}")
    shown = json.loads(done.stdout.splitlines()[0])
    return {"ms": (shown["at"] - began) * 1000, "mb": shown["mb"]}


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    ws = Workspace(folder / "workspace")
    fill(ws)
    variables = {"ACTUM_HOME": str(ws.path), "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
    (folder / "run").mkdir(mode=0o700)

    def measure(source: str, what: str) -> Callable[[], float]:
        return lambda: started(source, variables)[what]

    yield [
        Comparison(
            "window painted, 1,000,000 runs",
            "ms",
            measure(OURS, "ms"),
            measure(BARE, "ms"),
            "bare QMainWindow",
            "≤ 1.5 × bare",
            lambda ours, ratio: ratio <= 1.5,
        ),
        Comparison(
            "memory of the window",
            "MB",
            measure(OURS, "mb"),
            measure(BARE, "mb"),
            "bare QMainWindow",
            "≤ 220 MB",
            lambda ours, ratio: ours <= 220,
            rounds=3,
        ),
    ]
