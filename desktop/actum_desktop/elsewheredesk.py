"""Results from elsewhere in the window: opened by a helper of their own, in a folder that goes when another is opened."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from actum_desktop.controller.helpers import Helper, HelperAnswer
from actum_desktop.controller.tablehelper import TableHelper
from actum_desktop.documents import documents
from actum_desktop.i18n import _
from actum_desktop.models.arrangement import Arrangements
from actum_desktop.models.tablereader import TableReader
from actum_desktop.views.elsewhere import ElsewherePage
from actum_desktop.views.ink import Ink


class ElsewhereDesk(QObject):
    """Attribute: page. `open(None)` asks for a file first. `close` ends what it started and removes what it unpacked."""

    def __init__(self, ink: Ink, arrangements: Arrangements, parent: QObject) -> None:
        super().__init__(parent)
        self._helper = Helper("elsewhere", self)
        self._tables = TableReader(self)
        self._asks = TableHelper(self)
        self._folder: Path | None = None
        self._package = ""
        self._round = 0
        self._call = 0
        self._dialog: QFileDialog | None = None
        self.page = ElsewherePage(ink, self._tables, self._asks, arrangements)
        self.page.open_asked.connect(self.open)
        self.page.verify_asked.connect(self._on_verify)
        self.page.cancel_asked.connect(self._on_cancel)

    def open(self, path: object) -> None:
        """Open the pack or folder at `path`; None: ask which."""
        if path is None:
            self._ask()
            return
        self._forget()
        self._round += 1
        this = self._round
        text = str(path)
        self.page.opening(text)
        self._folder = Path(tempfile.mkdtemp(prefix="actum-elsewhere-"))

        def opened(answer: HelperAnswer) -> None:
            if this != self._round:
                return
            if answer.ok is None:
                self.page.clear()
                self.page.failed(answer.error or _ended())
                return
            self._package = str(answer.ok["package"])
            self.page.show_result(text, answer.ok)

        self._helper.call("elsewhere", {"path": str(Path(text).absolute()), "into": str(self._folder)}, opened)

    def _ask(self) -> None:
        """The system's dialog, without waiting in it; a folder is opened by the manifest.json in it."""
        if self._dialog is not None:
            return
        parent = self.page.window()
        dialog = QFileDialog(parent if isinstance(parent, QWidget) else None, _("Open a result from elsewhere"), documents())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([_("Results (*.actumpack manifest.json)"), _("All files (*)")])
        dialog.fileSelected.connect(self.open)
        dialog.finished.connect(self._on_asked)
        self._dialog = dialog
        dialog.open()

    def _on_asked(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None

    def _on_verify(self, asked: object) -> None:
        if not isinstance(asked, Mapping) or not self._package:
            return
        level, digest, this = str(asked["level"]), asked["digest"], self._round

        def verified(answer: HelperAnswer) -> None:
            if this == self._round:
                self._call = 0
                error: ActumError | None = answer.error or (None if answer.ok is not None else _ended())
                self.page.verified(level, digest, answer.ok, error)

        def progressed(done: int, total: int, unit: str) -> None:
            if this == self._round:
                self.page.progressed(done, total)

        args: dict[str, Any] = {"package": self._package, "expected": {"manifest_sha256": digest}, "level": level}
        self._call = self._helper.call("verify", args, verified, progressed)

    def _on_cancel(self) -> None:
        if self._call:
            self._helper.cancel(self._call)

    def _forget(self) -> None:
        self._on_cancel()
        self._call, self._package = 0, ""
        self.page.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def close(self) -> None:
        self._round += 1
        if self._dialog is not None:
            self._dialog.close()
        self._helper.close()
        self._tables.close()
        self._asks.close()
        self._forget()


def _ended() -> ActumError:
    return ActumError("helper_crashed", _("The helper ended unexpectedly."), "", _("Try again."))
