"""The parts of one open window and the order in which they come up and go down: theme, window, readers, loader, bridge."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from actum.errors import EXIT_BUG, ActumError
from actum.lock import Lock
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from actum_desktop import crash, i18n, preferences
from actum_desktop.i18n import _
from actum_desktop.preferences import Preferences
from actum_desktop.qtwords import QtWords
from actum_desktop.shell import Shell

if TYPE_CHECKING:
    from actum_desktop.closing import Closing
    from actum_desktop.controller.bridge import Bridge
    from actum_desktop.models.runreader import RunReader
    from actum_desktop.models.storesource import StoreSource
    from actum_desktop.models.taskshelf import TaskShelf
    from actum_desktop.theme import Theme
    from actum_desktop.window import Window

log = logging.getLogger(__name__)


class Loader(QObject):
    """Imports the store and the controller beside the painted window. Signal: `loaded` ()."""

    loaded = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)

    def start(self) -> None:
        self._pool.start(self._load)

    def wait(self) -> None:
        self._pool.waitForDone()

    def _load(self) -> None:

        import actum_desktop.controller.bridge  # noqa: F401

        self.loaded.emit()


class Desk(QObject):
    """One window and all that belongs to it. `open` shows it, `close` takes everything down in order.

    Attributes: shell; theme, window and closing once `furnished`; bridge, source, reader (None until the supervisor is up);
    closed. Signals: `done` () when the process is to end; `joined` () once all is there that stays as long as the window.
    """

    done = Signal()
    joined = Signal()

    _crashed = Signal(object)

    def __init__(self, app: QApplication, ws: Workspace, lock: Lock, version: str) -> None:
        super().__init__()
        self._app, self._ws, self._lock, self._version = app, ws, lock, version
        self._file: Path = preferences.place()
        self._preferences: Preferences = preferences.load(self._file)
        self._qt_words = QtWords(app)
        self._theme: Theme | None = None
        self._window: Window | None = None
        self.bridge: Bridge | None = None
        self.source: StoreSource | None = None
        self.reader: RunReader | None = None
        self.shelf: TaskShelf | None = None
        self.closing: Closing | None = None
        self.closed = False
        self.shell = Shell(self._preferences.scheme, self._preferences.geometry)
        self.shell.closing.connect(self._on_closing)
        self.shell.may_close = self._may_close
        self.shell.painted.connect(self._furnish, Qt.ConnectionType.QueuedConnection)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._on_loaded)
        self._undo_crash = crash.install(ws.path / "crashes", version, self._on_crash)

    @property
    def theme(self) -> Theme:
        assert self._theme is not None, "the shell is furnished after its first frame"
        return self._theme

    @property
    def window(self) -> Window:
        assert self._window is not None, "the shell is furnished after its first frame"
        return self._window

    @property
    def furnished(self) -> bool:
        return self._window is not None

    def open(self) -> None:
        self.shell.show()

    @Slot()
    def _furnish(self) -> None:
        """Look, language, pages and what they show; then, in a thread of its own, what takes longest to import."""
        from actum_desktop.closing import Closing
        from actum_desktop.theme import Theme
        from actum_desktop.tray import Tray, icon
        from actum_desktop.views.ink import Ink
        from actum_desktop.window import Window

        self._speak()
        self._theme = Theme(self._app, self._preferences.scheme)
        ink = Ink(self._theme)
        self._window = window = Window(ink, self._ws, self._version, self._preferences.language)
        self.shell.setWindowIcon(icon(ink))
        told, tray = self._preferences.told_closing, Tray.there_is_one()
        self.closing = Closing(self.shell, window, ink, told=told, with_tray=tray, parent=self)
        self.closing.done.connect(self.done)
        self.closing.kept_told.connect(self._on_told)
        window.scheme_chosen.connect(self._on_scheme)
        window.language_chosen.connect(self._on_language)
        window.quit_asked.connect(self.closing.ask_quit)
        self._crashed.connect(window.tell)
        self.shell.setCentralWidget(window)
        self._read()
        self._loader.start()

    def _read(self) -> ActumError | None:
        """Show what is recorded, with no need of the supervisor; why not, where it cannot be read (yet)."""
        from actum_desktop.models.runreader import RunReader
        from actum_desktop.models.storesource import StoreSource
        from actum_desktop.models.taskshelf import TaskShelf

        try:
            source = StoreSource(self._ws)
        except ActumError as error:
            return error
        self.source, self.shelf = source, TaskShelf(self._ws)
        self.reader = RunReader(self._ws, self)
        self.reader.seen.connect(self.window.on_seen)
        self.window.read(source, self.reader, self.shelf)
        return None

    @Slot()
    def _on_loaded(self) -> None:
        from actum_desktop.controller.bridge import Bridge

        self.bridge = bridge = Bridge(self)
        bridge.started.connect(self._on_started)
        bridge.updated.connect(self.window.on_update)
        bridge.progressed.connect(self.window.on_progressed)
        bridge.supervising.connect(self.window.on_supervising)
        bridge.answered.connect(self.window.on_answered)
        bridge.retired.connect(self._on_retired)
        bridge.handed_over.connect(self.leave)
        bridge.window_asked.connect(self._on_window_asked)
        bridge.start(self._ws, self._lock)

    @Slot(object)
    def _on_started(self, error: ActumError | None) -> None:
        if error is not None:
            self.window.not_joined(error)
            return
        if self.bridge is None:
            return
        if self.source is None and (unreadable := self._read()) is not None:
            self.window.tell(unreadable)
            return
        self.window.join(self.bridge)
        self.joined.emit()

    @Slot(str)
    def _on_retired(self, why: str) -> None:
        remedy = _("Close this window and open Actum again.")
        self.window.tell(ActumError("retired", _("This window no longer supervises."), why, remedy))
        if self.closing is not None:
            self.closing.retire()

    @Slot()
    def _on_window_asked(self) -> None:
        if self.closing is not None:
            self.closing.show_window()

    @Slot(object)
    def _on_scheme(self, scheme: str) -> None:
        self.theme.use(scheme)
        self._keep(replace(self._preferences, scheme=scheme))

    @Slot(object)
    def _on_language(self, language: str) -> None:
        self._keep(replace(self._preferences, language=language))
        QTimer.singleShot(0, self, self._speak_anew)  # not while the button that asked is being destroyed

    def _speak(self) -> None:
        language = self._preferences.language
        self._qt_words.use(i18n.use(None if language == "system" else language))

    def _speak_anew(self) -> None:
        self._speak()
        self.theme.refresh()
        self.window.rebuild()
        if self.closing is not None:
            self.closing.retranslate()

    def _on_crash(self, text: str, path: Path | None) -> None:
        if not self.furnished:  # without its pages the window is of no use, and nothing can be shown in it
            QTimer.singleShot(0, self, lambda: self._app.exit(EXIT_BUG))
            return
        why = _("A report is in {path}.").format(path=path) if path else text
        remedy = _("Work goes on. If something looks wrong, close the window and open it again.")
        QTimer.singleShot(
            0, self, lambda: self.window.tell(ActumError("bug", _("Actum met a defect of its own."), why, remedy))
        )

    def _may_close(self) -> bool:
        if self.closed:
            return True
        if self.closing is None:  # before the pages are there
            self.leave()
            return True
        return self.closing.may_close()

    @Slot()
    def leave(self) -> None:
        """The process is to end, whatever is in flight; hosts go on."""
        if self.closing is not None:
            self.closing.leave()
        else:
            QTimer.singleShot(0, self, self.done.emit)

    @Slot()
    def _on_told(self) -> None:
        self._keep(replace(self._preferences, told_closing=True))

    @Slot()
    def _on_closing(self) -> None:
        box = self.shell.geometry()
        self._keep(replace(self._preferences, geometry=(box.x(), box.y(), box.width(), box.height())))

    def _keep(self, chosen: Preferences) -> None:
        self._preferences = chosen
        preferences.save(self._file, chosen)

    def close(self) -> None:
        """Readers first, then the supervisor, which commits and lets go of the lock; hosts go on."""
        self.closed = True
        self._undo_crash()
        self._qt_words.use("en")
        self._loader.wait()
        if self.closing is not None:
            self.closing.close()
        if self._window is not None:
            self._window.part()
        if self.reader is not None:
            self.reader.close()
        for opened in (self.source, self.shelf):
            if opened is not None:
                opened.close()
        if self.bridge is not None:
            self.bridge.leave()
        else:
            self._lock.release()
        if self.closing is not None and self.closing.leave_supervisor:
            self._leave_supervisor()
        self.shell.close()
        self.shell.deleteLater()

    def _leave_supervisor(self) -> None:
        """What is in flight is seen to its end by a supervisor without a window; it waits for the lock."""
        from actum_desktop.commands.detached import start_supervisor

        try:
            start_supervisor(self._ws, resume=not self.window.queue_paused)
        except ActumError as error:
            log.warning("no supervisor could be left behind: %s", error)
