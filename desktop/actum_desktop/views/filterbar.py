"""The filter of a table: one line to type it, with names offered and errors said at their place; fields that write it for you.

What is typed is the truth; the line of fields only adds a condition to it. Nothing is asked before Enter or Apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from actum.limits import FILTER_CHARS_MAX, FILTER_TEXT_CHARS_MAX
from actum.results import conditionsql, filtertext
from actum.results.condition import Condition
from actum.results.filtertext import FilterWrong
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from actum_desktop.i18n import _
from actum_desktop.models import filterwords
from actum_desktop.views.choice import Choice
from actum_desktop.views.filterbox import FilterBox
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import button


class Wrong(QWidget):
    """What is wrong, with a mark below the place where it stands."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink, self._text, self._at = ink, "", 0
        self.hide()
        ink.theme.changed.connect(self.update)

    def say(self, text: str, at: int = 0) -> None:
        self._text, self._at = text, at
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.setVisible(bool(text))
        self.update()

    @property
    def text(self) -> str:
        return self._text

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(100), self._ink.theme.px(24))

    minimumSizeHint = sizeHint  # a page that is full gives nothing more, and the words would not be seen

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, ink, px = QPainter(self), self._ink, self._ink.theme.px
        wide = ink.width(self._text, "caption", 500) + px(18)
        left = max(0, min(self._at, self.width() - wide))
        painter.fillRect(QRectF(min(self._at, self.width() - 2), 0, 2, px(5)), ink.theme.color("bad"))
        ink.icon(painter, QPointF(left + px(6), px(14)), "x-circle-fill", "bad", px(13))
        box = QRectF(left + px(18), px(4), self.width() - left - px(18), px(20))
        ink.text(painter, box, self._text, "bad", "caption", 500)
        painter.end()


