"""The one question before the window goes while work is in flight: what goes on without it, and how one comes back."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from actum_desktop.i18n import _, ngettext
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Button, Label, button

CLOSE, QUIT, LEAVE_SUPERVISOR = "close", "quit", "leave_supervisor"
_WIDTH = 520


class GoesOn(QDialog):
    """Signal: `answered` (close | quit | leave_supervisor); nothing is emitted when the window is kept."""

    answered = Signal(object)

    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        theme, px = ink.theme, ink.theme.px
        self._title = Label(theme, "", "title", 600, wrap=True)
        self._text = Label(theme, "", "body", 400, "text2", wrap=True)
        self.keep = button(theme, _("Keep it open"), self.reject)
        self.close_it = button(theme, _("Close the window"), self._on_close, kind="primary")
        self.quit = button(theme, _("Quit"), self._on_quit)
        self.leave = button(theme, _("Quit, leave a supervisor"), self._on_leave, kind="primary")
        self._row = QHBoxLayout()
        self._row.setSpacing(px(8))
        self._row.addStretch(1)
        for made in (self.keep, self.quit, self.close_it, self.leave):
            made.setAutoDefault(False)
            self._row.addWidget(made)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(20), px(24), px(16))
        column.setSpacing(px(10))
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addSpacing(px(6))
        column.addLayout(self._row)
        self.setFixedWidth(px(_WIDTH))

    def ask_close(self, runs: int) -> None:
        """The window is closed and there is no tray: say how to come back."""
        title = ngettext("{n} run goes on without this window", "{n} runs go on without this window", runs).format(n=runs)
        text = _(
            "Actum stays and supervises: it verifies, publishes and starts what waits, and leaves when nothing is left to do. "
            "Start Actum again, from the menu or by the command actum, and this window is back."
        )
        self._ask(title, text, (self.close_it,), self.close_it)

    def ask_quit(self, runs: int) -> None:
        """Really quit: say what goes on and what waits."""
        title = ngettext("Quit while {n} run is in flight?", "Quit while {n} runs are in flight?", runs).format(n=runs)
        text = _(
            "The work goes on: each host watches its work, ends it at its own limits and seals its result. Verifying, "
            "publishing and every waiting run wait until Actum is started again, or a supervisor without a window ends them."
        )
        self._ask(title, text, (self.quit, self.leave), self.leave)

    def _ask(self, title: str, text: str, shown: tuple[Button, ...], first: Button) -> None:
        self.setWindowTitle("Actum")
        self.setAccessibleName(f"{title}. {text}")
        self._title.setText(title)
        self._text.setText(text)
        for made in (self.quit, self.close_it, self.leave):
            made.setVisible(made in shown)
        layout = self.layout()
        assert layout is not None, "it was built with one"
        layout.activate()
        self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        self.open()
        first.setFocus()

    def _answer(self, what: str) -> None:
        self.accept()
        self.answered.emit(what)

    def _on_close(self) -> None:
        self._answer(CLOSE)

    def _on_quit(self) -> None:
        self._answer(QUIT)

    def _on_leave(self) -> None:
        self._answer(LEAVE_SUPERVISOR)
