"""The compare page in the window: made when it is first shown, fed by a reader and a helper of its own, parted in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actum.workspace import Workspace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from actum_desktop.views.ink import Ink

if TYPE_CHECKING:
    from actum_desktop.controller.tablehelper import TableHelper
    from actum_desktop.models.comparing import Compared, CompareReader
    from actum_desktop.views.compareview import CompareView


class CompareDesk(QObject):
    """Signals: `runs_chosen` (tuple of run numbers), `run_chosen` (run number), `list_chosen` (), `failed` (ActumError)."""

    runs_chosen = Signal(object)
    run_chosen = Signal(object)
    list_chosen = Signal()
    failed = Signal(object)

    def __init__(self, ink: Ink, ws: Workspace, pages: QStackedWidget) -> None:
        super().__init__(pages)
        self._ink, self._ws, self._pages = ink, ws, pages
        self._page: CompareView | None = None
        self._reader: CompareReader
        self._helper: TableHelper

    def show(self, runs: tuple[int, ...]) -> QWidget:
        """The page, being read anew."""
        page = self.page
        self._reader.ask(runs)
        return page

    @property
    def page(self) -> CompareView:
        if self._page is None:
            from actum_desktop.controller.tablehelper import TableHelper
            from actum_desktop.models.comparing import CompareReader
            from actum_desktop.views.compareview import CompareView

            self._reader = CompareReader(self._ws, self)
            self._helper = TableHelper(self)
            self._page = CompareView(self._ink, self._helper.ask)
            self._page.runs_asked.connect(self.runs_chosen)
            self._page.run_asked.connect(self.run_chosen)
            self._page.list_asked.connect(self.list_chosen)
            self._page.failed.connect(self.failed)
            self._reader.compared.connect(self._on_compared)
            self._pages.addWidget(self._page)
        return self._page

    def part(self) -> None:
        if self._page is not None:
            self._reader.close()
            self._helper.close()

    def _on_compared(self, compared: Compared) -> None:
        self.page.show_compared(compared)
