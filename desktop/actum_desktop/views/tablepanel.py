"""The tables of one result: which one, its rows, filter and order, the column beside it, and its plot.

Rows are paged by a reader in a thread of its own; everything that looks at the whole table is asked of helpers, shows its
place, and can be cancelled. What is shown says what it is: all rows, or so many of so many, exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from actum.errors import ActumError
from actum.limits import ORDER_COLUMNS_MAX
from actum.results.condition import Condition, columns_of
from actum.results.query import Order, Query
from actum.results.tables import Readable
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import askwords, shownwords
from actum_desktop.models.arrangement import Arrangements
from actum_desktop.models.tablemodel import TableModel
from actum_desktop.models.tablereader import Copied, Opened, TableReader
from actum_desktop.ports import Asks
from actum_desktop.tableasks import TableAsks
from actum_desktop.tablecolumns import TableColumns
from actum_desktop.tablesearch import TableSearch
from actum_desktop.tablesource import TableSource
from actum_desktop.tableviews import TableViews
from actum_desktop.views.choice import Choice
from actum_desktop.views.columnmenu import Asked
from actum_desktop.views.columnpanel import ColumnPanel
from actum_desktop.views.filterbar import FilterBar
from actum_desktop.views.ink import Ink
from actum_desktop.views.plotpanel import PlotPanel
from actum_desktop.views.searchbar import SearchBar
from actum_desktop.views.sourceline import SourceLine
from actum_desktop.views.tableview import TableView
from actum_desktop.views.widgets import Card, Elided, Label, Rule, button

_SETTLE_MS = 220  # a column that is only passed by is not counted
_GRID_HEIGHT, _PLOT_HEIGHT, _SIDE = 190, 190, 272


class TablePanel(QWidget):
    """Signals: `export_asked` (name of the table), `rebuild_asked` (), `failed` (ActumError)."""

    export_asked = Signal(object)
    rebuild_asked = Signal()
    failed = Signal(object)

    def __init__(self, ink: Ink, reader: TableReader, helper: Asks, arrangements: Arrangements) -> None:
        super().__init__()
        self._ink, self._reader, self._helper, self._arrangements = ink, reader, helper, arrangements
        self._readings: Mapping[str, Readable] = {}
        self._task, self._name = "", ""
        self._token = 0
        self._all_rows = 0
        self._column = ""
        self._fresh, self._fitted = False, False
        self.model = TableModel(reader, self)
        self.views = TableViews(helper, self)
        self.source = TableSource(helper, self)
        self._make(ink)
        self.views.shown.connect(self._on_shown)
        self.views.busy.connect(self._busy)
        self.views.refused.connect(self._on_refused)
        reader.opened.connect(self._on_opened)
        reader.copied.connect(self._on_copied)
        self.model.failed.connect(self._on_failed)
        self.source.told.connect(self.line.tell)
        self.source.turned.connect(self._on_turned)
        self.source.refused.connect(self._on_not_shown)
        self.source.stands.connect(self.failed)
        self.line.rebuild_asked.connect(self.rebuild_asked)
        self.model.dataChanged.connect(self._on_first_page)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._ask_statistics)

    # ---- building

    def _make(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        self.chooser = Choice(ink)
        self.chooser.setAccessibleName(_("Table"))
        self.chooser.setFont(theme.font("body", 500))
        self.chooser.setMinimumWidth(px(130))
        self.chooser.activated.connect(self._on_chosen)
        self._count = Label(theme, "", "caption", 400, "text2")
        self._filter = button(theme, _("Filter"), self._on_filter, small=True, icon="funnel", tip=_("Filter rows (F)"))
        self._export = button(theme, _("Export…"), self._on_export, small=True, icon="download-simple")
        self.line = SourceLine(ink)
        self.bar = FilterBar(ink)
        self.bar.changed.connect(self._on_filters)
        self.grid = TableView(ink, self.model)
        self.grid.setMinimumHeight(px(_GRID_HEIGHT))
        self.grid.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.grid.sort_asked.connect(self._on_sort)
        self.grid.column_chosen.connect(self._on_column)
        self.grid.copy_asked.connect(self._on_copy)
        self.grid.grid.filter_asked.connect(self.focus_filter)
        self.columns = TableColumns(self.grid, self._arrangements)
        self.columns.changed.connect(self._tell)
        self.columns.asked.connect(self._on_asked)
        self.search = SearchBar(ink)
        self.searching = TableSearch(self.search, self.grid, self.model, self._helper, lambda: self.views.path)
        self.place = QLineEdit()
        self.place.setPlaceholderText(_("Go to row"))
        self.place.setAccessibleName(_("Go to row"))
        self.place.setToolTip(_("A row of the published table, counted from 1 (Ctrl+G)"))
        self.place.setProperty("small", "true")
        self.place.setFont(theme.font("caption"))
        self.place.setTextMargins(px(6), 0, 0, 0)
        self.place.setFixedWidth(px(96))
        self.place.setMaxLength(20)
        self.place.returnPressed.connect(self._on_place)
        self._note = Elided(ink, "caption", 400, "text2")
        self._cancel = button(theme, _("Cancel"), self._on_cancel, kind="link", small=True)
        self._unfilter = button(theme, _("Clear filter"), self._on_unfilter, kind="link", small=True)
        self._unsort = button(theme, _("Original order"), self._on_unsort, kind="link", small=True)
        self.side, self.plot = ColumnPanel(ink), PlotPanel(ink)
        self.side.row_asked.connect(self._on_row)
        self.side.sort_asked.connect(self._on_sort_to)
        self.side.filter_asked.connect(self._on_filter_of)
        self.asks = TableAsks(self.side, self.plot, self._helper, lambda: self.views.path)
        self.asks.placed.connect(self._go_to)
        self.asks.told.connect(self._say)
        self.side.menu_asked.connect(self.columns.offer_at)
        self.plot.asked.connect(self.asks.plot)
        self.plot.saved.connect(lambda path: self._note.setText(_("Plot saved as {path}").format(path=path)))
        self.plot.failed.connect(self.failed)
        self.plot.setMinimumHeight(px(_PLOT_HEIGHT))
        self._lay_out(px)

    def _lay_out(self, px: Any) -> None:
        card = Card(self._ink.theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(px(12), px(8), px(12), px(8))
        head.setSpacing(px(8))
        head.addWidget(self.chooser)
        head.addWidget(self._count)
        self._count.setMinimumWidth(px(24))
        head.addStretch(1)
        head.addWidget(self.search)
        head.addWidget(self._filter)
        head.addWidget(self._export)
        inside.addLayout(head)
        inside.addWidget(self.line)
        inside.addWidget(self.bar)
        inside.addWidget(Rule(self._ink.theme))
        inside.addWidget(self.grid, 1)
        inside.addWidget(Rule(self._ink.theme))
        foot = QHBoxLayout()
        foot.setContentsMargins(px(14), px(3), px(10), px(3))
        foot.addWidget(self._note, 1)
        foot.addWidget(self._unfilter)
        foot.addWidget(self._unsort)
        foot.addWidget(self._cancel)
        foot.addWidget(self.place)
        inside.addLayout(foot)
        left = QVBoxLayout()
        left.setSpacing(px(12))
        left.addWidget(card, 3)
        left.addWidget(self.plot, 2)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(px(12))
        self._row.addLayout(left, 1)
        self._row.addWidget(self.side)
        self.side.setFixedWidth(px(_SIDE))
        for made in (self._cancel, self._unsort, self._unfilter):
            made.hide()

    # ---- which table

    def show_tables(self, task: str, tables: Sequence[Mapping[str, Any]], readings: Mapping[str, Readable]) -> None:
        """The tables of a result of a task; what is open stays open if it is still there and read by the same file."""
        names = [str(table["name"]) for table in tables]
        self._task = task
        if dict(readings) == dict(self._readings) and [self.chooser.itemText(n) for n in range(self.chooser.count())] == names:
            return
        self._readings = readings
        self.chooser.clear()
        self.chooser.addItems(names)
        self.chooser.setEnabled(len(names) > 1)
        if names:
            self._open(self._name if self._name in names else names[0])
            self.chooser.setCurrentText(self._name)

    def trust(self) -> None:
        """A check found all as published, after the copies were made again perhaps: they are read again."""
        if self.source.by_authority and self._name and self._readings[self._name].instead is None:
            self._open(self._name)

    def forget(self) -> None:
        """Nothing is open any more."""
        self._readings, self._name = {}, ""
        self._stop_asking()
        self.source.open(None)
        self.views.open(None)
        self.model.clear()
        self.chooser.clear()
        self.side.clear()

    def only_look(self) -> None:
        """For a table from elsewhere: it is looked at, and not exported under a run's name."""
        self._export.hide()
        self.line.of_a_run = False
        self.source.foreign = True

    @property
    def name(self) -> str:
        return self._name

    @property
    def query(self) -> Query:
        """What is shown of the table."""
        return self.views.query

    def _on_chosen(self, place: int) -> None:
        self._open(self.chooser.itemText(place))

    def _open(self, name: str) -> None:
        self._name, self._column, self._fresh = name, "", True
        self.place.clear()
        self._stop_asking()
        self.columns.open(self._task, name)
        self.source.open(self._readings[name])
        self.views.open(self.source.path)

    def _on_turned(self) -> None:
        """The copy gave way to the authority: the same table, the same question."""
        asked = self.views.wanted
        self._stop_asking()
        self.model.clear()
        self.side.clear()
        self.views.open(self.source.path)
        if not asked.whole:
            self.views.make(asked)

    def _on_not_shown(self, error: ActumError) -> None:
        self._stop_asking()
        self.views.open(None)
        self.model.clear()
        self.side.clear()
        self._note.setText("")
        self.failed.emit(error)

    def _on_failed(self, error: ActumError) -> None:
        if not self.source.suspect(error):
            self.failed.emit(error)

    def _stop_asking(self) -> None:
        self.searching.stop()
        for kind in ("statistics", "values", "plot", "place"):
            self._helper.cancel(kind)

    def _on_shown(self) -> None:
        """Another file is to be shown: the table, or a view of it."""
        self._helper.cancel("statistics")
        path = self.views.path
        if path is not None:
            self._fitted = True  # what still comes of the file before is not looked at
            self._token = self._reader.open(path)

    def _on_opened(self, opened: Opened) -> None:
        if opened.token != self._token:
            return
        if opened.error is not None:
            self.model.clear()
            self._on_failed(opened.error)
            return
        fresh, self._fresh = self._fresh, False
        self.model.show(opened)
        if not self.views.is_view:
            self._all_rows = self.model.total
        self.model.highest = self._all_rows
        self._fitted = False
        self.columns.lay_out()
        asked = self.query
        self.columns.order = [item.column for item in asked.order]
        self.grid.mark(tuple((item.column, item.descending) for item in asked.order), columns_of(asked.where))
        if fresh:
            self.bar.columns(self.model.described)
            self.plot.columns(self.model.all_columns)
        self._tell()
        shown = [column.name for column in self.model.columns]
        if shown:
            first = next((column.name for column in self.model.columns if column.right), shown[0])
            self._column = self._column if self._column in shown else first
            self.grid.go_to(0, column=shown.index(self._column) + 1)
            self._on_column(self._column)
            self.plot.ask()
        self.searching.again()

    def _on_first_page(self, *_: object) -> None:
        if not self._fitted:
            self._fitted = True
            self.columns.fit()
        else:
            self.grid.fit_new()

    # ---- what is shown, in words

    def _tell(self) -> None:
        rows, asked = measures.count(self.model.total), self.query
        self._count.setText(ngettext("{n} row", "{n} rows", self.model.total).format(n=rows))
        hidden = len(self.model.all_columns) - len(self.model.columns)
        parts = shownwords.of_view(asked, self.model.total, self._all_rows, self.model.described, hidden)
        self._unsort.setVisible(bool(asked.order))
        self._unfilter.setVisible(asked.where is not None)
        self._note.setText("  ·  ".join(parts))

    def _say(self, words: object) -> None:
        self._note.setText(str(words))

    def _busy(self, words: object) -> None:
        """What is being made; empty = nothing. Old rows stay, dimmed, until the new ones are there."""
        self._cancel.setVisible(bool(words))
        self.grid.dim(bool(words))
        if words:
            self._note.setText(str(words))

    # ---- filter and order

    def focus_filter(self) -> None:
        if self._name:
            self.bar.open(self._column or None)

    def focus_search(self) -> None:
        if self._name:
            self.searching.start()

    def focus_search_in_column(self) -> None:
        if self._name:
            self.searching.start(self._column)

    def find_next(self) -> None:
        self.searching.go_on(False)

    def find_previous(self) -> None:
        self.searching.go_on(True)

    def focus_place(self) -> None:
        self.place.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.place.selectAll()

    def _on_filter(self) -> None:
        if self.bar.is_open:
            self.bar.close_line()
        else:
            self.focus_filter()

    def _on_filter_of(self, name: object) -> None:
        self.bar.open(str(name))

    def _on_filters(self, where: Condition | None) -> None:
        self.views.make(replace(self.views.wanted, where=where))

    def _on_unfilter(self) -> None:
        self.bar.clear()
        self._on_filters(None)

    def _on_sort(self, name_also: object) -> None:
        """Pressing a head: smallest first, largest first, as published; with Shift beside what it is sorted by already."""
        if not isinstance(name_also, tuple):
            return
        name, also = str(name_also[0]), bool(name_also[1])
        order = self.views.wanted.order
        now = next((item for item in order if item.column == name), None)
        after = {None: Order(name), False: Order(name, descending=True), True: None}[now.descending if now else None]
        if not also:
            self._sort_by((after,) if after is not None else ())
        elif now is None:
            self._sort_by((*order, Order(name)))
        else:
            changed = [after if item is now else item for item in order]
            self._sort_by(tuple(item for item in changed if item is not None))

    def _on_sort_to(self, order: object) -> None:
        if isinstance(order, tuple):
            self._sort_by((Order(str(order[0]), bool(order[1])),))

    def _on_unsort(self) -> None:
        self._sort_by(())

    def _sort_by(self, order: tuple[Order, ...]) -> None:
        if len(order) <= ORDER_COLUMNS_MAX:
            self.views.make(replace(self.views.wanted, order=order))

    def _on_asked(self, asked: object) -> None:
        """What the column's menu leaves to the panel."""
        if not isinstance(asked, Asked):
            return
        if asked.what in ("sort_up", "sort_down"):
            self._sort_by((Order(asked.name, asked.what == "sort_down"),))
        elif asked.what in ("also_up", "also_down"):
            self._sort_by((*self.views.wanted.order, Order(asked.name, asked.what == "also_down")))
        elif asked.what == "unsort":
            self._on_unsort()
        elif asked.what == "filter":
            self.bar.open(asked.name)
        elif asked.what == "values":
            self._on_column(asked.name)
            self.side.count_values()
        elif asked.what in ("copy", "copy_sheet"):
            self._on_copy((self.grid.selected_ranges(), asked.what == "copy_sheet"))

    def _on_refused(self, error: ActumError | None) -> None:
        self._tell()
        if error is not None and not self.source.suspect(error):
            self.bar.open()
            self.bar.refuse(askwords.refused(error))

    def _on_cancel(self) -> None:
        self.views.cancel()

    # ---- one column, one row

    def _on_column(self, name: object) -> None:
        column = next((column for column in self.model.columns if column.name == name), None)
        if column is not None:
            self._column = column.name
            self.side.choose(column)
            self._helper.cancel("values")
            self._settle.start()

    def _ask_statistics(self) -> None:
        self.asks.statistics(self._column)

    def _on_place(self) -> None:
        said = self.place.text().strip().replace(",", "").replace(" ", "")
        if not said.isdecimal() or not 1 <= int(said) <= self._all_rows:
            most = measures.count(self._all_rows)
            self._note.setText(_("“{said}” is no row. Rows are counted from 1 to {most}.").format(said=said, most=most))
        else:
            self._on_row(int(said) - 1)

    def _on_row(self, row: object) -> None:
        """To a row of the published table; in a view of it, a helper finds where it stands."""
        if isinstance(row, int) and self.views.is_view:
            self.asks.place(row)
        elif isinstance(row, int):
            self._go_to(row)

    def _go_to(self, row: object) -> None:
        names = [column.name for column in self.model.columns]
        if isinstance(row, int):
            self.grid.go_to(row, column=names.index(self._column) + 1 if self._column in names else None)
            self.grid.grid.setFocus()

    # ---- plot, copy, export

    def _on_copy(self, ranges_sheet: object) -> None:
        """Rows of the columns shown, with the companions that say why values are missing."""
        if not isinstance(ranges_sheet, tuple):
            return
        ranges, sheet = ranges_sheet
        names = [name for column in self.model.columns for name in (column.name, column.reason) if name]
        kinds = {str(item["name"]): str(item["type"]) for item in self.model.described}
        self._note.setText(_("Copying…"))
        self._reader.copy(ranges, names, [kinds[name] for name in names] if sheet else None)

    def _on_copied(self, copied: Copied) -> None:
        if copied.token != self._token:
            return
        QGuiApplication.clipboard().setText(copied.text)
        self._note.setText(shownwords.of_copy(copied))

    def _on_export(self) -> None:
        if self._name:
            self.export_asked.emit(self._name)

    def set_wide(self, wide: bool) -> None:
        """Beside the table, or below it where the window is narrow."""
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if direction != self._row.direction():
            self._row.setDirection(direction)
            px = self._ink.theme.px
            if wide:
                self.side.setFixedWidth(px(_SIDE))
                self.side.setMinimumHeight(0)
            else:
                self.side.setMinimumWidth(0)
                self.side.setMaximumWidth(16_777_215)
                self.side.setMinimumHeight(px(300))

    def focus_start(self) -> None:
        self.grid.grid.setFocus(Qt.FocusReason.OtherFocusReason)
