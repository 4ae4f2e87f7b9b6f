"""What is asked of the table that is shown: statistics and values of a column, a plot, and where a row stands in a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QObject, Signal

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.models import askwords
from actum_desktop.ports import Asks
from actum_desktop.views.columnpanel import ColumnPanel
from actum_desktop.views.plotpanel import PlotPanel


class TableAsks(QObject):
    """Joins the panel of a column, the plot and the helper. Signals: `placed` (row of what is shown), `told` (words)."""

    placed = Signal(object)
    told = Signal(object)

    def __init__(self, side: ColumnPanel, plot: PlotPanel, helper: Asks, source: Callable[[], Path | None]) -> None:
        super().__init__(side)
        self._side, self._plot, self._helper, self._source = side, plot, helper, source
        self._stopped = False  # by the user: what a newer question replaced is not told
        side.values_asked.connect(self.values)
        side.stop_asked.connect(self.stop)

    def stop(self) -> None:
        """Give up what is being counted."""
        self._stopped = True
        for kind in ("statistics", "values"):
            self._helper.cancel(kind)

    def _refusal(self, error: ActumError | None) -> str | None:
        """What the panel says instead of an answer; None where a newer question is on its way."""
        if error is not None and error.code == "cancelled":
            return _("Not counted.") if self._stopped else None
        return askwords.refused(error) if error is not None else None

    def statistics(self, name: str) -> None:
        path = self._source()
        if path is None or not name:
            return

        def progress(done: int, _total: int, _unit: str) -> None:
            self._side.progress(done)

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self._side.show_statistics(found)
            elif (said := self._refusal(error)) is not None:
                self._side.refuse(said)

        self._stopped = False
        self._helper.ask("statistics", {"path": str(path), "column": name}, done, progress)

    def values(self, name: object) -> None:
        path = self._source()
        if path is None:
            return

        def progress(done: int, _total: int, _unit: str) -> None:
            self._side.values_progress(done)

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self._side.show_values(found)
            elif (said := self._refusal(error)) is not None:
                self._side.refuse_values(said)

        self._stopped = False
        self._helper.ask("values", {"path": str(path), "column": str(name)}, done, progress)

    def plot(self, kind_x_y: object) -> None:
        """The points of a plot of what is shown."""
        path = self._source()
        if path is None or not isinstance(kind_x_y, tuple):
            return
        kind, x, y = kind_x_y

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self._plot.show_plot(found, x or _("row"), y)
            elif error is not None and error.code != "cancelled":
                self._plot.say(askwords.refused(error))

        self._helper.ask("plot", {"path": str(path), "kind": kind, "x": x, "y": y}, done)

    def place(self, row: int) -> None:
        """Where a row of the published table (from 0) stands in the view that is shown."""
        path = self._source()
        if path is None:
            return

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None and found["place"] is not None:
                self.placed.emit(int(found["place"]))
            elif found is not None:
                self.told.emit(_("The filter leaves out row {row}.").format(row=measures.count(row + 1)))
            elif error is not None and error.code != "cancelled":
                self.told.emit(askwords.refused(error))

        self._helper.ask("place", {"path": str(path), "row": row}, done)
