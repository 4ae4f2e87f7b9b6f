"""A program for the bench of the window under fire: the real window, hosts and work, while a timer of the GUI thread watches.

`python -m tests.bench.underfire FOLDER SCENE…` prints one object: for `idle` and each scene {p50, p99, max} of how late the
timer fired, in milliseconds (`held_…` without waits for a core, `cpu_…` what was computed between two of its turns). Scenes,
each over some seconds: `flood` = eight hosts whose work reports without a pause, eight more whose frames reach the local
server as fast as it takes them, a ninth work that prints coloured lines as fast as it can, its run's page and the list of
runs in turn, both being scrolled; `search` = looking for a text through that log, scrolled; `table` = a table of 20,000,000
rows scrolled while that work prints and those frames come.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actum.ipc import framing
from actum.lock import Lock
from actum.workspace import Workspace, create_folders
from actum_desktop.desk import Desk
from PySide6.QtCore import QEventLoop, QPoint, QPointF, Qt, QThread, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from tests.bench.flooded import FLOODER, HOSTS, Counting, Start, Watch
from tests.bench.frames import hello, progress
from tests.bench.supervised import define, program
from tests.helpers import seed

IDLE_S, FIRE_S, TABLE_S = 3.0, 12.0, 6.0
TURN_MS = 16  # one turn of the wheel for each frame of a screen
PAGE_MS = 1_000  # how long one page is looked at
FRAMES = 60_000  # of each flooder; after them the flood begins again
LINES = 100_000  # before the search begins
RUNS = 20_000
TABLE_ROWS = 20_000_000
NICE = "/usr/bin/nice"  # what floods yields the cores: measured is what holds the window, not how two cores are shared

PRINTS = r"""
import sys
words = ["loading", "ratio", "shard", "epoch", "needle in a log", "wrote"]
block = []
n = 0
while True:
    for _ in range(200):
        n += 1
        colour = 31 + n % 7
        block.append(f"\x1b[{colour}mstep {n}\x1b[0m {words[n % 5]} \x1b[1;38;5;{n % 256}m{n * 7919 % 100003}\x1b[0m of 100003")
    print("\n".join(block), flush=True)
    block.clear()
"""
REPORTS = """
import json, os, time
with open(os.environ["ACTUM_MESSAGES"], "a", buffering=1) as messages:
    n = 0
    while True:
        n += 1
        messages.write(json.dumps({"progress": [n % 100000, 100000], "stage": "compute"}) + "\\n")
        if n % 20 == 0:
            time.sleep(0.01)
