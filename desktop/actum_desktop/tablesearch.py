"""Looking for a text in the table that is shown: helpers look, the bar says how far they are, the grid goes there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.limits import SEARCH_STEPS_MAX
from PySide6.QtCore import QObject

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import askwords
from actum_desktop.models.tablemodel import TableModel
from actum_desktop.ports import Asks
from actum_desktop.views.searchbar import SearchBar
from actum_desktop.views.tableview import TableView


class TableSearch(QObject):
    """Joins a `SearchBar`, a grid and the helper. `source` gives the file whose rows are shown."""

    def __init__(
        self, bar: SearchBar, view: TableView, model: TableModel, helper: Asks, source: Callable[[], Path | None]
    ) -> None:
        super().__init__(bar)
        self._bar, self._view, self._model, self._helper, self._source = bar, view, model, helper, source
        self._count, self._counted, self._place = 0, False, ""
        self._last: tuple[int, str, str] | None = None  # row, column, and the column that holds the text (its companion too)
        self._last_text = ""
        self._finding = False
        self._steps: deque[bool] = deque(maxlen=SEARCH_STEPS_MAX)  # asked for while one is looked for: backward or not
        bar.typed.connect(self._on_typed)
        bar.next_asked.connect(self.go_on)
        bar.left.connect(self._on_left)

    def start(self, column: str = "") -> None:
        """To the field: in all columns, or in one."""
        if column != self._bar.column:
            self._bar.look_in(column)
            self._on_typed()
        self._bar.focus()

    def stop(self) -> None:
        """Nothing is looked for any more."""
        for kind in ("find", "hits"):
            self._helper.cancel(kind)
        self._rest()
        self._bar.clear()

    def again(self) -> None:
        """Other rows are shown: what was counted no longer holds."""
        if self._bar.text:
            self._on_typed()

    def go_on(self, backward: object = False) -> None:
        """To the next cell that holds the text, or the one before; pressed again meanwhile, one further."""
        path, names = self._source(), self._names()
        if path is None or not self._bar.text or not names:
            return
        self._note_text()
        if self._finding:
            self._steps.append(bool(backward))
            return
        self._finding = True
        row, at = self._start(names, bool(backward))
        args = {
            "path": str(path),
            "text": self._bar.text,
            "columns": names,
            "row": row,
            "column": at,
            "backward": bool(backward),
        }
        self._tell(_("searching…"))

        def progress(done: int, total: int, _unit: str) -> None:
            self._tell(_("searching, {percent}").format(percent=measures.percent(done / max(1, total))))

        self._helper.ask("find", args, self._on_found, progress)

    # ---- own

    def _start(self, names: list[str], backward: bool) -> tuple[int, int]:
        """Where the looking begins: behind the cell found last if it is still the current one, else at the current cell."""
        current, shown = self._view.grid.currentIndex(), self._model.columns
        row, place = self._model.base + max(0, current.row()), current.column() - 1
        name = shown[place].name if 0 <= place < len(shown) else ""
        if self._last is not None and self._last[:2] == (row, name) and self._last[2] in names:
            return row, names.index(self._last[2])
        at = names.index(name) if name in names else 0
        return row, at if backward else at - 1

    def _names(self) -> list[str]:
        chosen = [column for column in self._model.columns if self._bar.column in ("", column.name)]
        return [name for column in chosen for name in (column.name, column.reason) if name]

    def _note_text(self) -> None:
        """Another text: what was found of the one before no longer holds, and is not looked for any longer."""
        if self._last_text != self._bar.text:
            self._helper.cancel("find")
            self._rest()
            self._last, self._last_text = None, self._bar.text

    def _rest(self) -> None:
        self._finding = False
        self._steps.clear()

    def _on_found(self, found: Mapping[str, Any] | None, error: ActumError | None) -> None:
        self._finding = False
        if found is None or found["row"] is None:
            self._rest()
        if found is None:
            if error is not None and error.code != "cancelled":
                self._bar.say(askwords.refused(error))
            return
        if found["row"] is None:
            self._tell(_("not found"))
            return
        name = next(column.name for column in self._model.columns if found["column"] in (column.name, column.reason))
        place = [column.name for column in self._model.columns].index(name) + 1
        self._view.go_to(int(found["row"]), column=place)
        self._last = (int(found["row"]), name, str(found["column"]))
        self._tell(_("from the top again") if found["wrapped"] else "")
        if self._steps:
            self.go_on(self._steps.popleft())

    def _on_typed(self) -> None:
        path, names, text = self._source(), self._names(), self._bar.text
        self._helper.cancel("hits")
        self._count, self._counted, self._place = 0, False, ""
        self._note_text()
        if path is None or not text or not names:
            self._bar.say("")
            return

        def progress(_done: int, _total: int, unit: str) -> None:
            self._count = int(unit.removeprefix("found ") or 0)
            self._tell(self._place)

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self._count, self._counted = int(found["cells"]), True
                self._tell(self._place)
            elif error is not None and error.code != "cancelled":
                self._bar.say(askwords.refused(error))

        self._helper.ask("hits", {"path": str(path), "text": text, "columns": names}, done, progress)

    def _tell(self, place: str) -> None:
        """How many were found, so far or in all, and where one stands."""
        self._place = place
        n = measures.count(self._count)
        if self._counted:
            count = ngettext("{n} cell", "{n} cells", self._count).format(n=n)
        else:
            count = _("{n} so far").format(n=n)
        self._bar.say(" · ".join(part for part in (place, count) if part))

    def _on_left(self) -> None:
        self.stop()
        self._view.grid.setFocus()
