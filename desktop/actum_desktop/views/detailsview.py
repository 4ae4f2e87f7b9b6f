"""A register of labels and values: heads, lines that wrap, hairlines between; copied whole with Ctrl+C."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from actum_desktop.models.details import DETAIL, Detail, DetailsModel, Section
from actum_desktop.views.ink import RIGHT, Ink

Index = QModelIndex | QPersistentModelIndex
_LABEL, _EDGE = 168, 16


class DetailsDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else option.rect.width()
        return QSize(width, self._height(index.data(DETAIL), width))

    def _height(self, row: Detail, width: float) -> int:
        px, theme = self._ink.theme.px, self._ink.theme
        if isinstance(row, Section):
            return px(38)
        lines = self._ink.wrap(row.value, width - px(_LABEL) - px(_EDGE) * 2, "caption")
        return px(10) + theme.line("caption") * len(lines)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        ink, px, theme = self._ink, self._ink.theme.px, self._ink.theme
        box, row = QRectF(option.rect), index.data(DETAIL)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("tint_accent"))
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), theme.color("accent"))
        if isinstance(row, Section):
            line = QRectF(box.left() + px(_EDGE), box.top() + px(10), box.width() - 2 * px(_EDGE), px(24))
            used = ink.text(painter, line, row.title, "text", "body", 600)
            ink.text(painter, line.adjusted(used + px(24), 0, 0, 0), row.note, "text2", "caption", 400, RIGHT, middle=True)
        else:
            step = theme.line("caption")
            left = QRectF(box.left() + px(_EDGE), box.top() + px(5), px(_LABEL) - px(12), step)
            ink.text(painter, left, row.label, "text2", "caption")
            width = box.width() - px(_LABEL) - px(_EDGE) * 2
            for number, text in enumerate(ink.wrap(row.value, width, "caption")):
                line = QRectF(box.left() + px(_EDGE) + px(_LABEL), box.top() + px(5) + number * step, width + 4, step)
                ink.text(painter, line, text, row.token, "micro" if row.mono else "caption", mono=row.mono)
        ink.hairline(painter, box.left() + px(_EDGE), box.right() - px(_EDGE), box.bottom() - 1)
        painter.restore()


class DetailsView(QListView):
    def __init__(self, ink: Ink, name: str) -> None:
        super().__init__()
        self.rows = DetailsModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(DetailsDelegate(ink, self))
        self.setAccessibleName(name)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        ink.theme.changed.connect(self.scheduleDelayedItemsLayout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.rows.as_text())
            return
        super().keyPressEvent(event)
