"""The parts of one open window and the order in which they come up and go down: theme, window, loader, bridge, readers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from actum.errors import ActumError
from actum.lock import Lock
from actum.workspace import Workspace
from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from actum_desktop import crash, i18n, preferences
from actum_desktop.i18n import _
from actum_desktop.preferences import Preferences
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.window import Window

if TYPE_CHECKING:
    from actum_desktop.controller.bridge import Bridge
    from actum_desktop.models.runreader import RunReader
    from actum_desktop.models.storesource import StoreSource


class Loader(QThread):
    """Imports the store and the controller beside the painted window. Signal: `loaded` ()."""

    loaded = Signal()

    def run(self) -> None:

        import actum_desktop.controller.bridge  # noqa: F401

        self.loaded.emit()


class Desk(QObject):
    """One window and all that belongs to it. `open` shows it, `close` takes everything down in order.

    Attributes: theme, window, bridge, source, reader (None until the supervisor is up), closed.
    """

    _crashed = Signal(object)

    def __init__(self, app: QApplication, ws: Workspace, lock: Lock, version: str) -> None:
        super().__init__()
        self._app, self._ws, self._lock = app, ws, lock
        self._file: Path = preferences.place()
        self._preferences: Preferences = preferences.load(self._file)
        i18n.use(None if self._preferences.language == "system" else self._preferences.language)
        self.theme = Theme(app, self._preferences.scheme)
        self.window = Window(Ink(self.theme), ws, version, self._preferences.language)
        self.window.closing.connect(self._on_closing)
        self.window.scheme_chosen.connect(self._on_scheme)
        self.window.language_chosen.connect(self._on_language)
        if self._preferences.geometry is not None:
            self.window.setGeometry(*self._preferences.geometry)
        self.bridge: Bridge | None = None
        self.source: StoreSource | None = None
        self.reader: RunReader | None = None
        self.closed = False
        self._loader = Loader(self)
        self._loader.loaded.connect(self._on_loaded)
        self._crashed.connect(self.window.tell)
        self._undo_crash = crash.install(ws.path / "crashes", version, self._on_crash)

    def open(self) -> None:
        self.window.show()
        QTimer.singleShot(0, self, self._load)  # after the first frame

    def _load(self) -> None:
        self._loader.start()

    @Slot()
    def _on_loaded(self) -> None:
        from actum_desktop.controller.bridge import Bridge

        self.bridge = bridge = Bridge(self)
        bridge.started.connect(self._on_started)
        bridge.updated.connect(self.window.on_update)
        bridge.supervising.connect(self.window.on_supervising)
        bridge.answered.connect(self.window.on_answered)
        bridge.retired.connect(self._on_retired)
        bridge.handed_over.connect(self.window.close)
        bridge.window_asked.connect(self._on_window_asked)
        bridge.start(self._ws, self._lock)

    @Slot(object)
    def _on_started(self, error: ActumError | None) -> None:
        from actum_desktop.models.runreader import RunReader
        from actum_desktop.models.storesource import StoreSource

        if error is not None:
            self.window.tell(error)
            return
        if self.bridge is None:
            return
        self.source = StoreSource(self._ws)
        self.reader = RunReader(self._ws, self)
        self.reader.seen.connect(self.window.on_seen)
        self.window.join(self.bridge, self.source, self.reader)

    @Slot(str)
    def _on_retired(self, why: str) -> None:
        remedy = _("Close this window and open Actum again.")
        self.window.tell(ActumError("retired", _("This window no longer supervises."), why, remedy))

    @Slot()
    def _on_window_asked(self) -> None:
        self.window.showNormal()
        self.window.raise_()
        self.window.activateWindow()

    @Slot(object)
    def _on_scheme(self, scheme: str) -> None:
        self.theme.use(scheme)
        self._keep(replace(self._preferences, scheme=scheme))

    @Slot(object)
    def _on_language(self, language: str) -> None:
        self._keep(replace(self._preferences, language=language))
        QTimer.singleShot(0, self, self._speak_anew)  # not while the button that asked is being destroyed

    def _speak_anew(self) -> None:
        language = self._preferences.language
        i18n.use(None if language == "system" else language)
        self.theme.refresh()
        self.window.rebuild()

    def _on_crash(self, text: str, path: Path | None) -> None:
        why = _("A report is in {path}.").format(path=path) if path else text
        remedy = _("Work goes on. If something looks wrong, close the window and open it again.")
        QTimer.singleShot(
            0, self, lambda: self.window.tell(ActumError("bug", _("Actum met a defect of its own."), why, remedy))
        )

    @Slot()
    def _on_closing(self) -> None:
        box = self.window.geometry()
        self._keep(replace(self._preferences, geometry=(box.x(), box.y(), box.width(), box.height())))

    def _keep(self, chosen: Preferences) -> None:
        self._preferences = chosen
        preferences.save(self._file, chosen)

    def close(self) -> None:
        """Readers first, then the supervisor, which commits and lets go of the lock; hosts go on."""
        self.closed = True
        self._undo_crash()
        self._loader.wait()
        self.window.part()
        if self.reader is not None:
            self.reader.close()
        if self.source is not None:
            self.source.close()
        if self.bridge is not None:
            self.bridge.leave()
        else:
            self._lock.release()
        self.window.close()
        self.window.deleteLater()
