"""The field in which a text is looked for in a table, what came of it so far, and the way to the next and the one before."""

from __future__ import annotations

from actum.limits import SEARCH_CHARS_MAX
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label, button

_TYPING_MS = 250


class _Field(QLineEdit):
    """Signals: `next_asked` (backward: bool), `left` ()."""

    next_asked = Signal(object)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        backward = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.next_asked.emit(backward)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class SearchBar(QWidget):
    """Signals: `typed` () some time after the last key, `next_asked` (backward: bool), `left` ()."""

    typed = Signal()
    next_asked = Signal(object)
    left = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self.column = ""  # only this one is looked through; empty = all
        self.field = _Field()
        self.field.setFont(theme.font("body"))
        self.field.setProperty("small", "true")
        self.field.setMaxLength(SEARCH_CHARS_MAX)
        self.field.setClearButtonEnabled(True)
        self.field.addAction(theme.icon("magnifying-glass", "text3", 14), QLineEdit.ActionPosition.LeadingPosition)
        self.field.setMinimumWidth(px(84))
        self.field.setMaximumWidth(px(150))
        self.field.next_asked.connect(self.next_asked)
        self.field.left.connect(self.left)
        self._said = Label(theme, "", "caption", 400, "text2")
        self._said.setMaximumWidth(px(190))
        self._back = button(theme, "", self._on_back, small=True, icon="caret-up", tip=_("Find previous (Shift+F3)"))
        self._forth = button(theme, "", self._on_forth, small=True, icon="caret-down", tip=_("Find next (F3)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(4))
        for widget in (self._said, self.field, self._back, self._forth):
            row.addWidget(widget)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self.typed)
        self.field.textChanged.connect(self._on_changed)
        self.look_in("")
        self._on_changed()

    def look_in(self, column: str) -> None:
        """Only in one column, or in all (empty)."""
        self.column = column
        said = _("Search in {column}").format(column=column) if column else _("Search")
        self.field.setPlaceholderText(said)
        self.field.setAccessibleName(said)
        self.field.setToolTip(_("Ctrl+F: in all columns shown. Ctrl+Shift+F: in the chosen column."))

    @property
    def text(self) -> str:
        return self.field.text()

    def say(self, words: str) -> None:
        self._said.setText(words)
        self._said.setVisible(bool(words))

    @property
    def said(self) -> str:
        return self._said.text()

    def clear(self) -> None:
        self.field.clear()
        self._typing.stop()
        self.say("")

    def focus(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _on_changed(self) -> None:
        for made in (self._back, self._forth):
            made.setVisible(bool(self.text))
        self.say("")
        self._typing.start()

    def _on_back(self) -> None:
        self.next_asked.emit(True)

    def _on_forth(self) -> None:
        self.next_asked.emit(False)
