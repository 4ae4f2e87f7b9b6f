"""The columns of the table that is shown, as its user arranges them: by menu, by keys, by dragging; remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from actum_desktop.models.arrangement import Arrangement, Arrangements
from actum_desktop.views.columnmenu import Asked, ColumnMenu
from actum_desktop.views.tableview import TableView

_SETTLE_MS = 300  # a head that is being dragged is kept once it rests


class TableColumns(QObject):
    """Signals: `changed` () when columns were arranged, `asked` (Asked): what the menu leaves to others. `order` = the names
    of the columns that the rows are sorted by."""

    changed = Signal()
    asked = Signal(object)

    def __init__(self, view: TableView, arrangements: Arrangements) -> None:
        super().__init__(view)
        self._view, self._model, self._arrangements = view, view.model, arrangements
        self._task, self._table = "", ""
        self.order: list[str] = []
        self.arrangement = Arrangement()
        self.menu = ColumnMenu(view)
        self.menu.asked.connect(self._on_asked)
        view.menu_asked.connect(self._on_menu)
        view.moved.connect(self._on_moved)
        view.widened.connect(self._on_widened)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._keep)

    def open(self, task: str, table: str) -> None:
        """Another table: as it was arranged when it was seen last."""
        self._task, self._table = task, table
        self.arrangement = self._arrangements.find(task, table)

    def lay_out(self) -> None:
        """The model has been given its columns."""
        made = self.arrangement
        self._model.arrange(made.shown(self._names()), made.frozen)
        self._view.fresh()

    def fit(self) -> None:
        """Widths by the first page, or as the user chose them."""
        self._view.fit_widths(self.arrangement.widths)

    def offer_at(self, name: object) -> None:
        """The menu of a column, at its head."""
        heads = self._view.grid.heads
        names = self._shown()
        if name in names:
            at = heads.mapToGlobal(heads.rect().bottomLeft())
            at.setX(at.x() + max(0, heads.sectionViewportPosition(names.index(str(name)) + 1)))
            self._on_menu((str(name), at))

    # ---- own

    def _names(self) -> list[str]:
        return [column.name for column in self._model.all_columns]

    def _shown(self) -> list[str]:
        return [column.name for column in self._model.columns]

    def _on_menu(self, name_at: object) -> None:
        if isinstance(name_at, tuple):
            name, at = name_at
            shown = self._shown()
            hidden = [each for each in self._names() if each not in shown]
            rows = bool(self._view.selected_ranges())
            self.menu.offer(at, name, shown.index(name), self._model.frozen, self.order, hidden, rows)

    def _on_asked(self, asked: object) -> None:
        if not isinstance(asked, Asked):
            return
        name, names, made = asked.name, self._names(), self.arrangement
        shown = made.shown(names)
        changes: Mapping[str, Callable[[], Arrangement]] = {
            "left": lambda: made.moved(names, name, -1),
            "right": lambda: made.moved(names, name, 1),
            "hide": lambda: made.without(names, name),
            "show": lambda: replace(made, hidden=made.hidden - {name}),
            "show_all": lambda: replace(made, hidden=frozenset()),
            "freeze": lambda: replace(made, frozen=shown.index(name) + 1),
            "unfreeze": lambda: replace(made, frozen=0),
            "fit": lambda: replace(made, widths={}),
        }
        if asked.what in changes:
            self._arrange(changes[asked.what]())
        else:
            self.asked.emit(asked)

    def _arrange(self, arrangement: Arrangement) -> None:
        self.arrangement = arrangement
        self._keep()
        self._view.arrange(arrangement.shown(self._names()), arrangement.frozen, arrangement.widths)
        self.changed.emit()

    def _on_moved(self, names: object) -> None:
        if isinstance(names, list):
            self._arrange(self.arrangement.ordered(self._names(), names))

    def _on_widened(self, name_width: object) -> None:
        if isinstance(name_width, tuple):
            widths = {**self.arrangement.widths, str(name_width[0]): int(name_width[1])}
            self.arrangement = replace(self.arrangement, widths=widths)
            self._settle.start()

    def _keep(self) -> None:
        if self._table:
            self._arrangements.keep(self._task, self._table, self.arrangement)
