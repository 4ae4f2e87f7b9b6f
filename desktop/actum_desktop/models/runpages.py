"""Reads pages of runs that hold a text, away from the GUI thread: where most runs do not, a look takes a third of a second.

A question has a number; a newer one makes the one that waits void, and the model passes over answers to older ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from actum.errors import ActumError
from actum.limits import RUN_LIST_OPEN_ROWS_MAX, RUN_LIST_PAGE_ROWS
from actum.workspace import Workspace
from PySide6.QtCore import QObject, Signal

from actum_desktop.models.source import ENDED_STATUSES, OPEN_STATUSES, RunItem
from actum_desktop.models.storethread import StoreThread

if TYPE_CHECKING:
    from actum_desktop.models.storesource import StoreSource


@dataclass(frozen=True, slots=True)
class RunPage:
    """The answer to question `number`: open runs (with the first page only) and ended ones below `before`."""

    number: int
    before: int | None
    open: Sequence[RunItem] = ()
    ended: Sequence[RunItem] = ()
    error: ActumError | None = None


class RunPages(StoreThread):
    """Signal: `page` (RunPage), in the thread of its owner."""

    page = Signal(object)

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(ws, parent)
        self._number = 0
        self._source: StoreSource | None = None  # belongs to the one thread

    def ask(self, before: int | None, blocks: Sequence[str], text: str) -> int:
        """The newest runs that hold `text`, or those below `before`; the number of the question."""
        self._number += 1
        self.start_alone(partial(self._read, self._number, before, tuple(blocks), text))
        return self._number

    # ---- in the pool's thread

    def _let_go(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _read(self, number: int, before: int | None, blocks: tuple[str, ...], text: str) -> None:
        try:
            self.page.emit(self._look(number, before, blocks, text))
        except ActumError as error:
            self.page.emit(RunPage(number, before, error=error))

    def _look(self, number: int, before: int | None, blocks: tuple[str, ...], text: str) -> RunPage:
        from actum_desktop.models.storesource import StoreSource

        if self._source is None:
            self._source = StoreSource(self._ws)
        if before is None:
            self._source.forget_titles()  # tasks may have changed since
        first = before is None and "open" in blocks
        opened = self._source.runs_page(None, RUN_LIST_OPEN_ROWS_MAX, OPEN_STATUSES, text) if first else []
        ended = self._source.runs_page(before, RUN_LIST_PAGE_ROWS, ENDED_STATUSES, text) if "ended" in blocks else []
        return RunPage(number, before, opened, ended)
