"""One filter per column, typed in one line: column, condition, value; what is active stands beside it and can be taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actum.limits import FILTER_CHARS_MAX
from actum.results.query import Filter, operators
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from actum_desktop.i18n import N_, _
from actum_desktop.models.tablemodel import GridColumn
from actum_desktop.views.choice import Choice
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Elided, button

WORDS = {
    "contains": N_("contains"),
    "begins": N_("begins with"),
    "is": N_("is"),
    "is_not": N_("is not"),
    "below": N_("is less than"),
    "at_most": N_("is at most"),
    "above": N_("is more than"),
    "at_least": N_("is at least"),
    "missing": N_("has no value"),
    "present": N_("has a value"),
    "true": N_("is true"),
    "false": N_("is false"),
}
_WITHOUT_VALUE = frozenset({"missing", "present", "true", "false"})
_EXAMPLES = {"date": "2026-03-24", "timestamp": "2026-03-24T14:30Z", "integer": "30", "decimal": "12.50", "float64": "0.5"}


def words_of(item: Filter) -> str:
    """`close is less than 1,400`."""
    return " ".join(part for part in (item.column, _(WORDS[item.operator]), item.value or "") if part)


class FilterBar(QWidget):
    """Signal: `changed` (tuple of Filter) when one was applied or taken away. Esc closes the line."""

    changed = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._columns: Sequence[GridColumn] = ()
        self.filters: dict[str, Filter] = {}
        theme, px = ink.theme, ink.theme.px
        self.column = Choice(ink)
        self.column.setAccessibleName(_("Column to filter"))
        self.column.currentIndexChanged.connect(self._on_column)
        self.operator = Choice(ink)
        self.operator.setAccessibleName(_("Condition"))
        self.operator.currentIndexChanged.connect(self._on_operator)
        self.value = QLineEdit()
        self.value.setAccessibleName(_("Value to compare with"))
        self.value.setMaxLength(FILTER_CHARS_MAX)
        self.value.setTextMargins(px(6), 0, 0, 0)
        self.value.returnPressed.connect(self._on_apply)
        self._apply = button(theme, _("Apply"), self._on_apply, small=True)
        self._wrong = Elided(ink, "caption", 500, "bad")
        self._wrong.hide()
        for field in (self.column, self.operator, self.value):
            field.setFont(theme.font("body"))
            field.setProperty("small", "true")
            field.installEventFilter(self)
        self._line = QWidget()
        row = QHBoxLayout(self._line)
        row.setContentsMargins(px(12), px(4), px(12), px(4))
        row.setSpacing(px(8))
        row.addWidget(self.column, 3)
        row.addWidget(self.operator, 3)
        row.addWidget(self.value, 4)
        row.addWidget(self._apply)
        self._chips = QWidget()
        self._chip_row = QHBoxLayout(self._chips)
        self._chip_row.setContentsMargins(px(12), px(2), px(12), px(6))
        self._chip_row.setSpacing(px(6))
        self._chip_row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._line)
        wrong = QHBoxLayout()
        wrong.setContentsMargins(px(14), 0, px(12), px(4))
        wrong.addWidget(self._wrong)
        column.addLayout(wrong)
        column.addWidget(self._chips)
        self._line.hide()
        self._chips.hide()

    # ---- from outside

    def columns(self, columns: Sequence[GridColumn]) -> None:
        """Another table: no filter, its columns."""
        self._columns = columns
        self.filters = {}
        self.value.clear()
        self._line.hide()
        self.column.blockSignals(True)
        self.column.clear()
        for item in columns:
            self.column.addItem(item.name)
        self.column.blockSignals(False)
        self._on_column()
        self._show_chips()
        self.refuse("")

    def open(self, name: str | None = None) -> None:
        """Show the line, at a column; the focus goes to the value."""
        self._line.show()
        if name is not None:
            place = next((place for place, item in enumerate(self._columns) if item.name == name), -1)
            if place >= 0:
                self.column.setCurrentIndex(place)
                self._load()
        self.value.setFocus() if self.value.isEnabled() else self.operator.setFocus()

    def close_line(self) -> None:
        self._line.hide()
        self.refuse("")

    @property
    def is_open(self) -> bool:
        return not self._line.isHidden()

    def refuse(self, words: str) -> None:
        """What is wrong with the newest filter, under the line."""
        self._wrong.setText(words)
        self._wrong.setVisible(bool(words))

    def take(self, filters: Mapping[str, Filter]) -> None:
        """The filters that hold now (after one was refused or cancelled, those from before)."""
        self.filters = dict(filters)
        self._show_chips()

    # ---- own

    def _kind(self) -> str:
        place = self.column.currentIndex()
        return self._columns[place].kind if 0 <= place < len(self._columns) else "text"

    def _on_column(self) -> None:
        kind = self._kind()
        self.operator.blockSignals(True)
        self.operator.clear()
        for operator in operators(kind):
            self.operator.addItem(_(WORDS[operator]), operator)
        self.operator.blockSignals(False)
        example = _EXAMPLES.get(kind)
        self.value.setPlaceholderText(_("for example {value}").format(value=example) if example else "")
        self._on_operator()

    def _on_operator(self) -> None:
        wanted = self.operator.currentData() not in _WITHOUT_VALUE
        self.value.setEnabled(wanted)
        self.refuse("")

    def _load(self) -> None:
        """The filter that the column has now, ready to be changed."""
        item = self.filters.get(self.column.currentText())
        if item is None:
            self.value.clear()
            return
        self.operator.setCurrentIndex(max(0, self.operator.findData(item.operator)))
        self.value.setText(item.value or "")

    def _on_apply(self) -> None:
        operator = str(self.operator.currentData())
        text = None if operator in _WITHOUT_VALUE else self.value.text()
        item = Filter(self.column.currentText(), operator, text)
        if text == "" and self._kind() != "text":
            self.refuse(_("A value is missing. {example}").format(example=self.value.placeholderText()))
            return
        self.filters = {**self.filters, item.column: item}
        self._show_chips()
        self.changed.emit(tuple(self.filters.values()))

    def _on_chip(self) -> None:
        sender = self.sender()
        name = str(sender.property("column")) if sender is not None else ""
        self.filters = {key: item for key, item in self.filters.items() if key != name}
        self._show_chips()
        self.changed.emit(tuple(self.filters.values()))

    def _show_chips(self) -> None:
        while self._chip_row.count() > 1:
            taken = self._chip_row.takeAt(0)
            widget = taken.widget() if taken is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for place, item in enumerate(self.filters.values()):
            said = words_of(item)
            shown = said if len(said) <= 48 else f"{said[:47]}…"
            chip = button(self._ink.theme, shown, self._on_chip, small=True, icon="x", tip=_("Take this filter away"))
            chip.setAccessibleName(_("Take the filter away: {filter}").format(filter=said))
            chip.setProperty("column", item.column)
            self._chip_row.insertWidget(place, chip)
        self._chips.setVisible(bool(self.filters))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.close_line()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and watched is self.operator:
                self._on_apply()
                return True
        return super().eventFilter(watched, event)