"""


def figures(took: list[float], prefix: str) -> dict[str, float]:
    took = sorted(took)
    return {f"{prefix}p50": took[len(took) // 2], f"{prefix}p99": took[len(took) * 99 // 100], f"{prefix}max": took[-1]}


class Watched(Watch):
    """How late the timer fires, and how late with a core for each thread that was ready: `held_ms` leaves out the longest
    wait of any thread of this program for a core, which the GUI thread shares when that one has the interpreter.
    What other processes of the machine take is theirs. Where the system does not tell such waits, both are the same.
    `cpu_ms` = what the GUI thread computed between two of its timers, whoever else was at work."""

    def __init__(self) -> None:
        super().__init__()
        self.held_ms: list[float] = []
        self.cpu_ms: list[float] = []
        self._waits, self._cpu = waits(), time.thread_time()

    def _on_timeout(self) -> None:
        super()._on_timeout()
        before, self._waits = self._waits, waits()
        longest = max((wait - before.get(thread, wait) for thread, wait in self._waits.items()), default=0.0)
        self.held_ms.append(max(0.0, self.late_ms[-1] - longest))
        cpu_before, self._cpu = self._cpu, time.thread_time()
        self.cpu_ms.append((self._cpu - cpu_before) * 1000)


def waits() -> dict[str, float]:
    """Milliseconds each thread of this process has waited for a core, ready to run."""
    found = {}
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/schedstat", "rb") as file:
                found[thread] = int(file.read().split()[1]) / 1e6
    except OSError:
        return found
    return found


class Scene:
    """The window, and what is done to it."""

    def __init__(self, folder: Path, app: QApplication) -> None:
        self.app, self.folder = app, folder
        self.ws = Workspace(folder / "ws")
        create_folders(self.ws)
        work = (folder / "prints.py", PRINTS), (folder / "reports.py", REPORTS)
        for path, source in work:
            path.write_text(source)
        contracts = [program(path.stem, NICE, "-n", "19", sys.executable, str(path)) for path, _source in work]
        define(self.ws, *({**each, "policies": {"grace": "1s"}} for each in contracts), slots=HOSTS + 2)
        seed.fill(self.ws, RUNS)
        self._end_seeded()
        lock = Lock.try_acquire(self.ws)
        assert lock is not None
        self.desk = Desk(app, self.ws, lock, "0")
        self.desk.open()
        self.until(lambda: self.desk.source is not None and self.desk.window._state is not None, "the window supervises")
        self.window = self.desk.window
        self.window._whole.setCurrentIndex(0)
        self.started: list[int] = []

    def _end_seeded(self) -> None:
        """Runs left open by the seed would be looked for at launch: here they are history too."""
        import sqlite3

        with sqlite3.connect(self.ws.database) as connection:
            guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _sql in guards:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute("UPDATE run SET status = 'FAILED', finished_at_us = started_at_us WHERE status = 'RUNNING'")
            attempt = "UPDATE attempt SET status = 'FAILED', phase = 'CLOSED', released = 1 WHERE status = 'RUNNING'"
            connection.execute(attempt)
            for _name, sql in guards:
                connection.execute(sql)

    def until(self, there: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
        end = time.monotonic() + timeout_s
        while not there():
            assert time.monotonic() < end, f"never: {what}"
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)

    def run(self, task: str) -> int:
        told: list[Any] = []
        about = {"version": None, "parameters": {}, "base": "/", "labels": [], "rerun_of": None, "trigger": "manual"}
        body = {"verb": "run", "task": task, "key": os.urandom(8).hex(), **about}
        self.window.send(body, lambda ok: told.append(ok["run"]))
        self.until(lambda: bool(told), f"{task} is admitted")
        self.started.append(int(told[0]))
        return int(told[0])

    def computing(self, count: int) -> bool:
        assert self.desk.source is not None
        return sum(item.phase == "COMPUTING" for item in self.desk.source.runs(self.started)) == count

    def watched(self, seconds: float, name: str = "") -> dict[str, float]:
        watch = Watched()
        profile = cProfile.Profile() if name and os.environ.get("UNDER_FIRE_PROFILE") == name else None
        loop = QEventLoop()
        QTimer.singleShot(int(seconds * 1000), loop.quit)
        watch.start()
        if profile is not None:
            profile.enable()
        loop.exec()
        if profile is not None:
            profile.disable()
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(45)
        watch._timer.stop()
        late, held, cpu = figures(watch.late_ms, ""), figures(watch.held_ms, "held_"), figures(watch.cpu_ms, "cpu_")
        return {**late, **held, **cpu, "fired": len(watch.late_ms)}

    # ---- what a person does

    @contextmanager
    def hands(self, *pages: Callable[[], QAbstractScrollArea]) -> Iterator[None]:
        """Turn the wheel on the area each page shows, one page after the other, for as long as it lasts."""
        shown = [pages[0]()]
        turned = [0]

        def turn() -> None:
            turned[0] += 1
            if turned[0] % (PAGE_MS // TURN_MS) == 0 and len(pages) > 1:
                shown[0] = pages[turned[0] // (PAGE_MS // TURN_MS) % len(pages)]()
            wheel(shown[0], -120 if turned[0] // 100 % 2 == 0 else 120)

        timer = QTimer()
        timer.timeout.connect(turn)
        timer.start(TURN_MS)
        yield
        timer.stop()

    def list_of_runs(self) -> QAbstractScrollArea:
        self.window.go("runs")
        return self.window._runs.table

    def log_of(self, run: int) -> Callable[[], QAbstractScrollArea]:
        def show() -> QAbstractScrollArea:
            self.window.open_run(run)
            return self.window._page._log.lines

        return show

    # ---- scenes

    def flood(self) -> dict[str, float]:
        printing = self.run("prints")
        for _host in range(HOSTS):
            self.run("reports")
        self.until(lambda: self.computing(HOSTS + 1), "all compute")
        self.window.open_run(printing)
        with frames(self.folder), self.hands(self.log_of(printing), self.list_of_runs):
            return self.watched(FIRE_S, "flood")

    def search(self) -> dict[str, float]:
        printing = self.started[0] if self.started else self.run("prints")
        self.log_of(printing)()
        page = self.window._page
        self.until(lambda: page.run == printing and page._log.lines.total >= LINES, "so many lines")
        self.stop()
        page._log._find.setText("needle")
        page._log._on_typed()
        self.until(lambda: page._log._looked > 0, "the search has begun")
        with self.hands(self.log_of(printing)):
            return self.watched(4.0, "search")

    def table(self) -> dict[str, float]:
        from tests.bench.table_browser import Browser, write

        path = self.folder / "table.parquet"
        write(path, TABLE_ROWS)
        printing = self.run("prints")
        self.until(lambda: self.computing(1), "it prints")
        self.log_of(printing)()
        browser = Browser(path, TABLE_ROWS)
        browser.first_page()
        browser.view.go_to(TABLE_ROWS // 2)
        with frames(self.folder), self.hands(lambda: browser.view.grid):
            found = self.watched(TABLE_S, "table")
        browser.close()
        return found

    def stop(self) -> None:
        for run in self.started:
            self.window.send({"verb": "stop", "run": run, "level": "insist"})
        assert self.desk.source is not None
        source = self.desk.source
        self.until(lambda: all(item.phase == "CLOSED" for item in source.runs(self.started)), "all have ended")

    def close(self) -> None:
        self.stop()
        self.desk.close()


def wheel(area: QAbstractScrollArea, by: int) -> None:
    middle = QPointF(area.viewport().rect().center())
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(middle, middle, QPoint(), QPoint(0, by), buttons, Qt.KeyboardModifier.NoModifier, phase, False)
    QApplication.sendEvent(area.viewport(), event)


class Endless(Counting):
    """Counts and never ends: how many came is told when the scene is over."""

    def on_closed(self, channel: object) -> None: ...


@contextmanager
def frames(folder: Path) -> Iterator[Endless]:
    """Eight flooders at a real local server, again and again until the scene is over."""
    thread, counting, start = QThread(), Endless(1 << 60), Start()
    counting.moveToThread(thread)
    thread.start()
    path, data = str(folder / f"s{time.monotonic_ns()}"), folder / "frames"
    if not data.exists():
        data.write_bytes(b"".join(map(framing.encode, [hello(), *(progress(seq) for seq in range(1, FRAMES))])))
    start.listen.connect(counting.listen, Qt.ConnectionType.QueuedConnection)
    start.listen.emit(path)
    assert counting.listening.wait(10)
    again = FLOODER.replace("s.sendall(data); sys.stdin.read()", "s.sendall(data); s.close()")
    again = again.replace("s = socket", "while True:\n s = socket")
    command = [NICE, "-n", "19", sys.executable, "-I", "-S", "-c", again, path, str(data)]
    flooders = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(HOSTS)]
    for flooder in flooders:
        assert flooder.stdout is not None
        assert flooder.stdin is not None
        flooder.stdout.read(1)
        flooder.stdin.write(b"g")
        flooder.stdin.flush()
    began = time.monotonic()
    yield counting
    rate = ((1 << 60) - counting.left) / (time.monotonic() - began)
    for flooder in flooders:
        flooder.kill()
        flooder.communicate()
    thread.quit()
    thread.wait()
    sys.stderr.write(f"{rate:,.0f} frames/s meanwhile\n")


def main() -> None:
    sys.setswitchinterval(0.001)
    app = QApplication([])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    scene = Scene(Path(sys.argv[1]), app)
    found = {"idle": scene.watched(IDLE_S)}
    for name in sys.argv[2:]:
        found[name] = getattr(scene, name)()
    scene.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
