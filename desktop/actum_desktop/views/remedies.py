"""What can be done about a result that is not as it was published: in words for each state, and the one thing Actum can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from actum_desktop.i18n import N_, _
from actum_desktop.views.ink import Ink
from actum_desktop.views.popover import Popover
from actum_desktop.views.widgets import Banner, button

_REMEDIES = {
    "unchecked": N_("Attach the disk that holds the workspace, or look at its state; then verify again."),
    "damaged": N_("Take the package from a backup, or run the task again. A damaged authority is never repaired."),
    "missing": N_("Put the folder back from a backup, or run the task again."),
    "replaced": N_("Move what stands there elsewhere, and put the published package back from a backup."),
    "forbidden": N_("Give yourself the right to read the folder; then verify again."),
    "foreign": N_("Move what stands there elsewhere, and put the published package back from a backup."),
}
_REBUILDABLE = N_("Its authority is as it was sealed: the derived tables can be made again from it.")


def remedy(told: Mapping[str, Any]) -> str:
    """What to do, as the answer of a check has it."""
    words = _REBUILDABLE if told.get("rebuildable") else _REMEDIES.get(str(told.get("state")), "")
    return _(words) if words else ""


class Rebuild(QObject):
    """The button in a banner that makes derived tables again, after a question. Signal: `asked` ()."""

    asked = Signal()

    def __init__(self, ink: Ink, banner: Banner, page: QWidget) -> None:
        super().__init__(page)
        self.button = button(ink.theme, _("Make derived tables again…"), self._on_pressed, small=True)
        banner.add(self.button)
        self.popover = Popover(ink, page, _("Leave as it is"))
        self.popover.confirmed.connect(self.asked)
        self.offer(False)

    def offer(self, possible: bool) -> None:
        self.button.setVisible(possible)
        if not possible:
            self.popover.hide()

    def _on_pressed(self) -> None:
        self.ask(self.button)

    def ask(self, home: QWidget) -> None:
        """The question, below what was pressed."""
        text = _("They are derived from the authority, which is only read. What stands there now is kept in quarantine.")
        self.popover.ask(home, _("Make the derived tables again?"), text, _("Make them again"))
