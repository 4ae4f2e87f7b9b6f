"""Curves of several runs over one another: each with a colour and a dash of its own, and its letter at its right end.

Colour is never alone: with three colours and three dashes nine curves can be told apart, and no more are drawn at once.
The plotting library is imported when the first curve is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.limits import OVERLAID_CURVES_MAX
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from actum_desktop import measures
from actum_desktop.charts import axes, levels
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label

COLOURS = ("accent", "series2", "series3")
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2))

assert len(COLOURS) * len(_DASHES) == OVERLAID_CURVES_MAX


def colour(place: int) -> str:
    """The token of the run at `place`."""
    return COLOURS[place % len(COLOURS)]


def pen(ink: Ink, place: int, width: float) -> QPen:
    made = QPen(ink.theme.color(colour(place)), width)
    dash = _DASHES[(place + place // len(COLOURS)) % len(_DASHES)]
    if dash:
        made.setDashPattern(list(dash))
    return made


@dataclass(frozen=True, slots=True)
class Curve:
    """`place` = which run: its letter, colour and dash. `found` = the answer of the verb `plot`."""

    place: int
    letter: str
    found: Mapping[str, Any]


class Sample(QWidget):
    """A short piece of the line of one run, for legends."""

    def __init__(self, ink: Ink, place: int) -> None:
        super().__init__()
        self._ink, self._place = ink, place
        self.setFixedSize(QSize(ink.theme.px(26), ink.theme.px(12)))
        ink.theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self._ink, self._place, 2))
        painter.drawLine(0, self.height() // 2, self.width(), self.height() // 2)
        painter.end()


class Overlay(QWidget):
    """Feed with `show_curves`; `say` puts words where curves would be. Attribute: curves."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.curves: Sequence[Curve] = ()
        self._names = ("", "")
        self._plot: Any = None
        self._words = Label(ink.theme, "", "caption", 400, "text2", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._words)
        self.setMinimumHeight(ink.theme.px(150))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        ink.theme.changed.connect(self._dress)

    def say(self, words: str) -> None:
        self._words.setText(words)
        self.setAccessibleName(words)
        self.curves = ()
        self._stack.setCurrentWidget(self._words)

    def show_curves(self, curves: Sequence[Curve], x: str, y: str) -> None:
        """x and y are the titles of the axes."""
        drawn = [curve for curve in curves if curve.found["points"]]
        if not drawn:
            self.say(_("There is no value to draw."))
            return
        self.curves, self._names = drawn, (x, y)
        if self._plot is None:
            self._make()
        self._stack.setCurrentWidget(self._plot)
        self._dress()
        letters = measures.listed(curve.letter for curve in drawn)
        self.setAccessibleName(_("{y} over {x} of the runs {letters}").format(y=y, x=x, letters=letters))

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
        self._stack.addWidget(plot)

    def _dress(self) -> None:
        if self._plot is None or not self.curves:
            return
        import pyqtgraph as pg

        item, theme = self._plot.getPlotItem(), self._ink.theme
        ratio = self.devicePixelRatioF()
        item.clear()
        first = self.curves[0].found
        low = min(min(curve.found["y"]) for curve in self.curves)
        high = max(max(curve.found["y"]) for curve in self.curves)
        for side, timed in (("bottom", first["x_time"]), ("left", first["y_time"])):
            whole = side == "bottom" and all(axes.are_whole(curve.found["x"]) for curve in self.curves)
            axis = axes.axis(pg, side, time=bool(timed), whole=whole)
            item.setAxisItems({side: axis})
            axis.setStyle(tickLength=0, tickAlpha=0, tickFont=theme.font("caption"), autoExpandTextSpace=True)
            axis.setPen(pg.mkPen(None))
            axis.setTextPen(theme.color("text3"))
            axis.enableAutoSIPrefix(False)
            axis.showLabel(True)
            axis.label.setPlainText(self._names[side == "left"])
            axis.label.setDefaultTextColor(theme.color("text2"))
            axis.label.setFont(theme.font("caption"))
            axis.resizeEvent()
        item.getAxis("left").setGrid(False)
        marks = levels.levels(low, high)
        item.getAxis("left").setTicks([[(level, levels.text(level, timed=bool(first["y_time"]))) for level in marks]])
        for level in marks:
            rule = pg.InfiniteLine(pos=level, angle=0, pen=pg.mkPen(theme.color("hairline"), width=ratio), movable=False)
            rule.setZValue(-10)
            item.addItem(rule, ignoreBounds=True)
        for curve in self.curves:
            made = pen(self._ink, curve.place, 1.5 * ratio)
            made.setCosmetic(True)
            item.addItem(pg.PlotDataItem(x=curve.found["x"], y=curve.found["y"], pen=made))
        for (x, y), ending in self._ends().items():
            name = pg.TextItem(" ".join(curve.letter for curve in ending), anchor=(0, 0.5))
            name.setColor(theme.color(colour(ending[0].place) if len(ending) == 1 else "text2"))
            name.setFont(theme.font("caption", 600))
            name.setPos(x, y)
            item.addItem(name, ignoreBounds=True)
        item.enableAutoRange()

    def _ends(self) -> dict[tuple[float, float], list[Curve]]:
        """Where curves end; those that end at one place share their letters' place."""
        ends: dict[tuple[float, float], list[Curve]] = {}
        for curve in self.curves:
            ends.setdefault((curve.found["x"][-1], curve.found["y"][-1]), []).append(curve)
        return ends
