"""What one column holds, beside the table: its shape, its statistics, and why values are missing; sorting starts here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.models import statwords
from actum_desktop.models.statwords import StatRow
from actum_desktop.models.tablemodel import GridColumn
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.widgets import Badge, Card, Elided, Label, button

_ROW, _RULE, _BARS, _FOOT = 20, 14, 72, 20


class Shape(QWidget):
    """A small histogram with its two ends below."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._found: Mapping[str, Any] | None = None
        self.setFixedHeight(ink.theme.px(_BARS + _FOOT))
        ink.theme.changed.connect(self.update)

    def show_shape(self, found: Mapping[str, Any] | None, low: str, high: str) -> None:
        self._found, self._ends = found, (low, high)
        self.setVisible(found is not None)
        if found is not None:
            most = max(found["counts"]) if found["counts"] else 0
            self.setAccessibleName(
                _("Histogram from {low} to {high}, at most {n} rows in a step").format(
                    low=low, high=high, n=measures.count(most)
                )
            )
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._found is None:
            return
        painter = QPainter(self)
        ink, px, counts = self._ink, self._ink.theme.px, self._found["counts"]
        most, wide = max(counts) or 1, self.width() / len(counts)
        for place, count in enumerate(counts):
            high = px(_BARS - 2) * count / most
            if count:
                high = max(1.0, high)
            left, right = round(place * wide), round((place + 1) * wide) - 1
            painter.fillRect(QRectF(left, px(_BARS) - high, max(1, right - left), high), ink.theme.color("accent"))
        ink.hairline(painter, 0, self.width(), px(_BARS), "line2")
        line = QRectF(0, px(_BARS) + 2, self.width(), px(_FOOT) - 2)
        half = line.adjusted(0, 0, -line.width() / 2, 0)
        ink.text(painter, half, self._ends[0], "text2", "caption")
        ink.text(painter, half.translated(line.width() / 2, 0), self._ends[1], "text2", "caption", 400, RIGHT)
        painter.end()


