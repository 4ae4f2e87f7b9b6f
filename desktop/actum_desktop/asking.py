"""What the window asks the supervisor for about runs and the queue: one command each, answered after its commit."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QObject, Signal

from actum_desktop import samples
from actum_desktop.tasksdesk import Send


class Asking(QObject):
    """Signals: `admitted` (run number), when a run that was asked for is on record; `checked` (the verdicts of a look that was
    asked for, or the error in place of them)."""

    admitted = Signal(object)
    checked = Signal(object)

    def __init__(self, send: Send, workspace: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._send, self._workspace = send, workspace
        self._rerunning: set[int] = set()

    def sample(self, task: object) -> None:
        """Run a task that ships with the program, on the file that ships with it."""
        self._send(samples.body(str(task), self._workspace), self._on_admitted)

    def rerun(self, body: Mapping[str, Any]) -> None:
        """One rerun of a run at a time: pressing again before the answer asks for nothing more."""
        of = body["rerun_of"]
        if of in self._rerunning:
            return
        self._rerunning.add(of)

        def admitted(ok: Mapping[str, Any]) -> None:
            self._rerunning.discard(of)
            self._on_admitted(ok)

        def refused(_error: ActumError) -> bool:
            self._rerunning.discard(of)
            return False

        self._send(body, admitted, refused)

    def adopt(self, run: int) -> None:
        """A new run that takes up what this one sealed; one that is there already is opened."""
        self.rerun({"verb": "adopt", "run": run, "rerun_of": run})

    def deliver(self, run_and_told: tuple[int, Callable[[Mapping[str, Any]], None]]) -> None:
        """What the task of a run exports on success, as far as it is not there; how that went is told."""
        run, told = run_and_told

        def refused(error: ActumError) -> bool:
            told({"failed": [{"table": "", "why": error.what}]})
            return False

        self._send({"verb": "deliver", "run": run}, told, refused)

    def stop(self, run_and_level: tuple[int, str]) -> None:
        """(run, ask | insist)"""
        run, level = run_and_level
        self._send({"verb": "stop", "run": run, "level": level})

    def queue(self, what: str) -> None:
        """pause | resume"""
        self._send({"verb": f"{what}_queue"})

    def set(self, name_and_value: tuple[str, Any]) -> None:
        name, value = name_and_value
        self._send({"verb": "set_setting", "name": name, "value": value})

    def attest(self, run: int) -> None:
        """The person's word that nothing of a held run is left; then everything is looked at again."""
        self._send({"verb": "attest", "run": run, "by": getpass.getuser()})

    def check(self) -> None:
        """Look at everything that is left over, again; what came of it is told."""

        def refused(error: ActumError) -> bool:
            self.checked.emit(error)
            return True

        self._send({"verb": "reconcile", "resume": False}, lambda ok: self.checked.emit(list(ok["verdicts"])), refused)

    def _on_admitted(self, ok: Mapping[str, Any]) -> None:
        self.admitted.emit(int(ok["run"]))
