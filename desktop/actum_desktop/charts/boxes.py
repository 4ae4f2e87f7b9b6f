"""Boxes one under another: quartiles with whiskers to the least and the greatest, a name at the left, one axis below.

Up and Down move from box to box; the one in focus is spoken and its numbers stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from actum_desktop import measures
from actum_desktop.charts import levels
from actum_desktop.i18n import _, ngettext
from actum_desktop.views.ink import CENTRE, LEFT, Ink

_ROW, _LEAST_ROW, _FOOT, _NAME_PART = 30, 15, 22, 0.32


@dataclass(frozen=True, slots=True)
class Box:
    """One box; `token` is the colour it is drawn in."""

    name: str
    rows: int
    low: float
    lower: float
    median: float
    upper: float
    high: float
    token: str = "accent"

    @classmethod
    def of(cls, name: str, box: Mapping[str, Any], token: str = "accent") -> Box:
        """One of the boxes that the verb `plot` answers."""
        low, lower, median, upper, high = (float(box[key]) for key in ("low", "lower", "median", "upper", "high"))
        return cls(name, int(box["rows"]), low, lower, median, upper, high, token)


class Boxes(QWidget):
    """Feed with `show_boxes`. Attribute: boxes."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.boxes: Sequence[Box] = ()
        self._timed = False
        self._axis = ""
        self._at: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        ink.theme.changed.connect(self.update)

    def show_boxes(self, boxes: Sequence[Box], axis: str, *, timed: bool = False) -> None:
        """`axis` = what is measured, with its unit."""
        self.boxes, self._axis, self._timed, self._at = boxes, axis, timed, None
        self.setAccessibleName(ngettext("{n} box of {what}", "{n} boxes of {what}", len(boxes)).format(n=len(boxes), what=axis))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        px = self._ink.theme.px
        return QSize(px(300), px(_ROW) * max(1, len(self.boxes)) + px(_FOOT) + self._ink.theme.line("caption"))

    def minimumSizeHint(self) -> QSize:
        px = self._ink.theme.px
        return QSize(px(160), px(_LEAST_ROW) * max(1, len(self.boxes)) + px(_FOOT) + self._ink.theme.line("caption"))

    def words(self, place: int) -> str:
        """One box in words."""
        box = self.boxes[place]
        parts = [
            _("{name} {value}").format(name=name, value=self._text(value))
            for name, value in (
                (_("least"), box.low),
                (_("lower quartile"), box.lower),
                (_("median"), box.median),
                (_("upper quartile"), box.upper),
                (_("greatest"), box.high),
            )
        ]
        rows = ngettext("{n} row", "{n} rows", box.rows).format(n=measures.count(box.rows))
        return ", ".join([*([box.name] if box.name else []), rows, *parts])

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """All of it, also for a picture that is saved."""
        if not self.boxes:
            return
        ink, theme, px = self._ink, self._ink.theme, self._ink.theme.px
        name = self._name_width()
        foot = px(_FOOT) + theme.line("caption")
        area = QRectF(name + px(8), px(2), self.width() - name - px(24), self.height() - foot)
        low, high = min(box.low for box in self.boxes), max(box.high for box in self.boxes)
        wide = (high - low) or 1.0

        def x(value: float) -> float:
            return area.left() + area.width() * ((value - low) / wide if high > low else 0.5)

        for level in levels.levels(low, high, 4):
            painter.fillRect(QRectF(round(x(level)), area.top(), 1, area.height()), theme.color("hairline"))
            label = QRectF(x(level) - px(60), area.bottom() + px(4), px(120), theme.line("caption"))
            ink.text(painter, label, self._text(level), "text3", "caption", 400, CENTRE)
        ends = QRectF(area.left(), self.height() - theme.line("caption"), area.width(), theme.line("caption"))
        ink.text(painter, ends, self._axis, "text2", "caption", 400, CENTRE)
        row = area.height() / len(self.boxes)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, box in enumerate(self.boxes):
            middle = round(area.top() + row * (place + 0.5)) + 0.5
            if place == self._at:
                ground = QRectF(0, area.top() + row * place, self.width(), row)
                painter.fillRect(ground, theme.color("hover"))
            label = QRectF(px(2), middle - row / 2, name, row)
            ink.text(painter, label, box.name, box.token if box.token != "accent" else "text2", "caption", 600, LEFT)
            self._box(painter, box, x, middle, min(row * 0.6, px(18)))
        if self._at is not None:
            self.setToolTip(self.words(self._at))

    def _box(self, painter: QPainter, box: Box, x: object, middle: float, high: float) -> None:
        assert callable(x)
        colour = self._ink.theme.color(box.token)
        painter.setPen(QPen(colour, 1.5))
        painter.drawLine(QLineF(x(box.low), middle, x(box.lower), middle))
        painter.drawLine(QLineF(x(box.upper), middle, x(box.high), middle))
        for end in (box.low, box.high):
            painter.drawLine(QLineF(x(end), middle - high / 4, x(end), middle + high / 4))
        fill = QColor(colour)
        fill.setAlphaF(0.12)
        painter.setBrush(fill)
        painter.drawRoundedRect(QRectF(x(box.lower), middle - high / 2, max(1.0, x(box.upper) - x(box.lower)), high), 2, 2)
        painter.setPen(QPen(colour, 2.5))
        painter.drawLine(QLineF(x(box.median), middle - high / 2, x(box.median), middle + high / 2))

    def _name_width(self) -> float:
        widest = max((self._ink.width(box.name, "caption", 600) for box in self.boxes), default=0.0)
        return min(widest + self._ink.theme.px(4), self.width() * _NAME_PART)

    def _text(self, value: float) -> str:
        return levels.text(value, timed=self._timed)

    # ---- reading values

    def _go_to(self, place: int) -> None:
        if self.boxes:
            self._at = max(0, min(place, len(self.boxes) - 1))
            self.setAccessibleDescription(self.words(self._at))
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is None or not self.boxes:
            super().keyPressEvent(event)
            return
        self._go_to(0 if self._at is None else self._at + step)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.boxes:
            height = self.height() - self._ink.theme.px(_FOOT) - self._ink.theme.line("caption")
            self._go_to(int(event.position().y() / max(1.0, height) * len(self.boxes)))
