"""Which file of a table is read, and what is known of its bytes: its quicker copy, or the authority itself (R14, R16).

A copy that is not there or cannot be opened, that fails while it is read or turns out to have other bytes than were published,
gives way to the authority: each file that is opened is read once beside, and its bytes compared with their digest. That is
said of a copy only where it takes long. The rows of an authority that differs are not shown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.results.tables import Readable
from PySide6.QtCore import QObject, QTimer, Signal

from actum_desktop import measures
from actum_desktop.i18n import N_, _
from actum_desktop.ports import Asks

_WHY = {
    "absent": N_("Read from the authority: there is no quicker copy."),
    "missing": N_("Read from the authority: the quicker copy is missing."),
    "damaged": N_("Read from the authority: the quicker copy is damaged."),
    "forbidden": N_("Read from the authority: the quicker copy may not be read."),
}
_BEGIN_MS = 400  # until the first rows are there, and whoever passes by is gone
_TOLD_MS = 1_000
_DAMAGES = ("result_damaged", "query_failed", "io_error")  # what reading a damaged copy ends with


class TableSource(QObject):
    """Attributes: `reading` (what is read), `foreign` (of a result from elsewhere, whose manifest nobody vouches for).

    Signals: `turned` () when another file is to be read, `told` (words, tone: accent | warn | bad, whether the copy could
    be made again; words empty = a copy is read), `refused` (ActumError) when the rows may not be shown any longer, `stands`
    (ActumError) when it was not the copy that failed.
    """

    turned = Signal()
    told = Signal(object, object, object)
    refused = Signal(object)
    stands = Signal(object)

    def __init__(self, helper: Asks, parent: QObject) -> None:
        super().__init__(parent)
        self._helper = helper
        self.foreign = False
        self.reading: Readable | None = None
        self._doubted = False  # the copy is being looked at: each page that fails meanwhile is told once
        self._begin, self._told = _once(self, _BEGIN_MS), _once(self, _TOLD_MS)
        self._begin.timeout.connect(self._compare_copy)
        self._told.timeout.connect(lambda: self._say_comparing(0, 1))

    @property
    def path(self) -> Path | None:
        return None if self.reading is None else self.reading.path

    @property
    def by_authority(self) -> bool:
        return self.reading is not None and self.reading.instead is not None

    def open(self, reading: Readable | None) -> None:
        """Another table, or none; an authority's bytes are compared at once, those of a copy soon."""
        self._stop_comparing()
        self._doubted = False
        self.reading = reading
        self._tell("")
        if self.by_authority:
            self._compare_authority()
        elif reading is not None:
            self._begin.start()

    def suspect(self, error: ActumError | None = None) -> bool:
        """Reading failed, or a check found damage: is it the copy? If so, it gives way to the authority.

        False where there is nothing to look at; then, and where the copy proves to be as published (`stands`), the error is
        to be told.
        """
        reading = self.reading
        if reading is None or reading.instead or reading.authority is None:
            return False
        if error is not None and error.code not in _DAMAGES:
            return False
        if self._doubted:
            return True

        def done(found: Mapping[str, Any] | None, failed: ActumError | None) -> None:
            if failed is not None and failed.code == "cancelled":
                return
            self._doubted = False
            if found is None or found["sha256"] != reading.sha256:
                self._give_way(reading)
            elif error is not None:
                self.stands.emit(error)

        self._stop_comparing()
        self._tell("")
        self._doubted = True
        self._helper.ask("rehash", {"path": str(reading.path)}, done)
        return True

    def _stop_comparing(self) -> None:
        self._begin.stop()
        self._told.stop()
        self._helper.cancel("rehash")

    def _give_way(self, reading: Readable) -> None:
        """A file is not as it was published. Where there is no other of its table, its rows are not shown."""
        why = "damaged" if os.access(reading.path, os.R_OK) else "forbidden" if os.path.lexists(reading.path) else "missing"
        instead = reading.by_authority(why)
        if instead is reading:
            self._refuse()
            return
        self.open(instead)
        self.turned.emit()

    def _say_comparing(self, done: int, total: int) -> None:
        words = _("Its bytes are being compared with their digest, {percent}.")
        self.told.emit(words.format(percent=measures.percent(min(0.99, done / max(1, total)))), "accent", False)

    def _compare_copy(self) -> None:
        reading = self.reading
        assert reading is not None, "a file is open"

        def progress(done: int, total: int, _unit: str) -> None:
            if not self._told.isActive():
                self._say_comparing(done, total)

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if reading is not self.reading or (error is not None and error.code == "cancelled"):
                return
            self._told.stop()
            self._tell("")
            if found is not None and found["sha256"] == reading.sha256:
                return
            if error is None or error.code == "input_unreadable":
                self._give_way(reading)
            else:
                words = _("Its bytes could not be read again: {why}").format(why=error.why or error.what)
                self.told.emit(words, "warn", False)

        self._told.start()
        self._helper.ask("rehash", {"path": str(reading.path)}, done, progress)

    def _compare_authority(self) -> None:
        reading = self.reading
        assert reading is not None, "an authority is read"
        self._tell(_("Its bytes are being compared with their digest."))

        def progress(done: int, total: int, _unit: str) -> None:
            percent = measures.percent(min(0.99, done / max(1, total)))
            self._tell(_("Its bytes are being compared with their digest, {percent}.").format(percent=percent))

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is None:
                why = error.why or error.what if error is not None else ""
                self._tell(_("Its bytes could not be read again: {why}").format(why=why))
            elif found["sha256"] == reading.sha256:
                sealed = _("Its bytes are as they were sealed, checked {time}.")
                named = _("Its bytes are those that its manifest names, checked {time}.")
                time = measures.short_clock(measures.now_us())
                self._tell((named if self.foreign else sealed).format(time=time))
            else:
                self._refuse()

        self._helper.ask("rehash", {"path": str(reading.path)}, done, progress)

    def _refuse(self) -> None:
        words = _("Its bytes are not those that were sealed, so its rows are not shown.")
        if self.by_authority:
            self._tell(words, "bad")
        else:
            self.told.emit(words, "bad", False)
        what, why = _("The table is damaged."), _("Neither its quicker copy nor its authority is as it was published.")
        self.refused.emit(ActumError("result_damaged", what, why, _("Take the package from a backup, or run the task again.")))

    def _tell(self, words: str, tone: str = "warn") -> None:
        if self.reading is None or self.reading.instead is None:
            self.told.emit("", "", False)
        else:
            instead = self.reading.instead
            self.told.emit(measures.joined(_(_WHY[instead]), words), tone, instead != "forbidden")


def _once(parent: QObject, after_ms: int) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(after_ms)
    return timer
