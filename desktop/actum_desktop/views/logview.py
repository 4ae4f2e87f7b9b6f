"""The panel of the work's log: find with count, first error, the lines, a line opened whole, and whether it follows the end.

Whatever has to look through the log does so in a thread of its own (models/logsearch.py); the panel shows how far it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from pathlib import Path

from actum.limits import LOG_HITS_MAX
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.logsearch import ERRORS, Found, LogSearch
from actum_desktop.views.ink import Ink
from actum_desktop.views.loglines import LogLines
from actum_desktop.views.widgets import Button, Card, Label, Rule, button

_TYPING_MS = 200


class WholeLine(QWidget):
    """One line of the log, whole and wrapped, below the others. Signal: `closed` ()."""

    closed = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._title = Label(theme, "", "caption", 500, "text2")
        self.text = QPlainTextEdit()
        self.text.setObjectName("field")
        self.text.setReadOnly(True)
        self.text.setFont(theme.font("micro", mono=True))
        self.text.setAccessibleName(_("The whole line"))
        self.text.setFixedHeight(px(74))
        self.text.setTabChangesFocus(True)
        self.text.installEventFilter(self)
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(button(theme, _("Close"), self._on_close, kind="link", small=True))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(4), px(12), px(8))
        column.setSpacing(px(2))
        column.addLayout(head)
        column.addWidget(self.text)
        self.hide()

    def show_line(self, number: int, text: str, cut: bool) -> None:
        title = _("Line {n}, whole").format(n=measures.count(number + 1))
        self._title.setText(_("Line {n}, its beginning").format(n=measures.count(number + 1)) if cut else title)
        self.text.setPlainText(text)
        self.show()
        self.text.setFocus()

    def _on_close(self) -> None:
        self.hide()
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        pressed = watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if pressed and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):  # type: ignore[attr-defined]
            self._on_close()
            return True
        return False


class LogPanel(Card):
    """Head, lines, foot. Signal: `changed` () when there are more lines."""

    changed = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        self.lines = LogLines(ink)
        self.lines.changed.connect(self._on_changed)
        self.lines.opened.connect(self._on_opened)
        self.lines.moved.connect(self.refresh)
        self.search = LogSearch(self)
        self.search.found.connect(self._on_found)
        self._asked, self._text = 0, ""
        self._hits: list[int] = []
        self._looked, self._of, self._done, self._full, self._jump = 0, 0, True, False, False
        self._said, self._errors_from = "", 0
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._on_typed)
        self._make(ink)
        self.n, self.open_attempt = 1, True
        self.refresh()

    def _make(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        self._note = Label(theme, "", "caption", 400, "text2")
        self._find = QLineEdit()
        self._find.setProperty("small", "true")
        self._find.setPlaceholderText(_("Find in log"))
        self._find.setAccessibleName(_("Find in log"))
        self._find.setClearButtonEnabled(True)
        self._find.addAction(theme.icon("magnifying-glass", "text3", 14), QLineEdit.ActionPosition.LeadingPosition)
        self._find.setFixedWidth(px(170))
        self._find.textChanged.connect(self._typing.start)
        self._find.returnPressed.connect(self.find_next)
        self._find.installEventFilter(self)
        self._count = Label(theme, "", "caption", 400, "text2")
        self._back = button(theme, "", self.find_previous, kind="ghost", icon="caret-up", tip=_("Find previous (Shift+F3)"))
        self._forth = button(theme, "", self.find_next, kind="ghost", icon="caret-down", tip=_("Find next (F3)"))
        self._error: Button = button(theme, _("First error"), self._on_error, small=True)
        self._where = Label(theme, "", "caption", 400, "text2")
        self._more = button(theme, _("Follow"), self.lines.follow, kind="link", small=True, icon="arrow-right")
        head = QHBoxLayout()
        head.setContentsMargins(px(16), px(4), px(12), px(4))
        head.setSpacing(px(6))
        head.addWidget(Label(theme, _("Log"), "body", 600))
        head.addWidget(self._note)
        head.addStretch(1)
        for widget in (self._count, self._back, self._forth, self._find, self._error):
            head.addWidget(widget)
        foot = QHBoxLayout()
        foot.setContentsMargins(px(16), px(2), px(10), px(2))
        foot.addWidget(self._where)
        foot.addStretch(1)
        foot.addWidget(self._more)
        bottom = QWidget()
        bottom.setLayout(foot)
        bottom.setFixedHeight(px(32))
        self._whole = WholeLine(ink)
        self._whole.closed.connect(self.lines.setFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule(theme))
        column.addWidget(self.lines, 1)
        column.addWidget(self._whole)
        column.addWidget(Rule(theme))
        column.addWidget(bottom)

    # ---- the log

    def open(self, folder: Path | None, n: int) -> None:
        self.n = n
        self._find.clear()
        self._typing.stop()
        self._forget()
        self._whole.hide()
        self.lines.open(folder)
        self.refresh()

    def close_down(self) -> None:
        """Before the window goes: nothing is looked for any more."""
        self._typing.stop()
        self.lines.watch(False)
        self.search.close()

    def _on_changed(self) -> None:
        self._look_on()
        self.refresh()
        self.changed.emit()

    def _on_opened(self, number: int) -> None:
        self._whole.show_line(number, *self.lines.whole(number))

    def refresh(self) -> None:
        lines = self.lines
        text = ngettext("{n} line", "{n} lines", lines.total).format(n=measures.count(lines.total))
        self._note.setText(_("attempt {n} · {lines}").format(n=self.n, lines=text))
        self._more.setVisible(not lines.following)
        searching = bool(self._text) and self._text != ERRORS
        for widget in (self._count, self._back, self._forth):
            widget.setVisible(searching)
        self._count.setText(self._count_words() if searching else "")
        self._where.setText(self._said or self._state_words())

    def _state_words(self) -> str:
        lines = self.lines
        if lines.problem:
            return _("The log cannot be read: {why}.").format(why=lines.problem)
        if not lines.total:
            return _("Nothing printed yet.") if self.open_attempt else _("Nothing was printed.")
        if not lines.following:
            return _("Not following. Enter opens the whole line.")
        if self.open_attempt:
            return _("Following the end. The last line came {age} ago.").format(age=measures.age(lines.newest_us))
        return _("End of the log.")

    def _count_words(self) -> str:
        """`3 of 17`, `17 so far, 40 %`, `no line`."""
        count = measures.count(len(self._hits)) + ("+" if self._full else "")
        if not self._done:
            done = measures.percent(min(0.99, self._looked / max(1, self._of)))
            return _("{count} so far, {percent}").format(count=count, percent=done)
        if not self._hits:
            return _("no line")
        place = bisect_left(self._hits, self.lines.current)
        if place < len(self._hits) and self._hits[place] == self.lines.current:
            return _("{n} of {count}").format(n=measures.count(place + 1), count=count)
        return ngettext("{n} line", "{n} lines", len(self._hits)).format(n=count)

    # ---- finding

    def focus_find(self) -> None:
        self._find.setFocus()
        self._find.selectAll()

    def _on_typed(self) -> None:
        self._typing.stop()
        text = self._find.text()
        if text != self._text:
            self._ask(text)

    def _ask(self, text: str) -> None:
        self._forget()
        self._text = text
        self.lines.mark_text("" if text == ERRORS else text)
        if text and self.lines.folder is not None:
            self._done, self._jump, self._of = False, True, self.lines.total
            self._asked = self.search.ask(self.lines.folder, text)
        self.refresh()

    def _forget(self) -> None:
        self.search.forget()
        self._text, self._asked, self._said = "", 0, ""
        self._hits = []
        self._looked, self._done, self._full, self._jump = 0, True, False, False

    def _look_on(self) -> None:
        """The log has grown since it was looked through: look through the rest. The last line may have grown itself."""
        if self._text and self._text != ERRORS and self._done and not self._full and self.lines.folder is not None:
            first = max(0, self._looked - 1)
            if first < self.lines.total:
                room = LOG_HITS_MAX - len(self._hits)
                self._asked = self.search.ask(self.lines.folder, self._text, first, room)

    def _on_found(self, found: Found) -> None:
        if found.number != self._asked:
            return
        last = self._hits[-1] if self._hits else -1
        self._hits.extend(hit for hit in found.hits if hit > last)
        self._looked, self._of, self._full = found.looked, found.total, found.full
        self._done = found.done
        if found.problem:
            self._said = _("The log cannot be read: {why}.").format(why=found.problem)
        if self._jump and self._hits:
            self._jump = False
            if self._text == ERRORS:
                self.lines.go_to(self._hits[0])
            else:
                self._jump_from_here()
        if self._done and self._text == ERRORS and not self._hits:
            further = _("No further line is marked as an error.")
            self._said = further if self._errors_from else _("No line is marked as an error.")
        self.refresh()

    def _jump_from_here(self) -> None:
        """The first hit at or below what is looked at; the first of all where there is none yet."""
        here = self.lines.current if self.lines.current >= 0 else 0
        place = bisect_left(self._hits, here)
        self.lines.go_to(self._hits[place if place < len(self._hits) else 0])

    def find_next(self) -> None:
        self._find_from(1)

    def find_previous(self) -> None:
        self._find_from(-1)

    def _find_from(self, step: int) -> None:
        self._said = ""
        if self._find.text() != self._text:
            self._on_typed()
            return
        if not self._hits:
            self.refresh()
            return
        here = self.lines.current
        place = bisect_right(self._hits, here) if step > 0 else bisect_left(self._hits, here) - 1
        self.lines.go_to(self._hits[place % len(self._hits)])
        self.refresh()

    def _on_error(self) -> None:
        """The first error; pressed again on it, the next one after it."""
        first = self._errors_from = self.lines.current + 1 if self._text == ERRORS and self._hits else 0
        self._find.clear()
        self._typing.stop()
        self._ask("")
        if self.lines.folder is not None:
            self._text, self._done, self._jump = ERRORS, False, True
            self._asked = self.search.ask(self.lines.folder, ERRORS, first, 1)
        self.refresh()
        self.lines.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._find and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self._find.clear()
                self._ask("")
                self.lines.setFocus()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.find_previous()
                return True
        return False
