"""One line above a table whose bytes are in question: what is read instead of its quicker copy, and what is known."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel

from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Elided, button

_ICONS = {"accent": "shield-check", "warn": "warning-fill", "bad": "x-circle-fill"}


class SourceLine(Card):
    """Signal: `rebuild_asked` (). Attribute: `rebuild` (the button, hidden where nothing can be made again),
    `of_a_run` (a table from elsewhere is never made again)."""

    rebuild_asked = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme, "tint_warn", border=False, radius=0)
        theme, px = ink.theme, ink.theme.px
        self._theme_ref, self._tone, self.of_a_run = theme, "warn", True
        self._icon = QLabel()
        self.words = Elided(ink, "caption", 400, "text")
        self.rebuild = button(theme, _("Make it again…"), self._on_rebuild, kind="link", small=True)
        self.rebuild.setToolTip(_("Make the derived tables again from the authority"))
        row = QHBoxLayout(self)
        row.setContentsMargins(px(14), px(3), px(10), px(3))
        row.setSpacing(px(8))
        row.addWidget(self._icon)
        row.addWidget(self.words, 1)
        row.addWidget(self.rebuild)
        theme.changed.connect(self._dress)
        self.hide()

    def tell(self, words: object, tone: object, makeable: object) -> None:
        """Empty words: the copy is read, and nothing need be said. `makeable` = the copy could be made again."""
        self.rebuild.setVisible(self.of_a_run and bool(makeable))
        self.setVisible(bool(words))
        self.words.setText(str(words))
        if words:
            self._tone = str(tone)
            self.paint_as(f"tint_{self._tone}")
            self._dress()

    def _dress(self) -> None:
        icon, side = _ICONS[self._tone], self._theme_ref.px(14)
        self._icon.setPixmap(self._theme_ref.pixmap(icon, self._tone, side, self.devicePixelRatioF()))

    def _on_rebuild(self) -> None:
        self.rebuild_asked.emit()
