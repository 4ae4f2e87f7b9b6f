"""What can be done with one column of the grid and with the rows chosen: one menu, at a head, at a cell, or by the menu key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from actum_desktop.i18n import _


@dataclass(frozen=True, slots=True)
class Asked:
    """One entry that was chosen: `what` is a word of `ColumnMenu`, about the column `name`."""

    what: str
    name: str


class ColumnMenu(QMenu):
    """Signal: `asked` (Asked). Words: sort_up, sort_down, also_up, also_down, unsort, filter, values, hide, show, show_all,
    left, right, freeze, unfreeze, fit, copy, copy_sheet."""

    asked = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = ""
        self.setAccessibleName(_("Column"))

    def offer(
        self, at: QPoint, name: str, place: int, frozen: int, order: Sequence[str], hidden: Sequence[str], rows: bool
    ) -> None:
        """Open at a point of the screen, for the column `name`, the `place`-th from the left (from 0)."""
        self.clear()
        self._name = name
        self._add("sort_up", _("Sort, &smallest first"))
        self._add("sort_down", _("Sort, &largest first"))
        if order and name not in order:
            self._add("also_up", _("Then by this, s&mallest first"), keys=_("Shift+click"))
            self._add("also_down", _("Then by this, lar&gest first"))
        if order:
            self._add("unsort", _("&Original order"))
        self.addSeparator()
        self._add("filter", _("&Filter by this column…"))
        self._add("values", _("Count its &values"))
        self.addSeparator()
        self._add("left", _("Move to the l&eft"), keys="Ctrl+Shift+Left")
        self._add("right", _("Move to the &right"), keys="Ctrl+Shift+Right")
        if place + 1 != frozen:
            self._add("freeze", _("Free&ze the columns up to here"))
        if frozen:
            self._add("unfreeze", _("&Unfreeze"))
        self._add("fit", _("Fit all &widths"))
        self._add("hide", _("&Hide this column"))
        if hidden:
            again = self.addMenu(_("Show &again"))
            for each in hidden:
                self._add("show", each.replace("&", "&&"), each, again)
            self._add("show_all", _("Show all columns"))
        if rows:
            self.addSeparator()
            self._add("copy", _("&Copy the rows, exact"), keys="Ctrl+C")
            self._add("copy_sheet", _("Copy the rows for a s&preadsheet"), keys="Ctrl+Alt+C")
        self.popup(at)

    def _add(self, what: str, text: str, name: str = "", menu: QMenu | None = None, keys: str = "") -> None:
        action = (menu or self).addAction(f"{text}\t{keys}" if keys else text)  # behind a tab: told at the right, not taken
        action.setData(Asked(what, name or self._name))
        action.triggered.connect(self._on_triggered)

    def _on_triggered(self) -> None:
        action = self.sender()
        data = getattr(action, "data", None)
        if data is not None:
            self.asked.emit(data())
