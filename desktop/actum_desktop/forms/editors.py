"""Editors of single values: text, numbers, choices, yes or no. Each shows raw values and gives them back unchanged.

An editor never reads, rounds or rejects what is typed; it answers `raw()` and shows what `fill` hands it, valid or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum import limits
from actum.contracts.parameters import Parameter
from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QIcon, QKeyEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from actum_desktop import tokens
from actum_desktop.forms.rawvalues import ABSENT, lines_of, text_of
from actum_desktop.i18n import _
from actum_desktop.theme import Theme
from actum_desktop.views.widgets import button

_STAYS = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class Editor(QWidget):
    """Signals: `edited` (the raw value changed by hand), `left` (focus went elsewhere), `found` (something new is known)."""

    edited = Signal()
    left = Signal()
    found = Signal()

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__()
        self.theme, self.parameter = theme, parameter
        self.targets: list[QWidget] = []
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(theme.px(8))

    def raw(self) -> Any:
        """What stands in the field, as typed. Abstract: each kind of editor has its own."""
        raise NotImplementedError

    def fill(self, raw: Any) -> None:
        """Put a raw value into the field. Abstract: each kind of editor has its own."""
        raise NotImplementedError

    def mark(self, wrong: bool) -> None:
        """The border of a field that does not fit."""
        mark(self.targets[0], wrong)

    def problem(self) -> str:
        """What is known to be wrong beyond the contract: a file that is not there."""
        return ""

    def watch(self, widget: QWidget, name: str = "") -> None:
        """`widget` takes the focus of this editor."""
        widget.setAccessibleName(name or self.parameter.title)
        widget.installEventFilter(self)
        self.targets.append(widget)
        if len(self.targets) == 1:
            self.setFocusProxy(widget)

    def describe(self, text: str) -> None:
        """What a screen reader says after the name: the help, or what is wrong."""
        for target in self.targets:
            target.setAccessibleDescription(text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and isinstance(event, QFocusEvent) and event.reason() not in _STAYS:
            self.left.emit()
        return False


def mark(widget: QWidget, wrong: bool) -> None:
    """Sets the dynamic property that the style sheet looks at."""
    value = "true" if wrong else "false"
    if widget.property("wrong") != value:
        widget.setProperty("wrong", value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


class LineEditor(Editor):
    """One line: a number, a date, a duration. Empty = no value."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        self.edit = QLineEdit()
        self.edit.setFont(theme.font())
        self.edit.setTextMargins(theme.px(8), 0, 0, 0)
        if parameter.optional:
            self.edit.setPlaceholderText(_("not set"))
        self._cross = self.edit.addAction(QIcon(), QLineEdit.ActionPosition.TrailingPosition)
        self._cross.setVisible(False)
        self.edit.textEdited.connect(self.edited)
        self.watch(self.edit)
        self.row.addWidget(self.edit, 1)

    def raw(self) -> Any:
        text = self.edit.text()
        return text if text.strip() else None

    def fill(self, raw: Any) -> None:
        self.edit.setText(text_of(raw))
        self.edit.setCursorPosition(0)

    def mark(self, wrong: bool) -> None:
        super().mark(wrong)
        if wrong:
            self._cross.setIcon(self.theme.icon("x-circle-fill", "bad", 15))
        self._cross.setVisible(wrong)


class GrowingEdit(QPlainTextEdit):
    """Plain text that is one line high until it has more. Tab leaves it; `several` = Enter makes a new line."""

    def __init__(self, theme: Theme, *, several: bool) -> None:
        super().__init__()
        self._theme, self._several = theme, several
        self.setObjectName("field")
        self.setFont(theme.font())
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(theme.px(6))
        self.document().contentsChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        """As it was typed: a hard space stays one."""
        return self.document().toRawText().replace("\u2029", "\n")

    def _lines(self) -> int:
        block, count = self.document().begin(), 0
        while block.isValid() and count < limits.FIELD_LINES_MAX:
            count += max(1, block.layout().lineCount())
            block = block.next()
        return max(min(count, limits.FIELD_LINES_MAX), 3 if self._several and count > 1 else 1)

    def _fit(self) -> None:
        line = max(self.fontMetrics().lineSpacing(), self._theme.line())
        high = max(self._theme.px(tokens.CONTROL), line * self._lines() + self._theme.px(14))
        if high != self.height():
            self.setFixedHeight(high)
        many = self.document().blockCount() > limits.FIELD_LINES_MAX
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if many else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        if event.key() == Qt.Key.Key_Escape or (enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier):
            event.ignore()
        elif enter and plain and not self._several:
            self.focusNextChild()
        else:
            super().keyPressEvent(event)


