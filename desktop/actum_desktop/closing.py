"""Closing and coming back (§3): a window closed with work in flight leaves its process supervising.

Where nothing is in flight, closing the window ends the process. Else it is hidden and the process supervises on: with an icon
in the tray where there is a tray; else, before the window goes for the first time, one notice says how to come back. A hidden
process leaves by itself when nothing has been left to do for IDLE_LINGER_S. Quitting really says what goes on without it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from actum.limits import IDLE_LINGER_S
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from actum_desktop.tray import Tray
from actum_desktop.views.goeson import CLOSE, LEAVE_SUPERVISOR, QUIT, GoesOn

if TYPE_CHECKING:
    from actum_desktop.shell import Shell
    from actum_desktop.views.ink import Ink
    from actum_desktop.window import Window

_LOOK_MS = 500


class Closing(QObject):
    """Attributes: tray (None where there is none), dialog, told (the notice was given), leave_supervisor.

    Signals: `done` () when the process is to end; `kept_told` () when the user has read the notice.
    """

    done = Signal()
    kept_told = Signal()

    def __init__(self, shell: Shell, window: Window, ink: Ink, *, told: bool, with_tray: bool, parent: QObject) -> None:
        super().__init__(parent)
        self._shell, self._window, self._ink = shell, window, ink
        self._told, self._leaving, self._retired = told, False, False
        self._idle_since: float | None = None
        self._asked = False
        self.leave_supervisor = False
        self.dialog: GoesOn | None = None  # made when something is asked
        self.tray: Tray | None = None
        if with_tray:
            self.tray = Tray(ink, self)
            self.tray.show_asked.connect(self.show_window)
            self.tray.queue_asked.connect(window.ask_queue)
            self.tray.quit_asked.connect(self.ask_quit)
            self.tray.show()
        window.in_flight_changed.connect(self._on_in_flight)
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_MS)
        self._look.timeout.connect(self._on_look)

    def _fresh(self) -> GoesOn:
        """The dialog, in the language of now."""
        if self.dialog is not None:
            self.dialog.close()
            self.dialog.deleteLater()
        self.dialog = GoesOn(self._ink, self._shell)
        self.dialog.answered.connect(self._on_answered)
        return self.dialog

    def retranslate(self) -> None:
        """The language has changed."""
        self._on_in_flight()

    # ---- the window goes

    def may_close(self) -> bool:
        """Called by the shell that is being closed: False = it stays, and something is asked first."""
        if self._leaving or self._retired or not self._window.in_flight:
            self.leave()
            return True
        if self.tray is None and not self._told:
            self._fresh().ask_close(self._window.in_flight)
            return False
        if self.tray is not None and not self._told:
            self._remember()
            self.tray.tell_closed(self._window.in_flight)
        self._idle_since = None
        self._look.start()
        return True

    def ask_quit(self) -> None:
        """Quit really: at once where nothing is in flight, else after the consequences were said."""
        if self._retired or not self._window.in_flight:
            self.leave()
            return
        self.show_window()
        self._fresh().ask_quit(self._window.in_flight)

    def leave(self) -> None:
        """The process ends, at the next turn of the loop."""
        if not self._leaving:
            self._leaving = True
            self._look.stop()
            QTimer.singleShot(0, self, self.done.emit)

    def retire(self) -> None:
        """This process supervises no longer: nothing keeps it when its window goes."""
        self._retired = True
        if not self._shell.isVisible():
            self.leave()

    def close(self) -> None:
        self._look.stop()
        if self.dialog is not None:
            self.dialog.close()
        if self.tray is not None:
            self.tray.close()

    # ---- the window comes back

    def show_window(self) -> None:
        self._look.stop()
        if self._shell.windowState() & Qt.WindowState.WindowMinimized:
            self._shell.showNormal()
        self._shell.show()
        self._shell.raise_()
        self._shell.activateWindow()

    def _on_answered(self, what: str) -> None:
        if what == CLOSE:
            self._remember()
            self._shell.close()
        elif what in (QUIT, LEAVE_SUPERVISOR):
            self.leave_supervisor = what == LEAVE_SUPERVISOR
            self.leave()

    def _remember(self) -> None:
        self._told = True
        self.kept_told.emit()

    def _on_in_flight(self) -> None:
        if self.tray is not None:
            self.tray.say(self._window.in_flight, self._window.queue_paused)

    def _on_look(self) -> None:
        """Hidden, with nothing left to do for long enough: leave. The supervisor itself is asked, not the list."""
        if self._window.in_flight:
            self._idle_since = None
        elif not self._asked:
            self._asked = True
            self._window.send({"verb": "status"}, self._on_status, self._on_no_status)

    def _on_status(self, ok: object) -> None:
        self._asked = False
        now = time.monotonic()
        if self._shell.isVisible() or not dict(ok).get("idle"):  # type: ignore[call-overload]
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since >= IDLE_LINGER_S:
            self.leave()

    def _on_no_status(self, error: object) -> bool:
        self._asked = False
        return True
