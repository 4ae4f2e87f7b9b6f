"""Every screen of the window, one after another, on prepared data: for pictures and for measuring texts."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from actum.model.changes import Changes
from actum.workspace import Workspace
from actum_desktop import i18n, measures
from actum_desktop.controller.events import Update
from actum_desktop.models import palettereader
from actum_desktop.models.palette import Entry, Found
from actum_desktop.models.runreader import Seen
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.tasksscreen import TasksScreen
from actum_desktop.window import Window
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from tests.helpers import showdocs, stage, taskstage

_LOG = (
    ("2026-03-31 12:41:22 INFO fold 17/30  auc 0.8296  loss 0.4180", 1),
    ("\x1b[1mINFO\x1b[0m fold 18/30  auc \x1b[32m0.8341\x1b[0m  loss \x1b[38;5;226m0.4127\x1b[0m", 1),
    ("INFO fold 19/30  loading feature cache s3://features/2026-03", 1),
    ("WARNING read timed out after 3.0 s, attempt 1 of 10", 2),
    ("WARNING read timed out after 30.0 s, attempt 2 of 10", 2),
    ("WARNING waiting for a lock on the feature cache held by session 9921", 2),
)


def write_log(folder: Path) -> None:
    """A log of six lines as the host writes it: segment and index."""
    from actum.ipc.logfile import ENTRY

    folder.mkdir(parents=True, exist_ok=True)
    offset, raw, index = 0, b"", b""
    for place, (text, stream) in enumerate(_LOG):
        index += ENTRY.pack(offset, showdocs.NOW - (48 - place) * showdocs.MINUTE, stream)
        line = f"{text}\n".encode()
        raw, offset = raw + line, offset + len(line)
    (folder / "000000.log").write_bytes(raw)
    (folder / "000000.idx").write_bytes(index)


class Screens:
    """One window, in one look and language, brought to each of its screens in turn. Time stands still."""

    def __init__(self, scheme: str, language: str, app: QApplication | None = None, home: Path | None = None) -> None:
        """`home` is the folder that the workspace is shown in; None = a temporary one."""
        measures.now_us = lambda: showdocs.NOW
        i18n.use(language)
        existing = app or QApplication.instance()
        self.app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
        self.app.setStyle("Fusion")
        self.theme = Theme(self.app, scheme)
        self._folder = tempfile.TemporaryDirectory()
        self.ws = Workspace((home or Path(self._folder.name)) / "research")
        self.window = Window(Ink(self.theme), self.ws, "0.1.0")
        self.window.resize(1280, 800)
        self.window.show()

    def close(self) -> None:
        self.window.part()
        self.window.close()
        self.window.deleteLater()
        self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self._folder.cleanup()

    def each(self) -> Iterator[tuple[str, Window]]:
        """(name, window) of every screen, laid out and ready to be grabbed."""
        self._join(stage.PreparedSource([]))
        yield self._settled("11-first-run")
        self._join(stage.PreparedSource(stage.runs(), stage.alerts()))
        self.window.on_supervising(stage.supervising())
        self.window.on_update(Update(Changes(), stage.lives()))
        self.window._on_runs()
        self.window._runs.table.select_run(217)
        self.window._show_active()  # its own beat is slower than this picture
        yield self._settled("04-runs")
        for name, state, quiet in _RUN_STATES:
            self._run(state, quiet=quiet)
            yield self._settled(name)
        self._run("running", quiet=True)
        for index, key in enumerate(("log", "evidence", "events", "records", "inputs", "files", "attempts")):
            self.window._page._tabs.choose(key)
            self.window._page._on_tab(key)
            yield self._settled(f"05-run-{index + 1}-{key}")
        for name, go in self._others():
            go()
            yield self._settled(name)
        yield self._palette()
        if self.window.finder.palette is not None:
            self.window.finder.palette.close_up()
        self.window.on_supervising(stage.supervising(verdicts=True, paused=True))
        yield self._settled("01-launch")

    def _others(self) -> tuple[tuple[str, Callable[[], None]], ...]:
        window = self.window
        return (
            ("02-tasks", lambda: window.go("tasks")),
            ("03-task-form", self._task_form),
            ("10-alerts", lambda: window.go("alerts")),
            ("13-settings", lambda: window.go("settings")),
            ("14-help", lambda: window.go("help")),
            ("15-about", lambda: window.go("about")),
        )

    def _task_form(self) -> None:
        """A form with one value that does not fit."""
        self.window.open_task("return-and-risk")
        screen = self.window._tasks.screen
        self._when_known(screen)
        form = screen.page.run_form if screen.page is not None else None
        assert form is not None
        form.form.fill({**form.form.raw(), "prices": str(i18n.resources() / "samples" / "stocks.csv"), "window": "3O"})
        self._when_known(screen)
        form.press()

    def _when_known(self, screen: TasksScreen) -> None:
        """Until everything that was asked away from the window is answered."""
        while screen.background.busy:
            self.app.processEvents()

    def _palette(self) -> tuple[str, Window]:
        """The palette over the list, as if the store had answered."""
        self.window._on_runs()
        self.window.open_run(217)
        self.window.finder.open()
        palette = self.window.finder.palette
        assert palette is not None
        palette.asked.disconnect()
        palette.line.setText("churn")
        now = showdocs.NOW
        items = [item for item in stage.runs() if "churn" in item.task]
        runs = tuple(palettereader._run(item, item.implied_facts() or item.facts or (), now) for item in items)
        task = Entry("task", "train-churn-model", "Train churn model", i18n._("version {n}").format(n=4), "squares-four")
        palette.found(Found(1, "churn", {"jump": (), "tasks": (task,), "runs": runs, "results": ()}))
        return self._settled("12-palette")

    def _join(self, source: stage.PreparedSource) -> None:
        self.window.read(source, stage.Unread(), taskstage.PreparedShelf(taskstage.PRESETS))
        self.window.join(stage.Answerless())
        self.window.on_supervising(stage.supervising())

    def _run(self, state: str, *, quiet: bool) -> None:
        """The page of run 217 in one of the prepared states."""
        document: dict[str, Any] = {**showdocs.states()[state], "run": 217}
        document["unverified_files"] = None
        if state == "failed":
            files = [{"name": "partial/folds.parquet", "size": 48_210_000}]
            document["unverified_files"] = {"label": "", "folder": "/data/staging/files", "files": files, "more": 0}
        write_log(self.ws.attempt_folder(217, 1) / "log")
        page = self.window._page
        page.run = 0
        self.window.open_run(217)
        live = stage.lives()[0]
        if state not in ("running",):
            live = type(live)(217, "a-1", 1, live.progress, live.heartbeat_at_us, live.activity, 0.0, 7, 13_500.0)
        page.live(live, stage.samples(quiet=quiet))
        page.seen(Seen(217, document, ({"at": showdocs.NOW, "kind": "slot_granted", "data": {}, "n": 1},)))

    def _settled(self, name: str) -> tuple[str, Window]:
        for _turn in range(4):
            self.app.processEvents()
        return name, self.window

    def draw(self, folder: Path, suffix: str) -> list[Path]:
        made = []
        for name, window in self.each():
            path = folder / f"{name}{suffix}.png"
            if not window.grab().save(str(path)):
                raise OSError(f"{path} could not be written")
            made.append(path)
        self.close()
        return made


_RUN_STATES = (
    ("05-run", "running", True),
    ("06-stopping-1-asked", "stopping", True),
    ("06-stopping-2-insists", "insisting", True),
    ("06-stopping-3-released", "stopped", True),
    ("07-run-verifying", "verifying", False),
    ("07-run-succeeded", "succeeded", False),
    ("07-run-failed", "failed", False),
    ("07-run-refused", "refused", False),
    ("07-run-cannot-tell", "cannot_tell", False),
)
