"""Drawing text, bars, nodes and strips: what every painting delegate and small widget shares.

Text is centred on the cap height of the *first* family, so that Latin and Chinese cells stand on one baseline. Elided and
wrapped strings are cached per (font, text, width); the cache is dropped when the theme changes.
"""

from __future__ import annotations

from actum.limits import TEXT_CACHE_ENTRIES_MAX
from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QTextLayout, QTextOption

from actum_desktop import tokens
from actum_desktop.ledger import Kind, Strip
from actum_desktop.theme import Theme

LEFT, RIGHT, CENTRE = "left", "right", "centre"


class Ink(QObject):
    """Pens, metrics and caches of one theme. All distances are logical pixels."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.theme = theme
        self._metrics: dict[tuple[str, int, bool], QFontMetricsF] = {}
        self._faces: dict[tuple[str, int, bool], tuple[QFont, float]] = {}
        self._elided: dict[tuple[str, int, bool, str, int, bool], tuple[str, float]] = {}
        self._wrapped: dict[tuple[str, int, str, int], list[str]] = {}
        theme.changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        self._metrics.clear()
        self._faces.clear()
        self._elided.clear()
        self._wrapped.clear()

    def metrics(self, size: str = "body", weight: int = 400, mono: bool = False) -> QFontMetricsF:
        key = (size, weight, mono)
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = QFontMetricsF(self.theme.font(size, weight, mono=mono))
        return found

    def _face(self, size: str, weight: int, mono: bool) -> tuple[QFont, float]:
        """The font, and how high its capitals are: asked for with every piece of text."""
        key = (size, weight, mono)
        found = self._faces.get(key)
        if found is None:
            found = (self.theme.font(size, weight, mono=mono), self.metrics(size, weight, mono).capHeight())
            self._faces[key] = found
        return found

    def width(self, text: str, size: str = "body", weight: int = 400, *, mono: bool = False) -> float:
        return self._fit(text, 1 << 20, size, weight, mono, False)[1]

    def _fit(self, text: str, width: int, size: str, weight: int, mono: bool, middle: bool) -> tuple[str, float]:
        key = (size, weight, mono, text, width, middle)
        found = self._elided.get(key)
        if found is None:
            if len(self._elided) >= TEXT_CACHE_ENTRIES_MAX:
                self._elided.clear()
            metrics = self.metrics(size, weight, mono)
            mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
            cut = text if metrics.horizontalAdvance(text) <= width else metrics.elidedText(text, mode, width)
            found = self._elided[key] = (cut, metrics.horizontalAdvance(cut))
        return found

    def text(
        self,
        painter: QPainter,
        box: QRectF,
        text: str,
        token: str | QColor = "text",
        size: str = "body",
        weight: int = 400,
        align: str = LEFT,
        *,
        mono: bool = False,
        middle: bool = False,
    ) -> float:
        """Draw one line in `box`, elided if it does not fit; returns the width drawn."""
        if not text:
            return 0.0
        shown, wide = self._fit(text, int(box.width()), size, weight, mono, middle)
        font, capitals = self._face(size, weight, mono)
        x = box.left()
        if align == RIGHT:
            x = box.right() - wide
        elif align == CENTRE:
            x = box.left() + (box.width() - wide) / 2
        baseline = round(box.top() + (box.height() + capitals) / 2)
        painter.setFont(font)
        painter.setPen(self.theme.color(token) if isinstance(token, str) else token)
        painter.drawText(QPointF(x, baseline), shown)
        return wide

    def wrap(self, text: str, width: float, size: str = "caption", weight: int = 400) -> list[str]:
        """`text` broken into lines of at most `width`, at word or Han boundaries, anywhere if nothing else fits."""
        key = (size, weight, text, int(width))
        found = self._wrapped.get(key)
        if found is None:
            if len(self._wrapped) >= TEXT_CACHE_ENTRIES_MAX:
                self._wrapped.clear()
            found = self._wrapped[key] = self._broken(text, width, size, weight)
        return found

    def _broken(self, text: str, width: float, size: str, weight: int) -> list[str]:
        layout = QTextLayout(text, self.theme.font(size, weight))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        lines = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width))
            lines.append(text[line.textStart() : line.textStart() + line.textLength()].rstrip())
        layout.endLayout()
        return lines or [""]

    def paragraph(
        self, painter: QPainter, box: QRectF, text: str, token: str, size: str = "caption", weight: int = 400
    ) -> float:
        """Draw wrapped text from the top of `box`; returns the height used."""
        step = self.theme.line(size)
        lines = self.wrap(text, box.width(), size, weight)
        for index, line in enumerate(lines):
            self.text(painter, QRectF(box.left(), box.top() + index * step, box.width() + 2, step), line, token, size, weight)
        return len(lines) * step

    def icon(self, painter: QPainter, centre: QPointF, name: str, token: str, size: float) -> None:
        ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
        pixmap = self.theme.pixmap(name, token, size, ratio)
        painter.drawPixmap(QPointF(round(centre.x() - size / 2), round(centre.y() - size / 2)), pixmap)

    # ---- lines

    def hairline(self, painter: QPainter, x1: float, x2: float, y: float, token: str = "hairline") -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(QRectF(round(x1), round(y), round(x2) - round(x1), 1), self.theme.color(token))

    def dotted(self, painter: QPainter, x1: float, x2: float, y: float) -> None:
        """A line to be filled in: dots of one pixel, three apart."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        pen = QPen(self.theme.color("line2"), 1)
        pen.setDashPattern([1, 2])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(QPointF(round(x1), round(y) + 0.5), QPointF(round(x2), round(y) + 0.5))

    def spine(self, painter: QPainter, x: float, y1: float, y2: float, *, solid: bool) -> None:
        if y2 <= y1:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        pen = QPen(self.theme.color("text2" if solid else "line2"), tokens.INK)
        if not solid:
            pen.setDashPattern([1, 2])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(QPointF(x, y1), QPointF(x, y2))

    def bar(self, painter: QPainter, box: QRectF, fraction: float, token: str) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = box.height() / 2
        painter.setBrush(self.theme.color("track"))
        painter.drawRoundedRect(box, radius, radius)
        if fraction > 0:
            filled = QRectF(box.left(), box.top(), max(box.height(), box.width() * min(1.0, fraction)), box.height())
            painter.setBrush(self.theme.color(token))
            painter.drawRoundedRect(filled, radius, radius)

    def double_rule(self, painter: QPainter, x1: float, x2: float, y: float, token: str, part: float = 1.0) -> None:
        """Closed: terminal and released. Two lines of 1.5, 2.5 apart; never drawn for anything else."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        end = x1 + (x2 - x1) * part
        for top in (y, y + 4):
            painter.fillRect(QRectF(x1, top, end - x1, tokens.INK), self.theme.color(token))

    # ---- nodes

    def node(self, painter: QPainter, centre: QPointF, kind: Kind, ink: str = "text2", ground: str = "surface") -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        scale = self.theme.u / tokens.UNIT_PX
        color = self.theme.color
        if kind in (Kind.ESTABLISHED, Kind.REFUSED):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(ink if kind is Kind.ESTABLISHED else "bad"))
            painter.drawEllipse(centre, 7.5 * scale, 7.5 * scale)
            painter.setPen(_round_pen(color(ground), 1.7 * scale))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_tick(centre, scale) if kind is Kind.ESTABLISHED else _cross(centre, scale))
        elif kind is Kind.WAITING:
            painter.setPen(QPen(color("accent"), 2 * scale))
            painter.setBrush(color(ground))
            painter.drawEllipse(centre, 6.5 * scale, 6.5 * scale)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("accent"))
            painter.drawEllipse(centre, 2.5 * scale, 2.5 * scale)
        elif kind is Kind.NOT_YET:
            painter.setPen(QPen(color("line2"), 1.3 * scale))
            painter.setBrush(color(ground))
            painter.drawEllipse(centre, 4 * scale, 4 * scale)
        elif kind is Kind.NEVER:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(ground))
            painter.drawRect(QRectF(centre.x() - 6 * scale, centre.y() - 5 * scale, 12 * scale, 10 * scale))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setBrush(color("line2"))
            painter.drawRect(QRectF(round(centre.x() - 5 * scale), round(centre.y()) - 1, 10 * scale, 2))
        else:
            self.icon(painter, centre, "question-fill", "warn", round(17 * scale))

    def strip(self, painter: QPainter, left: float, middle: float, strip: Strip) -> float:
        """The seven marks, 5×12 with gaps of 3, and two upright lines when closed; returns the width."""
        scale = self.theme.u / tokens.UNIT_PX
        wide, high, gap = 5 * scale, 12 * scale, 3 * scale
        x = left
        for mark in strip.marks:
            self._mark(painter, QRectF(round(x), round(middle - high / 2), wide, high), mark, strip)
            x += wide + gap
        if strip.closed:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            ink = self.theme.color(strip.tone)
            for shift in (0.0, 3.0):
                painter.fillRect(QRectF(round(x + 2 + shift), round(middle - high / 2), 1, high), ink)
            x += 2 + 5
        return x - left

    def _mark(self, painter: QPainter, box: QRectF, mark: Kind, strip: Strip) -> None:
        color = self.theme.color
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        if mark is Kind.ESTABLISHED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("ok" if strip.closed and strip.tone == "ok" else "text2"))
            painter.drawRoundedRect(box, 1.5, 1.5)
        elif mark in (Kind.WAITING, Kind.CANNOT_TELL):
            painter.setPen(QPen(color("accent" if mark is Kind.WAITING else "warn"), 1.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.7, 0.7, -0.7, -0.7), 1.5, 1.5)
        elif mark is Kind.NOT_YET:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("line2"))
            painter.drawEllipse(box.center(), 1.1, 1.1)
        elif mark is Kind.NEVER:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.fillRect(QRectF(box.left(), round(box.center().y()) - 1, box.width() + 1, 1), color("line2"))
        else:
            painter.setPen(_round_pen(color("bad"), 1.6))
            inset = box.adjusted(0, 3.5, 0, -3.5)
            painter.drawLine(inset.topLeft(), inset.bottomRight())
            painter.drawLine(inset.bottomLeft(), inset.topRight())


def _round_pen(color: QColor, width: float) -> QPen:
    pen = QPen(color, width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen


def _tick(centre: QPointF, scale: float) -> QPainterPath:
    path = QPainterPath(QPointF(centre.x() - 3.1 * scale, centre.y() + 0.2 * scale))
    path.lineTo(centre.x() - 0.9 * scale, centre.y() + 2.4 * scale)
    path.lineTo(centre.x() + 3.2 * scale, centre.y() - 2.2 * scale)
    return path


def _cross(centre: QPointF, scale: float) -> QPainterPath:
    arm = 2.4 * scale
    path = QPainterPath(QPointF(centre.x() - arm, centre.y() - arm))
    path.lineTo(centre.x() + arm, centre.y() + arm)
    path.moveTo(centre.x() - arm, centre.y() + arm)
    path.lineTo(centre.x() + arm, centre.y() - arm)
    return path
