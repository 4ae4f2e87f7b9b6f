"""About: which program this is, how it was tried and with what limits, its use observed here, and what was done by hand."""

from __future__ import annotations

from actum.workspace import Workspace
from PySide6.QtWidgets import QVBoxLayout, QWidget

from actum_desktop.i18n import _
from actum_desktop.models import about
from actum_desktop.views.detailsview import DetailsView
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Label


class AboutView(QWidget):
    """Read anew whenever it comes to the front: the evidence, and the workspace, may have grown."""

    def __init__(self, ink: Ink, ws: Workspace, version: str) -> None:
        super().__init__()
        self._ws, self._version = ws, version
        theme, px = ink.theme, ink.theme.px
        self._list = DetailsView(ink, _("About"))
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 4, 1, 4)
        inside.addWidget(self._list)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(14))
        column.addWidget(Label(theme, _("About"), "page", 600))
        column.addWidget(card, 1)

    def focus_start(self) -> None:
        self._list.rows.show(about.rows(about.look(self._ws, self._version)))
        self._list.setFocus()
