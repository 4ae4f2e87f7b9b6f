"""One plot of a table: line, scatter or histogram, drawn from few points that were taken honestly, with words for how.

The plotting library is imported when the first plot is drawn. It paints with cosmetic pens, so widths are given in device
pixels. Arrow keys move the crosshair; the value in focus is spoken.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.models import celltext
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label

_FILL_ALPHA = 0.11
_DAY_S = 86_400


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
        self._stack.addWidget(self._words)
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
        if self._plot is None:
            self._make()
        self._stack.setCurrentWidget(self._plot)
        self._dress()
        self.setAccessibleName(_("Plot of {y} over {x}, {basis}").format(x=x, y=y, basis=basis(found)))

    @property
    def point_count(self) -> int:
        return 0 if self._found is None else len(self._found["x"])

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
        if self._plot is None or self._found is None:
            return
        import pyqtgraph as pg

        theme, item, found = self._ink.theme, self._plot.getPlotItem(), self._found
        ratio = self.devicePixelRatioF()
        item.clear()
        for side in ("left", "bottom"):
            timed = found["x_time"] if side == "bottom" else found["y_time"] and self._y_is_value
            axis = _axis(pg, side, time=bool(timed))
            item.setAxisItems({side: axis})
            axis.setStyle(tickLength=0, tickAlpha=0, tickFont=theme.font("caption"), autoExpandTextSpace=True)
            axis.setPen(pg.mkPen(None))
            axis.setTextPen(theme.color("text3"))
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

    @property
    def _y_is_value(self) -> bool:
        return self._found is not None and self._found["kind"] != "histogram"

    def _rules(self, pg: Any, item: Any, ratio: float) -> None:
        """Horizontal hairlines at the ticks only, behind everything."""
        item.getAxis("left").setGrid(False)
        for level in _levels(self._low_high("y")):
            pen = pg.mkPen(self._ink.theme.color("hairline"), width=ratio)
            line = pg.InfiniteLine(pos=level, angle=0, pen=pen, movable=False)
            line.setZValue(-10)
            item.addItem(line, ignoreBounds=True)
        item.getAxis("left").setTicks([[(level, self._text(level, "y")) for level in _levels(self._low_high("y"))]])

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
        if timed and (axis == "x" or self._y_is_value):
            moment = datetime.fromtimestamp(value, UTC)
            return f"{moment:%Y-%m-%d}" if value % _DAY_S == 0 else f"{moment:%Y-%m-%d %H:%M}"
        return celltext.measure(value)

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
    elif found["how"] == "steps":
        said = _("all {rows} rows, the least and the greatest value of each step").format(rows=rows)
    else:
        said = _("all {rows} rows").format(rows=rows)
    if found["without"]:
        said += " · " + _("{n} without a value left out").format(n=measures.count(found["without"]))
    return said


def _axis(pg: Any, side: str, *, time: bool) -> Any:
    return pg.DateAxisItem(orientation=side, utcOffset=0) if time else pg.AxisItem(orientation=side)


def _levels(ends: tuple[float, float]) -> list[float]:
    """Three or four round levels between the ends."""
    low, high = ends
    if high <= low:
        return [low]
    raw = (high - low) / 3
    power = 10.0 ** _exponent(raw)
    step = next((power * part for part in (1, 2, 2.5, 5, 10) if power * part >= raw * 0.999), power * 10)
    first = -(-low // step) * step
    return [first + place * step for place in range(6) if first + place * step <= high * (1 + 1e-12 if high > 0 else 1)]


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])
