"""The launch screen, shown only if something was found: each leftover with its verdict, its evidence, and what is done.

There is no button that declares a process gone (R07, R09). Nothing starts before every leftover has a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from actum.errors import ActumError
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import measures
from actum_desktop.controller.events import Supervising
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.launchmodel import LEFTOVER, LaunchModel, Leftover, is_news, leftovers, of_closed, with_answer
from actum_desktop.models.source import Source
from actum_desktop.views.ink import Ink
from actum_desktop.views.sidebar import mark
from actum_desktop.views.widgets import Badge, Card, Label, Rule, button

Index = QModelIndex | QPersistentModelIndex
_COLUMNS = (0.0, 0.165, 0.345, 0.735)  # of the width


class Line(NamedTuple):
    """One line of a cell, as it is painted."""

    text: str
    token: str
    size: str
    weight: int


class LaunchDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else option.rect.width()
        row, px = index.data(LEFTOVER), self._ink.theme.px
        high = [sum(self._step(line) for line in cell) for cell in self._cells(row, width)]
        if row.strip is not None:
            high[0] += px(18)
        return QSize(width, max(px(65), px(28) + max(high)))

    def _cells(self, row: Leftover, width: float) -> tuple[list[Line], ...]:
        """The lines of each column, none of them wider than it: the verdict, the run, the evidence, what is done."""
        wide = [self._wide(number, width) for number in range(len(_COLUMNS))]
        words = row.words
        return (
            self._lines(words.word, wide[0], (words.tone, "body", 600)),
            [Line(row.title, "text", "body", 600), Line(row.sub, "text2", "caption", 400)],
            [line for text in words.evidence for line in self._lines(text, wide[2], ("text2", "caption", 400))],
            [
                *self._lines(words.done, wide[3], ("text", "body", 500)),
                *self._lines(words.after, wide[3], ("text2", "caption", 400)),
            ],
        )

    def _lines(self, text: str, wide: float, look: tuple[str, str, int]) -> list[Line]:
        return [Line(line, *look) for line in self._ink.wrap(text, wide, look[1], look[2])] if text else []

    def _left(self, number: int, width: float) -> float:
        px = self._ink.theme.px
        return px(20) + (width - px(20)) * _COLUMNS[number] + (px(22) if number == 0 else 0)

    def _wide(self, number: int, width: float) -> float:
        """Of a column, the space to the next one left out."""
        end = self._left(number + 1, width) if number + 1 < len(_COLUMNS) else width
        return end - self._left(number, width) - self._ink.theme.px(16)

    def _step(self, line: Line) -> int:
        return round(self._ink.theme.line(line.size)) + (2 if line.size == "body" else 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        ink, px, theme = self._ink, self._ink.theme.px, self._ink.theme
        box, row = QRectF(option.rect), index.data(LEFTOVER)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("tint_accent"))
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), theme.color("accent"))
        if index.row() + 1 < index.model().rowCount():  # below the last row stands the edge of the card: no second line
            ink.hairline(painter, box.left(), box.right() + 1, box.bottom() - 1)
        for number, cell in enumerate(self._cells(row, box.width())):
            left, top = box.left() + self._left(number, box.width()), box.top() + px(14)
            if number == 0:
                first = QRectF(left - px(22), top, px(16), theme.line("body"))
                ink.icon(painter, first.center(), row.words.icon, row.words.tone, px(15))
            for line in cell:
                place = QRectF(left, top, self._wide(number, box.width()) + 1, theme.line(line.size))
                ink.text(painter, place, line.text, line.token, line.size, line.weight)
                top += self._step(line)
            if number == 0 and row.strip is not None:
                ink.strip(painter, left, top + px(7), row.strip)
        painter.restore()


class LaunchHead(QWidget):
    """Column heads, on the same columns as the rows."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._names = (_("Verdict"), _("Run"), _("Evidence"), _("What is done"))
        self.setAccessibleName(", ".join(self._names))
        self.setFixedHeight(ink.theme.px(32))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px = self._ink.theme.px
        for name, part in zip(self._names, _COLUMNS, strict=True):
            left = px(20) + (self.width() - px(20)) * part
            self._ink.text(painter, QRectF(left, 0, px(200), self.height()), name, "text3", "caption", 500)
        painter.end()


class Mark(QWidget):
    def __init__(self, ink: Ink, edge: int) -> None:
        super().__init__()
        self._ink = ink
        self.setFixedSize(ink.theme.px(edge), ink.theme.px(edge))
        self.setAccessibleName("Actum")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        mark(painter, self._ink, QRectF(self.rect()))
        painter.end()


