"""The gallery's cards: one painting delegate in a grid, so that keys, selection and screen readers come free (UI.md §5)."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.tasks import Bar, CardRuns, Index, TaskItem, TasksModel, icon_of, kind_words
from actum_desktop.views.ink import RIGHT, Ink

_LEAST, _GAP, _HIGH = 300, 16, 184
_BAR = QStyle.PixelMetric.PM_ScrollBarExtent


class CardDelegate(QStyledItemDelegate):
    """Signals: `opened`, `run_asked` (task name), by a click on a card or on its button."""

    opened = Signal(object)
    run_asked = Signal(object)

    def __init__(self, ink: Ink, view: TaskCards) -> None:
        super().__init__(view)
        self._ink, self._view = ink, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._view.gridSize()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        if not isinstance(model, TasksModel):
            return
        item = model.item(index.row())
        box = self.card_box(option.rect)
        state = option.state
        painter.save()
        current = bool(state & QStyle.StateFlag.State_Selected) and self._view.hasFocus()
        self._ground(painter, box, current, bool(state & QStyle.StateFlag.State_MouseOver))
        self._head(painter, box, item)
        self._runs(painter, box, model.card(item), item)
        painter.restore()

    def card_box(self, rect: QRect) -> QRectF:
        px = self._ink.theme.px
        return QRectF(rect.left() + 1, rect.top() + 1, rect.width() - px(_GAP) - 1, rect.height() - px(_GAP) - 1)

    def play_box(self, rect: QRect) -> QRectF:
        px, box = self._ink.theme.px, self.card_box(rect)
        return QRectF(box.right() - px(42), box.top() + px(16), px(32), px(32))

    def _ground(self, painter: QPainter, box: QRectF, current: bool, hover: bool) -> None:
        theme = self._ink.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide = tokens.FOCUS if current else 1
        painter.setPen(QPen(theme.color("accent" if current else "line2" if hover else "hairline"), wide))
        painter.setBrush(theme.color("surface"))
        inset = wide / 2
        painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), tokens.RADIUS_CARD, tokens.RADIUS_CARD)

    def _head(self, painter: QPainter, box: QRectF, item: TaskItem) -> None:
        ink, px = self._ink, self._ink.theme.px
        tile = QRectF(box.left() + px(14), box.top() + px(14), px(36), px(36))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.theme.color("tint_neutral"))
        painter.drawRoundedRect(tile, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        ink.icon(painter, tile.center(), icon_of(item), "text", px(18))
        left = tile.right() + px(12)
        wide = box.right() - px(48) - left
        ink.text(painter, QRectF(left, tile.top() - px(1), wide, px(20)), item.title, "text", "body", 600)
        sub = _("disabled") if item.disabled else kind_words(item)
        ink.text(painter, QRectF(left, tile.top() + px(18), wide, px(18)), sub, "text2", "caption")
        play = QPointF(box.right() - px(26), box.top() + px(32))
        if not item.disabled:
            ink.icon(painter, play, "play", "text2", px(16))
        text = QRectF(box.left() + px(14), box.top() + px(58), box.width() - px(28), px(32))
        step = ink.theme.line("caption")
        lines = ink.wrap(item.first_words, text.width(), "caption")
        for row, line in enumerate(lines[:2]):
            shown = " ".join(lines[1:]) if row == 1 else line
            ink.text(painter, QRectF(text.left(), text.top() + row * step, text.width(), step), shown, "text2", "caption")

    def _runs(self, painter: QPainter, box: QRectF, card: CardRuns, item: TaskItem) -> None:
        ink, px = self._ink, self._ink.theme.px
        inner = box.adjusted(px(14), 0, -px(14), 0)
        line = QRectF(inner.left(), box.bottom() - px(66), inner.width(), px(20))
        self._bars(painter, inner.left(), line.bottom() - px(2), card.bars)
        ink.text(painter, line, card.sentence, "text2", "caption", 400, RIGHT)
        ink.hairline(painter, inner.left(), inner.right(), box.bottom() - px(39))
        foot = QRectF(inner.left(), box.bottom() - px(36), inner.width(), px(32))
        if card.newest is None:
            ink.text(painter, foot, _("Enter opens it"), "text3", "caption")
            return
        status = card.newest.status
        icon, tone, word = status.icon, status.tone, status.word
        if card.newest.badge:
            icon, tone, word = "warning-fill", "warn", card.newest.badge
        ink.icon(painter, QPointF(inner.left() + px(7), foot.center().y()), icon, tone, px(14))
        used = ink.text(painter, foot, card.when, "text2", "caption", 400, RIGHT)
        ink.text(painter, foot.adjusted(px(19), 0, -used - px(8), 0), word, tone, "caption", 500)

    def _bars(self, painter: QPainter, left: float, bottom: float, bars: tuple[Bar, ...]) -> None:
        px, theme = self._ink.theme.px, self._ink.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, bar in enumerate(bars):
            high = max(px(4), px(15) * bar.part)
            column = QRectF(left + index * px(8), bottom - high, px(5), high)
            if bar.failed:
                painter.setPen(QPen(theme.color("bad"), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                column.adjust(0.5, 0.5, -0.5, -0.5)
                painter.drawRoundedRect(column, 1, 1)
                painter.drawLine(column.bottomLeft(), column.topRight())
            else:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("line2"))
                painter.drawRoundedRect(column, 1, 1)

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        released = event.type() == QEvent.Type.MouseButtonRelease
        if not (released and isinstance(event, QMouseEvent) and isinstance(model, TasksModel)):
            return False
        item, rect = model.item(index.row()), option.rect
        if self.play_box(rect).contains(event.position()) and not item.disabled:
            self.run_asked.emit(item.name)
        elif self.card_box(rect).contains(event.position()):
            self.opened.emit(item.name)
        return True


class TaskCards(QListView):
    """Signals: `opened` (task name), `run_asked` (task name)."""

    opened = Signal(object)
    run_asked = Signal(object)

    def __init__(self, ink: Ink, model: TasksModel) -> None:
        super().__init__()
        self._ink, self._tasks = ink, model
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(_("Tasks"))
        self.viewport().setAutoFillBackground(False)
        self._fit()
        delegate = CardDelegate(ink, self)
        delegate.opened.connect(self.opened)
        delegate.run_asked.connect(self.run_asked)
        self.setItemDelegate(delegate)
        self.setModel(model)
        ink.theme.changed.connect(self.viewport().update)

    def _fit(self) -> None:
        """As many equal columns as fit, beside a scroll bar: the list keeps its room free before there is one."""
        bar = self.verticalScrollBar()
        kept = 0 if bar.isVisible() else max(bar.sizeHint().width(), self.style().pixelMetric(_BAR, None, bar))
        px, wide = self._ink.theme.px, max(1, self.viewport().width() - 2 - kept)
        columns = max(1, (wide + px(_GAP)) // (px(_LEAST) + px(_GAP)))
        self.setGridSize(QSize(max(px(_LEAST) // 2, wide // columns), px(_HIGH + _GAP)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def current(self) -> str:
        index = self.currentIndex()
        return self._tasks.item(index.row()).name if index.isValid() else ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self.current():
            asked = self.run_asked if event.modifiers() & Qt.KeyboardModifier.ControlModifier else self.opened
            asked.emit(self.current())
            return
        super().keyPressEvent(event)
