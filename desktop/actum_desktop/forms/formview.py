"""The form of a contract: its fields in one column of cards, two short ones a row, and one banner for what holds between them.

Theory. The form is built from the contract alone and holds raw values. A field is checked when it is left, or on Run; once
an error is shown, on each key. Rules between fields are looked at when each field is right by itself, and are told above
the first field. Nothing here is ever disabled because something is wrong: `check_all` says what, `go_to` leads there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.contracts.document import Contract
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import tasktexts
from actum_desktop.forms import check, rawvalues
from actum_desktop.forms.check import Wrong
from actum_desktop.forms.editors import ChoiceEditor
from actum_desktop.forms.fieldbox import WIDE, FieldBox
from actum_desktop.forms.fileinfo import FileInfo
from actum_desktop.forms.paths import PathEditor, Surroundings
from actum_desktop.forms.rawvalues import ABSENT, Raw
from actum_desktop.i18n import _, ngettext
from actum_desktop.theme import Theme
from actum_desktop.views.widgets import Banner, button

_TWO_FROM_PX = 520  # narrower forms have one field a row


class FormView(QWidget):
    """Signals: `changed` (a raw value, by hand or by `fill`), `checked` (what is shown to be wrong may have changed)."""

    changed = Signal()
    checked = Signal()

    def __init__(self, theme: Theme, contract: Contract, around: Surroundings) -> None:
        super().__init__()
        self._theme, self._contract, self._around = theme, contract, around
        self.boxes: dict[str, FieldBox] = {}
        self.across: tuple[check.Across, ...] = ()
        self._columns = 0
        self._filling = False
        self.banner = Banner(around.ink, "bad", "x-circle-fill")
        self.banner.add(button(theme, _("Go to it"), self._on_go_across, small=True))
        self.banner.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(16))
        column.addWidget(self.banner)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.px(16))
        self._grid.setVerticalSpacing(theme.px(14))
        column.addLayout(self._grid)
        for parameter in contract.parameters:
            box = self.boxes[parameter.name] = FieldBox(theme, parameter, around, self._file_of)
            if isinstance(box.editor, ChoiceEditor):
                box.editor.call(tasktexts.choices(contract))
            box.edited.connect(self._on_edited)
            box.left.connect(self._on_left)
            box.found.connect(self._on_found)
        self._place(2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.fill(rawvalues.defaults(contract))

    # ---- values

    def raw(self) -> Raw:
        """Raw values by name; a field that was never filled in is not among them."""
        values = {name: box.raw() for name, box in self.boxes.items()}
        return {name: value for name, value in values.items() if value is not ABSENT}

    def fill(self, raw: Mapping[str, Any]) -> None:
        """Show these values, valid or not; errors are forgotten."""
        self._filling = True
        for name, box in self.boxes.items():
            box.fill(raw.get(name, ABSENT))
        self._filling = False
        self._tell_across(())
        self.changed.emit()
        self.checked.emit()

    def infos(self) -> dict[str, FileInfo | None]:
        """What is known of each chosen path, by name."""
        editors = {name: box.editor for name, box in self.boxes.items()}
        return {name: editor.info for name, editor in editors.items() if isinstance(editor, PathEditor) and editor.text()}

    def _file_of(self, name: str) -> str:
        box = self.boxes.get(name)
        return box.editor.text() if box is not None and isinstance(box.editor, PathEditor) else ""

    # ---- checking

    def shown_wrong(self) -> list[str]:
        """The fields under which an error stands now, in the order of the form."""
        return [name for name, box in self.boxes.items() if box.error]

    def check_all(self) -> Wrong:
        """Every field, then the rules; all of it is shown."""
        for box in self.boxes.values():
            box.check()
        fields = {name: box.error for name, box in self.boxes.items() if box.error}
        across = () if fields else check.problems(self._contract, self.raw(), self._around.base).across
        self._tell_across(across)
        self.checked.emit()
        return Wrong(fields, across)

    def tell(self, fields: Mapping[str, str]) -> None:
        """What the supervisor refused, under its fields or above them."""
        for name, box in self.boxes.items():
            if name in fields:
                box.error = fields[name]
                box._show_below()
        rest = tuple(check.Across(said) for name, said in fields.items() if name not in self.boxes)
        self._tell_across(rest)
        self.checked.emit()

    def go_to_first(self) -> None:
        """Focus and sight to the first field that is wrong, else to those a rule names."""
        names = self.shown_wrong() or [name for across in self.across for name in across.fields]
        if names:
            self.go_to(names[0])

    def go_to(self, name: str) -> None:
        box = self.boxes.get(name)
        if box is not None:
            box.editor.setFocus()
            self.show_box(box)

    def focus_start(self) -> None:
        """Where work starts: the first field that is wrong, else the first that still needs a value, else the first."""
        raw = self.raw()
        needed = [n for n, box in self.boxes.items() if raw.get(n) is None and not box.parameter.optional]
        for name in (*self.shown_wrong(), *needed, *self.boxes):
            self.go_to(name)
            return

    def show_box(self, box: FieldBox) -> None:
        """Scroll the page so that the whole field is in sight, its error included."""
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(box, 0, self._theme.px(40))

    def _on_edited(self) -> None:
        box = self.sender()
        if self._filling or not isinstance(box, FieldBox):
            return
        if box.error:
            box.check()
        else:
            box.refresh_help()
        if self.across:
            self._tell_across(check.problems(self._contract, self.raw(), self._around.base).across)
        self.changed.emit()
        self.checked.emit()

    def _on_left(self) -> None:
        """A field that was left empty is not told of before Run; what was typed and does not fit is."""
        box = self.sender()
        if isinstance(box, FieldBox) and (box.error or box.raw() not in (None, ABSENT)):
            box.check()
            self.checked.emit()

    def _on_found(self) -> None:
        box = self.sender()
        if isinstance(box, FieldBox):
            if box.editor.problem() or box.error:
                box.check()
            self.changed.emit()
            self.checked.emit()

    def _tell_across(self, across: tuple[check.Across, ...]) -> None:
        self.across = across
        self.banner.setVisible(bool(across))
        if across:
            count = ngettext("{n} thing does not fit together", "{n} things do not fit together", len(across))
            self.banner.say(count.format(n=len(across)), "\n".join(each.sentence for each in across))

    def _on_go_across(self) -> None:
        self.go_to_first()

    # ---- placing

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(2 if self.width() >= self._theme.px(_TWO_FROM_PX) else 1)

    def _place(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        while self._grid.count():
            self._grid.takeAt(0)
        row, at = 0, 0
        for box in self.boxes.values():
            wide = columns == 1 or box.parameter.type in WIDE
            if wide and at:
                row, at = row + 1, 0
            self._grid.addWidget(box, row, at, 1, columns if wide else 1)
            at = 0 if wide else (at + 1) % columns
            row += 1 if at == 0 else 0
        for index in range(2):
            self._grid.setColumnStretch(index, 1 if index < columns else 0)