class TextEditor(Editor):
    """Text. Never filled in, left out and empty are three states: the placeholder says which one it is."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        self.edit = GrowingEdit(theme, several=False)
        self._set = False
        self._filling = False
        self.edit.textChanged.connect(self._on_changed)
        self.watch(self.edit)
        self.row.addWidget(self.edit, 1)
        self._out = button(theme, _("Leave out"), self._on_out, kind="link", small=True)
        self._out.setAccessibleName(_("Leave out: {field}").format(field=parameter.title))
        self._out.setVisible(False)
        self.row.addWidget(self._out)
        self._show_state()

    def raw(self) -> Any:
        if self._set:
            return self.edit.text()
        return None if self.parameter.optional else ABSENT

    def fill(self, raw: Any) -> None:
        self._filling = True
        self._set = raw is not None and raw is not ABSENT
        self.edit.setPlainText(text_of(raw))
        self._filling = False
        self._show_state()

    def _on_changed(self) -> None:
        if not self._filling:
            self._set = True
            self._show_state()
            self.edited.emit()

    def _on_out(self) -> None:
        self.fill(None)
        self.edit.setFocus()
        self.edited.emit()

    def _show_state(self) -> None:
        unset = _("not set") if self.parameter.optional else ""
        self.edit.setPlaceholderText(_("empty text") if self._set else unset)
        self._out.setVisible(self._set and self.parameter.optional)


class LinesEditor(Editor):
    """Several values, one a line; JSON where a line would not do."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        self.edit = GrowingEdit(theme, several=True)
        self.edit.setPlaceholderText(_("not set") if parameter.optional else _("one a line"))
        self.edit.textChanged.connect(self._on_changed)
        self._filling = False
        self._touched = False
        self.watch(self.edit)
        self.row.addWidget(self.edit, 1)

    def raw(self) -> Any:
        text = self.edit.text()
        if not text.strip():
            return None if self.parameter.optional or not self._touched else []
        return lines_of(text)

    def fill(self, raw: Any) -> None:
        self._filling = True
        self._touched = isinstance(raw, (list, tuple))
        self.edit.setPlainText(text_of(raw))
        self._filling = False

    def _on_changed(self) -> None:
        if not self._filling:
            self._touched = True
            self.edited.emit()


class Choice(QComboBox):
    """A box that does not change under the wheel of a page that is being scrolled."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFont(theme.font())

    def setAccessibleName(self, name: str) -> None:
        super().setAccessibleName(name)
        self.view().setAccessibleName(name)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(min(super().sizeHint().width(), 400), super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        edge = self._theme.px(12)
        caret = self._theme.pixmap("caret-down", "text3", edge, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - edge - self._theme.px(10), (self.height() - edge) // 2, caret)
        painter.end()


class ChoiceEditor(Editor):
    """One of several. A value that is none of them is shown as it is, and is told to be wrong."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        self._words: Mapping[str, str] = {}
        self.box = Choice(theme)
        self.box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box.setMinimumContentsLength(6)
        self._fill_box()
        self.box.activated.connect(self._on_activated)
        self.watch(self.box)
        self.row.addWidget(self.box, 1)

    def call(self, words: Mapping[str, str]) -> None:
        """How choices are shown, by value, from the next `fill` on; the others are shown as they are."""
        self._words = words

    def _fill_box(self) -> None:
        self.box.clear()
        if self.parameter.optional or self.parameter.default is None:
            self.box.addItem(_("not set") if self.parameter.optional else _("Choose one"), ABSENT)
        for choice in self.parameter.choices:
            self.box.addItem(self._words.get(choice, choice), choice)

    def raw(self) -> Any:
        value = self.box.currentData()
        return None if value is ABSENT or value is None else value

    def fill(self, raw: Any) -> None:
        self._fill_box()
        if raw is None or raw is ABSENT:
            self.box.setCurrentIndex(0 if self.box.itemData(0) is ABSENT else -1)
            return
        text = text_of(raw)
        place = self.box.findData(text)
        if place < 0:
            self.box.addItem(text, text)
            place = self.box.count() - 1
        self.box.setCurrentIndex(place)

    def _on_activated(self) -> None:
        self.edited.emit()


class YesNoEditor(Editor):
    """Yes or no, and “not set” where it may be left out. Nothing is chosen until someone chooses."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter)
        self._group = QButtonGroup(self)
        self._other: Any = ABSENT
        choices: list[tuple[Any, str]] = [("yes", _("Yes")), ("no", _("No"))]
        if parameter.optional:
            choices.append((None, _("Not set")))
        self._buttons: list[tuple[Any, QPushButton]] = []
        for value, text in choices:
            made = QPushButton(text)
            made.setObjectName("answer")
            made.setCheckable(True)
            made.setFont(theme.font("body", 500))
            self._group.addButton(made)
            self._buttons.append((value, made))
            self.watch(made, f"{parameter.title}: {text}")
            self.row.addWidget(made)
        self.row.addStretch(1)
        self._group.buttonClicked.connect(self._on_clicked)

    def raw(self) -> Any:
        return next((value for value, made in self._buttons if made.isChecked()), self._other)

    def fill(self, raw: Any) -> None:
        """A raw value that is neither stays as it is until someone chooses."""
        word = {"true": "yes", "1": "yes", "on": "yes", "false": "no", "0": "no", "off": "no"}
        text = text_of(raw).strip().lower()
        wanted = word.get(text, text) if raw is not None and raw is not ABSENT else None
        self._other = raw
        self._group.setExclusive(False)
        for value, made in self._buttons:
            made.setChecked(value == wanted and (value is not None or raw is None))
        self._group.setExclusive(True)

    def mark(self, wrong: bool) -> None:
        for _value, made in self._buttons:
            mark(made, wrong)

    def _on_clicked(self) -> None:
        self.edited.emit()
