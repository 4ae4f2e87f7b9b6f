"""While there is no run at all: what Actum is for, three samples that work, and a closed ledger as explanation (UI.md §8)."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import tokens
from actum_desktop.i18n import N_, _
from actum_desktop.ledger import Kind
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Button, Card, Label


@dataclass(frozen=True, slots=True)
class Sample:
    """A task that ships with the program and runs on a file that ships with it."""

    task: str
    title: str
    text: str
    takes: str
    icon: str
    card: bool = True  # shown on the page of first steps; the rest in the menu alone


SAMPLES = (
    Sample(
        "return-and-risk",
        N_("Return and risk"),
        N_("Monthly prices in, returns and risk out. See a ledger fill in, line by line."),
        N_("a few seconds"),
        "rows",
    ),
    Sample(
        "demo-steps",
        N_("Twenty seconds of work"),
        N_("Three stages with steady progress, and one table."),
        N_("20 s"),
        "timer",
        card=False,
    ),
    Sample(
        "demo-stall",
        N_("Stall on purpose"),
        N_("Stops making progress half way. See how a warning differs from a verdict."),
        N_("until you stop it"),
        "warning",
    ),
    Sample(
        "demo-fails",
        N_("Fail on purpose"),
        N_("Ends with an error half way. See what is said, and what is kept."),
        N_("a few seconds"),
        "x-circle",
    ),
)
_LINES = (
    N_("The work says it is done"),
    N_("The package is sealed"),
    N_("The process is gone"),
    N_("The content is read back"),
    N_("Published and recorded"),
)


class Explanation(Card):
    """A small closed ledger."""

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        self._ink = ink
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(", ".join(_(line) for line in _LINES) + ". " + _("Succeeded"))

    def sizeHint(self) -> QSize:
        px = self._ink.theme.px
        wide = max(self._ink.width(_(line), "body", 600) for line in _LINES)
        return QSize(max(px(262), round(wide) + px(46 + 24)), px(198))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        ink, px = self._ink, self._ink.theme.px
        painter = QPainter(self)
        step, x = px(26), px(26)
        for index, line in enumerate(_LINES):
            y = px(26) + index * step
            if index:
                ink.spine(painter, x, y - step, y, solid=True)
            ink.text(painter, QRectF(px(46), y - step / 2, self.width() - px(60), step), _(line), "text", "body", 600)
        for index in range(len(_LINES)):
            ink.node(painter, QPointF(x, px(26) + index * step), Kind.ESTABLISHED, "ok")
        bottom = px(26) + len(_LINES) * step
        ink.double_rule(painter, px(16), self.width() - px(18), bottom - px(7), "ok")
        centre = bottom + px(17)
        ink.icon(painter, QPointF(x, centre), "check-circle-fill", "ok", px(18))
        ink.text(painter, QRectF(px(46), centre - step / 2, 200, step), _("Succeeded"), "ok", "lead", 600)
        painter.end()


class SampleCard(Card):
    """One sample. Emits `asked` with the task's name."""

    asked = Signal(object)

    def __init__(self, ink: Ink, sample: Sample, *, primary: bool) -> None:
        super().__init__(ink.theme)
        self._ink, self._sample = ink, sample
        theme, px = ink.theme, ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(16), px(16))
        column.setSpacing(px(3))
        column.addSpacing(px(40 + 10))
        column.addWidget(Label(theme, _(sample.title), "body", 600))
        column.addWidget(Label(theme, _(sample.text), "caption", 400, "text2", wrap=True))
        column.addStretch(1)
        column.addSpacing(px(12))
        foot = QHBoxLayout()
        foot.addWidget(Label(theme, _(sample.takes), "caption", 400, "text2"))
        foot.addStretch(1)
        self.run = Button(theme, _("Run"), kind="primary" if primary else "", icon="play", small=True)
        self.run.setAccessibleName(_("Run: {task}").format(task=_(sample.title)))
        self.run.clicked.connect(self._on_clicked)
        foot.addWidget(self.run)
        column.addLayout(foot)
        self.setMinimumHeight(px(178))

    def _on_clicked(self) -> None:
        self.asked.emit(self._sample.task)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        ink, px = self._ink, self._ink.theme.px
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.theme.color("tint_neutral"))
        tile = QRectF(px(16), px(16), px(40), px(40))
        painter.drawRoundedRect(tile, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        ink.icon(painter, tile.center(), self._sample.icon, "text", px(18))
        painter.end()


@dataclass(frozen=True, slots=True)
class Way:
    """One way to bring work of one's own."""

    key: str
    title: str
    text: str
    icon: str


WAYS = (
    Way(
        "recipe",
        N_("Start from a file"),
        N_("A table as CSV, Parquet or JSON lines, and a task that comes with Actum"),
        "table",
    ),
    Way("program", N_("Run a program"), N_("Any script or executable, without writing code"), "terminal-window"),
    Way("function", N_("Add a Python function"), N_("A decorated function in a file"), "code"),
)


class WayButton(QAbstractButton):
    """One row: icon, what it is, what it asks of one, and a mark that it leads on."""

    def __init__(self, ink: Ink, way: Way, *, last: bool) -> None:
        super().__init__()
        self._ink, self.way, self._last = ink, way, last
        self.setText(_(way.title))
        self.setAccessibleName(f"{_(way.title)}. {_(way.text)}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(300), self._ink.theme.px(46))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px, box = self._ink, self._ink.theme.px, QRectF(self.rect())
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(ink.theme.color("accent"), tokens.FOCUS) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(ink.theme.color("hover"))
            painter.drawRoundedRect(box.adjusted(2, 2, -2, -2), tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        elif not self._last:
            ink.hairline(painter, 0, box.right(), box.bottom() - 1)
        ink.icon(painter, QPointF(px(26), box.center().y()), self.way.icon, "text2", px(16))
        wide = box.width() - px(46 + 40)
        ink.text(painter, QRectF(px(46), px(5), wide, px(19)), self.text(), "text", "body", 600)
        ink.text(painter, QRectF(px(46), px(23), wide, px(17)), _(self.way.text), "text2", "caption")
        ink.icon(painter, QPointF(box.right() - px(22), box.center().y()), "caret-right", "text3", px(12))
        painter.end()


class FirstRun(QScrollArea):
    """Signals: `sample_asked` (task name), `own_asked` (program | function | recipe)."""

    sample_asked = Signal(object)
    own_asked = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self.setWidgetResizable(True)
        self.setAccessibleName(_("First steps"))
        self.viewport().setAutoFillBackground(False)
        page = QWidget()
        page.setAutoFillBackground(False)
        whole = QVBoxLayout(page)
        whole.setContentsMargins(px(24), px(16), px(24), px(24))
        whole.setSpacing(0)
        whole.addWidget(Label(theme, _("Runs"), "page", 600))
        outer = QHBoxLayout()
        whole.addLayout(outer, 1)
        middle = QWidget()
        middle.setMaximumWidth(px(764))
        middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, px(24), 0, 0)
        column.setSpacing(px(12))
        column.addLayout(self._top(ink))
        column.addSpacing(px(16))
        column.addWidget(Label(theme, _("Samples"), "body", 600))
        row = QHBoxLayout()
        row.setSpacing(px(16))
        cards = [sample for sample in SAMPLES if sample.card]
        self._cards = [SampleCard(ink, sample, primary=index == 0) for index, sample in enumerate(cards)]
        for card in self._cards:
            card.asked.connect(self.sample_asked)
            row.addWidget(card, 1)
        column.addLayout(row)
        column.addSpacing(px(16))
        column.addWidget(Label(theme, _("Or bring your own"), "body", 600))
        column.addWidget(self._ways(ink))
        column.addStretch(1)
        outer.addStretch(1)
        outer.addWidget(middle, 20)
        outer.addStretch(1)
        self.setWidget(page)

    def _top(self, ink: Ink) -> QHBoxLayout:
        theme, px = ink.theme, ink.theme.px
        row = QHBoxLayout()
        row.setSpacing(px(24))
        words = QVBoxLayout()
        words.setSpacing(px(6))
        words.addWidget(Label(theme, _("Nothing here yet. Start with a sample."), "page", 600, wrap=True))
        text = _("Actum runs long work on this computer and writes down, fact by fact, how it knows that the work is done.")
        words.addWidget(Label(theme, text, "body", 400, "text2", wrap=True))
        words.addStretch(1)
        row.addLayout(words, 1)
        row.addWidget(Explanation(ink), 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _ways(self, ink: Ink) -> Card:
        card = Card(ink.theme)
        rows = QVBoxLayout(card)
        rows.setContentsMargins(1, 1, 1, 1)
        rows.setSpacing(0)
        for way in WAYS:
            made = WayButton(ink, way, last=way is WAYS[-1])
            made.clicked.connect(self._on_way)
            rows.addWidget(made)
        return card

    def _on_way(self) -> None:
        sender = self.sender()
        if isinstance(sender, WayButton):
            self.own_asked.emit(sender.way.key)

    def focus_start(self) -> None:
        self._cards[0].run.setFocus()
