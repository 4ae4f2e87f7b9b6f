"""The page that compares runs: what differs, metrics with their differences, curves over one another, spread side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from actum.errors import ActumError, NotFound, WrongUse
from actum.limits import COMPARED_RUNS_MAX, OVERLAID_CURVES_MAX
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.charts import picture
from actum_desktop.charts.boxes import Box, Boxes
from actum_desktop.charts.overlay import Curve, Overlay, colour
from actum_desktop.documents import documents
from actum_desktop.i18n import _, ngettext
from actum_desktop.models import askwords
from actum_desktop.models.comparemodel import CompareModel, letter, unlike_words
from actum_desktop.models.comparing import Compared, Shared
from actum_desktop.views.choice import Choice
from actum_desktop.views.comparegrid import CompareGrid
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Banner, Card, Label, Segments, button

Done = Callable[[Mapping[str, Any] | None, ActumError | None], None]
Ask = Callable[[str, Mapping[str, Any], Done], None]
_SIDE, _NARROW = 390, 900
_TIMES = frozenset({"date", "timestamp"})


class CompareView(QWidget):
    """Signals: `runs_asked` (tuple of run numbers: compare these), `run_asked` (run number), `list_asked` (), `failed`
    (ActumError). `ask` puts a question to the helper that draws."""

    runs_asked = Signal(object)
    run_asked = Signal(object)
    list_asked = Signal()
    failed = Signal(object)

    def __init__(self, ink: Ink, ask: Ask) -> None:
        super().__init__()
        self._ink, self._ask = ink, ask
        self._compared = Compared(())
        self._drawn: list[int] = []  # places of the runs whose curves are wanted
        self._found: dict[tuple[int, str], Mapping[str, Any]] = {}  # by place and kind of plot
        self._round = 0
        self.model = CompareModel(self)
        self.grid = CompareGrid(ink, self.model)
        self.grid.heads.drawn = self._drawn.__contains__
        self.grid.toggled.connect(self._on_toggled)
        self.grid.first_asked.connect(self._on_first)
        self.grid.removed.connect(self._on_removed)
        self.grid.opened.connect(self.run_asked)
        self._make(ink)

    # ---- building

    def _make(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        self._crumb = button(theme, _("Results"), self.list_asked.emit, kind="crumb")
        self._title = Label(theme, _("Compare"), "page", 600)
        self._count = Label(theme, "", "body", 400, "text2")
        self.add = QLineEdit()
        self.add.setPlaceholderText(_("Add a run by its number"))
        self.add.setAccessibleName(_("Add a run by its number"))
        self.add.setTextMargins(px(6), 0, 0, 0)
        self.add.setFixedWidth(px(200))
        self.add.returnPressed.connect(self._on_add)
        self._wrong = Label(theme, "", "caption", 400, "bad")
        self._export = button(theme, _("Save…"), self._on_save, icon="download-simple", tip=_("As CSV or JSON"))
        self.banner = Banner(ink, "accent", "info")
        self.which = Segments(theme, _("What is shown"), (("differences", _("Differences")), ("all", _("All"))))
        self.which.chosen.connect(self._show_lines)
        self._copy = button(theme, _("Copy table"), self._on_copy, icon="copy", small=True)
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self._title)
        head.addWidget(self._count)
        head.addStretch(1)
        head.addWidget(self._wrong)
        head.addWidget(self.add)
        head.addWidget(self._export)
        left = QVBoxLayout()
        left.setSpacing(px(12))
        left.addWidget(self.banner)
        left.addWidget(self._side_by_side(ink), 1)
        right = QVBoxLayout()
        right.setSpacing(px(12))
        right.addWidget(self._curves_card(ink), 3)
        right.addWidget(self._spread_card(ink), 1)
        self._right = QWidget()
        self._right.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(px(12))
        self._columns.addLayout(left, 1)
        self._columns.addWidget(self._right)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(14), px(24), px(16))
        column.setSpacing(px(8))
        crumbs = QHBoxLayout()
        crumbs.addWidget(self._crumb)
        crumbs.addWidget(Label(theme, "›", "caption", 400, "text3"))
        crumbs.addWidget(Label(theme, _("Compare"), "caption", 400, "text2"))
        crumbs.addStretch(1)
        column.addLayout(crumbs)
        column.addLayout(head)
        column.addLayout(self._columns, 1)
        self.banner.hide()

    def _side_by_side(self, ink: Ink) -> Card:
        theme, px = ink.theme, ink.theme.px
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, px(8), 1, px(1))
        inside.setSpacing(px(6))
        row = QHBoxLayout()
        row.setContentsMargins(px(16), 0, px(8), 0)
        row.addWidget(Label(theme, _("Side by side"), "body", 600))
        row.addStretch(1)
        row.addWidget(self.which)
        row.addWidget(self._copy)
        inside.addLayout(row)
        inside.addWidget(self.grid, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(px(16), px(2), px(8), px(6))
        hints = (_("Space draws or hides"), _("F compares with this one"), _("Del leaves it out"), _("Enter opens"))
        self._hints = Label(theme, "  ·  ".join(hints), "caption", 400, "text3")
        foot.addWidget(self._hints)
        inside.addLayout(foot)
        return card

    def _curves_card(self, ink: Ink) -> Card:
        theme, px = ink.theme, ink.theme.px
        self.table_box, self.y_box, self.x_box = Choice(ink), Choice(ink), Choice(ink)
        for box, name in (
            (self.table_box, _("Table")),
            (self.y_box, _("Column to draw")),
            (self.x_box, _("Column along the axis")),
        ):
            box.setAccessibleName(name)
            box.setFont(theme.font("caption", 500))
            box.setProperty("small", "true")
        self.table_box.activated.connect(self._on_table)
        self.y_box.activated.connect(self._draw)
        self.x_box.activated.connect(self._draw)
        self.overlay = Overlay(ink)
        self._basis = Label(theme, "", "caption", 400, "text2")
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(px(12), px(8), px(8), px(6))
        row = QHBoxLayout()
        row.setSpacing(px(6))
        for widget in (self.table_box, self.y_box):
            row.addWidget(widget)
        self._over = Label(theme, _("over"), "caption", 400, "text2")
        row.addWidget(self._over)
        row.addWidget(self.x_box)
        row.addStretch(1)
        self._picture = button(
            theme, "", self._on_picture, icon="download-simple", small=True, tip=_("Save this plot as a file")
        )
        self._picture.setAccessibleName(_("Save this plot as a file"))
        row.addWidget(self._picture)
        inside.addLayout(row)
        inside.addWidget(self._basis)
        inside.addWidget(self.overlay, 1)
        return card

    def _spread_card(self, ink: Ink) -> Card:
        theme, px = ink.theme, ink.theme.px
        self.boxes = Boxes(ink)
        self._spread_title = Label(theme, "", "body", 600)
        self._spread = card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(px(12), px(8), px(12), px(6))
        row = QHBoxLayout()
        row.addWidget(self._spread_title)
        row.addStretch(1)
        row.addWidget(Label(theme, _("quartiles, exact"), "caption", 400, "text2"))
        inside.addLayout(row)
        inside.addWidget(self.boxes, 1)
        return card

    # ---- showing

    @property
    def runs(self) -> tuple[int, ...]:
        return self._compared.runs

    def show_compared(self, compared: Compared) -> None:
        if compared.error is not None:
            self._tell(compared.error)
            return
        before = {self._compared.runs[place] for place in self._drawn if place < len(self._compared.runs)}
        self._compared = compared
        kept = [place for place, run in enumerate(compared.runs) if run in before]
        places = kept or list(range(len(compared.runs)))
        fresh = [place for place in range(len(compared.runs)) if place not in places]
        self._drawn[:] = sorted((places + fresh)[:OVERLAID_CURVES_MAX])
        self._found.clear()
        self._wrong.setText("")
        count = len(compared.runs)
        self._count.setText(ngettext("{n} run", "{n} runs", count).format(n=count))
        words = unlike_words(compared)
        self.banner.setVisible(bool(words))
        if words:
            self.banner.say(_("Not all of these are like for like"), words)
        self._show_lines()
        self._fill_tables()

    def _show_lines(self, *_: object) -> None:
        self.model.show_compared(self._compared, everything=self.which.current == "all")

    def _fill_tables(self) -> None:
        was = self.table_box.currentText()
        self.table_box.clear()
        for table in self._compared.tables:
            self.table_box.addItem(table.name)
        self.table_box.setCurrentIndex(max(0, self.table_box.findText(was)))
        for widget in (self.table_box, self.y_box, self.x_box, self._over, self._picture, self._spread):
            widget.setVisible(bool(self._compared.tables))
        if not self._compared.tables:
            self._basis.setText("")
            self.overlay.say(_("These runs have no table in common with a column that can be drawn."))
            return
        self._on_table()

    def _on_table(self, *_args: object) -> None:
        table = self._table()
        if table is None:
            return
        y, x = self.y_box.currentText(), self.x_box.currentText()
        times = [name for name, (kind, _unit) in table.columns.items() if kind in _TIMES]
        numbers = [name for name in table.columns if name not in times]
        self.y_box.clear()
        self.y_box.addItems(numbers or times)
        self.x_box.clear()
        self.x_box.addItem(_("row"), None)
        for name in table.columns:
            self.x_box.addItem(name, name)
        self.y_box.setCurrentIndex(max(0, self.y_box.findText(y)))
        self.x_box.setCurrentIndex(max(0, self.x_box.findText(x if self.x_box.findText(x) > 0 else (times or [""])[0])))
        self._draw()

    def _table(self) -> Shared | None:
        place = self.table_box.currentIndex()
        return self._compared.tables[place] if 0 <= place < len(self._compared.tables) else None

    # ---- curves, loaded on demand one after the other

    def _draw(self, *_args: object) -> None:
        self._round += 1
        self._found.clear()
        self._next(self._round)

    def _next(self, this: int) -> None:
        table = self._table()
        if table is None or this != self._round:
            return
        wanted = [place for place in self._drawn if self._compared.runs[place] in table.paths]
        missing = [(place, kind) for place in wanted for kind in ("line", "box") if (place, kind) not in self._found]
        if not missing:
            self._show_plots(table, wanted)
            return
        place, kind = missing[0]
        letters = letter(place)
        self._basis.setText(_("Reading {letter} …").format(letter=letters))
        x = None if kind == "box" else self.x_box.currentData()
        args = {"path": str(table.paths[self._compared.runs[place]]), "kind": kind, "x": x, "y": self.y_box.currentText()}

        def done(found: Mapping[str, Any] | None, error: ActumError | None) -> None:
            if this != self._round:
                return
            if found is None:
                self.overlay.say(askwords.refused(error) if error is not None else "")
                self._basis.setText("")
                return
            self._found[place, kind] = found
            self._next(this)

        self._ask("plot", args, done)

    def _show_plots(self, table: Shared, places: Sequence[int]) -> None:
        y = self.y_box.currentText()
        unit = table.columns[y][1] if y in table.columns else None
        title = f"{y}, {unit}" if unit else y
        curves = [Curve(place, letter(place), self._found[place, "line"]) for place in places]
        self.overlay.show_curves(curves, self.x_box.currentText(), title)
        said = [_("{n} of {all} runs drawn").format(n=len(places), all=len(self._compared.runs))]
        if any(curve.found["how"] == "steps" for curve in curves):
            said.append(_("long curves by the least and the greatest value of each step"))
        self._basis.setText(" · ".join(said))
        boxes = []
        for place in places:
            for box in self._found[place, "box"]["boxes"]:
                boxes.append(Box.of(letter(place), box, colour(place)))
        timed = any(self._found[place, "box"]["y_time"] for place in places)
        self.boxes.show_boxes(boxes, title, timed=timed)
        self._spread_title.setText(_("Spread of {column}").format(column=y))
        self.grid.heads.viewport().update()

    # ---- which runs

    def _on_toggled(self, place: int) -> None:
        if place in self._drawn:
            self._drawn.remove(place)
        elif len(self._drawn) >= OVERLAID_CURVES_MAX:
            words = _("{n} curves are drawn at once. Hide one first.").format(n=OVERLAID_CURVES_MAX)
            self._wrong.setText(words)
            return
        else:
            self._drawn.append(place)
            self._drawn.sort()
        self._wrong.setText("")
        self._round += 1
        self._next(self._round)

    def _on_first(self, place: int) -> None:
        runs = self._compared.runs
        self.runs_asked.emit((runs[place], *runs[:place], *runs[place + 1 :]))

    def _on_removed(self, place: int) -> None:
        runs = self._compared.runs
        if len(runs) > 2:
            self.runs_asked.emit((*runs[:place], *runs[place + 1 :]))
        else:
            self._wrong.setText(_("Two runs are the least that can be compared."))

    def _on_add(self) -> None:
        text = self.add.text().strip()
        if not (text.isascii() and text.isdigit()):
            self._wrong.setText(_("A run has a number, such as 17."))
        elif int(text) in self._compared.runs:
            self._wrong.setText(_("Run {n} is compared already.").format(n=int(text)))
        elif len(self._compared.runs) >= COMPARED_RUNS_MAX:
            self._wrong.setText(_("{n} runs can be compared at once.").format(n=COMPARED_RUNS_MAX))
        else:
            self.add.clear()
            self.runs_asked.emit((*self._compared.runs, int(text)))

    def _tell(self, error: ActumError) -> None:
        if isinstance(error, NotFound | WrongUse):
            self._wrong.setText(error.what)
        else:
            self.failed.emit(error)

    # ---- taking it along

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in self.model.as_rows()))

    def _on_save(self) -> None:
        self._dialog(_("Save the comparison"), "CSV (*.csv);;JSON (*.json)", "csv", self.save_to)

    def _on_picture(self) -> None:
        self._dialog(_("Save this plot as a file"), "PNG (*.png);;SVG (*.svg);;CSV (*.csv)", "png", self.save_plot_to)

    def _dialog(self, title: str, kinds: str, suffix: str, then: Callable[[str], None]) -> None:
        dialog = QFileDialog(self, title, documents(), kinds)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen.rpartition(".")[2].rstrip(")")))
        dialog.fileSelected.connect(then)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save_to(self, path: str) -> None:
        """All of the comparison, whatever is shown of it: JSON as `compare --json` prints it, or CSV."""
        assert self._compared.comparison is not None, "there is something to save"
        if path.lower().endswith(".json"):
            document = {"schema": "actum.compare/1", **self._compared.comparison.to_json()}
            content = json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
        else:
            whole = CompareModel()
            whole.show_compared(self._compared, everything=True)
            content = picture.as_csv(whole.as_rows())
        self._write(lambda: picture.write(Path(path), content))

    def save_plot_to(self, path: str) -> None:
        y = self.y_box.currentText()
        rows: list[Sequence[Any]] = [("run", self.x_box.currentText(), y)]
        for curve in self.overlay.curves:
            run = self._compared.runs[curve.place]
            rows += [(run, *row) for row in picture.points(curve.found, "", "")[1:]]
        letters = measures.listed(f"{curve.letter} = {self._compared.runs[curve.place]}" for curve in self.overlay.curves)
        ground = self._ink.theme.color("surface")
        self._write(lambda: picture.save(Path(path), self.overlay, ground, f"{y}: {letters}", rows))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except ActumError as error:
            self.failed.emit(error)

    # ---- size and focus

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self._ink.theme.px
        wide = self.width() >= px(_NARROW)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        self._columns.setDirection(direction)
        self._right.setFixedWidth(px(_SIDE)) if wide else self._right.setMaximumWidth(16_777_215)
        if not wide:
            self._right.setMinimumWidth(0)

    def focus_start(self) -> None:
        self.grid.focus_start()
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)
