"""The work's log: a view that reads only the lines it shows, follows the end, and finds text (UI.md §5).

The log can be of any size: the index beside it gives the number of lines and the place of each. What the view holds is one
screenful. Text is data: ANSI sequences are dropped, nothing is interpreted (R19).
"""

from __future__ import annotations

import re
from pathlib import Path

from actum.ipc.logfile import STDERR, Line, LogReader
from actum.limits import LOG_LINE_SHOWN_CHARS_MAX, LOG_SEARCH_LINES_MAX
from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from actum_desktop import measures, tokens
from actum_desktop.i18n import _, ngettext
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.widgets import Button, Card, Label, Rule, button

_POLL_MS = 250
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]")
_LEVEL = re.compile(r"\b(CRITICAL|FATAL|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b", re.IGNORECASE)
_WORDS = {"CRITICAL": "error", "FATAL": "error", "ERROR": "error", "WARN": "warn", "WARNING": "warn", "INFO": "info"}
_WORDS |= {"DEBUG": "debug", "TRACE": "debug"}


def plain(text: str) -> str:
    """One line without control sequences, cut where nobody reads on."""
    return _ANSI.sub("", text[:LOG_LINE_SHOWN_CHARS_MAX].replace("\t", "    "))


def level(line: Line, text: str) -> str:
    """`error`, `warn`, `info`, `debug`; else which stream it came from: `out`, `err`."""
    if "Traceback (most recent call last)" in text:
        return "error"
    match = _LEVEL.search(text[:80])
    if match:
        return _WORDS[match[1].upper()]
    return "err" if line.stream == STDERR else "out"


