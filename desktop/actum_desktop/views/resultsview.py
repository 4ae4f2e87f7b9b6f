"""The list of published results, newest first, each with what holds of it now; or how there come to be some."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.resultsmodel import ITEM, ResultItem, ResultsModel
from actum_desktop.models.resultsmodel import RIGHT as RIGHT_COLUMNS
from actum_desktop.views.ink import LEFT, RIGHT, Ink
from actum_desktop.views.packagedrop import PackageDrop
from actum_desktop.views.rowtable import RowTable, Widths
from actum_desktop.views.widgets import Card, Label, Rule, button

Index = QModelIndex | QPersistentModelIndex
_WIDTHS = Widths((224, 276, 150, 100, 84, 150), growing=(0, 1), part=2 / 3, slack=90)


class ResultsDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._ink.theme.px(tokens.RUN_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ink, px, box, column = self._ink, self._ink.theme.px, QRectF(option.rect), index.column()
        state, ground = option.state, box.adjusted(0, 0, 0, -1)  # the rule below is the table's
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(ground, ink.theme.color("tint_accent"))
            if column == 0:
                painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), ink.theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(ground, ink.theme.color("hover"))
        item: ResultItem = index.data(ITEM)
        inner = box.adjusted(px(16) if column == 0 else px(8), 0, -px(16) if column == 5 else -px(8), -1)
        if column == 0:
            half = px(17)
            upper = QRectF(inner.left(), inner.center().y() - half + 1, inner.width(), half)
            ink.text(painter, upper, item.title, "text", "body", 600)
            ink.text(painter, upper.translated(0, half - 1), item.sub, "text2", "caption")
        elif column == 1:
            middle = QPointF(inner.left() + px(7), inner.center().y())
            ink.icon(painter, middle, item.state.icon, item.state.tone, px(15))
            ink.text(painter, inner.adjusted(px(23), 0, 0, 0), item.state.word, item.state.tone, "body", 500)
        else:
            align = RIGHT if column in RIGHT_COLUMNS else LEFT
            ink.text(painter, inner, item.texts[column], "text" if column == 3 else "text2", "caption", 400, align)


class ResultsHeader(QHeaderView):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._ink = ink
        self.setAccessibleName(_("Columns"))
        self.setFixedHeight(ink.theme.px(32))
        self.setSectionsClickable(False)
        self.setHighlightSections(False)

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        px = self._ink.theme.px
        box = QRectF(rect).adjusted(px(16) if logical == 0 else px(8), 0, -px(16) if logical == 5 else -px(8), -1)
        text = str(self.model().headerData(logical, Qt.Orientation.Horizontal))
        align = RIGHT if logical in RIGHT_COLUMNS else LEFT
        self._ink.text(painter, box, text, "text3", "caption", 500, align)

    def paintEvent(self, event: object) -> None:
        super().paintEvent(event)  # type: ignore[arg-type]
        painter = QPainter(self.viewport())
        self._ink.hairline(painter, 0, self.viewport().width(), self.height() - 1)
        painter.end()


class ResultsTable(RowTable):
    """Signal: `opened` (run number)."""

    def __init__(self, ink: Ink, model: ResultsModel) -> None:
        super().__init__(ink, model, _WIDTHS)
        self.setAccessibleName(_("Results"))
        self.setModel(model)
        self.dress_with(ResultsDelegate(ink, self), ResultsHeader(ink, self))


class ResultsView(PackageDrop):
    """Signals: `opened` (run number), `compare_asked` (run numbers), `export_asked` (run numbers)."""

    opened = Signal(object)
    compare_asked = Signal(object)
    export_asked = Signal(object)
    elsewhere_asked = Signal(object)

    def __init__(self, ink: Ink, model: ResultsModel) -> None:
        super().__init__(ink)
        self._model = model
        self.package_dropped.connect(self.elsewhere_asked)
        theme, px = ink.theme, ink.theme.px
        self.table = ResultsTable(ink, model)
        self.table.opened.connect(self.opened)
        self.table.compare_asked.connect(self.compare_asked)
        self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self.compare_button = button(theme, _("Compare"), self.table.ask_compare, tip=_("Two or more results side by side (C)"))
        self.compare_button.setEnabled(False)
        tip = _("All tables of the selected results into a folder")
        self.export_button = button(theme, _("Export…"), self._on_export, icon="download-simple", tip=tip)
        self.export_button.setEnabled(False)
        self._total = Label(theme, "", "caption", 400, "text2")
        none = QWidget()
        empty = QVBoxLayout(none)
        empty.setContentsMargins(px(24), px(40), px(24), px(40))
        words = _("Results stand here once a run has succeeded: verified, published, and checked whenever you ask.")
        empty.addWidget(Label(theme, words, "body", 400, "text2", wrap=True))
        empty.addStretch(1)
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.setSpacing(0)
        pages = QWidget(card)
        self._stack = QStackedLayout(pages)  # one without a widget would show its first page as a window
        self._stack.addWidget(self.table)
        self._stack.addWidget(none)
        inside.addWidget(pages, 1)
        inside.addWidget(Rule(theme))
        foot = QVBoxLayout()
        foot.setContentsMargins(px(16), px(6), px(16), px(7))
        foot.addWidget(self._total)
        inside.addLayout(foot)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(12))
        head = QHBoxLayout()
        head.addWidget(Label(theme, _("Results"), "page", 600))
        head.addStretch(1)
        tip = _("Open a result that came from elsewhere: a pack (.actumpack) or its folder. It can be dropped here too.")
        self.elsewhere_button = button(theme, _("From elsewhere…"), self._on_elsewhere, icon="folder-open", tip=tip)
        head.addWidget(self.elsewhere_button)
        head.addWidget(self.compare_button)
        head.addWidget(self.export_button)
        column.addLayout(head)
        column.addWidget(card, 1)
        model.modelReset.connect(self._on_rows)
        model.rowsInserted.connect(self._on_rows)
        self._on_rows()

    def _on_rows(self, *_args: object) -> None:
        rows = self._model.rowCount()
        self._stack.setCurrentIndex(0 if rows or not self._model.loaded else 1)
        more = self._model.canFetchMore(QModelIndex())
        if not rows:
            self._total.setText(_("No results yet") if self._model.loaded else "")
        elif more:
            self._total.setText(_("The newest {n} results; more as you scroll").format(n=rows))
        else:
            self._total.setText(ngettext("{n} result", "{n} results", rows).format(n=rows))

    def _on_selection(self) -> None:
        self.compare_button.setEnabled(len(self.table.selected()) > 1)
        self.export_button.setEnabled(bool(self.table.selected()))

    def _on_elsewhere(self) -> None:
        self.elsewhere_asked.emit(None)

    def _on_export(self) -> None:
        self.export_asked.emit([self._model.run_at(row) for row in self.table.selected()])

    def focus_start(self) -> None:
        if self._model.rowCount() and not self.table.currentIndex().isValid():
            self.table.selectRow(0)
        self.table.setFocus()