class StatList(QWidget):
    """Label at the left, value at the right; Ctrl+C copies all of it, exact."""

    copy_asked = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._rows: Sequence[StatRow] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        ink.theme.changed.connect(self.updateGeometry)

    def show_rows(self, rows: Sequence[StatRow]) -> None:
        self._rows = rows
        self.setAccessibleName(". ".join(f"{row.label}: {row.value}" for row in rows))
        self.setToolTip("\n".join(f"{row.label}: {row.exact or row.value}" for row in rows))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        px = self._ink.theme.px
        return QSize(px(200), len(self._rows) * self._step() + sum(row.rule for row in self._rows) * px(_RULE) + px(2))

    def _step(self) -> int:
        return max(self._ink.theme.px(_ROW), self._ink.theme.line("caption"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ink, px, y = self._ink, self._ink.theme.px, 0
        for row in self._rows:
            if row.rule:
                ink.hairline(painter, 0, self.width(), y + px(_RULE) / 2)
                y += px(_RULE)
            line = QRectF(0, y, self.width(), self._step())
            used = ink.text(painter, line.adjusted(px(60), 0, 0, 0), row.value, "text", "caption", 600, RIGHT)
            ink.text(painter, line.adjusted(0, 0, -used - px(8), 0), row.label, "text2", "caption", 500)
            y += self._step()
        if self.hasFocus():
            painter.setPen(ink.theme.color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        else:
            super().keyPressEvent(event)


class ColumnPanel(Card):
    """Signals: `row_asked` (row of the published table, from 0), `sort_asked` ((name, descending)), `filter_asked` (name),
    `values_asked` (name) when its values are to be counted, `menu_asked` (name), `stop_asked` () while something is counted."""

    row_asked = Signal(object)
    sort_asked = Signal(object)
    filter_asked = Signal(object)
    values_asked = Signal(object)
    menu_asked = Signal(object)
    stop_asked = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        self._ink = ink
        self.column: GridColumn | None = None
        self._found: Mapping[str, Any] | None = None
        self._first: int | None = None
        self._counted: Mapping[str, Any] | None = None
        theme, px = ink.theme, ink.theme.px
        self._name = Elided(ink, "body", 600, "text")
        self._basis = Badge(ink)
        self._kind = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._state = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._shape = Shape(ink)
        self._list = StatList(ink)
        self._list.copy_asked.connect(self._on_copy)
        self._why = Label(theme, _("Why without value"), "caption", 600)
        self._reasons = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._up = button(theme, "", self._on_up, small=True, icon="arrow-up", tip=_("Sort by this column, smallest first"))
        self._down = button(
            theme, "", self._on_down, small=True, icon="arrow-down", tip=_("Sort by this column, largest first")
        )
        self._filter = button(theme, _("Filter…"), self._on_filter, small=True, icon="funnel")
        self._more = button(theme, "", self._on_more, small=True, icon="dots-three", tip=_("More about this column (Menu key)"))
        self._values = button(theme, _("Count its values"), self._on_values, kind="link", small=True)
        self._stop = button(theme, _("Cancel"), self._on_stop, kind="link", small=True)
        self._values_title = Label(theme, "", "caption", 600)
        self._values_list = StatList(ink)
        self._values_list.copy_asked.connect(self._on_copy_values)
        self._show_row = button(theme, _("Show the row"), self._on_row, small=True)
        self._copy = button(theme, _("Copy statistics"), self._on_copy, small=True)
        self._build(px)
        self.clear()

    def _build(self, px: Any) -> None:
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self._name, 1)
        head.addWidget(self._basis)
        tools = QHBoxLayout()
        tools.setSpacing(px(6))
        self._tools = (self._up, self._down, self._filter, self._more)
        for made in self._tools:
            tools.addWidget(made)
        tools.addStretch(1)
        inside = QWidget()
        body = QVBoxLayout(inside)
        body.setContentsMargins(0, 0, px(4), 0)
        body.setSpacing(px(6))
        for widget in (self._state, self._shape, self._list, self._why, self._reasons):
            body.addWidget(widget)
        body.addWidget(self._values, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self._values_title, self._values_list):
            body.addWidget(widget)
        body.addWidget(self._stop, 0, Qt.AlignmentFlag.AlignLeft)
        body.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)
        foot = QHBoxLayout()
        foot.setSpacing(px(6))
        foot.addWidget(self._show_row)
        foot.addWidget(self._copy)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(14), px(10), px(10), px(12))
        column.setSpacing(px(4))
        column.addLayout(head)
        column.addWidget(self._kind)
        column.addLayout(tools)
        column.addSpacing(px(4))
        column.addWidget(scroll, 1)
        column.addLayout(foot)

    # ---- what is shown

    def clear(self) -> None:
        self.column, self._found = None, None
        self._name.setText("")
        self._kind.setText("")
        self._fill(None)
        self.show_values(None)
        self._values.hide()
        self._state.setText(_("Choose a column to see what it holds."))
        for made in self._tools:
            made.setVisible(False)

    def choose(self, column: GridColumn) -> None:
        """Another column; its statistics are on their way."""
        self.column, self._found = column, None
        self._name.setText(column.name)
        self._kind.setText(column.words)
        self._fill(None)
        self.show_values(None)
        self._state.setText(_("Being counted…"))
        self._stop.show()
        for made in self._tools:
            made.setVisible(True)

    def progress(self, percent: int) -> None:
        self._state.setText(_("Being counted, {percent}").format(percent=measures.percent(percent / 100)))

    def refuse(self, words: str) -> None:
        self._state.setText(words)
        self._stop.hide()

    def show_statistics(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self._stop.hide()
        self._fill(found)

    def count_values(self) -> None:
        """Ask for the values of the column."""
        if self.column is not None:
            self._values.hide()
            self._values_title.setText(_("Values being counted…"))
            self._values_title.show()
            self._stop.show()
            self.values_asked.emit(self.column.name)

    def values_progress(self, percent: int) -> None:
        said = _("Values being counted, {percent}").format(percent=measures.percent(percent / 100))
        self._values_title.setText(said)

    def show_values(self, found: Mapping[str, Any] | None) -> None:
        """The values of the column, the most frequent first; None = they were not asked for."""
        self._counted = found
        self._stop.hide()
        self._values.setVisible(found is None)
        self._values_title.setVisible(found is not None)
        self._values_list.setVisible(found is not None)
        if found is not None:
            self._values_title.setText(statwords.values_title(found))
            self._values_list.show_rows(statwords.values(found))

    def refuse_values(self, words: str) -> None:
        self._values_title.setText(words)
        self._values.show()
        self._stop.hide()

    @property
    def values(self) -> Mapping[str, Any] | None:
        return self._counted

    def _fill(self, found: Mapping[str, Any] | None) -> None:
        self._state.setVisible(found is None)
        self._basis.setVisible(found is not None)
        self._list.setVisible(found is not None)
        self._copy.setVisible(found is not None)
        reasons = [] if found is None else statwords.reasons(found)
        self._why.setVisible(bool(reasons))
        self._reasons.setVisible(bool(reasons))
        self._first = reasons[0].first if reasons else None
        self._show_row.setVisible(self._first is not None)
        if found is None:
            self._shape.show_shape(None, "", "")
            return
        icon, word = statwords.basis(found)
        self._basis.say(icon, word, "text2")
        rows = statwords.rows(found)
        self._list.show_rows(rows)
        by_name = {row.label: row.value for row in rows}
        ends = by_name.get(_("Minimum"), ""), by_name.get(_("Maximum"), "")
        self._shape.show_shape(found.get("histogram"), *ends)
        self._reasons.setText("\n".join(reason.text for reason in reasons))

    @property
    def statistics(self) -> Mapping[str, Any] | None:
        return self._found

    # ---- asking

    def _on_up(self) -> None:
        if self.column is not None:
            self.sort_asked.emit((self.column.name, False))

    def _on_down(self) -> None:
        if self.column is not None:
            self.sort_asked.emit((self.column.name, True))

    def _on_filter(self) -> None:
        if self.column is not None:
            self.filter_asked.emit(self.column.name)

    def _on_stop(self) -> None:
        self.stop_asked.emit()

    def _on_more(self) -> None:
        if self.column is not None:
            self.menu_asked.emit(self.column.name)

    def _on_values(self) -> None:
        self.count_values()

    def _on_copy_values(self) -> None:
        if self._counted is not None:
            QGuiApplication.clipboard().setText(statwords.values_text(self._counted))

    def _on_row(self) -> None:
        if self._first is not None:
            self.row_asked.emit(self._first)

    def _on_copy(self) -> None:
        if self.column is not None and self._found is not None:
            QGuiApplication.clipboard().setText(statwords.as_text(self.column.name, self._found))
