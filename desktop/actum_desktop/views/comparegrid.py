"""Runs side by side as a grid: names at the left stay, a column for each run scrolls, parts have heads of their own."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from actum_desktop import measures
from actum_desktop.charts.overlay import colour
from actum_desktop.i18n import _
from actum_desktop.models.comparemodel import CELL, HEAD, LINE, Cell, CompareModel, Line, letter
from actum_desktop.models.comparing import Head
from actum_desktop.views.ink import CENTRE, Ink

Index = QModelIndex | QPersistentModelIndex
_ROW, _HEAD, _NAME, _COLUMN = 30, 46, 168, 156


class CompareDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ink, px, box = self._ink, self._ink.theme.px, QRectF(option.rect)
        line: Line = index.data(LINE)
        if not line.cells:
            painter.fillRect(box, ink.theme.color("sunken"))
            if index.column() == 0:
                ink.text(painter, box.adjusted(px(4), 0, 0, 0), line.note, "text2", "caption")
            return
        cell: Cell = index.data(CELL)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, ink.theme.color("tint_accent"))
        inner = box.adjusted(px(4), 0, -px(6), 0)
        if cell.missing and cell.text != measures.DASH:
            ink.icon(painter, QPointF(inner.left() + px(7), inner.center().y()), "prohibit", "text2", px(13))
            ink.text(painter, inner.adjusted(px(19), 0, 0, 0), cell.text, "text2", "caption", 500)
            return
        if cell.odd:
            wide = min(ink.width(cell.text, "body", 600), inner.width() - px(12))
            pill = QRectF(inner.left() - px(3), inner.center().y() - px(11), wide + px(12), px(22))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.theme.color("tint_accent"))
            painter.drawRoundedRect(pill, 5, 5)
            ink.text(painter, inner.adjusted(px(3), 0, 0, 0), cell.text, "text", "body", 600, middle=True)
            return
        token = "text2" if cell.missing else "text"
        used = ink.text(painter, inner, cell.text, token, "body", middle="/" in cell.text)
        if cell.aside:
            ink.text(painter, inner.adjusted(used + px(9), 0, 0, 0), cell.aside, "text2", "caption")


class RunHeads(QHeaderView):
    """Letter, run and time above each column; a click or Space draws or hides its curve. Signal: `toggled` (column)."""

    toggled = Signal(object)

    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._ink = ink
        self.drawn: Callable[[int], bool] = lambda column: False
        self.setAccessibleName(_("Runs"))
        self.setFixedHeight(ink.theme.px(_HEAD))
        self.setSectionsClickable(True)
        self.setHighlightSections(False)

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        ink, px, box = self._ink, self._ink.theme.px, QRectF(rect)
        head: Head | None = self.model().headerData(logical, Qt.Orientation.Horizontal, HEAD)
        painter.fillRect(box, ink.theme.color("surface"))
        if head is None:
            return
        token = colour(logical) if self.drawn(logical) else "text3"
        badge = QRectF(box.left() + px(4), box.center().y() - px(11), px(22), px(22))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink.theme.color(token), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(badge, 4, 4)
        ink.text(painter, badge, letter(logical), token, "caption", 600, CENTRE)
        half = px(17)
        upper = QRectF(badge.right() + px(8), box.center().y() - half, box.right() - badge.right() - px(10), half)
        ink.text(painter, upper, _("run {n}").format(n=head.run), "text", "body", 600)
        ink.text(painter, upper.translated(0, half - 1), measures.when(measures.micros(head.at)), "text2", "caption")

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self._ink.hairline(painter, 0, self.viewport().width(), self.height() - 1)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        column = self.logicalIndexAt(event.position().toPoint())
        if column >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self.toggled.emit(column)
        super().mouseReleaseEvent(event)


class Names(QHeaderView):
    """What each row is."""

    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._ink = ink
        self.setAccessibleName(_("What is compared"))
        self.setFixedWidth(ink.theme.px(_NAME))
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        ink, px, box = self._ink, self._ink.theme.px, QRectF(rect)
        line: Line | None = self.model().headerData(logical, Qt.Orientation.Vertical, LINE)
        if line is None:
            return
        painter.fillRect(box, ink.theme.color("surface" if line.cells else "sunken"))
        inner = box.adjusted(px(16), 0, -px(4), 0)
        ink.text(painter, inner, line.title, "text" if not line.cells else "text2", "body", 400 if line.cells else 600)
        if line.cells:
            ink.hairline(painter, inner.left(), box.right() + 1, box.bottom() - 1)

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(_NAME), 0)


class CompareGrid(QTableView):
    """Signals: `toggled` (column: draw or hide its curve), `first_asked` (column), `removed` (column), `opened` (run)."""

    toggled = Signal(object)
    first_asked = Signal(object)
    removed = Signal(object)
    opened = Signal(object)

    def __init__(self, ink: Ink, model: CompareModel) -> None:
        super().__init__()
        self._ink, self._compared = ink, model
        self.setAccessibleName(_("Runs side by side"))
        self.heads = RunHeads(ink, self)
        self.heads.toggled.connect(self.toggled)
        self.setHorizontalHeader(self.heads)
        self.setVerticalHeader(Names(ink, self))
        self.setModel(model)
        self.setItemDelegate(CompareDelegate(ink, self))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.doubleClicked.connect(lambda index: self.opened.emit(model.heads[index.column()].run))
        model.modelReset.connect(self._fit)
        ink.theme.changed.connect(self._fit)

    def _fit(self) -> None:
        px, count = self._ink.theme.px, self._compared.columnCount()
        self.verticalHeader().setMinimumSectionSize(px(_ROW))
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        wide = max(px(_COLUMN), self.viewport().width() // count) if count else 0
        for column in range(count):
            self.setColumnWidth(column, wide)
        self.clearSpans()
        for row, line in enumerate(self._compared.lines):
            if not line.cells and count > 1:
                self.setSpan(row, 0, 1, count)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        count = self._compared.columnCount()
        for column in range(count):
            self.setColumnWidth(column, max(self._ink.theme.px(_COLUMN), self.viewport().width() // count))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        for row, line in enumerate(self._compared.lines):
            bottom = self.rowViewportPosition(row) + self.rowHeight(row) - 1
            if line.cells and 0 <= bottom <= self.viewport().height():
                self._ink.hairline(painter, 0, self.viewport().width(), bottom)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        column, key = self.currentIndex().column(), event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            cell = self.currentIndex().data(CELL) if self.currentIndex().isValid() else None
            QGuiApplication.clipboard().setText("" if cell is None else cell.whole or cell.text)
        elif column < 0:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self._compared.heads[column].run)
        elif key == Qt.Key.Key_Space:
            self.toggled.emit(column)
        elif key == Qt.Key.Key_F:
            self.first_asked.emit(column)
        elif key == Qt.Key.Key_Delete:
            self.removed.emit(column)
        else:
            super().keyPressEvent(event)

    def focus_start(self) -> None:
        if not self.currentIndex().isValid() and self._compared.rowCount() > 1:
            self.setCurrentIndex(self._compared.index(1, 0))
        self.setFocus()
