"""The side of a task's form: what this run will read, write and need; presets; the last runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout

from actum_desktop import tokens
from actum_desktop.forms.beforerun import Row
from actum_desktop.i18n import _
from actum_desktop.models.runcells import RunCells
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.widgets import Card, Label, Rule


class BeforePanel(Card):
    """Rows of words; a row that does not fit wraps."""

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        self._ink = ink
        px = ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(8))
        column.addWidget(Label(ink.theme, _("Before you run"), "body", 600))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(5))
        self._grid.setColumnStretch(1, 1)
        column.addLayout(self._grid)
        column.addWidget(Rule(ink.theme))
        promise = _("Actum itself writes inside this workspace only; what the work writes elsewhere it writes by itself.")
        column.addWidget(Label(ink.theme, promise, "caption", 400, "text2", wrap=True))
        self._rows: list[Row] = []
        self._labels: list[tuple[Label, Label]] = []
        self.setAccessibleName(_("Before you run"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def show_rows(self, rows: Sequence[Row]) -> None:
        if list(rows) == self._rows:
            return
        self._rows = list(rows)
        while len(self._labels) < len(rows):
            self._add()
        for index, (title, text) in enumerate(self._labels):
            row = rows[index] if index < len(rows) else None
            title.setVisible(row is not None)
            text.setVisible(row is not None)
            if row is not None:
                title.setText(row.title)
                text.setText(row.text)
                text.setToolTip(row.tip)
                text.setAccessibleName(f"{row.title}: {row.text}")

    def _add(self) -> None:
        theme, index = self._ink.theme, len(self._labels)
        title = Label(theme, "", "caption", 400, "text2", wrap=True)
        text = Label(theme, "", "caption", 500, wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(title, index, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(text, index, 1)
        title.setMinimumWidth(theme.px(84))
        self._labels.append((title, text))

    def texts(self) -> dict[str, str]:
        return {row.title: row.text for row in self._rows}


class LineButton(QAbstractButton):
    """One line of a side card: icon, words, a note at the right, and a strip of facts where there is one."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.key: object = None
        self._icon, self._tone, self._second, self._note = "", "text2", "", ""
        self._cells: RunCells | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_preset(self, key: object, name: str, second: str, note: str) -> None:
        self.key, self._icon, self._tone = key, "bookmark-simple", "accent" if note else "text2"
        self.setText(name)
        self._second, self._note = second, note
        self.setAccessibleName(", ".join(part for part in (name, second, note) if part))
        self.setToolTip(second)
        self.updateGeometry()
        self.update()

    def show_run(self, number: int, cells: RunCells, when: str) -> None:
        self.key, self._cells = number, cells
        self._icon, self._tone, self._note = cells.status.icon, cells.status.tone, when
        self.setText(cells.status.word)
        self.setAccessibleName(cells.sentence)
        self.setToolTip(cells.sentence)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(200), self._ink.theme.px(42 if self._second else 26))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px = self._ink, self._ink.theme.px
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(ink.theme.color("accent"), tokens.FOCUS) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(ink.theme.color("hover"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        line = QRectF(px(30), px(3), self.width() - px(38), px(20))
        ink.icon(painter, QPointF(px(16), line.center().y()), self._icon, self._tone, px(14))
        tone = "accent" if self._second or self._cells is None else "text2"
        used = ink.text(painter, line, self._note, tone, "caption", 400, RIGHT)
        wide = line.width() - used - px(10)
        if self._cells is not None:
            strip, room = self._cells.strip, px(72)
            left = line.right() - max(used, px(92)) - px(8) - room
            ink.strip(painter, left, line.center().y(), strip)
            word = QRectF(line.left(), line.top(), left - line.left() - px(6), line.height())
            ink.text(painter, word, self.text(), self._tone, "caption", 500)
        else:
            ink.text(painter, QRectF(line.left(), line.top(), wide, line.height()), self.text(), "text", "body", 600)
        if self._second:
            second = QRectF(line.left(), line.bottom() - px(2), self.width() - px(38), px(18))
            ink.text(painter, second, self._second, "text2", "caption")
        painter.end()


class LinesCard(Card):
    """A titled card of lines. Signal: `chosen` (key of a line)."""

    chosen = Signal(object)

    def __init__(self, ink: Ink, title: str) -> None:
        super().__init__(ink.theme)
        px = ink.theme.px
        self._ink = ink
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(px(8), px(14), px(8), px(10))
        self._column.setSpacing(px(2))
        head = QHBoxLayout()
        head.setContentsMargins(px(8), 0, px(8), px(4))
        head.addWidget(Label(ink.theme, title, "body", 600))
        self._column.addLayout(head)
        self._lines: list[LineButton] = []
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def lines(self, count: int) -> list[LineButton]:
        """So many lines, shown; the rest is hidden. No line hides the card."""
        while len(self._lines) < count:
            made = LineButton(self._ink)
            made.clicked.connect(self._on_clicked)
            self._column.addWidget(made)
            self._lines.append(made)
        for index, made in enumerate(self._lines):
            made.setVisible(index < count)
        self.setVisible(count > 0)
        return self._lines[:count]

    def _on_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, LineButton):
            self.chosen.emit(sender.key)
