"""The parameters of a program that is being defined: one row each, with a name, a type, a default and a way out."""

from __future__ import annotations

from collections.abc import Sequence

from actum.contracts.kinds import COMPOUND, KINDS
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from actum_desktop.forms.draft import DraftParameter
from actum_desktop.forms.editors import Choice
from actum_desktop.i18n import N_, _
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.tick import Tick
from actum_desktop.views.widgets import button

_WORDS = {
    "text": N_("text"),
    "integer": N_("whole number"),
    "decimal": N_("decimal number"),
    "float": N_("number"),
    "boolean": N_("yes or no"),
    "choice": N_("choice"),
    "date": N_("date"),
    "datetime": N_("date and time"),
    "duration": N_("duration"),
    "file": N_("file"),
    "files": N_("files"),
    "folder": N_("folder"),
    "columns": N_("columns of a file"),
    "list": N_("list"),
}
_INSIDE = {"choice": N_("choices, with commas"), "list": N_("type of an item"), "columns": N_("name of the file parameter")}


def type_word(kind: str) -> str:
    return _(_WORDS[kind]) if kind in _WORDS else kind


class ParameterRow(QWidget):
    """Signals: `changed` (), `removed` ()."""

    changed = Signal()
    removed = Signal()

    def __init__(self, ink: Ink, name: str) -> None:
        super().__init__()
        theme = ink.theme
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(6))
        self.name = self._edit(theme, _("Name of the parameter"), _("name"), 3)
        self.name.setText(name)
        self.type = Choice(theme)
        self.type.setAccessibleName(_("Type of the parameter"))
        for kind in (*KINDS, *COMPOUND):
            if kind in _WORDS:
                self.type.addItem(type_word(kind), kind)
        self.type.activated.connect(self._on_type)
        self.inside = self._edit(theme, _("More about the type"), "", 3)
        self.default = self._edit(theme, _("Default of the parameter"), _("default"), 3)
        self.optional = Tick(ink, _("optional"), "caption")
        self.optional.setAccessibleName(_("May be left out"))
        self.optional.toggled.connect(self.changed)
        out = button(theme, "", self.removed.emit, kind="ghost", icon="x", tip=_("Remove this parameter"))
        for widget, stretch in ((self.name, 3), (self.type, 3), (self.inside, 3), (self.default, 3)):
            row.addWidget(widget, stretch)
        row.addWidget(self.optional)
        row.addWidget(out)
        self._on_type()

    def _edit(self, theme: Theme, name: str, placeholder: str, _stretch: int) -> QLineEdit:
        edit = QLineEdit()
        edit.setFont(theme.font())
        edit.setTextMargins(theme.px(6), 0, 0, 0)
        edit.setAccessibleName(name)
        edit.setPlaceholderText(placeholder)
        edit.textChanged.connect(self.changed)
        return edit

    def _on_type(self) -> None:
        kind = str(self.type.currentData())
        more = _INSIDE.get(kind)
        self.inside.setVisible(more is not None)
        self.inside.setPlaceholderText(_(more) if more else "")
        self.changed.emit()

    def value(self) -> DraftParameter:
        inside = self.inside.text().strip() if str(self.type.currentData()) in _INSIDE else ""
        return DraftParameter(
            self.name.text().strip(), str(self.type.currentData()), self.default.text(), self.optional.isChecked(), inside
        )


class ParameterRows(QWidget):
    """Signals: `changed` ()."""

    changed = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink, theme = ink, ink.theme
        self._rows: list[ParameterRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(6))
        foot = QHBoxLayout()
        self._add = button(theme, _("Add parameter"), self._on_add, icon="plus", small=True)
        foot.addWidget(self._add)
        foot.addStretch(1)
        self._column.addLayout(foot)

    def values(self) -> tuple[DraftParameter, ...]:
        return tuple(row.value() for row in self._rows if row.name.text().strip())

    def add(self, name: str, kind: str = "text") -> ParameterRow:
        row = ParameterRow(self._ink, name)
        row.type.setCurrentIndex(max(0, row.type.findData(kind)))
        row._on_type()
        row.changed.connect(self.changed)
        row.removed.connect(self._on_removed)
        self._rows.append(row)
        self._column.insertWidget(len(self._rows) - 1, row)
        self.changed.emit()
        return row

    def ensure(self, names: Sequence[str]) -> None:
        """A row for each placeholder that has none."""
        have = {row.name.text().strip() for row in self._rows}
        for name in names:
            if name not in have:
                self.add(name, "file" if any(word in name for word in ("file", "path", "input", "csv")) else "text")

    def _on_add(self) -> None:
        self.add("").name.setFocus()

    def _on_removed(self) -> None:
        row = self.sender()
        if isinstance(row, ParameterRow) and row in self._rows:
            self._rows.remove(row)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
            self._add.setFocus()
            self.changed.emit()
