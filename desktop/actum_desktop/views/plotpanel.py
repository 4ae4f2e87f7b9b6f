"""The one plot of a table: kind, axes, how its points were taken, and the plot, which can be saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QVBoxLayout

from actum_desktop.charts.tableplot import TablePlot, basis
from actum_desktop.documents import documents
from actum_desktop.i18n import _
from actum_desktop.models.tablemodel import GridColumn
from actum_desktop.views.choice import Choice
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Elided, Label, Segments, button

_DRAWN = frozenset({"integer", "decimal", "float64", "date", "timestamp"})
_TIMES = frozenset({"date", "timestamp"})
_GROUPS = frozenset({"text", "boolean"})


class PlotPanel(Card):
    """Signals: `asked` ((kind, x | None, y)) when another plot is wanted; `saved` (path), `failed` (ActumError)."""

    asked = Signal(object)
    saved = Signal(object)
    failed = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        theme, px = ink.theme, ink.theme.px
        self._basis = Elided(ink, "caption", 400, "text2")
        kinds = (("line", _("Line")), ("scatter", _("Scatter")), ("histogram", _("Histogram")), ("box", _("Boxes")))
        self.kinds = Segments(theme, _("Kind of plot"), kinds)
        self.kinds.chosen.connect(self._on_kind)
        self.y_box, self.x_box = Choice(ink), Choice(ink)
        self._over = Label(theme, _("over"), "caption", 400, "text2")
        saving = _("Save this plot as a file")
        self.save_button = button(theme, "", self._on_save, icon="download-simple", small=True, tip=saving)
        self.save_button.setAccessibleName(saving)
        self._columns: dict[str, GridColumn] = {}
        self._boxes = False  # whether texts are along the axis
        for box, name in ((self.y_box, _("Column to draw")), (self.x_box, _("Column along the axis"))):
            box.setAccessibleName(name)
            box.setFont(theme.font("caption", 500))
            box.setProperty("small", "true")
            box.setMinimumWidth(px(96))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContentsOnFirstShow)
            box.activated.connect(self.ask)
        self.plot = TablePlot(ink)
        head = QHBoxLayout()
        head.setContentsMargins(px(14), px(8), px(12), 0)
        head.setSpacing(px(8))
        head.addWidget(self.y_box)
        head.addWidget(self._over)
        head.addWidget(self.x_box)
        head.addSpacing(px(4))
        head.addWidget(self._basis, 1)
        head.addWidget(self.kinds)
        head.addWidget(self.save_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, px(6))
        column.setSpacing(px(2))
        column.addLayout(head)
        drawn = QHBoxLayout()
        drawn.setContentsMargins(px(6), 0, px(12), 0)
        drawn.addWidget(self.plot)
        column.addLayout(drawn, 1)

    def columns(self, columns: Sequence[GridColumn]) -> None:
        """Another table: a sensible first choice, a number over time, or over the row's number."""
        self._columns = {column.name: column for column in columns}
        drawn = [column for column in columns if column.kind in _DRAWN]
        times = [column.name for column in drawn if column.kind in _TIMES]
        numbers = [column.name for column in drawn if column.kind not in _TIMES]
        self.y_box.clear()
        for column in drawn:
            self.y_box.addItem(column.name, column.name)
        first = (numbers or times or [""])[0]
        self.y_box.setCurrentIndex(max(0, self.y_box.findData(first)))
        self._fill_x()
        for widget in (self.y_box, self.x_box, self._over, self.kinds, self.save_button):
            widget.setVisible(bool(drawn))
        self._show_axes()
        if not drawn:
            self._basis.setText("")
            self.plot.say(_("No column of this table can be drawn: there are no numbers, dates or times."))
        self.save_button.setEnabled(False)

    def _fill_x(self) -> None:
        """Along the axis: what can be drawn; of boxes: texts, a box for each."""
        boxes = self.kinds.current == "box"
        self.x_box.clear()
        self.x_box.addItem(_("all rows") if boxes else _("row"), None)
        for column in self._columns.values():
            if column.kind in (_GROUPS if boxes else _DRAWN):
                self.x_box.addItem(column.name, column.name)
        times = [name for name, column in self._columns.items() if column.kind in _TIMES]
        self.x_box.setCurrentIndex(max(0, self.x_box.findData(times[0])) if times and not boxes else 0)

    def ask(self, *_: object) -> None:
        y = self.y_box.currentData()
        if y:
            kind = self.kinds.current
            self.asked.emit((kind, None if kind == "histogram" else self.x_box.currentData(), y))

    def show_plot(self, found: Mapping[str, Any], x: str, y: str) -> None:
        self._basis.setText(basis(found))
        self.plot.show_plot(found, self._titled(x), self._titled(y))
        self.save_button.setEnabled(self.plot.drawn)

    def say(self, words: str) -> None:
        self._basis.setText("")
        self.plot.say(words)
        self.save_button.setEnabled(False)

    def _titled(self, name: str) -> str:
        """A column as an axis names it: with its unit."""
        column = self._columns.get(name)
        return f"{name}, {column.unit}" if column is not None and column.unit else name

    def _on_save(self) -> None:
        dialog = QFileDialog(self, _("Save this plot as a file"), documents(), "PNG (*.png);;SVG (*.svg);;CSV (*.csv)")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("png")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen[-4:-1]))
        dialog.selectFile(f"{self.y_box.currentData()}.png")
        dialog.fileSelected.connect(self.save_to)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save_to(self, path: str) -> None:
        try:
            self.plot.save(Path(path))
        except ActumError as error:
            self.failed.emit(error)
        else:
            self.saved.emit(path)

    @property
    def basis(self) -> str:
        return self._basis.text()

    def _on_kind(self) -> None:
        boxes = self.kinds.current == "box"
        if boxes != self._boxes:
            self._boxes = boxes
            self._fill_x()
        self._show_axes()
        self.ask()

    def _show_axes(self) -> None:
        shown = self.kinds.current != "histogram" and self.y_box.count() > 0
        self.x_box.setVisible(shown)
        self._over.setVisible(shown)
