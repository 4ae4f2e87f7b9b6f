"""The helper that sorts, filters, measures and draws tables for the window, and the folder its views stand in.

It belongs to the window, not to the supervisor: it reads what is published and writes only into a folder that is removed
with it. A newer question of the same kind takes the place of one that waits or runs. QProcess stays in this package (§14).
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QObject

from actum_desktop.controller.helpers import Helper, HelperAnswer
from actum_desktop.i18n import _

Done = Callable[[Mapping[str, Any] | None, ActumError | None], None]
Progress = Callable[[int, int, str], None]
# Each kind of question, and the process that answers it: a long search holds up no statistics, and so on.
KINDS = {
    "view": "view",
    "statistics": "statistics",
    "values": "statistics",
    "plot": "plot",
    "losses": "losses",
    "find": "find",
    "place": "find",
    "hits": "hits",
    "rehash": "rehash",
}


class TableHelper(QObject):
    """A process for each sort of question, started at its first question. Use in the GUI thread; `close` ends everything."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helpers = {name: Helper(f"table-{name}", self) for name in dict.fromkeys(KINDS.values())}
        self._asked: dict[str, int] = {}
        self._round: dict[str, int] = {}
        self._folder: Path | None = None
        self._closed = False

    def ask(self, kind: str, args: Mapping[str, Any], done: Done, progress: Progress | None = None) -> None:
        """Ask; `done` gets the answer, or `cancelled` where `cancel` was called, or nothing where a newer question came."""
        self.cancel(kind)
        if self._closed:
            return  # a late timer of a window that goes
        this = self._round[kind] = self._round.get(kind, 0) + 1

        def answered(answer: HelperAnswer) -> None:
            if self._round.get(kind) != this or self._closed:
                return
            self._asked.pop(kind, None)
            if answer.ok is not None:
                done(answer.ok, None)
            else:
                done(None, answer.error or _ended())

        def told(count: int, total: int, unit: str) -> None:
            if progress is not None and self._round.get(kind) == this:
                progress(count, total, unit)

        self._asked[kind] = self._helpers[KINDS[kind]].call(kind, args, answered, told)

    def cancel(self, kind: str) -> None:
        """Give up the question under way, if there is one."""
        number = self._asked.pop(kind, None)
        if number is not None:
            self._helpers[KINDS[kind]].cancel(number)

    def busy(self, kind: str) -> bool:
        return kind in self._asked

    def new_view(self) -> Path:
        """A fresh place for a view, in a folder of its own."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="actum-views-"))
        place = self._folder / secrets.token_hex(8)
        place.mkdir(mode=0o700)
        return place / "view.parquet"

    def drop_view(self, path: Path) -> None:
        shutil.rmtree(path.parent, ignore_errors=True)

    def close(self) -> None:
        self._closed = True
        for helper in self._helpers.values():
            helper.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _ended() -> ActumError:
    what, why = _("The table could not be asked."), _("The helper ended unexpectedly.")
    return ActumError("helper_crashed", what, why, _("Try again."))
