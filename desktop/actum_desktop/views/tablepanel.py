"""The tables of one result: which one, its rows, filter and order, the column beside it, and its plot.

Rows are paged by a reader in a thread of its own; everything that looks at the whole table is asked of helpers, shows its
place, and can be cancelled. What is shown says what it is: all rows, or so many of so many, exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from actum.errors import ActumError
from actum.results.query import Filter
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import askwords
from actum_desktop.models.tablemodel import GridColumn, TableModel
from actum_desktop.models.tablereader import Copied, Opened, TableReader
from actum_desktop.views.choice import Choice
from actum_desktop.views.columnpanel import ColumnPanel
from actum_desktop.views.filterbar import FilterBar, words_of
from actum_desktop.views.ink import Ink
from actum_desktop.views.plotpanel import PlotPanel
from actum_desktop.views.tableview import TableView
from actum_desktop.views.widgets import Card, Elided, Label, Rule, button

_SETTLE_MS = 220  # a column that is only passed by is not counted
_GRID_HEIGHT, _PLOT_HEIGHT, _SIDE = 190, 190, 272

Order = tuple[str, bool]


class Asks(Protocol):
    """The table helper as the panel knows it (`controller.tablehelper.TableHelper`)."""

    def ask(self, kind: str, args: Mapping[str, Any], done: Any, progress: Any = None) -> None: ...

    def cancel(self, kind: str) -> None: ...

    def new_view(self) -> Path: ...

    def drop_view(self, path: Path) -> None: ...


class TablePanel(QWidget):
    """Signals: `export_asked` (name of the table), `failed` (ActumError)."""

    export_asked = Signal(object)
    failed = Signal(object)

    def __init__(self, ink: Ink, reader: TableReader, helper: Asks) -> None:
        super().__init__()
        self._ink, self._reader, self._helper = ink, reader, helper
        self._paths: Mapping[str, Path] = {}
        self._name = ""
        self._token = 0
        self._view: Path | None = None  # the file that is shown in place of the table itself
        self._made: tuple[tuple[Filter, ...], Order | None] = ((), None)
        self._making: Path | None = None
        self._column = ""
        self._fitted = False
        self.model = TableModel(reader, self)
        self._make(ink)
        reader.opened.connect(self._on_opened)
        reader.copied.connect(self._on_copied)
        self.model.failed.connect(self.failed)
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
        self.bar = FilterBar(ink)
        self.bar.changed.connect(self._on_filters)
        self.grid = TableView(ink, self.model)
        self.grid.setMinimumHeight(px(_GRID_HEIGHT))
        self.grid.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.grid.sort_asked.connect(self._on_sort)
        self.grid.column_chosen.connect(self._on_column)
        self.grid.copy_asked.connect(self._on_copy)
        self.grid.grid.filter_asked.connect(self.focus_filter)
        self._note = Elided(ink, "caption", 400, "text2")
        self._cancel = button(theme, _("Cancel"), self._on_cancel, kind="link", small=True)
        self._unsort = button(theme, _("Original order"), self._on_unsort, kind="link", small=True)
        self.side = ColumnPanel(ink)
        self.side.row_asked.connect(self._on_row)
        self.side.sort_asked.connect(self._on_sort_to)
        self.side.filter_asked.connect(self._on_filter_of)
        self.plot = PlotPanel(ink)
        self.plot.asked.connect(self._ask_plot)
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
        head.addStretch(1)
        head.addWidget(self._filter)
        head.addWidget(self._export)
        inside.addLayout(head)
        inside.addWidget(self.bar)
        inside.addWidget(Rule(self._ink.theme))
        inside.addWidget(self.grid, 1)
        inside.addWidget(Rule(self._ink.theme))
        foot = QHBoxLayout()
        foot.setContentsMargins(px(14), px(3), px(10), px(3))
        foot.addWidget(self._note, 1)
        foot.addWidget(self._unsort)
        foot.addWidget(self._cancel)
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
        for made in (self._cancel, self._unsort):
            made.hide()

    # ---- which table

    def show_tables(self, tables: Sequence[Mapping[str, Any]], paths: Mapping[str, Path]) -> None:
        """The tables of a result; what is open stays open if it is still there."""
        names = [str(table["name"]) for table in tables]
        if dict(paths) == dict(self._paths) and [self.chooser.itemText(n) for n in range(self.chooser.count())] == names:
            return
        self._paths = paths
        self.chooser.clear()
        self.chooser.addItems(names)
        self.chooser.setEnabled(len(names) > 1)
        if names:
            self._open(names[0])

    def forget(self) -> None:
        """Nothing is open any more."""
        self._paths, self._name = {}, ""
        self._drop_view()
        for kind in ("view", "statistics", "plot"):
            self._helper.cancel(kind)
        self.model.clear()
        self.chooser.clear()
        self.side.clear()

    @property
    def name(self) -> str:
        return self._name

    @property
    def source(self) -> Path | None:
        """The file whose rows are shown."""
        return self._view or self._paths.get(self._name)

    def _on_chosen(self, place: int) -> None:
        self._open(self.chooser.itemText(place))

    def _open(self, name: str) -> None:
        self._name, self._column, self._made = name, "", ((), None)
        self._drop_view()
        for kind in ("view", "statistics", "plot"):
            self._helper.cancel(kind)
        self._reader_open(self._paths[name])
        self.bar.filters = {}
        self._busy("")

    def _reader_open(self, path: Path) -> None:
        self._fitted = False
        self._token = self._reader.open(path)

    def _on_opened(self, opened: Opened) -> None:
        if opened.token != self._token:
            return
        if opened.error is not None:
            self.model.clear()
            self.failed.emit(opened.error)
            return
        fresh = not self._column
        self.model.show(opened)
        self.grid.fresh()
        filters, order = self._made
        self.grid.grid.heads.mark(order, frozenset(item.column for item in filters))
        if fresh:
            self.bar.columns(self.model.columns)
            self.plot.columns(self.model.columns)
        self._tell()
        names = [column.name for column in self.model.columns]
        if names:
            first = next((column.name for column in self.model.columns if column.right), names[0])
            self._column = self._column if self._column in names else first
            self.grid.go_to(0, column=names.index(self._column) + 1)
            self._on_column(self._column)
            self.plot.ask()

    def _on_first_page(self, *_: object) -> None:
        if not self._fitted:
            self._fitted = True
            self.grid.fit_widths()

    # ---- what is shown, in words

    def _tell(self) -> None:
        rows = measures.count(self.model.total)
        filters, order = self._made
        self._count.setText(ngettext("{n} row", "{n} rows", self.model.total).format(n=rows))
        parts = []
        if filters:
            parts.append(_("{n} of {all} rows, exact").format(n=rows, all=measures.count(self._all_rows)))
            parts += [words_of(item) for item in filters]
        else:
            self._all_rows = self.model.total if self._view is None else self._all_rows
            parts.append(_("all {rows} rows").format(rows=rows))
        if order is not None:
            words = _("sorted by {column}, largest first") if order[1] else _("sorted by {column}, smallest first")
            parts.append(words.format(column=order[0]))
        self._unsort.setVisible(order is not None)
        self.side.jumps = self._view is None
        self._note.setText("  ·  ".join(parts))

    _all_rows = 0

    def _busy(self, words: str) -> None:
        """What is being made; empty = nothing. Old rows stay, dimmed, until the new ones are there."""
        self._cancel.setVisible(bool(words))
        self.grid.dim(bool(words))
        if words:
            self._note.setText(words)

    # ---- filter and order

    def focus_filter(self) -> None:
        if self._name:
            self.bar.open(self._column or None)

    def _on_filter(self) -> None:
        if self.bar.is_open:
            self.bar.close_line()
        else:
            self.focus_filter()

    def _on_filter_of(self, name: object) -> None:
        self.bar.open(str(name))

    def _on_filters(self, filters: Sequence[Filter]) -> None:
        self._make_view(tuple(filters), self._made[1])

    def _on_sort(self, name: object) -> None:
        """Pressing a head: smallest first, largest first, as published."""
        order = self._made[1]
        if order is None or order[0] != name:
            self._on_sort_to((str(name), False))
        elif not order[1]:
            self._on_sort_to((str(name), True))
        else:
            self._on_unsort()

    def _on_sort_to(self, order: object) -> None:
        if isinstance(order, tuple):
            self._make_view(self._made[0], (str(order[0]), bool(order[1])))

    def _on_unsort(self) -> None:
        self._make_view(self._made[0], None)

    def _make_view(self, filters: tuple[Filter, ...], order: Order | None) -> None:
        if self._making is not None:
            self._helper.cancel("view")
            self._helper.drop_view(self._making)
            self._making = None
        if not filters and order is None:
            self._take_view(None, filters, order)
            return
        out = self._making = self._helper.new_view()
        args = {
            "path": str(self._paths[self._name]),
            "out": str(out),
            "filters": [{"column": item.column, "operator": item.operator, "value": item.value} for item in filters],
            "order": None if order is None else {"column": order[0], "descending": order[1]},
        }
        words = _("Sorting…") if order is not None and order != self._made[1] else _("Filtering…")
        self._busy(words)

        def progress(done: int, total: int, _unit: str) -> None:
            self._busy(f"{words} {measures.percent(done / max(1, total))}")

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            self._making = None
            if found is None:
                self._not_made(out, error)
            else:
                self._take_view(out, filters, order)

        self._helper.ask("view", args, done, progress)

    def _not_made(self, out: Path, error: ActumError | None) -> None:
        self._helper.drop_view(out)
        self._busy("")
        self._tell()
        self.bar.take({item.column: item for item in self._made[0]})
        if error is not None and error.code != "cancelled":
            self.bar.open()
            self.bar.refuse(askwords.refused(error))

    def _take_view(self, out: Path | None, filters: tuple[Filter, ...], order: Order | None) -> None:
        self._busy("")
        self._drop_view()
        self._view, self._made = out, (filters, order)
        self._helper.cancel("statistics")
        self._reader_open(out or self._paths[self._name])

    def _drop_view(self) -> None:
        if self._making is not None:
            self._helper.cancel("view")
            self._helper.drop_view(self._making)
            self._making = None
        if self._view is not None:
            self._helper.drop_view(self._view)
            self._view = None

    def _on_cancel(self) -> None:
        self._helper.cancel("view")

    # ---- one column

    def _on_column(self, name: object) -> None:
        column = self._info(str(name))
        if column is None:
            return
        self._column = column.name
        self.side.choose(column)
        self._settle.start()

    def _info(self, name: str) -> GridColumn | None:
        return next((column for column in self.model.columns if column.name == name), None)

    def _ask_statistics(self) -> None:
        if self.source is None or not self._column:
            return

        def progress(done: int, _total: int, _unit: str) -> None:
            self.side.progress(done)

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self.side.show_statistics(found)
            elif error is not None and error.code != "cancelled":
                self.side.refuse(askwords.refused(error))

        self._helper.ask("statistics", {"path": str(self.source), "column": self._column}, done, progress)

    def _on_row(self, row: object) -> None:
        """Reasons count rows of the published table; in a view of it the number is looked for among what is shown."""
        if isinstance(row, int) and self._view is None:
            names = [column.name for column in self.model.columns]
            self.grid.go_to(row, column=names.index(self._column) + 1 if self._column in names else None)
            self.grid.grid.setFocus()

    # ---- plot, copy, export

    def _ask_plot(self, kind_x_y: object) -> None:
        if self.source is None or not isinstance(kind_x_y, tuple):
            return
        kind, x, y = kind_x_y

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if found is not None:
                self.plot.show_plot(found, x or _("row"), y)
            elif error is not None and error.code != "cancelled":
                self.plot.say(askwords.refused(error))

        self._helper.ask("plot", {"path": str(self.source), "kind": kind, "x": x, "y": y}, done)

    def _on_copy(self, ranges: object) -> None:
        columns = self.model.columns
        names = [name for column in columns for name in (column.name, column.reason) if name]
        self._reader.copy(ranges, names, names)  # type: ignore[arg-type]

    def _on_copied(self, copied: Copied) -> None:
        if copied.token != self._token:
            return
        QGuiApplication.clipboard().setText(copied.text)
        said = ngettext("{n} row copied", "{n} rows copied", copied.rows).format(n=measures.count(copied.rows))
        if copied.left_out:
            said = _("The first {n} rows copied; export the table for all").format(n=measures.count(copied.rows))
        self._note.setText(said)

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
