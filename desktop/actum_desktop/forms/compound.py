"""Editors of values made of others: columns of a file, and records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.contracts.parameters import Parameter
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QSizePolicy, QVBoxLayout

from actum_desktop.forms import header
from actum_desktop.forms.check import field_problem
from actum_desktop.forms.dates import opens
from actum_desktop.forms.editors import Editor, LineEditor
from actum_desktop.forms.paths import Surroundings
from actum_desktop.forms.rawvalues import ABSENT
from actum_desktop.i18n import _
from actum_desktop.theme import Theme
from actum_desktop.views.widgets import Label, button


class ColumnsEditor(LineEditor):
    """Names with commas between them, typed or taken from the head of the file they belong to."""

    def __init__(self, theme: Theme, parameter: Parameter, around: Surroundings, file_of: Callable[[], str]) -> None:
        super().__init__(theme, parameter)
        self._around, self._file_of = around, file_of
        self.key = f"columns {id(self)}"
        if not parameter.optional:
            self.edit.setPlaceholderText(_("names, with commas between them"))
        self._menu = QMenu(self)
        self._menu.setAccessibleName(parameter.title)
        self._menu.triggered.connect(self._on_column)
        self._choose = button(theme, _("Columns…"), self.open_menu, tip=_("The columns of the file (Alt+Down)"))
        self._choose.setAccessibleName(_("Choose: {field}").format(field=parameter.title))
        self.row.addWidget(self._choose)

    def fill(self, raw: Any) -> None:
        if isinstance(raw, (list, tuple)):
            raw = _joined([str(name) for name in raw])
        super().fill(raw)

    def open_menu(self) -> None:
        """The file is read first; the menu opens when its head is known."""
        path, base = self._file_of(), self._around.base
        if not path.strip():
            self._show_menu([], None)
            return
        self._around.background.ask(self.key, lambda: header.columns(path, base), self._show_menu)

    def _show_menu(self, names: Any, error: Exception | None) -> None:
        self._menu.clear()
        chosen = self.names()
        for name in names or []:
            action = self._menu.addAction(name.replace("&", "&&"))
            action.setData(name)
            action.setCheckable(True)
            action.setChecked(name in chosen)
        if self._menu.isEmpty():
            text = _("Choose the file first.") if not self._file_of().strip() else _("No column names were found in the file.")
            self._menu.addAction(text).setEnabled(False)
        self._menu.popup(self.edit.mapToGlobal(self.edit.rect().bottomLeft()))

    def names(self) -> list[str]:
        text = self.edit.text().strip()
        if text.startswith("["):
            try:
                found = json.loads(text)
            except ValueError:
                return []
            return [str(name) for name in found] if isinstance(found, list) else []
        return [part.strip() for part in text.split(",") if part.strip()]

    def _on_column(self, action: QAction) -> None:
        name, names = str(action.data()), self.names()
        names = [each for each in names if each != name] if name in names else [*names, name]
        self.edit.setText(_joined(names))
        self.edited.emit()
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and opens(event):
            self.open_menu()
            return True
        return super().eventFilter(watched, event)


class RecordEditor(Editor):
    """The fields of a record, each in an editor of its own, inside one frame."""

    def __init__(self, theme: Theme, parameter: Parameter, make: Callable[[Parameter], Editor]) -> None:
        super().__init__(theme, parameter)
        self._parts: dict[str, Editor] = {}
        self._other: Any = ABSENT
        self._touched = False
        frame = QFrame()
        frame.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        grid = QGridLayout(frame)
        grid.setContentsMargins(theme.px(16), 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(16))
        grid.setVerticalSpacing(theme.px(10))
        for index, field in enumerate(parameter.fields):
            editor = self._parts[field.name] = make(field)
            editor.edited.connect(self._on_edited)
            editor.left.connect(self.left)
            column = QVBoxLayout()
            column.setSpacing(theme.px(4))
            title = f"{field.title} ({field.unit})" if field.unit else field.title
            column.addWidget(Label(theme, title, "caption", 500))
            column.addWidget(editor)
            column.addStretch(1)
            grid.addLayout(column, index // 2, index % 2)
            self.targets += editor.targets
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        self.row.addWidget(frame, 1)
        if self.targets:
            self.setFocusProxy(self.targets[0])

    def raw(self) -> Any:
        if not self._touched:
            return self._other
        values = {name: editor.raw() for name, editor in self._parts.items()}
        given = {name: value for name, value in values.items() if value is not ABSENT}
        empty = all(value is None for value in given.values())
        return None if empty and self.parameter.optional else given

    def fill(self, raw: Any) -> None:
        """What is no record stays as it is until a part of it is edited."""
        self._other, self._touched = raw, False
        if isinstance(raw, str):
            try:
                raw = json.loads(raw, parse_float=str)
            except ValueError:
                raw = {}
        given: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
        for field in self.parameter.fields:
            default = ABSENT if field.default is None else field.default
            self._parts[field.name].fill(given.get(field.name, default if raw is ABSENT or raw is None else ABSENT))
        if raw is ABSENT and not self.parameter.optional:
            self._touched = True

    def mark(self, wrong: bool) -> None:
        """Only the parts that do not fit by themselves, or all where none of them tells."""
        bad = [name for name, editor in self._parts.items() if wrong and not _fits(editor)]
        for name, editor in self._parts.items():
            editor.mark(wrong and name in bad)

    def _on_edited(self) -> None:
        self._touched = True
        self.edited.emit()


def _fits(editor: Editor) -> bool:
    raw = editor.raw()
    given = {} if raw is ABSENT else {editor.parameter.name: raw}
    return not field_problem(editor.parameter, given, Path("/"))


def _joined(names: list[str]) -> str:
    """With commas; as JSON where a name has one itself."""
    if any("," in name or name.strip() != name or name.startswith("[") for name in names):
        return json.dumps(names, ensure_ascii=False)
    return ", ".join(names)
