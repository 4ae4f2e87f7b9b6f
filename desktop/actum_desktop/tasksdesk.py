"""The Tasks screens in the window: made when they are first shown, joined, told, parted; and the dialog for a new task.

A start need not pay for them. Whatever they ask for goes through the window's one way to the supervisor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from actum.limits import LIVE_RUNS_KEPT_MAX
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget

from actum_desktop.controller.events import Live, Supervising, Update
from actum_desktop.i18n import _
from actum_desktop.sending import Failed, Then
from actum_desktop.views.ink import Ink

if TYPE_CHECKING:
    from actum_desktop.models.palette import Again
    from actum_desktop.models.tasks import Shelf
    from actum_desktop.views.programdialog import ProgramDialog
    from actum_desktop.views.tasksscreen import CommandAsked, TasksScreen


class Send(Protocol):
    """The window's way to the supervisor."""

    def __call__(self, body: Mapping[str, Any], then: Then | None = None, failed: Failed | None = None) -> None: ...


class TasksDesk(QObject):
    """Signals: `run_chosen` (number), `task_chosen` (name, "" = the gallery)."""

    run_chosen = Signal(object)
    task_chosen = Signal(object)

    def __init__(self, ink: Ink, pages: QStackedWidget, send: Send) -> None:
        super().__init__(pages)
        self._ink, self._pages, self._send = ink, pages, send
        self._shelf: Shelf | None = None
        self._state: tuple[Supervising, int] | None = None
        self._screen: TasksScreen | None = None
        self._live: dict[int, Live] = {}
        self.dialog: ProgramDialog | None = None

    @property
    def screen(self) -> TasksScreen:
        if self._screen is None:
            from actum_desktop.views.tasksscreen import TasksScreen

            self._screen = screen = TasksScreen(self._ink)
            screen.command_asked.connect(self._on_command)
            screen.run_chosen.connect(self.run_chosen)
            screen.opened.connect(self.task_chosen)
            screen.new_asked.connect(self.new_task)
            self._pages.addWidget(screen)
            if self._shelf is not None:
                screen.join(self._shelf)
            if self._state is not None:
                screen.supervising(*self._state)
            screen.model.runs_changed(self._live.values())
        return self._screen

    def join(self, shelf: Shelf) -> None:
        self._shelf = shelf
        if self._screen is not None:
            self._screen.join(shelf)

    def part(self) -> None:
        """Before the shelf is closed."""
        if self.dialog is not None:
            self.dialog.close()
        if self._screen is not None:
            self._screen.part()
        self._shelf = None

    def on_update(self, update: Update) -> None:
        if self._screen is not None:
            self._screen.on_update(update)
            return
        if len(self._live) > LIVE_RUNS_KEPT_MAX:
            self._live.clear()
        self._live.update((live.run, live) for live in update.live)

    def supervising(self, state: Supervising, waiting: int) -> None:
        self._state = (state, waiting)
        if self._screen is not None:
            self._screen.supervising(state, waiting)

    def show(self, name: str, parameters: Mapping[str, Any] | None = None) -> TasksScreen:
        """The page of a task, or the gallery where there is none of that name. `parameters` are filled into its form."""
        if not name or not self.screen.show_task(name, parameters):
            self.screen.show_gallery()
        return self.screen

    def run(self, name: str, again: Again | None = None) -> str:
        """Run a task as its card does, with what it sets by itself, or with what it was run with `again`: said in words.

        Where that is not enough, its form says what is missing.
        """
        if again is None or not self.screen.show_task(name, again.parameters, again.run):
            self.screen.cards.run_asked.emit(name)
            return ""
        page = self.screen.page
        if page is None or page.run_form is None:
            return ""
        if again.preset:
            page.run_form.choose_preset(again.preset)
        self.task_chosen.emit(name)
        page.run_form.press()
        if again.preset:
            return _("With the values of the preset “{name}”.").format(name=again.preset)
        return _("With the values of run {n}.").format(n=again.run)

    def _on_command(self, asked: CommandAsked) -> None:
        """A run of a form, or its presets; what is refused of a run stands on the form."""
        if asked.kind == "run":
            self._send(asked.body, self._on_admitted, self.screen.run_answered)
        else:
            self._send(asked.body)

    def _on_admitted(self, ok: Mapping[str, Any]) -> None:
        self.screen.run_answered(None)
        self.run_chosen.emit(int(ok["run"]))

    # ---- a new task

    def own_way(self, way: object) -> None:
        """From the first steps: a dialog for work of one's own, or the tasks that are there."""
        self.task_chosen.emit("")
        if way != "recipe":
            self.new_task(way)

    def new_task(self, kind: object) -> None:
        """The dialog that defines one; the window goes on beside it."""
        from actum.engines.tryout import try_out

        from actum_desktop.views.programdialog import ProgramDialog

        if self.dialog is not None:
            self.dialog.close()
        self.dialog = dialog = ProgramDialog(self._ink, self.screen.background, str(kind), try_out, self._pages)
        dialog.defined.connect(self._on_defined)
        dialog.finished.connect(self._on_finished)
        dialog.open()
        dialog.focus_start()

    def _on_defined(self, contract: Mapping[str, Any]) -> None:
        if self.dialog is not None:
            self._send({"verb": "task_add", "contract": contract}, self._on_added, self.dialog.refused)

    def _on_added(self, ok: Mapping[str, Any]) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        self.screen.model.reload()
        self.task_chosen.emit(str(ok["task"]))

    def _on_finished(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()
