"""One field of a form: label, editor, unit, and below it either the help or what is wrong with this value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from actum.contracts.kinds import KINDS
from actum.contracts.parameters import Parameter
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.forms import check
from actum_desktop.forms.compound import ColumnsEditor, RecordEditor
from actum_desktop.forms.dates import DateEditor, MomentEditor
from actum_desktop.forms.editors import ChoiceEditor, Editor, LineEditor, LinesEditor, TextEditor, YesNoEditor
from actum_desktop.forms.paths import PathEditor, PathsEditor, Surroundings
from actum_desktop.forms.rawvalues import ABSENT
from actum_desktop.i18n import _
from actum_desktop.theme import Theme
from actum_desktop.views.widgets import Label

WIDE = frozenset({"file", "files", "folder", "columns", "list", "record", "datetime"})  # these take a row of their own
_PLAIN: Mapping[str, type[Editor]] = {
    "integer": LineEditor,
    "decimal": LineEditor,
    "float": LineEditor,
    "duration": LineEditor,
    "boolean": YesNoEditor,
    "date": DateEditor,
    "datetime": MomentEditor,
    "list": LinesEditor,
}


def make_editor(theme: Theme, parameter: Parameter, around: Surroundings, file_of: Callable[[str], str]) -> Editor:
    """The editor of a parameter's type; a type this program does not know is edited as the text it is."""
    if parameter.choices and parameter.type in ("choice", "text"):
        return ChoiceEditor(theme, parameter)
    match parameter.type:
        case "file" | "folder":
            return PathEditor(theme, parameter, around)
        case "files":
            return PathsEditor(theme, parameter, around)
        case "columns":
            return ColumnsEditor(theme, parameter, around, lambda: file_of(parameter.file or ""))
        case "record":
            return RecordEditor(theme, parameter, lambda part: make_editor(theme, part, around, file_of))
    return _PLAIN.get(parameter.type, TextEditor)(theme, parameter)


class FieldBox(QWidget):
    """Signals: `edited` (), `left` (), `found` (something was learnt that may be a problem)."""

    edited = Signal()
    left = Signal()
    found = Signal()

    def __init__(self, theme: Theme, parameter: Parameter, around: Surroundings, file_of: Callable[[str], str]) -> None:
        super().__init__()
        self._theme, self._around, self.parameter = theme, around, parameter
        self.error = ""
        px = theme.px
        self.editor = make_editor(theme, parameter, around, file_of)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(4))
        head = QHBoxLayout()
        head.setSpacing(px(8))
        title = Label(theme, parameter.title, "body", 500, wrap=len(parameter.title) > 40)
        title.setBuddy(self.editor.targets[0])
        head.addWidget(title, 1 if len(parameter.title) > 40 else 0)
        if parameter.optional:
            head.addWidget(Label(theme, _("optional"), "caption", 400, "text3"))
        head.addStretch(1)
        column.addLayout(head)
        row = QHBoxLayout()
        row.setSpacing(px(8))
        row.addWidget(self.editor, 1)
        if parameter.unit and parameter.type != "record":
            row.addWidget(Label(theme, parameter.unit, "body", 400, "text2"))
        column.addLayout(row)
        below = QHBoxLayout()
        below.setSpacing(px(6))
        self._cross = QLabel()
        self._cross.setFixedSize(px(14), px(16))
        self._below = Label(theme, "", "caption", 400, "text3", wrap=True)
        below.addWidget(self._cross, 0, Qt.AlignmentFlag.AlignTop)
        below.addWidget(self._below, 1)
        column.addLayout(below)
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.editor.edited.connect(self.edited)
        self.editor.left.connect(self.left)
        self.editor.found.connect(self.found)
        theme.changed.connect(self._show_below)
        self._show_below()

    def raw(self) -> Any:
        return self.editor.raw()

    def fill(self, raw: Any) -> None:
        self.editor.fill(raw)
        self.clear()

    def problem(self) -> str:
        """What is wrong now, "" if nothing is."""
        raw = self.raw()
        given = {} if raw is ABSENT else {self.parameter.name: raw}
        return check.field_problem(self.parameter, given, self._around.base) or self.editor.problem()

    def check(self) -> bool:
        """Shows what is wrong, or that nothing is any more. True = nothing."""
        self.error = self.problem()
        self._show_below()
        return not self.error

    def clear(self) -> None:
        self.error = ""
        self._show_below()

    def _show_below(self) -> None:
        wrong = bool(self.error)
        self.editor.mark(wrong)
        text = self.error or self.help()
        self._below.setText(text)
        self._below.setVisible(bool(text))
        self._below.set_look("caption", 500 if wrong else 400, "bad" if wrong else "text3")
        self._cross.setVisible(wrong)
        if wrong:
            ratio = self.devicePixelRatioF()
            self._cross.setPixmap(self._theme.pixmap("x-circle-fill", "bad", self._theme.px(14), ratio))
        self.editor.describe(text)

    def help(self) -> str:
        """The author's words, the bounds, and how a moment will be kept."""
        parameter = self.parameter
        words = [parameter.help]
        if not parameter.known:
            said = _("This version of Actum does not know the type “{type}”. The work gets the text as it stands here.")
            words.append(said.format(type=parameter.type))
        words.append(bounds(parameter))
        if parameter.type == "datetime":
            words.append(self._kept())
        return measures.joined(*words)

    def _kept(self) -> str:
        raw = self.raw()
        if not isinstance(raw, str) or self.error:
            return ""
        try:
            moment = datetime.fromisoformat(raw.strip())
            utc = moment.astimezone(UTC) if moment.tzinfo else None
        except (ValueError, OverflowError):
            return ""
        return _("Kept as {moment} UTC.").format(moment=f"{utc:%Y-%m-%d %H:%M:%S}") if utc else ""

    def refresh_help(self) -> None:
        if not self.error and self.parameter.type == "datetime":
            self._show_below()


def bounds(parameter: Parameter) -> str:
    """“Between 2 and 366.”, “At least 2.”, or nothing."""
    low, high = parameter.minimum, parameter.maximum
    if not parameter.known or parameter.type not in KINDS:
        return ""
    if low is not None and high is not None:
        return _("Between {low} and {high}.").format(low=low, high=high)
    if low is not None:
        return _("At least {low}.").format(low=low)
    return _("At most {high}.").format(high=high) if high is not None else ""
