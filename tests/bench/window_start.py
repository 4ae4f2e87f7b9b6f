"""The window on 1,000,000 runs of history: its first frame from the start of the process, and when its list is live."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actum import clock
from actum.model.changes import Persisted, SetSetting
from actum.model.identity import uuid7
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.bench.harness import Comparison
from tests.bench.listing import fill

ROWS = 100  # a view with as many is the list of runs

# In place of the event loop. An event posted while the first frame is painted comes right after it, before whatever the
# window does next; then the loop turns until a view shows rows (not for the bare window), and `exec` returns.
LOOP = """
import json, os, sys, time
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMainWindow

class First(QObject):
    asked, at = False, 0.0
    def eventFilter(self, seen, event):
        if not self.asked and event.type() == QEvent.Type.Paint and isinstance(seen, QMainWindow):
            self.asked = True
            QCoreApplication.postEvent(self, QEvent(QEvent.Type.User), Qt.EventPriority.HighEventPriority.value)
        return False
    def event(self, event):
        self.at = time.monotonic()
        QApplication.instance().removeEventFilter(self)
        return True

def rows_shown():
    views = (v for w in QApplication.topLevelWidgets() for v in w.findChildren(QAbstractItemView) if v.isVisible())
    return [v for v in views if v.model() is not None and v.model().rowCount() >= ROWS]

def measured(*arguments):
    first, loop, look, end = First(), QEventLoop(), QTimer(), QTimer()
    look.timeout.connect(lambda: loop.quit() if first.at and (not ROWS or rows_shown()) else None)
    look.start(5)
    end.timeout.connect(loop.quit)
    end.start(60_000)
    QApplication.instance().installEventFilter(first)
    loop.exec()
    if not first.at or (ROWS and not rows_shown()):
        sys.stderr.write("after a minute there is no frame, or no list\\n")
        os._exit(1)
    for view in rows_shown() if ROWS else ():
        view.window().grab()
    live = time.monotonic()
    with open("/proc/self/status") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    sys.stdout.write(json.dumps({"painted": first.at, "live": live, "mb": kib / 1024}) + "\\n")
    sys.stdout.flush()
    return 0  # and so everything is taken down in order; after a kill the next start would check the database

QApplication.exec = measured
QCoreApplication.exec = measured
"""
BARE = "ROWS = 0\n" + LOOP + "a = QApplication(sys.argv)\nw = QMainWindow()\nw.show()\na.exec()\n"
OURS = f"ROWS = {ROWS}\n" + LOOP + "from actum_desktop.entry import main\nmain([])\n"


def started(source: str, variables: dict[str, str]) -> dict[str, float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", source], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise RuntimeError(f"the window did not open: {done.stderr[-1000:]}")
    shown = json.loads(done.stdout.splitlines()[0])
    painted, live = (shown[name] * 1000 for name in ("painted", "live"))
    return {"painted": painted - began * 1000, "later": live - painted, "mb": shown["mb"]}


def hold(ws: Workspace) -> None:
    """Pause the queue: a run that one window starts would give the next one something to tell before its list."""
    writer = Writer(ws)
    writer.start(uuid7(clock.utc_us()))
    answer = writer.ask(SetSetting("queue_paused", True, clock.utc_us()))
    assert isinstance(answer, Persisted), answer
    writer.close()


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    ws = Workspace(folder / "workspace")
    fill(ws)
    hold(ws)
    variables = {"ACTUM_HOME": str(ws.path), "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
    (folder / "run").mkdir(mode=0o700)

    def measure(source: str, what: str) -> Callable[[], float]:
        return lambda: started(source, variables)[what]

    yield [
        Comparison(
            "first frame of the window, 1,000,000 runs",
            "ms",
            measure(OURS, "painted"),
            measure(BARE, "painted"),
            "bare QMainWindow",
            "≤ 1.5 × bare",
            lambda ours, ratio: ratio <= 1.5,
        ),
        Comparison(
            "list of runs live after the first frame",
            "ms",
            measure(OURS, "later"),
            measure(BARE, "painted"),
            "first frame of a bare QMainWindow",
            "≤ 500 ms",
            lambda ours, ratio: ours <= 500,
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
