"""A page onto which a result from elsewhere, a pack or a folder, can be dropped."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from actum_desktop.i18n import _
from actum_desktop.views.dropcue import DropCue
from actum_desktop.views.ink import Ink


def dropped(data: QMimeData) -> str | None:
    """The path of the one local file or folder that is dropped."""
    urls = [url for url in data.urls() if url.isLocalFile()]
    return urls[0].toLocalFile() if len(urls) == 1 else None


class PackageDrop(QWidget):
    """Signal: `package_dropped` (path)."""

    package_dropped = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._cue = DropCue(ink, self)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped(event.mimeData()) is not None:
            event.acceptProposedAction()
            self._cue.say(_("Drop it here to open and verify it"))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._cue.say("")

    def dropEvent(self, event: QDropEvent) -> None:
        self._cue.say("")
        path = dropped(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.package_dropped.emit(path)
