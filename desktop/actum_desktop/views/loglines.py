"""The lines of the work's log: a view that reads only the lines it shows, follows the end, and has a current line (UI.md §5).

The log can be of any size: the index beside it gives the number of lines and the place of each. What the view holds is one
screenful. Text is data: nothing in it is interpreted but colours (models/logtext.py, R19).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from actum.ipc.logfile import Line, LogReader
from actum.limits import LOG_LINE_SHOWN_CHARS_MAX, LOG_WHOLE_LINE_BYTES_MAX
from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea

from actum_desktop import measures, tokens
from actum_desktop.i18n import _
from actum_desktop.models import logtext
from actum_desktop.models.logtext import Span
from actum_desktop.views.ink import RIGHT, Ink

_POLL_MS = 250
_TEXT_LEFT = 184


class Row(NamedTuple):
    """One line ready to be painted."""

    line: Line
    level: str
    spans: list[Span]


def _row(line: Line) -> Row:
    return Row(line, logtext.level(line, logtext.shown(line.text)), logtext.spans(line.text))


class LogLines(QAbstractScrollArea):
    """The lines. Attributes: total, following, problem, current (line number, −1 = none), newest_us.

    Signals: `changed` () when there is more to show or the view starts or stops to follow; `opened` (line number); `moved` ()
    when another line is current.
    """

    changed = Signal()
    opened = Signal(object)
    moved = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._reader: LogReader | None = None
        self._mark = (0, 0)
        self._shown: tuple[int, int, tuple[int, int], list[Row]] = (-1, 0, (0, 0), [])
        self._wanted = ""  # what is looked for, lower case: marked where it stands
        self._top = 0  # the line at the top of the picture that is there
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.folder: Path | None = None
        self.total, self.following, self.problem = 0, True, ""
        self.newest_us: int | None = None
        self.current = -1
        self.setAccessibleName(_("Log"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self.look)
        ink.theme.changed.connect(self._on_theme)

    # ---- what there is

    def open(self, folder: Path | None) -> None:
        """Show the log in `folder` (None: none yet)."""
        self.folder = folder
        self._reader = None if folder is None else LogReader(folder)
        self.total, self.following, self.problem, self.newest_us, self.current = 0, True, "", None, -1
        self._mark = (0, 0)
        self._wanted = ""
        self._shown = (-1, 0, (0, 0), [])
        self.look()

    def watch(self, on: bool) -> None:
        """Look again four times a second while the log may still grow and is on the screen."""
        if on and not self._poll.isActive():
            self._poll.start()
        elif not on:
            self._poll.stop()
            self.look()

    def look(self) -> None:
        if self._reader is None or (self._poll.isActive() and not self.isVisible()):
            return
        try:
            mark = self._reader.mark()
            if mark == self._mark and not self.problem:
                return
            self.problem = ""
            tail = self._reader.tail(1)
        except OSError as error:
            self.problem = error.strerror or str(error)
            self.changed.emit()
            return
        self._mark, self.total = mark, mark[0]
        self.newest_us = tail[0].at_us if tail else None
        self._range()
        self.viewport().update()
        self.changed.emit()

    def rows(self, first: int, count: int) -> list[Row]:
        """Lines ready to be painted, [] where they cannot be read. One screenful is kept."""
        if self._reader is None:
            return []
        if self._shown[:3] == (first, count, self._mark):
            return self._shown[3]
        try:
            rows = self._read(first, count)
        except OSError as error:
            self.problem = error.strerror or str(error)
            return []
        self._shown = (first, count, self._mark, rows)
        return rows

    def _read(self, first: int, count: int) -> list[Row]:
        """Those lines, as far as they are not in the screenful that is kept: only the newest line of it may have grown."""
        assert self._reader is not None
        begin, _count, mark, kept = self._shown
        whole = kept if mark == self._mark else kept[: max(0, mark[0] - 1 - begin)]
        whole = whole[max(0, first - begin) : max(0, first + count - begin)] if first < begin + len(whole) else []
        at = max(first, begin)
        if not whole or at >= first + count:
            return [_row(line) for line in self._reader.lines(first, count)]
        above = self._reader.lines(first, at - first) if at > first else []
        below_first = at + len(whole)
        below = self._reader.lines(below_first, first + count - below_first) if below_first < first + count else []
        return [*map(_row, above), *whole, *map(_row, below)]

    def whole(self, number: int) -> tuple[str, bool]:
        """The text of a line with all its pieces, and whether it was longer than LOG_WHOLE_LINE_BYTES_MAX."""
        if self._reader is None:
            return "", False
        text: list[str] = []
        read, first = 0, True
        try:
            while read < LOG_WHOLE_LINE_BYTES_MAX:
                found = self._reader.lines(number, 1)
                if not found or (not first and not found[0].continues):
                    return logtext.plain("".join(text)), False
                text.append(found[0].text)
                read, number, first = read + len(found[0].raw), number + 1, False
        except OSError as error:
            self.problem = error.strerror or str(error)
        return logtext.plain("".join(text)), True

    # ---- moving

    @property
    def row(self) -> int:
        return self._ink.theme.px(tokens.LOG_ROW)

    def _page(self) -> int:
        return max(1, self.viewport().height() // self.row)

    def _range(self) -> None:
        bar = self.verticalScrollBar()
        bar.setPageStep(self._page())
        bar.setRange(0, max(0, self.total - self._page()))
        if self.following:
            bar.setValue(bar.maximum())

    def _on_scrolled(self, value: int) -> None:
        at_end = value >= self.verticalScrollBar().maximum()
        if at_end != self.following:
            self.following = at_end
            self.changed.emit()
        moved, self._top = self._top - value, value
        if abs(moved) < self._page():
            self.viewport().scroll(0, moved * self.row)  # only lines that come into sight are painted
        else:
            self.viewport().update()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """`_on_scrolled` moves the picture; Qt's own way paints all of it again."""

    def _on_theme(self) -> None:
        self._range()
        self.viewport().update()

    def follow(self) -> None:
        self.following = True
        self._range()
        self.viewport().update()
        self.changed.emit()

    def go_to(self, number: int) -> None:
        """Make a line the current one, in the middle where it was out of sight."""
        number = max(0, min(number, self.total - 1))
        bar, page = self.verticalScrollBar(), self._page()
        if not bar.value() <= number < bar.value() + page:
            bar.setValue(max(0, number - page // 2))
        self._choose(number)

    def mark_text(self, wanted: str) -> None:
        """Where this text stands, it is marked ("" = nowhere)."""
        self._wanted = wanted.lower()
        self.viewport().update()

    def _choose(self, number: int) -> None:
        if number != self.current:
            self.current = number
            self.moved.emit()
            rows = self.rows(number, 1) if not self._in_sight(number) else [self._row_of(number)]
            if rows and rows[0] is not None:
                self.setAccessibleDescription(logtext.shown(rows[0].line.text))
        self.viewport().update()

    def _in_sight(self, number: int) -> bool:
        return self._row_of(number) is not None

    def _row_of(self, number: int) -> Row | None:
        first, _count, _mark, rows = self._shown
        return rows[number - first] if 0 <= number - first < len(rows) else None

    def _step(self, by: int) -> None:
        bar, page = self.verticalScrollBar(), self._page()
        if self.current < 0:
            start = bar.value() + min(page, self.total) - 1 if self.following else bar.value()
        else:
            start = self.current + by
        number = max(0, min(start, self.total - 1))
        if number < bar.value():
            bar.setValue(number)
        elif number >= bar.value() + page:
            bar.setValue(number - page + 1)
        if self.total:
            self._choose(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -self._page(), Qt.Key.Key_PageDown: self._page()}
        key = Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif key == Qt.Key.Key_End:
            self._choose(max(0, self.total - 1))
            self.follow()
        elif key == Qt.Key.Key_Home:
            self.verticalScrollBar().setValue(0)
            self._choose(0)
        elif key in steps:
            self._step(steps[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def _copy(self) -> None:
        """The current line whole, or the lines in sight."""
        if self.current >= 0:
            QGuiApplication.clipboard().setText(self.whole(self.current)[0])
            return
        rows = self.rows(self.verticalScrollBar().value(), self._page() + 1)[: self._page()]
        QGuiApplication.clipboard().setText("\n".join(logtext.plain(row.line.text) for row in rows))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.verticalScrollBar().value() + int(event.position().y()) // self.row
        if number < self.total:
            self._choose(number)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.current >= 0:
            self.opened.emit(self.current)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._range()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look()

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        theme, wide, step = self._ink.theme, self.viewport().width(), self.row
        painter.fillRect(self.viewport().rect(), theme.color("sunken"))
        first, shown = self.verticalScrollBar().value(), event.rect()
        for place, row in enumerate(self.rows(first, self._page() + 1)):
            if place * step > shown.bottom():
                break
            if (place + 1) * step > shown.top():
                self._line(painter, QRectF(0, place * step, wide, step), row)
        if self.hasFocus():
            painter.fillRect(QRectF(0, 0, 2, self.viewport().height()), theme.color("accent"))
        painter.end()

    def _line(self, painter: QPainter, box: QRectF, row: Row) -> None:
        ink, px, line = self._ink, self._ink.theme.px, row.line
        if line.number == self.current:
            painter.fillRect(box, ink.theme.color("tint_accent"))
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), ink.theme.color("accent"))
        elif row.level in ("warn", "error"):
            painter.fillRect(box, ink.theme.color("tint_warn" if row.level == "warn" else "tint_bad"))
        token = {"warn": "warn", "error": "bad", "err": "text2"}.get(row.level, "text3")
        number = measures.count(line.number + 1)
        ink.text(painter, QRectF(px(6), box.top(), px(58), box.height()), number, "text3", "micro", 400, RIGHT, mono=True)
        if not line.continues:
            stamp = QRectF(px(76), box.top(), px(62), box.height())
            ink.text(painter, stamp, measures.clock(line.at_us), "text3", "micro", mono=True)
            kind = QRectF(px(144), box.top(), px(36), box.height())
            ink.text(painter, kind, row.level, token, "micro", mono=True)
        body = QRectF(px(_TEXT_LEFT), box.top(), box.width() - px(_TEXT_LEFT + 8), box.height())
        self._marks(painter, body, row.spans)
        self._spans(painter, body, row.spans)

    def _spans(self, painter: QPainter, box: QRectF, spans: Sequence[Span]) -> None:
        ink, left = self._ink, box.left()
        for span in spans:
            room = QRectF(left, box.top(), box.right() - left, box.height())
            if room.width() < 2:
                return
            colour = QColor(logtext.legible(span.ink, ink.theme.tokens)) if span.ink.startswith("#") else span.ink
            left += ink.text(painter, room, span.text, colour, "micro", 600 if span.bold else 400, mono=True)

    def _marks(self, painter: QPainter, box: QRectF, spans: Sequence[Span]) -> None:
        """A ground behind what was looked for; figures of one width, so a place is a count of letters."""
        text = "".join(span.text for span in spans)[:LOG_LINE_SHOWN_CHARS_MAX]
        at = text.lower().find(self._wanted) if self._wanted else -1
        while at >= 0:
            left = box.left() + self._ink.width(text[:at], "micro", mono=True)
            if left > box.right():
                return
            wide = self._ink.width(text[at : at + len(self._wanted)], "micro", mono=True)
            ground = self._ink.theme.color("tint_neutral")
            painter.fillRect(QRectF(left - 1, box.top() + 2, wide + 2, box.height() - 4).intersected(box), ground)
            painter.fillRect(QRectF(left, box.bottom() - 3, wide, 1).intersected(box), self._ink.theme.color("accent"))
            at = text.lower().find(self._wanted, at + len(self._wanted))
