"""Settings: look and language are this user's, keeping awake is the workspace's. All take effect at once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from actum_desktop import i18n
from actum_desktop.controller.events import Supervising
from actum_desktop.i18n import _
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Label, Rule, Segments


class SettingsView(QWidget):
    """Signals: `scheme_chosen` ("system" | "light" | "dark"), `language_chosen` ("system" or a code), `awake_chosen` (bool)."""

    awake_chosen = Signal(object)
    scheme_chosen = Signal(object)
    language_chosen = Signal(object)

    def __init__(self, ink: Ink, language: str) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        schemes = (("system", _("As the system")), ("light", _("Light")), ("dark", _("Dark")))
        self._scheme = Segments(theme, _("Look"), schemes)
        self._scheme.choose(theme.scheme)
        self._scheme.chosen.connect(self.scheme_chosen)
        languages = [("system", _("As the system")), *i18n.NAMES.items()]
        self._language = Segments(theme, _("Language"), languages)
        self._language.choose(language)
        self._language.chosen.connect(self.language_chosen)
        self._awake = Segments(theme, _("Keep awake"), (("on", _("While work computes")), ("off", _("Never"))))
        self._awake.chosen.connect(self._on_awake)
        card = Card(theme)
        card.setMaximumWidth(px(720))
        inside = QVBoxLayout(card)
        inside.setContentsMargins(px(16), px(16), px(16), px(16))
        inside.setSpacing(px(14))
        inside.addLayout(self._row(theme, _("Look"), _("Light or dark; the colours mean the same in both."), self._scheme))
        inside.addWidget(Rule(theme))
        note = _("Of the window and of the commands that it starts.")
        inside.addLayout(self._row(theme, _("Language"), note, self._language))
        inside.addWidget(Rule(theme))
        note = _(
            "Whether the system obeys is said in the line at the bottom. Work that is interrupted by sleep goes on afterwards."
        )
        inside.addLayout(self._row(theme, _("Keep awake"), note, self._awake))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(14))
        column.addWidget(Label(theme, _("Settings"), "page", 600))
        column.addWidget(card)
        column.addStretch(1)

    def _row(self, theme: Theme, title: str, note: str, control: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(theme.px(3))
        words.addWidget(Label(theme, title, "body", 500))
        words.addWidget(Label(theme, note, "caption", 400, "text2", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def supervising(self, state: Supervising) -> None:
        """What is set now, whoever set it."""
        self._awake.choose("on" if state.awake.setting else "off")

    def _on_awake(self, key: object) -> None:
        self.awake_chosen.emit(key == "on")

    def focus_start(self) -> None:
        self._scheme.setFocus()