class LaunchView(QWidget):
    """Signals: `opened` (True = resume the queue), `check_asked` (), `run_chosen` (run number)."""

    opened = Signal(object)
    check_asked = Signal()
    run_chosen = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme = ink.theme
        self.model = LaunchModel(self)
        self._list = QListView()
        self._list.setModel(self.model)
        self._list.setItemDelegate(LaunchDelegate(ink, self._list))
        self._list.setAccessibleName(_("What was found"))
        self._list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.viewport().setAutoFillBackground(False)
        self._list.activated.connect(self._on_activated)
        self.news = False  # whether anything was found that is a reason to show this
        self._state: Supervising | None = None
        self._source: Source | None = None
        self._answer: list[Mapping[str, Any]] = []
        self._verdicts, self._held, self._promise, self._looked = Badge(ink), Badge(ink), Badge(ink), Badge(ink)
        self._looked.hide()
        self._promise.say("shield-check", _("none was signalled on a guess"), "text2")
        self._about = Label(theme, "", "body", 400, "text2", wrap=True)
        self._queue = Label(theme, "", "body", 600)
        self._queue_note = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._check = button(theme, _("Check again"), self._on_check, icon="arrows-clockwise")
        self._keep = button(theme, _("Open, keep queue paused"), self._on_keep)
        self._resume = button(theme, _("Open and resume queue"), self._on_resume, kind="primary", icon="play")
        self._build(ink)

    def _build(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        head = QHBoxLayout()
        head.setSpacing(px(16))
        head.addWidget(Mark(ink, 40))
        words = QVBoxLayout()
        words.setSpacing(px(3))
        words.addWidget(Label(theme, _("Here is what happened to your runs"), "page", 600))
        words.addWidget(self._about)
        head.addLayout(words, 1)
        badges = QHBoxLayout()
        badges.setSpacing(px(8))
        for badge in (self._verdicts, self._held, self._promise, self._looked):
            badges.addWidget(badge)
        badges.addStretch(1)
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.setSpacing(0)
        self._head = LaunchHead(ink)
        inside.addWidget(self._head)
        inside.addWidget(Rule(theme))
        inside.addWidget(self._list, 1)
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        notes = QVBoxLayout()
        notes.setSpacing(px(2))
        notes.addWidget(self._queue)
        notes.addWidget(self._queue_note)
        foot.addLayout(notes, 1)
        for made in (self._check, self._keep, self._resume):
            foot.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        self._card = card
        column = QVBoxLayout(self)
        column.setContentsMargins(px(72), px(32), px(72), px(32))
        column.setSpacing(px(14))
        column.addStretch(1)
        column.addLayout(head)
        column.addLayout(badges)
        column.addWidget(card, 1_000)  # as high as it wants to be; what is over stands above and below
        column.addLayout(foot)
        column.addStretch(1)

    def supervising(self, state: Supervising, source: Source | None, waiting: int) -> None:
        """Show the verdicts so far; the buttons wait until there is one for each."""
        self._state, self._source = state, source
        self.news = any(is_news(verdict) for verdict in state.verdicts)
        self._show_rows()
        count = self.model.rowCount()
        done = state.verdicts_complete and not state.looking
        text = (
            ngettext("{n} of {n} has a verdict", "{n} of {n} have a verdict", count)
            if done
            else ngettext("{n} has a verdict, looking on", "{n} have a verdict, looking on", count)
        )
        self._verdicts.say("check-circle" if done else "circle-dashed", text.format(n=count), "text")
        held = self.model.held()
        self._held.setVisible(held > 0)
        if held:
            self._held.say("question-fill", ngettext("{n} is held", "{n} are held", held).format(n=held), "warn")
        self._queue_words(state, waiting)
        for made in (self._keep, self._resume):  # what is closed holds nobody up
            made.setEnabled(state.verdicts_complete)
            made.setToolTip("" if state.verdicts_complete else _("Every leftover needs a verdict first."))

    def _show_rows(self) -> None:
        verdicts = self._state.verdicts if self._state is not None else ()
        self.model.show(leftovers(with_answer(verdicts, self._answer), self._source))
        opened = _("The last session ended with runs open. They had processes of their own, so each was looked up.")
        closed = _("Runs that are closed were looked at too: what lives of them, their results, and what they left.")
        both = (opened, not all(of_closed(each) for each in verdicts)), (closed, any(of_closed(each) for each in verdicts))
        self._about.setText(measures.joined(*(text for text, holds in both if holds)))
        self._fit()

    def checked(self, answer: object) -> None:
        """What came of looking again: every verdict of it, and when; or why there is none."""
        self._check.setEnabled(True)
        if isinstance(answer, ActumError):
            self._looked.say("warning-fill", answer.what, "bad")
        elif isinstance(answer, list):
            self._answer = answer
            self._show_rows()
            text = ngettext("looked again at {time}: {n} verdict", "looked again at {time}: {n} verdicts", len(answer))
            self._looked.say("arrows-clockwise", text.format(time=measures.clock(measures.now_us()), n=len(answer)), "text")
        self._looked.show()

    def _fit(self) -> None:
        """The register is as high as its rows, not higher."""
        rows = sum(self._list.sizeHintForRow(row) for row in range(self.model.rowCount()))
        self._card.setMaximumHeight(self._head.height() + 1 + rows + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)

    def _queue_words(self, state: Supervising, waiting: int) -> None:
        paused = state.queue_paused
        self._keep.setVisible(paused)
        self._resume.say(_("Open and resume queue") if paused else _("Open"))
        if paused and waiting:
            text = ngettext("The queue is paused: {n} run waits", "The queue is paused: {n} runs wait", waiting)
            self._queue.setText(text.format(n=waiting))
        else:
            self._queue.setText(_("The queue is paused") if paused else _("The queue is open"))
        crashed = _("After a crash, nothing starts by itself unless you asked for that.")
        self._queue_note.setText((_("You paused it.") if state.queue_held else crashed) if paused else "")

    def focus_start(self) -> None:
        self._resume.setFocus()

    def _on_check(self) -> None:
        self._check.setEnabled(False)
        self._looked.say("circle-dashed", _("looking again"), "text2")
        self._looked.show()
        self.check_asked.emit()

    def _on_keep(self) -> None:
        self.opened.emit(False)

    def _on_resume(self) -> None:
        self.opened.emit(True)

    def _on_activated(self, index: QModelIndex) -> None:
        row = index.data(LEFTOVER)
        if isinstance(row, Leftover):
            self.run_chosen.emit(row.run)
