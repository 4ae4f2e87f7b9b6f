"""The page of all runs: filter, segments, the table, its footer; or the first steps while there is no run at all."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QStackedLayout, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.controller.events import Supervising
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.runsmodel import COLUMNS, RunsModel
from actum_desktop.models.source import Counts
from actum_desktop.views.firstrun import SAMPLES, FirstRun
from actum_desktop.views.ink import Ink
from actum_desktop.views.rowtable import RowTable, Widths
from actum_desktop.views.runsdelegate import Header, RunsDelegate
from actum_desktop.views.widgets import Card, Label, Rule, Segments, button

_WIDTHS = Widths((118, 148, 184, 92, 88, 80, 86, 106, 110), growing=(1, 2), part=0.6, slack=60)
_BLOCKS = {"all": ("open", "ended"), "active": ("open",), "ended": ("ended",)}
_TYPING_MS = 180


class RunsTable(RowTable):
    """The table. Signals: `opened` (run number), `stop_asked` (run number)."""

    stop_asked = Signal(object)

    def __init__(self, ink: Ink, model: RunsModel) -> None:
        super().__init__(ink, model, _WIDTHS)
        self._runs = model
        self.setAccessibleName(_("Runs"))
        self.setModel(model)
        self.dress_with(RunsDelegate(ink, self), Header(ink, self))

    def select_run(self, number: int) -> None:
        row = self._runs.row_of(number)
        if row is not None:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().setCurrentIndex(self._runs.index(row, 0), flags)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = self.current_run()
        if event.key() == Qt.Key.Key_S and not event.modifiers() and number is not None:
            self.stop_asked.emit(number)
        else:
            super().keyPressEvent(event)


class RunsView(QWidget):
    """Signals: `opened`, `stop_asked` (run number), `sample_asked` (task name), `own_asked` (program | function | recipe),
    `queue_asked` (pause | resume), `compare_asked` (run numbers)."""

    opened = Signal(object)
    stop_asked = Signal(object)
    sample_asked = Signal(object)
    own_asked = Signal(object)
    queue_asked = Signal(object)
    compare_asked = Signal(object)

    def __init__(self, ink: Ink, model: RunsModel) -> None:
        super().__init__()
        theme = ink.theme
        self._model, self._counts = model, Counts()
        px = theme.px
        self.table = RunsTable(ink, model)
        self.table.opened.connect(self.opened)
        self.table.stop_asked.connect(self.stop_asked)
        self._title = Label(theme, _("Runs"), "page", 600)
        self._note = Label(theme, "", "body", 400, "text2")
        self._queue = button(theme, _("Pause queue"), self._on_queue, icon="pause")
        self._paused = False
        self._sample = button(theme, _("Run a sample"), kind="primary", icon="play")
        self._menu = QMenu(self._sample)
        self._menu.setAccessibleName(_("Samples"))
        for sample in SAMPLES:
            self._menu.addAction(_(sample.title)).setData(sample.task)
        self._menu.triggered.connect(self._on_sample)
        self._sample.setMenu(self._menu)
        self._filter = QLineEdit()
        self._filter.setPlaceholderText(_("Filter by task, run number or text"))
        self._filter.setAccessibleName(_("Filter runs"))
        self._filter.setClearButtonEnabled(True)
        self._filter.addAction(theme.icon("magnifying-glass", "text3"), QLineEdit.ActionPosition.LeadingPosition)
        self._filter.setFixedWidth(px(260))
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._on_filter)
        self._filter.textChanged.connect(self._typing.start)
        self._segments = Segments(theme, _("Which runs"), (("all", _("All")), ("active", _("Active")), ("ended", _("Ended"))))
        self._segments.chosen.connect(self._on_filter)
        self._total = Label(theme, "", "caption", 400, "text2")
        self._hints = Label(theme, "", "caption", 400, "text3")
        self._none = Label(theme, "", "body", 400, "text2", wrap=True)
        self._clear = button(theme, _("Clear filters"), self._on_clear, small=True)
        self._first = FirstRun(ink)
        self._first.sample_asked.connect(self.sample_asked)
        self._first.own_asked.connect(self.own_asked)
        self._build(ink)
        self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self.table.compare_asked.connect(self.compare_asked)
        model.looked.connect(self._on_rows)
        QShortcut(QKeySequence("/"), self, self._filter.setFocus)
        QShortcut(QKeySequence.StandardKey.Find, self, self._filter.setFocus)
        self._filter.installEventFilter(self)
        self.refresh_counts(Counts())

    def _build(self, ink: Ink) -> None:
        px = ink.theme.px
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self._title)
        head.addSpacing(px(4))
        head.addWidget(self._note)
        head.addStretch(1)
        head.addWidget(self._queue)
        head.addWidget(self._sample)
        tools = QHBoxLayout()
        tools.setSpacing(px(8))
        tools.addWidget(self._filter)
        tools.addWidget(self._segments)
        tools.addStretch(1)
        card = Card(ink.theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.setSpacing(0)
        empty = QVBoxLayout()
        empty.setContentsMargins(px(24), px(40), px(24), px(40))
        empty.addWidget(self._none, 0, Qt.AlignmentFlag.AlignHCenter)
        empty.addSpacing(px(12))
        empty.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignHCenter)
        empty.addStretch(1)
        nothing = QWidget()
        nothing.setLayout(empty)
        parts = QWidget()
        self._stack = QStackedLayout(parts)  # without a widget of its own, what is added first would be a window for a moment
        self._stack.addWidget(self.table)
        self._stack.addWidget(nothing)
        inside.addWidget(parts, 1)
        inside.addWidget(Rule(ink.theme))
        foot = QHBoxLayout()
        foot.setContentsMargins(px(16), px(6), px(16), px(7))
        foot.addWidget(self._total)
        foot.addStretch(1)
        foot.addWidget(self._hints)
        inside.addLayout(foot)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(12))
        column.addLayout(head)
        column.addLayout(tools)
        column.addWidget(card, 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(full)
        self._pages.addWidget(self._first)

    # ---- state

    def refresh_counts(self, counts: Counts) -> None:
        self._counts = counts
        self._segments.relabel("active", f"{_('Active')}  {counts.open}" if counts.open else _("Active"))
        self._pages.setCurrentIndex(1 if counts.total == 0 and not self._filtered() else 0)
        self._on_selection()
        self._show_emptiness()

    def supervising(self, state: Supervising) -> None:
        text = _("{taken} of {slots} slots in use").format(taken=state.slots_taken, slots=state.slots)
        if self._counts.waiting:
            waiting = ngettext("{n} waiting", "{n} waiting", self._counts.waiting).format(n=self._counts.waiting)
            text = _("{first}, {second}").format(first=text, second=waiting)
        if state.queue_paused:
            text = _("{first}, {second}").format(first=text, second=_("queue paused"))
        self._note.setText(text)
        self._paused = state.queue_paused
        self._queue.say(_("Resume queue") if self._paused else _("Pause queue"))
        pausing = _("No waiting run starts until the queue is resumed; what runs goes on")
        self._queue.setToolTip(_("What waits may start") if self._paused else pausing)

    def _filtered(self) -> bool:
        return bool(self._filter.text().strip()) or self._segments.current != "all"

    def _show_emptiness(self) -> None:
        empty = self._model.rowCount() == 0
        self._stack.setCurrentIndex(1 if empty else 0)
        text = self._filter.text().strip()
        if text:
            self._none.setText(_("No runs match “{text}”.").format(text=text))
        else:
            self._none.setText(_("No runs here."))
        self._clear.setVisible(self._filtered())

    def _on_selection(self) -> None:
        total = ngettext("{n} run", "{n} runs", self._counts.total).format(n=measures.count(self._counts.total))
        chosen = len(self.table.selected())
        if chosen:
            total += " · " + ngettext("{n} selected", "{n} selected", chosen).format(n=chosen)
        if self._model.looking:
            total = _("Looking through {runs} …").format(runs=total)
        self._total.setText(total)
        hints = (_("Active first, then newest"), _("Enter opens"), _("C compares"), _("S stops"), _("/ filters"))
        self._hints.setText("  ·  ".join(hints))

    def _on_filter(self) -> None:
        self._typing.stop()
        self._model.set_filter(self._filter.text(), _BLOCKS[self._segments.current])
        self._on_rows()

    def _on_rows(self) -> None:
        self._on_selection()
        self._show_emptiness()

    def _on_clear(self) -> None:
        self._segments.choose("all")
        self._filter.clear()
        self._on_filter()

    def _on_sample(self, action: object) -> None:
        self.sample_asked.emit(action.data())  # type: ignore[attr-defined]

    def _on_queue(self) -> None:
        self.queue_asked.emit("resume" if self._paused else "pause")

    def focus_start(self) -> None:
        """Where work starts on this page: the current row, or the first sample."""
        if self._pages.currentIndex() == 1:
            self._first.focus_start()
            return
        if not self.table.currentIndex().isValid() and self._model.rowCount():
            self.table.setCurrentIndex(self._model.index(0, 0))
        self.table.setFocus()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if watched is self._filter and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self._filter.clear()
                self.table.setFocus()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return):
                self.focus_start()
                return True
        return False


assert len(_WIDTHS.columns) == len(COLUMNS)
