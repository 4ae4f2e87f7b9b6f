"""One plot of a table: line, scatter, histogram or boxes, drawn from few points that were taken honestly, with words for how.

The plotting library is imported when the first plot is drawn. It paints with cosmetic pens, so widths are given in device
pixels. Arrow keys move the crosshair; the value in focus is spoken.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from actum_desktop import measures
from actum_desktop.charts import axes, levels, picture
from actum_desktop.charts.boxes import Box, Boxes
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label

_FILL_ALPHA = 0.11


class TablePlot(QWidget):
    """Feed with `show_plot`; `say` puts words where a plot would be."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._plot: Any = None
        self._found: Mapping[str, Any] | None = None
        self._names = ("", "")
        self._at: int | None = None
        self._words = Label(ink.theme, "", "caption", 400, "text2", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._boxes = Boxes(ink)
        for widget in (self._words, self._boxes):
            self._stack.addWidget(widget)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(ink.theme.px(130))
        ink.theme.changed.connect(self._dress)

    def say(self, words: str) -> None:
        """Nothing is drawn: why."""
        self._words.setText(words)
        self._found = None
        self._stack.setCurrentWidget(self._words)
        self.setAccessibleName(words)

    def show_plot(self, found: Mapping[str, Any], x: str, y: str) -> None:
        """The answer of the verb `plot`; x and y are the names of the axes."""
        if not found["points"]:
            self.say(_("There is no value to draw."))
            return
        self._found, self._names, self._at = found, (x, y), None
        if found["kind"] == "box":
            boxes = [Box.of(box["group"], box) for box in found["boxes"]]
            self._boxes.show_boxes(boxes, y, timed=bool(found["y_time"]))
            self._stack.setCurrentWidget(self._boxes)
        else:
            if self._plot is None:
                self._make()
            self._stack.setCurrentWidget(self._plot)
            self._dress()
        self.setAccessibleName(_("Plot of {y} over {x}, {basis}").format(x=x, y=y, basis=basis(found)))

    def save(self, path: Path) -> None:
        """The plot as PNG or SVG, or its numbers as CSV, by the ending of the name. Raises WrongUse, StorageFailed."""
        assert self._found is not None, "there is a plot"
        x, y = self._names
        title = (
            f"{y} · {basis(self._found)}"
            if self._found["kind"] in ("histogram", "box")
            else f"{y} / {x} · {basis(self._found)}"
        )
        rows = picture.points(self._found, x, y)
        seen = self._boxes if self._found["kind"] == "box" else self._plot
        picture.save(path, seen, self._ink.theme.color("surface"), title, rows)

    @property
    def drawn(self) -> bool:
        return self._found is not None

    @property
    def point_count(self) -> int:
        return 0 if self._found is None else int(self._found["points"])

    # ---- drawing

    def _make(self) -> None:
        import pyqtgraph as pg

        self._plot = plot = pg.PlotWidget(background=None)
        plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        plot.setMinimumSize(0, 0)
        plot.setFrameShape(plot.Shape.NoFrame)
        plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        plot.setAccessibleName(_("Plot"))
        plot.hideButtons()
        plot.setMenuEnabled(False)
        plot.viewport().setMouseTracking(True)
        plot.viewport().installEventFilter(self)
        self._stack.addWidget(plot)

    def _dress(self) -> None:
        """Everything anew in the colours of now."""
        if self._plot is None or self._found is None or self._found["kind"] == "box":
            return
        import pyqtgraph as pg

        theme, item, found = self._ink.theme, self._plot.getPlotItem(), self._found
        ratio = self.devicePixelRatioF()
        item.clear()
        for side in ("left", "bottom"):
            timed = found["x_time"] if side == "bottom" else found["y_time"] and self._y_is_value
            whole = side == "bottom" and found["kind"] != "histogram" and axes.are_whole(found["x"])
            axis = axes.axis(pg, side, time=bool(timed), whole=whole)
            item.setAxisItems({side: axis})
            axis.setStyle(tickLength=0, tickAlpha=0, tickFont=theme.font("caption"), autoExpandTextSpace=True)
            axis.setPen(pg.mkPen(None))
            axis.setTextPen(theme.color("text3"))
            self._title(axis, side)
        item.showGrid(x=False, y=False)
        accent = theme.color("accent")
        fill = QColor(accent)
        fill.setAlphaF(_FILL_ALPHA)
        if found["kind"] == "histogram":
            edges, counts = found["x"], found["y"]
            width = (edges[1] - edges[0]) * 0.94
            centres = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
            item.addItem(pg.BarGraphItem(x=centres, height=counts, width=width, brush=accent, pen=pg.mkPen(None)))
        elif found["kind"] == "scatter":
            dots = QColor(accent)
            dots.setAlphaF(0.55 if len(found["x"]) > 500 else 0.9)
            item.addItem(pg.ScatterPlotItem(x=found["x"], y=found["y"], size=4, brush=dots, pen=pg.mkPen(None)))
        else:
            pen = pg.mkPen(accent, width=1.4 * ratio)
            item.addItem(pg.PlotDataItem(x=found["x"], y=found["y"], pen=pen, fillLevel=min(found["y"]), fillBrush=fill))
        self._rules(pg, item, ratio)
        self._cross(pg, item, ratio)
        item.enableAutoRange()

    def _title(self, axis: Any, side: str) -> None:
        """What is measured along an axis, with its unit."""
        x, y = self._names
        title = x if side == "bottom" else y
        if not self._y_is_value:
            title = y if side == "bottom" else _("rows")
        axis.enableAutoSIPrefix(False)  # else it writes the title anew, and as HTML
        axis.showLabel(True)
        axis.label.setPlainText(title)  # whatever a column is called (R19)
        axis.label.setDefaultTextColor(self._ink.theme.color("text2"))
        axis.label.setFont(self._ink.theme.font("caption"))
        axis.resizeEvent()  # where the title stands depends on how long it is, and is found only there

    @property
    def _y_is_value(self) -> bool:
        return self._found is not None and self._found["kind"] != "histogram"

    def _rules(self, pg: Any, item: Any, ratio: float) -> None:
        """Horizontal hairlines at the ticks only, behind everything."""
        item.getAxis("left").setGrid(False)
        marks = levels.levels(*self._low_high("y"))
        for level in marks:
            pen = pg.mkPen(self._ink.theme.color("hairline"), width=ratio)
            line = pg.InfiniteLine(pos=level, angle=0, pen=pen, movable=False)
            line.setZValue(-10)
            item.addItem(line, ignoreBounds=True)
        item.getAxis("left").setTicks([[(level, self._text(level, "y")) for level in marks]])

    def _cross(self, pg: Any, item: Any, ratio: float) -> None:
        theme = self._ink.theme
        self._line = pg.InfiniteLine(pos=0, angle=90, pen=pg.mkPen(theme.color("text3"), width=ratio), movable=False)
        fill = QColor(theme.color("raised"))
        border = pg.mkPen(theme.color("hairline"))
        self._box = pg.TextItem("", color=theme.color("text"), fill=fill, border=border, anchor=(0, 0))
        self._box.setFont(theme.font("caption"))
        for part in (self._line, self._box):
            part.hide()
            item.addItem(part, ignoreBounds=True)

    def _low_high(self, axis: str) -> tuple[float, float]:
        values = self._found[axis] if self._found else [0.0]
        low, high = min(values), max(values)
        return (0.0, high) if axis == "y" and not self._y_is_value else (low, high)

    def _text(self, value: float, axis: str) -> str:
        timed = bool(self._found and self._found["x_time"] if axis == "x" else self._found and self._found["y_time"])
        return levels.text(value, timed=timed and (axis == "x" or self._y_is_value))

    # ---- reading values

    def _point_at(self, place: int) -> None:
        found = self._found
        if found is None or self._plot is None:
            return
        count = len(found["y"])
        self._at = place = max(0, min(place, count - 1))
        x = found["x"][place]
        y = found["y"][place]
        where = x if self._y_is_value else (x + found["x"][place + 1]) / 2
        names = self._names
        if self._y_is_value:
            words = f"{names[0]} {self._text(x, 'x')}\n{names[1]} {self._text(y, 'y')}"
        else:
            ends = f"{self._text(x, 'x')} … {self._text(found['x'][place + 1], 'x')}"
            words = ends + "\n" + _("{n} rows").format(n=measures.count(y))
        self._line.setPos(where)
        self._box.setText(words)
        (low, high), (_bottom, top) = self._plot.getPlotItem().vb.viewRange()
        self._box.setAnchor((1 if where > (low + high) / 2 else 0, 0))
        self._box.setPos(where, top)
        self._line.show()
        self._box.show()
        self.setAccessibleDescription(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or self._found is None:
            super().keyPressEvent(event)
            return
        many = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self._point_at(0 if self._at is None else self._at + step * many)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._plot is not None and self._found is not None:
            if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove and not event.buttons():
                self._follow(event.position())
            elif event.type() == QEvent.Type.Leave:
                self._line.hide()
                self._box.hide()
        return super().eventFilter(watched, event)

    def _follow(self, position: QPointF) -> None:
        found = self._found
        if found is None:
            return
        box = self._plot.getPlotItem().vb
        x = box.mapSceneToView(self._plot.mapToScene(position.toPoint())).x()
        places = range(len(found["y"]))
        if found["kind"] == "histogram":
            edges = found["x"]
            self._point_at(next((place for place in places if x < edges[place + 1]), len(places) - 1))
        else:
            self._point_at(min(places, key=lambda place: abs(found["x"][place] - x)))


def basis(found: Mapping[str, Any]) -> str:
    """`all 749 rows`, `sample of 5,000 of 20,000,000 rows`, or the steps of a long line; and what is left out."""
    rows = measures.count(found["rows"])
    if found["how"] == "sample":
        said = _("sample of {n} of {rows} rows").format(n=measures.count(found["points"]), rows=rows)
    elif found["kind"] == "box":
        said = _("all {rows} rows, quartiles, least and greatest").format(rows=rows)
        if found["groups"] > len(found["boxes"]):
            groups = _("the {n} most frequent of {groups} groups")
            said += " · " + groups.format(n=len(found["boxes"]), groups=measures.count(found["groups"]))
    elif found["how"] == "steps":
        said = _("all {rows} rows, the least and the greatest value of each step").format(rows=rows)
    else:
        said = _("all {rows} rows").format(rows=rows)
    if found["without"]:
        said += " · " + _("{n} without a value left out").format(n=measures.count(found["without"]))
    return said