class LogLines(QAbstractScrollArea):
    """The lines. Signals: `changed` () when there are more lines or the view starts or stops to follow."""

    changed = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._reader: LogReader | None = None
        self.total, self.following, self.problem = 0, True, ""
        self._shown: tuple[int, int, list[Line]] = (-1, 0, [])
        self.newest_us: int | None = None
        self.marked = -1
        self.setAccessibleName(_("Log"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self.look)
        ink.theme.changed.connect(self._on_theme)

    def open(self, folder: Path | None) -> None:
        """Show the log in `folder` (None: none yet)."""
        self._reader = None if folder is None else LogReader(folder)
        self.total, self.following, self.problem, self.newest_us, self.marked = 0, True, "", None, -1
        self._shown = (-1, 0, [])
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
            total = self._reader.count()
            self.problem = ""
        except OSError as error:
            self.problem = error.strerror or str(error)
            self.changed.emit()
            return
        if total == self.total:
            return
        self.total = total
        self._range()
        try:
            tail = self._reader.tail(1)
        except OSError:
            tail = []
        self.newest_us = tail[0].at_us if tail else None
        self.viewport().update()
        self.changed.emit()

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
        self.viewport().update()

    def _on_theme(self) -> None:
        self._range()
        self.viewport().update()

    def follow(self) -> None:
        self.following = True
        self._range()
        self.viewport().update()
        self.changed.emit()

    def go_to(self, number: int) -> None:
        self.marked = number
        self.verticalScrollBar().setValue(max(0, number - self._page() // 2))
        self.viewport().update()

    def lines(self, first: int, count: int) -> list[Line]:
        """Lines of the log, [] where it cannot be read."""
        if self._reader is None:
            return []
        kept_first, kept_count, kept = self._shown
        if (kept_first, kept_count) == (first, count) and len(kept) == min(count, max(0, self.total - first)):
            return kept
        try:
            found = self._reader.lines(first, count)
        except OSError as error:
            self.problem = error.strerror or str(error)
            return []
        self._shown = (first, count, found)
        return found

    def search(self, text: str, start: int, step: int) -> int | None:
        """The next line holding `text` from `start` on, looking through a bounded number of lines; None = not there."""
        wanted = text.lower()
        if step > 0:
            for line in self.lines(start, LOG_SEARCH_LINES_MAX):
                if wanted in plain(line.text).lower():
                    return line.number
        else:
            first = max(0, start - LOG_SEARCH_LINES_MAX)
            for line in reversed(self.lines(first, start - first)):
                if wanted in plain(line.text).lower():
                    return line.number
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._range()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            first = self.verticalScrollBar().value()
            lines = self.lines(first, self._page())
            QGuiApplication.clipboard().setText("\n".join(plain(line.text) for line in lines))
        elif event.key() == Qt.Key.Key_End:
            self.follow()
        elif event.key() == Qt.Key.Key_Home:
            self.verticalScrollBar().setValue(0)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        theme, wide, step = self._ink.theme, self.viewport().width(), self.row
        painter.fillRect(self.viewport().rect(), theme.color("sunken"))
        first = self.verticalScrollBar().value()
        for place, line in enumerate(self.lines(first, self._page() + 1)):
            self._line(painter, QRectF(0, place * step, wide, step), line)
        if self.hasFocus():
            painter.fillRect(QRectF(0, 0, 2, self.viewport().height()), theme.color("accent"))
        painter.end()

    def _line(self, painter: QPainter, box: QRectF, line: Line) -> None:
        ink, px, text = self._ink, self._ink.theme.px, plain(line.text)
        word = level(line, text)
        if line.number == self.marked:
            painter.fillRect(box, ink.theme.color("tint_accent"))
        elif word in ("warn", "error"):
            painter.fillRect(box, ink.theme.color("tint_warn" if word == "warn" else "tint_bad"))
        token = {"warn": "warn", "error": "bad", "err": "text2"}.get(word, "text3")
        number = measures.count(line.number + 1)
        ink.text(painter, QRectF(px(4), box.top(), px(54), box.height()), number, "text3", "micro", 400, RIGHT, mono=True)
        stamp = QRectF(px(72), box.top(), px(62), box.height())
        ink.text(painter, stamp, measures.clock(line.at_us), "text3", "micro", mono=True)
        kind = QRectF(px(140), box.top(), px(40), box.height())
        ink.text(painter, kind, "" if line.continues else word, token, "micro", mono=True)
        body = QRectF(px(184), box.top(), box.width() - px(192), box.height())
        ink.text(painter, body, text, "text", "micro", mono=True)


class LogPanel(Card):
    """Head (find, first error), lines, foot (whether it follows, and the age of the last line)."""

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        theme, px = ink.theme, ink.theme.px
        self.lines = LogLines(ink)
        self.lines.changed.connect(self.refresh)
        self._note = Label(theme, "", "caption", 400, "text2")
        self._find = QLineEdit()
        self._find.setProperty("small", "true")
        self._find.setPlaceholderText(_("Find in log"))
        self._find.setAccessibleName(_("Find in log"))
        self._find.addAction(theme.icon("magnifying-glass", "text3", 14), QLineEdit.ActionPosition.LeadingPosition)
        self._find.setFixedWidth(px(160))
        self._find.returnPressed.connect(self.find_next)
        self._error: Button = button(theme, _("First error"), self._on_first_error, small=True)
        self._where = Label(theme, "", "caption", 400, "text2")
        self._more = button(theme, _("Follow"), self.lines.follow, kind="link", small=True, icon="arrow-right")
        head = QHBoxLayout()
        head.setContentsMargins(px(16), px(7), px(12), px(7))
        head.setSpacing(px(8))
        head.addWidget(Label(theme, _("Log"), "body", 600))
        head.addWidget(self._note)
        head.addStretch(1)
        head.addWidget(self._find)
        head.addWidget(self._error)
        foot = QHBoxLayout()
        foot.setContentsMargins(px(16), px(2), px(10), px(2))
        foot.addWidget(self._where)
        foot.addStretch(1)
        foot.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule(theme))
        column.addWidget(self.lines, 1)
        column.addWidget(Rule(theme))
        bottom = QWidget()
        bottom.setLayout(foot)
        bottom.setFixedHeight(px(32))
        column.addWidget(bottom)
        self.n, self.open_attempt = 1, True
        self.refresh()

    def open(self, folder: Path | None, n: int) -> None:
        self.n = n
        self.lines.open(folder)
        self.refresh()

    def refresh(self) -> None:
        lines = self.lines
        text = ngettext("{n} line", "{n} lines", lines.total).format(n=measures.count(lines.total))
        self._note.setText(_("attempt {n} · {lines}").format(n=self.n, lines=text))
        self._more.setVisible(not lines.following)
        if lines.problem:
            self._where.setText(_("The log cannot be read: {why}.").format(why=lines.problem))
        elif not lines.total:
            self._where.setText(_("Nothing printed yet.") if self.open_attempt else _("Nothing was printed."))
        elif not lines.following:
            self._where.setText(_("Not following."))
        elif self.open_attempt:
            self._where.setText(_("Following the end. The last line came {age} ago.").format(age=measures.age(lines.newest_us)))
        else:
            self._where.setText(_("End of the log."))

    def focus_find(self) -> None:
        self._find.setFocus()
        self._find.selectAll()

    def find_next(self) -> None:
        text = self._find.text()
        if not text:
            return
        start = self.lines.marked + 1 if self.lines.marked >= 0 else 0
        found = self.lines.search(text, start, 1)
        if found is None and start:
            found = self.lines.search(text, 0, 1)
        if found is None:
            self._where.setText(_("“{text}” is not in the lines looked through.").format(text=text))
            return
        self.lines.go_to(found)

    def _on_first_error(self) -> None:
        for line in self.lines.lines(0, LOG_SEARCH_LINES_MAX):
            if level(line, plain(line.text)) == "error":
                self.lines.go_to(line.number)
                return
        self._where.setText(_("No line is marked as an error."))