class FilterBar(QWidget):
    """Signal: `changed` (a `Condition`, or None for no filter) when it was applied. Esc closes it."""

    changed = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._columns: Sequence[Mapping[str, Any]] = ()
        theme, px = ink.theme, ink.theme.px
        self.box = FilterBox(ink)
        self.box.setMaxLength(FILTER_TEXT_CHARS_MAX)
        self.box.applied.connect(self._on_apply)
        self.box.textEdited.connect(self._on_edited)
        self._apply = button(theme, _("Apply"), self._on_apply, small=True)
        self._fields = button(theme, "", self._on_fields, small=True, icon="plus", tip=_("Add a condition by choosing it"))
        self._close = button(theme, "", self.close_line, small=True, icon="x", tip=_("Close the filter line (Esc)"))
        self.wrong = Wrong(ink)
        self.column, self.operator = Choice(ink), Choice(ink)
        self.column.setAccessibleName(_("Column to filter"))
        self.column.currentIndexChanged.connect(self._on_column)
        self.operator.setAccessibleName(_("Condition"))
        self.operator.currentIndexChanged.connect(self._on_operator)
        self.value = QLineEdit()
        self.value.setAccessibleName(_("Value to compare with"))
        self.value.setMaxLength(FILTER_CHARS_MAX)
        self.value.returnPressed.connect(self._on_add)
        self._add = button(theme, _("Add"), self._on_add, small=True)
        for field in (self.column, self.operator, self.value):
            field.setFont(theme.font("body"))
            field.setProperty("small", "true")
        for field in (self.box, self.column, self.operator, self.value):
            field.installEventFilter(self)
        self._line, self._second = QWidget(), QWidget()
        self._fill(self._line, (self.box, 1), (self._apply, 0), (self._fields, 0), (self._close, 0))
        self._fill(self._second, (self.column, 3), (self.operator, 3), (self.value, 4), (self._add, 0))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        wrong = QHBoxLayout()
        wrong.setContentsMargins(px(12), 0, px(12), 0)
        wrong.addWidget(self.wrong)
        column.addWidget(self._line)
        column.addLayout(wrong)
        column.addWidget(self._second)
        self._line.hide()
        self._second.hide()

    def _fill(self, widget: QWidget, *parts: tuple[QWidget, int]) -> None:
        px = self._ink.theme.px
        row = QHBoxLayout(widget)
        row.setContentsMargins(px(12), px(4), px(12), px(4))
        row.setSpacing(px(6))
        for part, stretch in parts:
            row.addWidget(part, stretch)

    # ---- from outside

    def columns(self, columns: Sequence[Mapping[str, Any]]) -> None:
        """Another table: no filter, its columns (`columns.describe`)."""
        self._columns = columns
        self.box.columns(columns)
        self.box.clear()
        self.value.clear()
        self._line.hide()
        self._second.hide()
        self.column.blockSignals(True)
        self.column.clear()
        for item in columns:
            self.column.addItem(str(item["name"]))
        self.column.blockSignals(False)
        self._on_column()
        self.refuse("")

    def open(self, name: str | None = None) -> None:
        """Show the line; where nothing is typed yet, it begins with the column."""
        self._line.show()
        if name is not None:
            self.column.setCurrentIndex(max(0, self.column.findText(name)))
            if not self.box.text().strip():
                self.box.setText(filtertext.name_text(name) + " ")
        self.box.setFocus()
        self.box.end(False)

    def close_line(self) -> None:
        self.box.close_options()
        self._line.hide()
        self._second.hide()
        self.refuse("")

    def clear(self) -> None:
        """No filter."""
        self.box.clear()
        self.refuse("")

    def add(self, text: str) -> None:
        """One more condition, and apply all."""
        said = self.box.text().strip()
        joined = f"({said}) and {text}" if " or " in f" {said.lower()} " else f"{said} and {text}"
        self.box.setText(joined if said else text)
        self._on_apply()

    @property
    def is_open(self) -> bool:
        return not self._line.isHidden()

    @property
    def text(self) -> str:
        return self.box.text().strip()

    def refuse(self, words: str, at: int = 0) -> None:
        """What is wrong, below the line, at a place in the text."""
        x = self.box.x_of(at) if words else 0
        self.wrong.say(words, x)
        self.box.setProperty("wrong", "true" if words else "false")
        self.box.style().unpolish(self.box)
        self.box.style().polish(self.box)

    # ---- own

    def _read(self) -> tuple[bool, Condition | None]:
        try:
            read = filtertext.parse(self.box.text(), self._columns)
        except FilterWrong as error:
            self.refuse(filterwords.wrong(error, self._columns), error.start)
            return False, None
        self.refuse("")
        return True, read

    def _on_edited(self) -> None:
        if self.wrong.text:  # once shown, it is looked at on each key
            self._read()

    def _on_apply(self) -> None:
        self.box.close_options()
        good, read = self._read()
        if good:
            self.changed.emit(read)
        elif not self.is_open:
            self._line.show()

    def _on_fields(self) -> None:
        self._second.setVisible(self._second.isHidden())
        (self.box if self._second.isHidden() else self.column).setFocus()

    def _kind(self) -> str:
        place = self.column.currentIndex()
        return str(self._columns[place]["type"]) if 0 <= place < len(self._columns) else "text"

    def _on_column(self) -> None:
        kind = self._kind()
        self.operator.blockSignals(True)
        self.operator.clear()
        for word in filterwords.offered(kind):
            self.operator.addItem(_(filterwords.CONDITIONS[word][0]), word)
        self.operator.blockSignals(False)
        example = "" if kind in ("text", "boolean") else conditionsql.example(kind)
        self.value.setPlaceholderText(_("for example {value}").format(value=example) if example else "")
        self._on_operator()

    def _on_operator(self) -> None:
        word = self.operator.currentData()
        self.value.setEnabled(word is not None and filterwords.takes_value(str(word)))

    def _on_add(self) -> None:
        word = str(self.operator.currentData())
        if word in filterwords.CONDITIONS:
            self.add(filterwords.typed(self.column.currentText(), self._kind(), word, self.value.text()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.box.close_options() if self.box.offers else self.close_line()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and watched is self.operator:
                self._on_add()
                return True
        return super().eventFilter(watched, event)
