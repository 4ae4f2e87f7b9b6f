"""Painting the list of runs: two-line cells, bars, strips; and its quiet header."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.runcells import RunCells, Value
from actum_desktop.models.runsmodel import CELLS, COLUMNS
from actum_desktop.views.ink import LEFT, RIGHT, Ink

Index = QModelIndex | QPersistentModelIndex
LEAD = 16  # the last column's margin, and the first one's


class RunsDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._ink.theme.px(tokens.RUN_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ink, box, column = self._ink, QRectF(option.rect), index.column()
        painter.save()
        state, ground = option.state, box.adjusted(0, 0, 0, -1)  # the rule below is the table's
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(ground, ink.theme.color("tint_accent"))
            if column == 0:
                painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), ink.theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(ground, ink.theme.color("hover"))
        cells: RunCells = index.data(CELLS)
        px = ink.theme.px
        inner = box.adjusted(px(LEAD) if column == 0 else px(8), 0, -px(8), -1)
        if column == 0:
            self._status(painter, inner, cells)
        elif column == 1:
            self._two(painter, inner, cells.title, cells.sub)
        elif column == 2:
            self._progress(painter, inner, cells)
        elif column == 3:
            ink.strip(painter, inner.left(), box.center().y(), cells.strip)
        else:
            values: tuple[Value, ...] = (cells.time, cells.heartbeat, cells.cpu, cells.memory, cells.started)
            value = values[column - 4]
            ink.text(painter, inner, value.text, value.token, "caption", value.weight, RIGHT if COLUMNS[column][2] else LEFT)
        if state & QStyle.StateFlag.State_HasFocus and column == 0:
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), ink.theme.color("accent"))
        painter.restore()

    def _status(self, painter: QPainter, box: QRectF, cells: RunCells) -> None:
        ink, px = self._ink, self._ink.theme.px
        ink.icon(painter, QPointF(box.left() + px(7), box.center().y()), cells.status.icon, cells.status.tone, px(15))
        ink.text(painter, box.adjusted(px(23), 0, px(6), 0), cells.status.word, cells.status.tone, "body", 500)

    def _two(self, painter: QPainter, box: QRectF, first: str, second: str) -> None:
        upper, lower = self._halves(box)
        self._ink.text(painter, upper, first, "text", "body", 600)
        self._ink.text(painter, lower, second, "text2", "caption")

    def _halves(self, box: QRectF) -> tuple[QRectF, QRectF]:
        px = self._ink.theme.px
        middle, half = box.center().y(), px(17)
        return (
            QRectF(box.left(), middle - half + 1, box.width(), half),
            QRectF(box.left(), middle, box.width(), half),
        )

    def _progress(self, painter: QPainter, box: QRectF, cells: RunCells) -> None:
        ink, px = self._ink, self._ink.theme.px
        if cells.fraction is None and not cells.badge:
            ink.text(painter, box, cells.stage, cells.stage_token, "caption")
            return
        upper, lower = self._halves(box)
        if cells.fraction is not None:
            number = px(46)
            bar = QRectF(upper.left(), round(upper.center().y()) - px(2), upper.width() - number, px(4))
            ink.bar(painter, bar, cells.fraction, cells.bar)
            ink.text(painter, upper, cells.percent, "text", "caption", 400, RIGHT)
        else:
            lower = box
        if cells.badge:
            ink.icon(painter, QPointF(lower.left() + px(6), lower.center().y()), "warning-fill", "warn", px(13))
            used = px(18) + ink.text(painter, lower.adjusted(px(18), 0, 0, 0), cells.badge, "warn", "caption", 600)
            if cells.stage:
                ink.text(painter, lower.adjusted(used + px(5), 0, 0, 0), f"· {cells.stage}", "text2", "caption")
        else:
            ink.text(painter, lower, cells.stage, cells.stage_token, "caption")


class Header(QHeaderView):
    """Column heads: caption 500 in text3 on the card's own ground, a hairline below."""

    def __init__(self, ink: Ink, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._ink = ink
        self.setAccessibleName(_("Columns"))
        self.setFixedHeight(ink.theme.px(32))
        self.setSectionsClickable(False)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(ink.theme.px(48))

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        px = self._ink.theme.px
        _key, _title, right = COLUMNS[logical]
        box = QRectF(rect).adjusted(px(LEAD + 12) if logical == 0 else px(8), 0, -px(8), -1)
        text = str(self.model().headerData(logical, Qt.Orientation.Horizontal))
        self._ink.text(painter, box, text, "text3", "caption", 500, RIGHT if right else LEFT)
        self._ink.hairline(painter, rect.left(), rect.right() + 1, rect.bottom())

    def paintEvent(self, event: object) -> None:
        super().paintEvent(event)  # type: ignore[arg-type]
        painter = QPainter(self.viewport())
        self._ink.hairline(painter, 0, self.viewport().width(), self.height() - 1)
        painter.end()
