"""Tasks: the gallery, and the page of the task that is open. It sends nothing itself; it says what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.limits import INPUT_COPY_BYTES_MAX_DEFAULT
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QStackedLayout, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.controller.events import Supervising, Update
from actum_desktop.forms import presets
from actum_desktop.forms.paths import Surroundings, dropped
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import runcells
from actum_desktop.models.background import Background
from actum_desktop.models.tasks import LAST_RUNS, Shelf, TasksModel
from actum_desktop.views.dropcue import DropCue
from actum_desktop.views.ink import Ink
from actum_desktop.views.runform import PastRun
from actum_desktop.views.taskcards import TaskCards
from actum_desktop.views.taskpage import TaskPage, TaskRunAsked
from actum_desktop.views.widgets import Label, Segments, button

_TYPING_MS = 120


@dataclass(frozen=True, slots=True)
class CommandAsked:
    """A body for the supervisor. `kind` says whom the answer concerns: run | preset | task."""

    kind: str
    body: Mapping[str, Any]


class TasksScreen(QWidget):
    """Signals: `command_asked` (CommandAsked), `run_chosen` (number), `opened` (task name, "" = the gallery),
    `new_asked` (program | function)."""

    command_asked = Signal(object)
    run_chosen = Signal(object)
    opened = Signal(object)
    new_asked = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.background = Background(self)
        self._shelf: Shelf | None = None
        self._waiting, self._free = 0, 1
        self.model = TasksModel(None, self)
        self.cards = TaskCards(ink, self.model)
        self.cards.opened.connect(self.opened)
        self.cards.run_asked.connect(self._on_run_card)
        self.page: TaskPage | None = None
        self._rerun_of: int | None = None
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._gallery())
        self._dropped: list[str] = []
        self._cue = DropCue(ink, self)
        self._menu = QMenu(self)
        self._menu.setAccessibleName(_("Use the file in a task"))
        self._menu.triggered.connect(self._on_task_for_file)
        self.setAcceptDrops(True)
        QShortcut(QKeySequence("/"), self, self._filter.setFocus)
        QShortcut(QKeySequence.StandardKey.Find, self, self._filter.setFocus)

    # ---- building

    def _gallery(self) -> QWidget:
        theme, px = self._ink.theme, self._ink.theme.px
        self._note = Label(theme, "", "body", 400, "text2")
        self._new = button(theme, _("New task"), kind="primary", icon="plus", tip=_("New task (Ctrl+N)"))
        menu = QMenu(self._new)
        menu.setAccessibleName(_("New task"))
        menu.addAction(_("Run a program…"), self._on_program)
        menu.addAction(_("Add a Python function…"), self._on_function)
        self._new.setMenu(menu)
        self._filter = QLineEdit()
        self._filter.setFont(theme.font())
        self._filter.setPlaceholderText(_("Search tasks"))
        self._filter.setAccessibleName(_("Search tasks"))
        self._filter.setClearButtonEnabled(True)
        self._filter.addAction(theme.icon("magnifying-glass", "text3"), QLineEdit.ActionPosition.LeadingPosition)
        self._filter.setFixedWidth(px(280))
        self._filter.installEventFilter(self)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._on_filter)
        self._filter.textChanged.connect(self._typing.start)
        choices = (("", _("All")), ("own", _("Yours")), ("built_in", _("Built in")))
        self._whose = Segments(theme, _("Which tasks"), choices)
        self._whose.chosen.connect(self._on_filter)
        self._none = Label(theme, "", "body", 400, "text2", wrap=True)
        self._none.hide()
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(24), px(16), px(8), 0)
        column.setSpacing(px(12))
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, px(16), 0)
        head.setSpacing(px(12))
        head.addWidget(Label(theme, _("Tasks"), "page", 600))
        head.addWidget(self._note)
        head.addStretch(1)
        head.addWidget(self._new)
        column.addLayout(head)
        tools = QHBoxLayout()
        tools.setSpacing(px(8))
        tools.addWidget(self._filter)
        tools.addWidget(self._whose)
        tools.addStretch(1)
        column.addLayout(tools)
        column.addSpacing(px(4))
        column.addWidget(self._none)
        column.addWidget(self.cards, 1)
        return page

    # ---- joining

    def join(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.model.use(shelf)
        self._show_note()

    def part(self) -> None:
        """Before the shelf is closed: nothing is read any more."""
        self.background.close()
        self._shelf = None
        self.model.use(None)

    def supervising(self, state: Supervising, waiting: int) -> None:
        self._waiting, self._free = waiting, state.slots - state.slots_taken
        if self.page is not None and self.page.run_form is not None:
            self.page.run_form.show_slots(self._waiting, self._free)

    def on_update(self, update: Update) -> None:
        changes = update.changes
        if changes.tasks:
            current = self.cards.current()
            self.model.reload()
            self._choose(current)
            self._show_note()
        elif changes.runs or update.live:
            self.model.runs_changed(update.live)
        if (changes.runs or changes.tasks) and self.isVisible():
            self._show_runs()

    # ---- going places

    def showEvent(self, event: QShowEvent) -> None:
        """What happened while another screen was shown."""
        self._show_runs()
        super().showEvent(event)

    def show_gallery(self) -> None:
        self._stack.setCurrentIndex(0)

    def show_task(self, name: str, parameters: Mapping[str, Any] | None = None, rerun_of: int | None = None) -> bool:
        """The page of a task, kept as it was left when it is the one that was open. False = there is no such task.

        `parameters` are filled in; what is run then is a rerun of the run `rerun_of`, where they are those of one.
        """
        item = self.model.named(name)
        if item is None:
            return False
        if self.page is None or self.page.item != item or parameters is not None:
            self._replace(TaskPage(item, self._surroundings()))
            self._rerun_of = rerun_of
            if parameters is not None and self.page is not None:
                self.page.fill(parameters)
        self._stack.setCurrentIndex(1)
        return True

    def _replace(self, page: TaskPage) -> None:
        old = self.page
        self.page = page
        page.back_asked.connect(self._on_back)
        page.run_asked.connect(self._on_run)
        page.presets_kept.connect(self._on_presets)
        page.run_chosen.connect(self.run_chosen)
        self._stack.addWidget(page)
        if old is not None:
            self._stack.removeWidget(old)
            old.deleteLater()
        if self._shelf is not None:
            page.show_presets(presets.read(self._shelf.setting(presets.setting_name(page.item.name))))
        if page.run_form is not None:
            page.run_form.show_slots(self._waiting, self._free)
        self._show_runs()

    def _surroundings(self) -> Surroundings:
        setting = self._shelf.setting("input_copy_bytes_max") if self._shelf is not None else None
        copy_bytes_max = setting if isinstance(setting, int) else INPUT_COPY_BYTES_MAX_DEFAULT
        return Surroundings(self._ink, self.background, Path.home(), copy_bytes_max)

    def focus_start(self) -> None:
        if self._stack.currentIndex() == 1 and self.page is not None:
            self.page.focus_start()
            return
        if not self.cards.currentIndex().isValid() and self.model.rowCount():
            self.cards.setCurrentIndex(self.model.index(0))
        self.cards.setFocus()

    # ---- what is asked

    def _on_run(self, asked: TaskRunAsked) -> None:
        body: dict[str, Any] = {
            "verb": "run",
            "task": asked.task,
            "version": asked.version,
            "parameters": dict(asked.asked.parameters),
            "base": str(Path.home()),
            "key": asked.asked.key,
            "trigger": "manual" if self._rerun_of is None else "rerun",
            "labels": [],
            "rerun_of": self._rerun_of,
        }
        self.command_asked.emit(CommandAsked("run", body))

    def _on_run_card(self, name: str) -> None:
        """Run with what the task sets by itself; where that is not enough, the form says what is missing."""
        self.opened.emit(name)
        if self.page is not None and self.page.item.name == name and self.page.run_form is not None:
            self.page.run_form.press()

    def _on_presets(self, kept: tuple[presets.Preset, ...]) -> None:
        if self.page is not None:
            self.command_asked.emit(CommandAsked("preset", presets.command(self.page.item.name, kept)))

    def run_answered(self, error: ActumError | None) -> bool:
        """True = the error is shown on the form."""
        form = self.page.run_form if self.page is not None else None
        if form is None:
            return False
        if error is None:
            form.admitted()
            return True
        return form.refused(error)

    def _on_back(self) -> None:
        self.opened.emit("")

    def _on_program(self) -> None:
        self.new_asked.emit("program")

    def _on_function(self) -> None:
        self.new_asked.emit("function")

    # ---- files dropped on the gallery

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._stack.currentIndex() == 0 and dropped(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._cue.say(_("Drop it here to choose its task"))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._cue.say("")

    def dropEvent(self, event: QDropEvent) -> None:
        """The tasks that take a file are offered; dropped files are only read."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self._cue.say("")
        self._dropped = dropped(event.mimeData())
        self._menu.clear()
        for item in self.model.all_items():
            for parameter in item.file_parameters():
                text = _("{task}: use as {field}").format(task=item.title, field=parameter[1])
                self._menu.addAction(text.replace("&", "&&")).setData((item.name, parameter[0], parameter[2]))
        if not self._menu.isEmpty():
            self._menu.popup(self.mapToGlobal(event.position().toPoint()))

    def _on_task_for_file(self, action: QAction) -> None:
        name, field, several = action.data()
        self.opened.emit(name)
        form = self.page.run_form if self.page is not None and self.page.item.name == name else None
        if form is not None and self._dropped:
            form.take(field, self._dropped if several else self._dropped[:1])

    # ---- showing

    def _show_runs(self) -> None:
        page, shelf = self.page, self._shelf
        if page is None or shelf is None:
            return
        now, runs = measures.now_us(), []
        for item in shelf.last_runs(page.item.name, LAST_RUNS):
            facts = item.implied_facts()
            cells = runcells.cells(item, None, shelf.facts(item.number) if facts is None else facts, now)
            runs.append(PastRun(item.number, cells, measures.when(item.finished_us or item.created_us, now)))
        page.show_runs(runs, self.model.card(page.item))

    def _show_note(self) -> None:
        self._note.setText(ngettext("{n} task", "{n} tasks", self.model.total).format(n=self.model.total))
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        empty = self.model.rowCount() == 0
        text = self._filter.text().strip()
        said = _("No tasks match “{text}”.").format(text=text) if text else _("No tasks here. New task makes one.")
        self._none.setText(said)
        self._none.setVisible(empty)
        self.cards.setVisible(not empty)

    def _choose(self, name: str) -> None:
        row = self.model.row_of(name)
        if row >= 0:
            self.cards.setCurrentIndex(self.model.index(row))

    def _on_filter(self) -> None:
        self._typing.stop()
        current = self.cards.current()
        self.model.set_filter(self._filter.text(), self._whose.current)
        self._choose(current)
        self._show_emptiness()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if watched is self._filter and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self._filter.clear()
                self._on_filter()
                self.focus_start()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return):
                self._on_filter()
                self.focus_start()
                return True
        return False
