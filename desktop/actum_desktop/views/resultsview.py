"""The list of published results, newest first, each with what holds of it now; or how there come to be some."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.resultsmodel import ITEM, ResultItem, ResultsModel
from actum_desktop.models.resultsmodel import RIGHT as RIGHT_COLUMNS
from actum_desktop.views.ink import LEFT, RIGHT, Ink
from actum_desktop.views.widgets import Card, Label, Rule

Index = QModelIndex | QPersistentModelIndex
_WIDTHS = (224, 276, 150, 100, 84, 150)


class ResultsDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._ink.theme.px(tokens.RUN_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ink, px, box, column = self._ink, self._ink.theme.px, QRectF(option.rect), index.column()
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, ink.theme.color("tint_accent"))
            if column == 0:
                painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), ink.theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, ink.theme.color("hover"))
        ink.hairline(painter, box.left(), box.right() + 1, box.bottom() - 1)
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


class ResultsTable(QTableView):
    """Signal: `opened` (run number)."""

    opened = Signal(object)

    def __init__(self, ink: Ink, model: ResultsModel) -> None:
        super().__init__()
        self._ink, self._results = ink, model
        self.setAccessibleName(_("Results"))
        self.setModel(model)
        self.setItemDelegate(ResultsDelegate(ink, self))
        self.setHorizontalHeader(ResultsHeader(ink, self))
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName(_("Rows"))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.viewport().setAutoFillBackground(False)
        self.doubleClicked.connect(self._on_opened)
        ink.theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self.verticalHeader().setMinimumSectionSize(self._ink.theme.px(tokens.RUN_ROW))
        self.verticalHeader().setDefaultSectionSize(self._ink.theme.px(tokens.RUN_ROW))
        self._share_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        wide = [self._ink.theme.px(width) for width in _WIDTHS]
        spare = max(self.viewport().width() - sum(wide), -self._ink.theme.px(90))
        wide[0] += spare * 2 // 3
        wide[1] += spare - spare * 2 // 3
        for column, width in enumerate(wide):
            self.setColumnWidth(column, width)

    def _on_opened(self, index: QModelIndex) -> None:
        self.opened.emit(self._results.item(index.row()).run)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_opened(self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted(index.row() for index in self.selectionModel().selectedRows())
            QGuiApplication.clipboard().setText(self._results.as_tsv(rows))
        else:
            super().keyPressEvent(event)


class ResultsView(QWidget):
    """Signal: `opened` (run number)."""

    opened = Signal(object)

    def __init__(self, ink: Ink, model: ResultsModel) -> None:
        super().__init__()
        self._model = model
        theme, px = ink.theme, ink.theme.px
        self.table = ResultsTable(ink, model)
        self.table.opened.connect(self.opened)
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
        column.addWidget(Label(theme, _("Results"), "page", 600))
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

    def focus_start(self) -> None:
        if self._model.rowCount() and not self.table.currentIndex().isValid():
            self.table.selectRow(0)
        self.table.setFocus()
