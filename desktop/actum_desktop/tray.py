"""The icon in the system's tray, where there is one: how one comes back to a closed window, and really quits."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from actum_desktop.i18n import _, ngettext
from actum_desktop.views.ink import Ink
from actum_desktop.views.sidebar import mark

_EDGES = (16, 22, 24, 32, 48, 64)


def icon(ink: Ink) -> QIcon:
    """The mark of the program, at the sizes trays and task bars ask for."""
    made = QIcon()
    for edge in _EDGES:
        pixmap = QPixmap(edge, edge)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        mark(painter, ink, QRectF(0, 0, edge, edge))
        painter.end()
        made.addPixmap(pixmap)
    return made


class Tray(QObject):
    """Signals: `show_asked` (), `queue_asked` (pause | resume), `quit_asked` (). Attribute: menu."""

    show_asked = Signal()
    queue_asked = Signal(object)
    quit_asked = Signal()

    def __init__(self, ink: Ink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paused = False
        self.menu = QMenu()
        self._state = self.menu.addAction("")
        self._state.setEnabled(False)
        self.menu.addSeparator()
        self._show = self.menu.addAction("", self._on_show)
        self._queue = self.menu.addAction("", self._on_queue)
        self.menu.addSeparator()
        self._quit = self.menu.addAction("", self._on_quit)
        self._icon = QSystemTrayIcon(icon(ink), self)
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self._on_activated)
        self.say(0, False)

    @staticmethod
    def there_is_one() -> bool:
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show(self) -> None:
        self._icon.show()

    def say(self, runs: int, paused: bool) -> None:
        """How many runs are in flight, and whether waiting ones may start."""
        self._paused = paused
        state = ngettext("{n} run in flight", "{n} runs in flight", runs).format(n=runs) if runs else _("Nothing in flight")
        if paused:
            state = _("{first}, {second}").format(first=state, second=_("queue paused"))
        self._state.setText(state)
        self._show.setText(_("Show the window"))
        self._queue.setText(_("Resume queue") if paused else _("Pause queue"))
        self._quit.setText(_("Quit Actum"))
        self._icon.setToolTip(f"Actum: {state}")

    def tell_closed(self, runs: int) -> None:
        """The window was closed: where it is."""
        title = ngettext("{n} run goes on without this window", "{n} runs go on without this window", runs).format(n=runs)
        self._icon.showMessage(title, _("Click here, or start Actum again, and the window is back."))

    def close(self) -> None:
        self._icon.hide()
        self.menu.deleteLater()

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.show_asked.emit()

    def _on_show(self) -> None:
        self.show_asked.emit()

    def _on_queue(self) -> None:
        self.queue_asked.emit("resume" if self._paused else "pause")

    def _on_quit(self) -> None:
        self.quit_asked.emit()
