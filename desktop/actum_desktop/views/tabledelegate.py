"""Painting a grid of data: numbers at the right, the word of a missing value with its icon, and a head that says the order."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.tablemodel import TableModel
from actum_desktop.views.ink import LEFT, RIGHT, Ink

Index = QModelIndex | QPersistentModelIndex
_DIM = 0.6
_SELECTED, _HOVERED = QStyle.StateFlag.State_Selected.value, QStyle.StateFlag.State_MouseOver.value
_FOCUSED = QStyle.StateFlag.State_HasFocus.value
GAP, LAST = 10, 16  # beside a cell's text; the last column keeps a margin


class TableDelegate(QStyledItemDelegate):
    """Paints `Cell`s."""

    def __init__(self, ink: Ink, model: TableModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink, self._model = ink, model
        self.dimmed = False
        self.beside: QAbstractItemView | None = None  # the grid whose focus this one shares: it never has its own

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._ink.theme.px(80), self._ink.theme.px(tokens.DATA_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Called for every cell in sight: whole numbers, no search twice, and the model is asked past Qt."""
        ink, theme, rect, column, state = self._ink, self._ink.theme, option.rect, index.column(), option.state.value
        left, top, wide, high = rect.left(), rect.top(), rect.width(), rect.height()
        if self.dimmed:
            painter.setOpacity(_DIM)
        if state & _SELECTED:
            painter.fillRect(rect, theme.color("tint_accent"))
            if column == 0:
                painter.fillRect(left, top, 3, high, theme.color("accent"))
        elif state & _HOVERED:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(left, top + high - 1, wide, 1, theme.color("hairline"))
        cell = self._model.cell(index.row() + self._model.base, column)
        gap = theme.px(GAP)
        inner = QRectF(left + gap, top, wide - 2 * gap, high - 1)
        if cell.kind == "value":
            align = RIGHT if self._model.columns[column - 1].right else LEFT
            ink.text(painter, inner, cell.text, "text", "body", 400, align)
        elif cell.kind == "number":
            ink.text(painter, inner, cell.text, "text3", "caption", 400, RIGHT)
        elif cell.kind == "missing":
            self._missing(painter, inner, cell.text, self._model.columns[column - 1].right)
        else:
            painter.fillRect(QRectF(inner.left(), inner.center().y() - 2, inner.width() / 3, 4), theme.color("track"))
        beside = self.beside
        focused = state & _FOCUSED if beside is None else beside.hasFocus() and beside.currentIndex() == index
        if focused and column:
            painter.setPen(theme.color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(left, top, wide - 1, high - 2)

    def _missing(self, painter: QPainter, box: QRectF, words: str, right: bool) -> None:
        ink, px = self._ink, self._ink.theme.px
        wide = min(ink.width(words, "caption", 500), box.width() - px(18))
        left = box.right() - wide - px(18) if right else box.left()
        ink.icon(painter, QPointF(left + px(6), box.center().y()), "prohibit", "text2", px(13))
        ink.text(painter, QRectF(left + px(18), box.top(), wide + 2, box.height()), words, "text2", "caption", 500)


class TableHeader(QHeaderView):
    """Column heads that can be pressed to sort. Signals: `sort_asked` ((column of the model, bool: beside what it is sorted by
    already)), `menu_asked` ((column, QPoint on the screen))."""

    sort_asked = Signal(object)
    menu_asked = Signal(object)

    def __init__(self, ink: Ink, model: TableModel, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._ink, self._table = ink, model
        self.order: tuple[tuple[str, bool], ...] = ()  # (name, descending), the first counts most
        self.filtered: frozenset[str] = frozenset()
        self.held = False  # by the mouse: what changes its width now is the user
        self.setAccessibleName(_("Columns"))
        self.setFixedHeight(ink.theme.px(32))
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(ink.theme.px(56))
        self.sectionClicked.connect(self._on_clicked)

    def _on_clicked(self, section: int) -> None:
        if section > 0:
            also = bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.sort_asked.emit((section, also))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.held = True
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self.held = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        section = self.logicalIndexAt(event.pos())
        if section > 0:
            self.menu_asked.emit((section, event.globalPos()))

    def mark(self, order: tuple[tuple[str, bool], ...], filtered: frozenset[str]) -> None:
        self.order, self.filtered = order, filtered
        self.viewport().update()

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        if not 0 < logical <= len(self._table.columns):
            return
        ink, px = self._ink, self._ink.theme.px
        column = self._table.columns[logical - 1]
        box = QRectF(rect).adjusted(px(GAP), 0, -px(GAP), -1)
        marks = []
        place = next((place for place, (name, _down) in enumerate(self.order, 1) if name == column.name), 0)
        if place:
            marks.append("arrow-down" if self.order[place - 1][1] else "arrow-up")
        if column.name in self.filtered:
            marks.append("funnel")
        token = "text" if marks else "text3"
        number = px(7) if place and len(self.order) > 1 else 0  # room for which of several it is
        beside = px(16) * len(marks) + number
        room = box.adjusted(beside, 0, 0, 0) if column.right else box.adjusted(0, 0, -beside, 0)
        used = ink.text(painter, room, column.name, token, "caption", 500, RIGHT if column.right else LEFT)
        x = room.right() - used - px(9) - number if column.right else room.left() + used + px(10)
        for mark in marks:
            ink.icon(painter, QPointF(x, box.center().y()), mark, "accent", px(13))
            if number and mark != "funnel":
                ink.text(painter, QRectF(x + px(4), box.top() + px(2), px(10), px(14)), str(place), "accent", "micro", 500)
                x += 0 if column.right else number
            x += -px(16) if column.right else px(16)

    def paintEvent(self, event: object) -> None:
        super().paintEvent(event)  # type: ignore[arg-type]
        painter = QPainter(self.viewport())
        self._ink.hairline(painter, 0, self.viewport().width(), self.height() - 1)
        painter.end()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            section = self.logicalIndexAt(event.pos())
            tip = self._table.headerData(section, Qt.Orientation.Horizontal, int(Qt.ItemDataRole.ToolTipRole))
            QToolTip.showText(event.globalPos(), str(tip or ""), self)
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
