"""What the main window holds: sidebar, pages, status line; it hands what the controller says to the pages, and commands back.

It owns no truth: rows come from the store through item models, live states from the controller, and every command is
answered after its commit. Pages that are not shown are not filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError
from actum.limits import ACTIVE_SHOWN_MAX
from actum.workspace import Workspace
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from actum_desktop import measures, stalls
from actum_desktop.asking import Asking
from actum_desktop.comparedesk import CompareDesk
from actum_desktop.controller.events import Answered, Progressed, Supervising, Update
from actum_desktop.i18n import _
from actum_desktop.models.history import History
from actum_desktop.models.runreader import Seen
from actum_desktop.models.runsmodel import RunsModel
from actum_desktop.models.source import Counts, Source
from actum_desktop.palettedesk import PaletteDesk
from actum_desktop.places import Place, Places
from actum_desktop.resultsdesk import ResultsDesk
from actum_desktop.sending import Failed, Sending, Then
from actum_desktop.tasksdesk import TasksDesk
from actum_desktop.views.aboutview import AboutView
from actum_desktop.views.alertsview import AlertsView
from actum_desktop.views.helpview import HelpView
from actum_desktop.views.ink import Ink
from actum_desktop.views.launchview import LaunchView
from actum_desktop.views.notice import NoticeBox
from actum_desktop.views.runpage import RunPage
from actum_desktop.views.runsview import RunsView
from actum_desktop.views.settingsview import SettingsView
from actum_desktop.views.sidebar import Active, Sidebar
from actum_desktop.views.statusline import StatusLine
from actum_desktop.views.widgets import bare

if TYPE_CHECKING:
    from actum_desktop.models.palette import Again
    from actum_desktop.models.tasks import Shelf
    from actum_desktop.ports import Commands, Reads

_SECOND_MS = 1_000


class Window(QWidget):
    """What stands in the shell. Signals: `scheme_chosen`, `language_chosen`, `quit_asked` (),
    `in_flight_changed` () when other runs are in flight, or the queue was paused or resumed."""

    quit_asked = Signal()
    in_flight_changed = Signal()
    scheme_chosen = Signal(object)
    language_chosen = Signal(object)

    def __init__(self, ink: Ink, ws: Workspace, version: str, language: str = "system") -> None:
        super().__init__()
        self._ink, self._ws, self._version, self._language = ink, ws, version, language
        self._sending = Sending(self.tell)
        self._source: Source | None = None
        self._reads: Reads | None = None
        self._shelf: Shelf | None = None
        self._history = History()
        self._state: Supervising | None = None
        self._counts = Counts()
        self._seen_launch = False
        self.asking = Asking(self.send, ws.path, self)
        self.asking.admitted.connect(self.open_run)
        self.finder = PaletteDesk(ink, ws, self, self)
        self._places = Places(Place("runs"))
        self._outer = bare(QVBoxLayout(self))
        self._model = RunsModel(None, self, ws)
        self._model.freshened.connect(self._show_active)
        self._stalls = stalls.StallWatch(stalls.StallFile(ws.path / "crashes").keep, parent=self)
        self._build()
        self._second = QTimer(self)
        self._second.setInterval(_SECOND_MS)
        self._second.timeout.connect(self._on_second)
        self._second.start()
        self._make_shortcuts()
        self._sidebar.choose("runs")

    # ---- building

    def _build(self) -> None:
        """All pages, in the language of now."""
        ink = self._ink
        self._sidebar = Sidebar(ink, self._ws.path.name or "Actum")
        self._sidebar.chosen.connect(self._on_screen)
        self._sidebar.run_chosen.connect(self.open_run)
        self._sidebar.palette_asked.connect(self.finder.open)
        self._status = StatusLine(ink, self._ws.path)
        self._runs = RunsView(ink, self._model)
        self._runs.opened.connect(self.open_run)
        self._runs.stop_asked.connect(self._on_stop_in_list)
        self._runs.sample_asked.connect(self.asking.sample)
        self._runs.queue_asked.connect(self.ask_queue)
        self._page = RunPage(ink, self._ws)
        self._page.stop_asked.connect(self.asking.stop)
        self._page.back_asked.connect(self._on_runs)
        self._page.result_asked.connect(self.open_result)
        self._page.rerun_asked.connect(self.asking.rerun)
        self._page.edit_asked.connect(self._on_edit)
        self._page.attempt_chosen.connect(self._on_attempt)
        self._page.told.connect(self._status.say)
        self._alerts = AlertsView(ink)
        self._alerts.run_chosen.connect(self.open_run)
        self._alerts.check_asked.connect(self.asking.check)
        self._alerts.adopt_asked.connect(self.asking.adopt)
        self._alerts.attest_asked.connect(self.asking.attest)
        self._alerts.deliver_asked.connect(self.asking.deliver)
        self._settings = SettingsView(ink, self._language)
        self._settings.scheme_chosen.connect(self.scheme_chosen)
        self._settings.language_chosen.connect(self._on_language)
        self._settings.set_asked.connect(self.asking.set)
        self._fixed: dict[str, QWidget] = {"runs": self._runs, "run": self._page, "alerts": self._alerts}
        self._fixed |= {"settings": self._settings, "help": HelpView(ink), "about": AboutView(ink, self._ws, self._version)}
        self._launch = LaunchView(ink)
        self._launch.opened.connect(self._on_launch_opened)
        self._launch.check_asked.connect(self.asking.check)
        self.asking.checked.connect(self._launch.checked)
        self.asking.checked.connect(self._alerts.checked)
        self._launch.run_chosen.connect(self._on_launch_run)
        self._pages = QStackedWidget()
        self._make_desks()
        for page in self._fixed.values():
            self._pages.addWidget(page)
        self._notice = NoticeBox(ink)
        right = bare(QVBoxLayout())
        right.addWidget(self._notice)
        right.addWidget(self._pages, 1)
        work = QWidget()
        row = bare(QHBoxLayout(work))
        row.addWidget(self._sidebar)
        row.addLayout(right, 1)
        self._whole = QStackedWidget()
        self._whole.addWidget(work)
        self._whole.addWidget(self._launch)
        central = QWidget()
        column = bare(QVBoxLayout(central))
        column.addWidget(self._whole, 1)
        column.addWidget(self._status)
        self._central = central
        self._outer.addWidget(central)

    def _make_desks(self) -> None:
        """The screens that are made when they are first shown."""
        self._tasks = TasksDesk(self._ink, self._pages, self.send)
        self._tasks.run_chosen.connect(self.open_run)
        self._tasks.task_chosen.connect(self.open_task)
        self._runs.own_asked.connect(self._tasks.own_way)
        self._results = ResultsDesk(self._ink, self._ws, self._pages, self.send)
        self._results.result_chosen.connect(self.open_result)
        self._results.run_chosen.connect(self.open_run)
        self._results.list_chosen.connect(self._on_results_key)
        self._results.compare_chosen.connect(self.compare)
        self._runs.compare_asked.connect(self.compare)
        self._compare = CompareDesk(self._ink, self._ws, self._pages)
        self._compare.runs_chosen.connect(self.compare)
        self._compare.run_chosen.connect(self.open_run)
        self._compare.list_chosen.connect(self._on_results_key)
        self._compare.failed.connect(self.tell)
        if self._shelf is not None:
            self._tasks.join(self._shelf)

    def rebuild(self) -> None:
        """After a change of language: every word anew; what was open stays open."""
        self.finder.part()
        self._page.close_down()
        self._tasks.part()
        self._results.part()
        self._compare.part()
        showing_launch = self._whole.currentWidget() is self._launch
        old = self._central
        self._outer.removeWidget(old)
        self._model.retranslate()
        self._build()
        old.hide()
        old.deleteLater()
        if self._state is not None:
            self._supervise(self._state)
        if showing_launch:
            self._whole.setCurrentWidget(self._launch)
        self._refresh_store()
        self._show_place()
        QTimer.singleShot(0, self, self._status.look)

    def _make_shortcuts(self) -> None:
        for keys, slot in (
            ("Ctrl+1", partial(self._go, "tasks")),
            ("Ctrl+2", self._on_runs),
            ("Ctrl+3", self._on_results_key),
            ("Ctrl+4", partial(self._go, "alerts")),
            ("Ctrl+,", partial(self._go, "settings")),
            ("F1", partial(self._go, "help")),
            ("Ctrl+K", self.finder.open),
            ("Ctrl+N", self._on_new_key),
            ("Alt+Left", self.back),
            ("Alt+Right", self.forward),
            ("F6", self._on_next_pane),
            (QKeySequence(QKeySequence.StandardKey.Quit).toString() or "Ctrl+Q", self.quit_asked.emit),
        ):
            QShortcut(QKeySequence(keys), self, slot)

    # ---- joining

    def read(self, source: Source, reads: Reads, shelf: Shelf | None = None) -> None:
        """The store can be read: fill the pages with what is recorded. What is handed over stays whoever made it to close."""
        self._source, self._reads, self._shelf = source, reads, shelf
        if shelf is not None:
            self._tasks.join(shelf)
        self._model.source = source
        self._model.reload()
        self._refresh_store()
        self._status.look()
        if self._page.run:
            reads.ask(self._page.run, self._page.attempt_n)
        if self._state is not None:
            self._supervise(self._state)
        self._focus_page()
        self._stalls.start()

    def join(self, bridge: Commands) -> None:
        """The supervisor is up: commands go to it."""
        self._sending.join(bridge)

    def not_joined(self, error: ActumError) -> None:
        """The supervisor does not come up."""
        self.tell(error)
        self._sending.refuse(error)

    def part(self) -> None:
        """Before source and reader are closed."""
        self._second.stop()
        self._stalls.stop()
        self.finder.part()
        self._page.close_down()
        self._tasks.part()
        self._results.part()
        self._compare.part()
        self._sending.part()
        self._source, self._reads, self._shelf = None, None, None
        self._model.rest()
        self._model.source = None

    # ---- what the controller says

    def on_update(self, update: Update) -> None:
        now = measures.now_us()
        for live in update.live:
            self._history.add(live, now)
        self._model.apply(update.changes.runs, update.live)
        if update.changes.runs or update.changes.alerts or update.changes.tasks or update.changes.settings:
            self._refresh_store()
        self._tasks.on_update(update)
        self._results.on_update(update)
        for live in update.live:
            if live.run == self._page.run:
                self._page.live(live, self._history.samples(live.run))
        if self._page.run in update.changes.runs and self._reads is not None:
            self._reads.ask(self._page.run, self._page.attempt_n)

    def on_supervising(self, state: Supervising) -> None:
        """Told with every update; what has not changed is not shown again."""
        if state != self._state:
            self._supervise(state)

    def _supervise(self, state: Supervising) -> None:
        self._state = state
        self._status.supervising(state)
        self._settings.supervising(state)
        self._runs.supervising(state)
        self._launch.supervising(state, self._source, self._counts.waiting)
        self._tasks.supervising(state, self._counts.waiting)
        self.in_flight_changed.emit()
        if self._launch.news and not self._seen_launch and self._source is not None:
            self._seen_launch = True
            if self._places.now.screen == "runs":  # whoever has gone elsewhere meanwhile finds it among the alerts
                self._whole.setCurrentWidget(self._launch)
                self._launch.focus_start()

    def on_answered(self, answered: Answered) -> None:
        self._sending.answered(answered)

    def on_progressed(self, progressed: Progressed) -> None:
        self._results.on_progressed(progressed)

    def on_seen(self, seen: Seen) -> None:
        self._page.seen(seen)

    def tell(self, error: ActumError) -> None:
        """What went wrong, above the page, until it is closed."""
        self._notice.tell(error)

    # ---- commands

    def send(self, body: Mapping[str, Any], then: Then | None = None, failed: Failed | None = None) -> None:
        self._sending.send(body, then, failed)

    def _on_stop_in_list(self, run: int) -> None:
        """S in the list opens the run with its question in place; nothing is stopped on one key."""
        self.open_run(run)
        QTimer.singleShot(0, self._page, self._page.ask_when_known)

    def _on_edit(self, edited: tuple[str, Mapping[str, Any], int]) -> None:
        """The form of a task, filled with the values of a run; what is run from it is a rerun of that one."""
        task, parameters, run = edited
        if self._tasks.screen.show_task(task, parameters, rerun_of=run):
            self.open_task(task)
        else:
            self._status.say(_("The task “{task}” is no longer there.").format(task=task), "warn")

    def _on_attempt(self, run_and_n: tuple[int, int]) -> None:
        if self._reads is not None:
            self._reads.ask(*run_and_n)

    @property
    def in_flight(self) -> int:
        """Runs that wait, compute or hold a slot: what a closed window leaves behind."""
        return max(self._counts.open, self._state.slots_taken if self._state is not None else 0)

    @property
    def queue_paused(self) -> bool:
        return self._state is not None and self._state.queue_paused

    def ask_queue(self, what: str) -> None:
        """pause | resume"""
        self.asking.queue(what)

    def run_task(self, name: str, again: Again | None = None) -> None:
        """Run a task with what it sets by itself, or was run with; where that is not enough, its form says what is missing."""
        if said := self._tasks.run(name, again):
            self._status.say(said)

    def new_task(self, kind: str) -> None:
        """The dialog that defines one: program | function."""
        self._tasks.new_task(kind)

    def choose_language(self, language: str) -> None:
        self._on_language(language)

    @property
    def shown_run(self) -> RunPage | None:
        """The page of the run that is looked at, None where another page is."""
        return self._page if self._places.now.screen == "run" else None

    def screens(self) -> list[tuple[str, str, str, str]]:
        """(key, title, icon, keys) of every screen of the sidebar."""
        return self._sidebar.screens()

    def go(self, screen: str) -> None:
        self._go(screen)

    # ---- going places

    def open_run(self, run: object) -> None:
        if isinstance(run, int):
            self._go("run", run)

    def open_result(self, run: object) -> None:
        if isinstance(run, int):
            self._go("result", run)

    def open_task(self, name: object) -> None:
        """The page of a task; "" = the gallery."""
        self._go("task", str(name)) if name else self._go("tasks")

    def compare(self, runs: object) -> None:
        """Runs side by side, the first being what the others are compared with."""
        if isinstance(runs, tuple | list):
            self._go("compare", " ".join(str(run) for run in runs))

    def _go(self, screen: str, what: int | str = 0) -> None:
        self._places.go(Place(screen, what))
        self._show_place()

    def back(self) -> None:
        if self._places.step(-1):
            self._show_place()

    def forward(self) -> None:
        if self._places.step(1):
            self._show_place()

    def _show_place(self) -> None:
        screen, run = self._places.now
        pages = dict(self._fixed)
        self._sidebar.choose({"run": "runs", "task": "tasks", "result": "results", "compare": "results"}.get(screen, screen))
        if screen in ("tasks", "task"):
            pages[screen] = self._tasks.show(str(run) if screen == "task" else "")
        elif screen in ("results", "result"):
            pages[screen] = self._results.show(int(run))
        elif screen == "compare":
            pages[screen] = self._compare.show(tuple(int(each) for each in str(run).split()))
        elif isinstance(run, int) and screen == "run":
            self._page.open(run)
            live = self._model.live(run)
            if live is not None:
                self._page.live(live, self._history.samples(run))
            if self._reads is not None:
                self._reads.ask(run, self._page.attempt_n)
        self._pages.setCurrentWidget(pages[screen])
        self._focus_page()

    def _focus_page(self) -> None:
        if self._whole.currentWidget() is self._launch:
            self._launch.focus_start()
            return
        screen, what = self._places.now
        page = self._pages.currentWidget()
        if screen in ("tasks", "task"):
            self._tasks.screen.focus_start()
        elif screen in ("results", "result"):
            self._results.focus_start(int(what))
        elif screen == "compare":
            self._compare.page.focus_start()
        elif isinstance(page, RunsView | RunPage | AlertsView | SettingsView | HelpView | AboutView):
            page.focus_start()

    def _on_screen(self, key: str) -> None:
        self._go(key)

    def _on_runs(self) -> None:
        self._go("runs")

    def _on_results_key(self) -> None:
        self._go("results")

    def _on_new_key(self) -> None:
        self.new_task("program")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that no field, popover or panel wanted for itself: no shortcut, which would come before them."""
        if event.key() == Qt.Key.Key_Escape:
            self._on_escape()
        else:
            super().keyPressEvent(event)

    def _on_escape(self) -> None:
        above = {"run": "runs", "task": "tasks", "result": "results", "compare": "results"}.get(self._places.now.screen)
        if self._notice.isVisible():
            self._notice.hide()
        elif above is not None:
            self._go(above)

    def _on_next_pane(self) -> None:
        """Sidebar, page, and round again."""
        inside = self._sidebar.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
        if inside:
            self._focus_page()
        else:
            self._sidebar.focus_chosen()

    def _on_language(self, language: str) -> None:
        self._language = language
        self.language_chosen.emit(language)

    def _on_launch_opened(self, resume: bool) -> None:
        if resume and self._state is not None and self._state.queue_paused:
            self.asking.queue("resume")
        self._whole.setCurrentIndex(0)
        self._focus_page()

    def _on_launch_run(self, run: int) -> None:
        self._whole.setCurrentIndex(0)
        self.open_run(run)

    # ---- keeping fresh

    def _refresh_store(self) -> None:
        if self._source is None:
            return
        self._counts = self._source.counts()
        alerts = self._source.alerts()
        self._runs.refresh_counts(self._counts)
        self._alerts.show_alerts(alerts)
        self._settings.show_values(self._source.settings())
        self._sidebar.counts(self._counts.open, len(alerts))
        if self._state is not None:
            self._supervise(self._state)
        else:
            self.in_flight_changed.emit()

    def _show_active(self) -> None:
        rows = range(min(len(self._model.open_items), ACTIVE_SHOWN_MAX))
        self._sidebar.show_active([Active(self._model.item(row).number, self._model.cells_of(row)) for row in rows])

    def _on_second(self) -> None:
        if not self.isVisible():
            return
        self._model.tick()
        self._show_active()
