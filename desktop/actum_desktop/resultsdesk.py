"""The Results screens in the window: made when they are first shown, fed by a reader and helpers of their own, parted in order.

A start need not pay for them. Whatever has to be recorded (a check, an export) goes through the window's one way to the
supervisor; what only looks at published files does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError
from actum.workspace import Workspace
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from actum_desktop import preferences
from actum_desktop.controller.events import Progressed, Update
from actum_desktop.tasksdesk import Send
from actum_desktop.views.ink import Ink

if TYPE_CHECKING:
    from actum_desktop.batchdesk import BatchDesk
    from actum_desktop.controller.tablehelper import TableHelper
    from actum_desktop.elsewheredesk import ElsewhereDesk
    from actum_desktop.models.resultreader import ResultReader, ResultSeen
    from actum_desktop.models.resultsmodel import ResultsModel
    from actum_desktop.models.tablereader import TableReader
    from actum_desktop.views.resultpage import ResultPage
    from actum_desktop.views.resultsview import ResultsView

_AGAIN_MS = 250  # changes that come together are looked at once


class ResultsDesk(QObject):
    """Signals: `result_chosen` (run number), `run_chosen` (run number), `list_chosen` (), `compare_chosen` (run numbers)."""

    result_chosen = Signal(object)
    run_chosen = Signal(object)
    list_chosen = Signal()
    compare_chosen = Signal(object)

    def __init__(self, ink: Ink, ws: Workspace, pages: QStackedWidget, send: Send) -> None:
        super().__init__(pages)
        self._ink, self._ws, self._pages, self._send = ink, ws, pages, send
        self._made = False
        self._parted = False
        self._listed = False
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_AGAIN_MS)
        self._again.timeout.connect(self._on_again)
        self._reader: ResultReader
        self._tables: TableReader
        self._helper: TableHelper
        self._model: ResultsModel
        self._list: ResultsView
        self._page: ResultPage
        self._batch: BatchDesk
        self._elsewhere: ElsewhereDesk | None = None

    def show(self, run: int) -> QWidget:
        """The page of a run's result, or the list (0), made if need be and being read anew."""
        self._make()
        if not run:
            self._listed = True
            self._model.reload()
            return self._list
        fresh = run != self._page.run
        self._page.open(run)
        self._reader.ask(run)
        if fresh:  # whether all of it is still there, recorded only where it is not as it was
            self._send({"verb": "look", "run": run}, _nothing, _quietly)
        return self._page

    @property
    def page(self) -> ResultPage:
        self._make()
        return self._page

    @property
    def list(self) -> ResultsView:
        self._make()
        return self._list

    def focus_start(self, run: int) -> None:
        (self._page if run else self._list).focus_start()

    def on_update(self, update: Update) -> None:
        """Runs that changed may have a result now, or another check."""
        if self._made and not self._parted and update.changes.runs:
            self._again.start()

    def on_progressed(self, progressed: Progressed) -> None:
        if self._made and not self._parted:
            self._page.progressed(progressed.watch, progressed.done, progressed.total, progressed.unit)
            self._batch.progressed(progressed.watch, progressed.done, progressed.total)

    def part(self) -> None:
        """Readers and helpers end; what they wrote for the window is removed."""
        self._again.stop()
        if self._made and not self._parted:
            self._parted = True
            if self._page.dialog is not None:
                self._page.dialog.close()
            self._batch.close()
            if self._elsewhere is not None:
                self._elsewhere.close()
            self._reader.close()
            self._tables.close()
            self._helper.close()

    def _make(self) -> None:
        if self._made:
            return
        from actum_desktop.batchdesk import BatchDesk
        from actum_desktop.charts.preload import preload
        from actum_desktop.controller.tablehelper import TableHelper
        from actum_desktop.models.arrangement import Arrangements
        from actum_desktop.models.resultreader import ResultReader
        from actum_desktop.models.resultsmodel import ResultsModel
        from actum_desktop.models.tablereader import TableReader
        from actum_desktop.views.resultpage import ResultPage
        from actum_desktop.views.resultsview import ResultsView

        self._made = True
        self._reader = ResultReader(self._ws, self, meanwhile=preload)
        self._tables = TableReader(self)
        self._helper = TableHelper(self)
        self._model = ResultsModel(self._reader.ask_page, self)
        self._reader.page.connect(self._model.take)
        self._reader.seen.connect(self._on_seen)
        self._list = ResultsView(self._ink, self._model)
        self._list.opened.connect(self.result_chosen)
        self._list.compare_asked.connect(self.compare_chosen)
        self._list.export_asked.connect(self._on_export)
        self._list.elsewhere_asked.connect(self.open_elsewhere)
        self._batch = BatchDesk(self._ink, self._send, self._list)
        self._page = ResultPage(
            self._ink, self._tables, self._helper, Arrangements(preferences.place().with_name("tables.json"))
        )
        self._page.list_asked.connect(self.list_chosen)
        self._page.run_asked.connect(self.run_chosen)
        self._page.command_asked.connect(self._on_command)
        for page in (self._list, self._page):
            self._pages.addWidget(page)

    @property
    def elsewhere(self) -> ElsewhereDesk:
        """The desk of results from elsewhere, made when it is first asked for."""
        self._make()
        if self._elsewhere is None:
            from actum_desktop.elsewheredesk import ElsewhereDesk
            from actum_desktop.models.arrangement import Arrangements

            self._elsewhere = ElsewhereDesk(self._ink, Arrangements(preferences.place().with_name("tables.json")), self)
            self._elsewhere.page.list_asked.connect(self._on_left_elsewhere)
            self._pages.addWidget(self._elsewhere.page)
        return self._elsewhere

    def open_elsewhere(self, path: object = None) -> None:
        """Show a result that came from elsewhere; without a path the page asks for one."""
        self._pages.setCurrentWidget(self.elsewhere.page)
        self.elsewhere.open(path)

    def _on_left_elsewhere(self) -> None:
        self._pages.setCurrentWidget(self._list)
        self._list.focus_start()

    @property
    def batch(self) -> BatchDesk:
        self._make()
        return self._batch

    def _on_export(self, runs: object) -> None:
        """All tables of the results that are selected."""
        from actum_desktop.batchdesk import Chosen

        if isinstance(runs, list):
            rows = self._model.listed(runs)
            self._batch.open([Chosen(row.run, row.tables, bool(row.metrics), row.rows, row.size_bytes) for row in rows])

    def _on_seen(self, seen: ResultSeen) -> None:
        self._page.seen(seen)

    def _on_again(self) -> None:
        if self._listed:
            self._model.reload()
        if self._page.run and self._page.isVisible():
            self._reader.ask(self._page.run)

    def _on_command(self, body: object) -> None:
        if not isinstance(body, dict):
            return
        verb = str(body["verb"])
        if verb == "cancel":
            self._send(body)
            return
        answered = self._page.verified if verb in ("verify", "rebuild") else self._page.exported

        def then(ok: Mapping[str, Any]) -> None:
            answered(ok, None)

        def failed(error: ActumError) -> bool:
            answered(None, error)
            return True

        self._send(body, then, failed)


def _nothing(ok: Mapping[str, Any]) -> None:
    """What a look finds comes with the changes of its run."""


def _quietly(error: ActumError) -> bool:
    """A look that could not be taken now says nothing about the result."""
    return True
