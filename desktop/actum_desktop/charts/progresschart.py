"""Progress and activity over time, one above the other on one time axis (UI.md §5): stages as bands, no progress as hatch.

A cross-hair follows the pointer or the arrow keys and tells the values of the nearest sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from actum.limits import SLEEP_NOTICED_S
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QWidget

from actum_desktop import measures, tokens
from actum_desktop.i18n import _
from actum_desktop.models.history import Sample
from actum_desktop.views.ink import CENTRE, RIGHT, Ink

_LEFT, _RIGHT_EDGE, _TITLE, _AXIS = 52, 12, 32, 24
_REPAINT_MS = 400
_STEPS_S = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400)


class ProgressChart(QWidget):
    """Both charts in one widget. Feed with `show`."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._samples: Sequence[Sample] = ()
        self._progress, self._note, self._memory = "", "", 0.0
        self._at = -1  # the sample at the cross-hair
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(ink.theme.px(180))
        self._repaint = QTimer(self)  # a repaint costs far more than a sample
        self._repaint.setSingleShot(True)
        self._repaint.setInterval(_REPAINT_MS)
        self._repaint.timeout.connect(self.update)
        ink.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(400, self._ink.theme.px(264))

    def show_samples(self, samples: Sequence[Sample], progress: str, note: str) -> None:
        """`progress` is the newest measure in words; `note` what stands at the right ("~ 18 min left")."""
        self._samples, self._progress, self._note = samples, progress, note
        self._at = min(self._at, len(samples) - 1)
        last = samples[-1] if samples else None
        words = _("Progress: {progress}.").format(progress=progress or _("none reported"))
        if last is not None:
            words += " " + _("CPU {cpu}, memory {memory}.").format(cpu=measures.cpu(last.cpu), memory=measures.size(last.rss))
        self.setAccessibleName(words)
        if not self._repaint.isActive():
            self._repaint.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px, high = self._ink.theme.px, self.height()
        plot = (high - 2 * px(_TITLE) - px(_AXIS)) / 2
        left, wide = px(_LEFT), self.width() - px(_LEFT) - px(_RIGHT_EDGE)
        upper = QRectF(left, px(_TITLE) + px(8), wide, plot - px(8))
        lower = QRectF(left, 2 * px(_TITLE) + plot + px(6), wide, plot - px(6))
        self._titles(painter, upper, lower)
        span = self._span()
        for box in (upper, lower):
            self._bands(painter, box, span, names=box is upper)
            self._grid(painter, box)
        if len(self._samples) > 1:
            self._series(painter, upper, span, [s.fraction for s in self._samples], "accent", fill=True, stages=True)
            top = max((s.cpu or 0 for s in self._samples), default=0)
            top = max(100.0, top)
            self._series(
                painter, lower, span, [None if s.cpu is None else s.cpu / top for s in self._samples], "accent", fill=True
            )
            most = max((s.rss or 0 for s in self._samples), default=0) * 1.25 or 1
            memory = [None if s.rss is None else s.rss / most for s in self._samples]
            self._series(painter, lower, span, memory, "series3", dash=True)
            self._now(painter, upper, lower, span)
        else:
            words = _("Nothing was measured of it.")
            ink_box = QRectF(upper.left(), upper.top(), upper.width(), upper.height())
            self._ink.text(painter, ink_box, words, "text3", "caption", 400, CENTRE)
        self._axis(painter, lower, span)
        self._hair(painter, upper, lower, span)
        painter.end()

    def _span(self) -> tuple[int, int]:
        if not self._samples:
            now = measures.now_us()
            return now - 60_000_000, now
        first, last = self._samples[0].at, self._samples[-1].at
        room = max(10_000_000, (last - first) // 14)
        return first, last + room

    def _x(self, box: QRectF, span: tuple[int, int], at: int) -> float:
        return box.left() + box.width() * (at - span[0]) / max(1, span[1] - span[0])

    def _titles(self, painter: QPainter, upper: QRectF, lower: QRectF) -> None:
        ink, px = self._ink, self._ink.theme.px
        line = QRectF(px(16), 0, self.width() - px(32), px(_TITLE))
        used = ink.text(painter, line, _("Progress"), "text", "body", 600)
        spare = line.adjusted(used + px(14), 0, 0, 0)
        noted = ink.text(painter, spare, self._note, "text2", "caption", 400, RIGHT)
        ink.text(painter, spare.adjusted(0, 0, -noted - px(12), 0), self._progress, "text", "caption")
        line.moveTop(lower.top() - px(_TITLE) - px(4))
        used = ink.text(painter, line, _("Activity"), "text", "body", 600)
        last = self._samples[-1] if self._samples else None
        x = line.left() + used + px(16)
        for text, token, dash in (
            (_("CPU {value}").format(value=measures.cpu(last.cpu if last else None)), "accent", False),
            (_("Memory {value}").format(value=measures.size(last.rss if last else None)), "series3", True),
        ):
            pen = QPen(ink.theme.color(token), 2)
            if dash:
                pen.setDashPattern([3, 2])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, line.center().y()), QPointF(x + px(16), line.center().y()))
            x += px(22)
            x += ink.text(painter, QRectF(x, line.top(), line.right() - x, line.height()), text, "text", "caption") + px(18)
        ink.text(painter, QRectF(x, line.top(), line.right() - x, line.height()), self._rates(), "text2", "caption", 400, RIGHT)

    def _rates(self) -> str:
        if len(self._samples) < 2:
            return ""
        last = self._samples[-1]
        before = next((s for s in reversed(self._samples[:-1]) if last.at - s.at >= 2_000_000), self._samples[0])
        seconds = max(0.001, (last.at - before.at) / 1e6)
        rates = []
        for newest, older in ((last.read, before.read), (last.written, before.written)):
            rates.append(None if newest is None or older is None else max(0.0, (newest - older) / seconds))
        if None in rates:
            return ""
        return _("Read {read}/s · written {written}/s").format(read=measures.size(rates[0]), written=measures.size(rates[1]))

    def _grid(self, painter: QPainter, box: QRectF) -> None:
        ink, px = self._ink, self._ink.theme.px
        for part, text in ((1.0, "100 %"), (0.5, "50"), (0.0, "0")):
            y = box.bottom() - box.height() * part
            ink.hairline(painter, box.left(), box.right(), y)
            ink.text(painter, QRectF(0, y - px(8), box.left() - px(8), px(16)), text, "text3", "caption", 400, RIGHT)

    def _bands(self, painter: QPainter, box: QRectF, span: tuple[int, int], *, names: bool) -> None:
        ink, theme, px = self._ink, self._ink.theme, self._ink.theme.px
        for number, (first, last, stage) in enumerate(_stages(self._samples)):
            x1, x2 = self._x(box, span, first), self._x(box, span, last)
            if number % 2:
                painter.fillRect(QRectF(x1, box.top(), x2 - x1, box.height()), QColor(theme.tokens.band))
            if names and stage and ink.width(stage, "micro", 500) + px(12) < x2 - x1:
                ink.text(painter, QRectF(x1 + px(6), box.top(), x2 - x1, px(18)), stage, "text3", "micro", 500)
        for first, last in _asleep(self._samples):
            x1, x2 = self._x(box, span, first), self._x(box, span, last)
            self._hatch(painter, QRectF(x1, box.top(), x2 - x1, box.height()), "track")
            if names and ink.width(_("asleep"), "micro", 600) + px(10) < x2 - x1:
                ink.text(painter, QRectF(x1 + px(5), box.top(), x2 - x1, px(18)), _("asleep"), "text3", "micro", 600)
        for first, last in _quiet(self._samples):
            x1, x2 = self._x(box, span, first), self._x(box, span, last)
            self._hatch(painter, QRectF(x1, box.top(), x2 - x1, box.height()), "hatch")
            pen = QPen(theme.color("warn"), 1)
            pen.setDashPattern([4, 3])
            painter.setPen(pen)
            painter.drawLine(QPointF(round(x1) + 0.5, box.top()), QPointF(round(x1) + 0.5, box.bottom()))
            words = _("no progress")
            if names and ink.width(words, "micro", 600) + px(14) < x2 - x1:
                label = QRectF(x1 + px(5), box.top() + px(2), ink.width(words, "micro", 600) + px(4), px(15))
                painter.fillRect(label, theme.color("surface"))
                ink.text(painter, label.adjusted(px(2), 0, px(4), 0), words, "warn", "micro", 600)

    def _hatch(self, painter: QPainter, box: QRectF, token: str) -> None:
        painter.fillRect(box, self._ink.theme.color("surface"))
        brush = QBrush(self._ink.theme.color(token))
        brush.setStyle(Qt.BrushStyle.BDiagPattern)
        painter.fillRect(box, brush)

    def _series(
        self,
        painter: QPainter,
        box: QRectF,
        span: tuple[int, int],
        values: Sequence[float | None],
        token: str,
        *,
        fill: bool = False,
        dash: bool = False,
        stages: bool = False,
    ) -> None:
        color = self._ink.theme.color(token)
        pieces = self._pieces(box, span, values, by_stage=stages)
        for points in pieces:
            self._curve(painter, box, points, color, fill=fill, dash=dash)
        if fill and pieces and box.top() < self.height() / 3:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(pieces[-1][-1], 3, 3)

    def _pieces(
        self, box: QRectF, span: tuple[int, int], values: Sequence[float | None], *, by_stage: bool
    ) -> list[list[QPointF]]:
        """The points of one line, or of one for each stage: a stage begins at nothing done, no work is undone by it."""
        pieces: list[list[QPointF]] = []
        stage: str | None = None
        for sample, value in zip(self._samples, values, strict=True):
            if value is None:
                continue
            if not pieces or (by_stage and sample.stage != stage):
                pieces.append([])
            stage = sample.stage
            pieces[-1].append(QPointF(self._x(box, span, sample.at), box.bottom() - box.height() * max(0.0, min(1.0, value))))
        return pieces

    def _curve(self, painter: QPainter, box: QRectF, points: list[QPointF], color: QColor, *, fill: bool, dash: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        if fill:
            path = QPainterPath(QPointF(points[0].x(), box.bottom()))
            for point in points:
                path.lineTo(point)
            path.lineTo(points[-1].x(), box.bottom())
            ground = QColor(color)
            ground.setAlphaF(0.11)
            painter.fillPath(path, ground)
        pen = QPen(color, 1.6)
        if dash:
            pen.setDashPattern([4, 2.5])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))

    def _now(self, painter: QPainter, upper: QRectF, lower: QRectF, span: tuple[int, int]) -> None:
        x = round(self._x(upper, span, self._samples[-1].at))
        for box in (upper, lower):
            painter.fillRect(QRectF(x, box.top(), 1, box.height()), self._ink.theme.color("text3"))

    def _hair(self, painter: QPainter, upper: QRectF, lower: QRectF, span: tuple[int, int]) -> None:
        """The line through the chosen sample, and its values in a box that stays inside."""
        if not 0 <= self._at < len(self._samples):
            return
        ink, px, sample = self._ink, self._ink.theme.px, self._samples[self._at]
        x = round(self._x(upper, span, sample.at))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for box in (upper, lower):
            painter.fillRect(QRectF(x, box.top(), 1, box.height()), ink.theme.color("accent"))
        lines = _told(sample)
        wide = max(ink.width(line, "caption") for line in lines) + px(16)
        high = px(17) * len(lines) + px(10)
        left = x + px(8) if x + px(8) + wide < self.width() else x - px(8) - wide
        box = QRectF(left, upper.top() + px(4), wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(ink.theme.color("line2"), 1))
        painter.setBrush(ink.theme.color("raised"))
        painter.drawRoundedRect(box, tokens.RADIUS_BADGE, tokens.RADIUS_BADGE)
        for number, line in enumerate(lines):
            row = QRectF(box.left() + px(8), box.top() + px(5) + number * px(17), wide, px(17))
            ink.text(painter, row, line, "text" if number else "text2", "caption")

    def _choose(self, at: int) -> None:
        at = max(-1, min(at, len(self._samples) - 1))
        if at != self._at:
            self._at = at
            if at >= 0:
                self.setAccessibleDescription(", ".join(_told(self._samples[at])))
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._samples:
            return
        left, wide = self._ink.theme.px(_LEFT), self.width() - self._ink.theme.px(_LEFT) - self._ink.theme.px(_RIGHT_EDGE)
        first, last = self._span()
        at = first + (event.position().x() - left) / max(1, wide) * (last - first)
        nearest = min(range(len(self._samples)), key=lambda index: abs(self._samples[index].at - at))
        self._choose(nearest if left <= event.position().x() <= left + wide else -1)

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self._choose(-1)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._choose(-1)
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._samples) - 1
        step = max(1, len(self._samples) // 60)
        start = last if self._at < 0 else self._at
        moves = {Qt.Key.Key_Left: start - step, Qt.Key.Key_Right: start + step, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        to = moves.get(Qt.Key(event.key()))
        if to is None or last < 0:
            super().keyPressEvent(event)
        else:
            self._choose(max(0, to))

    def _axis(self, painter: QPainter, box: QRectF, span: tuple[int, int]) -> None:
        ink, px = self._ink, self._ink.theme.px
        wide_s = (span[1] - span[0]) / 1e6
        step = next((s for s in _STEPS_S if wide_s / s <= max(2, box.width() / px(110))), _STEPS_S[-1])
        first = (span[0] // 1_000_000 // step + 1) * step
        at = first * 1_000_000
        while at < span[1]:
            x = self._x(box, span, at)
            moment = datetime.fromtimestamp(at / 1e6)
            text = f"{moment:%H:%M}" if step >= 60 else f"{moment:%H:%M:%S}"
            half = ink.width(text, "caption") / 2
            if x - half >= box.left() - px(4) and x + half <= box.right() + px(8):
                ink.text(painter, QRectF(x - half, box.bottom() + px(3), half * 2 + 2, px(18)), text, "text3", "caption")
            at += step * 1_000_000


def _stages(samples: Sequence[Sample]) -> list[tuple[int, int, str]]:
    """(from, to, name) of each stage seen, in order."""
    found: list[tuple[int, int, str]] = []
    for sample in samples:
        if found and found[-1][2] == sample.stage:
            found[-1] = (found[-1][0], sample.at, sample.stage)
        else:
            start = found[-1][1] if found else sample.at
            found.append((start, sample.at, sample.stage))
    return found


def _told(sample: Sample) -> list[str]:
    """The values at one time: the time first."""
    lines = [measures.clock(sample.at)]
    if sample.fraction is not None:
        lines.append(" ".join(part for part in (measures.percent(sample.fraction), sample.stage) if part))
    lines.append(_("CPU {value}").format(value=measures.cpu(sample.cpu)))
    lines.append(_("Memory {value}").format(value=measures.size(sample.rss)))
    return lines


def _asleep(samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """The times in which the clock on the wall went on and the work's own stood still."""
    found = []
    for before, after in pairwise(samples):
        if before.active_s is not None and after.active_s is not None:
            slept_s = (after.at - before.at) / 1e6 - (after.active_s - before.active_s)
            if slept_s > SLEEP_NOTICED_S:
                found.append((after.at - int(slept_s * 1e6), after.at))
    return found


def _quiet(samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """The times during which a warning of no progress stood."""
    found: list[tuple[int, int]] = []
    going = False
    for sample in samples:
        if sample.quiet and going:
            found[-1] = (found[-1][0], sample.at)
        elif sample.quiet:
            found.append((sample.at, sample.at))
        going = sample.quiet
    return [(first, last) for first, last in found if last > first]
