"""The ledger, drawn: an item view whose delegate measures and paints each row by one routine (UI.md §4, §11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.ledger import Kind
from actum_desktop.models.ledgermodel import ENTRY, Entry, Foot, Head, LedgerModel, Line, Now
from actum_desktop.views.ink import RIGHT, Ink

Index = QModelIndex | QPersistentModelIndex
_TIME_RIGHT, _SPINE, _FACT, _EDGE, _TINT = 76, 92, 112, 16, 8


class LedgerDelegate(QStyledItemDelegate):
    """Paints one entry; `_lay` is the one routine that both measures (painter None) and paints."""

    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink
        self.rule_part = 1.0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else option.rect.width()
        return QSize(width, self._lay(None, QRectF(0, 0, width, 0), index.data(ENTRY)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        box = QRectF(option.rect)
        entry = index.data(ENTRY)
        self._lay(painter, box, entry)
        if option.state & QStyle.StateFlag.State_HasFocus and not isinstance(entry, Head):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            painter.setPen(QPen(self._ink.theme.color("accent"), tokens.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            px = self._ink.theme.px
            frame = box.adjusted(px(_TINT) + 1, 1, -px(_TINT) - 1, -2)
            painter.drawRoundedRect(frame, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        painter.restore()

    def _lay(self, painter: QPainter | None, box: QRectF, entry: Entry) -> int:
        if isinstance(entry, Head):
            return self._head(painter, box, entry)
        if isinstance(entry, Foot):
            return self._foot(painter, box, entry)
        if isinstance(entry, Now):
            return self._now(painter, box, entry)
        return self._line(painter, box, entry)

    def _fact_box(self, box: QRectF, top: float, height: float) -> QRectF:
        px = self._ink.theme.px
        return QRectF(box.left() + px(_FACT), box.top() + top, box.width() - px(_FACT) - px(_EDGE), height)

    def _head(self, painter: QPainter | None, box: QRectF, entry: Head) -> int:
        px, ink = self._ink.theme.px, self._ink
        height = px(32)
        if painter:
            where = self._fact_box(box, px(11), px(20))
            ink.text(painter, where, entry.title, "text3", "caption", 600)
            ink.text(painter, where, entry.note, "text3", "caption", 400, RIGHT)
            if entry.note:  # the spine runs on behind the head of the second part
                view = self.parent()
                solid = isinstance(view, LedgerView) and view.spine_at_completion()
                ink.spine(painter, box.left() + px(_SPINE), box.top(), box.top() + height, solid=bool(solid))
        return height

    def _line(self, painter: QPainter | None, box: QRectF, entry: Line) -> int:
        theme, ink, row = self._ink.theme, self._ink, entry.row
        px, title_high, step = theme.px, theme.line("body"), theme.line("caption")
        waiting = row.kind is Kind.WAITING
        margin = px(4) if waiting else 0
        pad = px(8) if waiting else px(4)
        width = box.width() - px(_FACT) - px(_EDGE)
        lines = [part for text in row.evidence for part in ink.wrap(text, width)]
        measured = waiting and row.fraction is not None
        bar_high = px(12) if measured else 0
        height = margin * 2 + pad * 2 + title_high + step * len(lines) + bar_high + (1 if not waiting else 0)
        if not painter:
            return height
        ground = "tint_accent" if waiting else "surface"
        if waiting:
            self._tint(painter, box.adjusted(px(_TINT), margin, -px(_TINT), -margin))
        top = margin + pad
        node = QPointF(box.left() + px(_SPINE), round(box.top() + top + title_high / 2))
        self._spine(painter, box, entry, node)
        ink.node(painter, node, row.kind, entry.ink, ground)
        self._time(painter, box, entry, top, title_high, step)
        self._fact(painter, self._fact_box(box, top, title_high), entry)
        y = top + title_high
        for text in lines:
            ink.text(painter, self._fact_box(box, y, step), text, _evidence_token(row.kind), "caption")
            y += step
        if measured:
            ink.bar(painter, self._fact_box(box, y + px(6), px(4)), row.fraction or 0.0, "accent")
        if not waiting and not entry.last:
            self._under(painter, box, row.kind)
        return height

    def _tint(self, painter: QPainter, box: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._ink.theme.color("tint_accent"))
        painter.drawRoundedRect(box, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)

    def _spine(self, painter: QPainter, box: QRectF, entry: Line, node: QPointF) -> None:
        if entry.above is not None:
            self._ink.spine(painter, node.x(), box.top(), node.y(), solid=entry.above)
        if entry.under is not None:
            self._ink.spine(painter, node.x(), node.y(), box.bottom(), solid=entry.under)

    def _time(self, painter: QPainter, box: QRectF, entry: Line, top: float, high: float, step: float) -> None:
        px, ink = self._ink.theme.px, self._ink
        column = QRectF(box.left() + px(4), box.top() + top, px(_TIME_RIGHT) - px(4), high)
        kind = entry.row.kind
        if kind is Kind.WAITING:
            ink.text(painter, column, entry.time, "accent", "caption", 600, RIGHT)
        elif kind is Kind.NEVER:
            ink.text(painter, column, entry.time, "text3", "caption", 400, RIGHT)
        else:
            ink.text(painter, column, entry.time, "bad" if kind is Kind.REFUSED else "text", "body", 400, RIGHT)
        ink.text(painter, column.translated(0, high), entry.below, "text3", "caption", 400, RIGHT)

    def _fact(self, painter: QPainter, box: QRectF, entry: Line) -> None:
        kind = entry.row.kind
        faint = kind in (Kind.NOT_YET, Kind.NEVER)
        token = "text3" if faint else "bad" if kind is Kind.REFUSED else "text"
        self._ink.text(painter, box, entry.row.title, token, "body", 400 if faint else 600)

    def _under(self, painter: QPainter, box: QRectF, kind: Kind) -> None:
        px, ink, y = self._ink.theme.px, self._ink, box.bottom() - 1
        draw = ink.dotted if kind in (Kind.NOT_YET, Kind.NEVER) else ink.hairline
        draw(painter, box.left() + px(_EDGE), box.left() + px(_TIME_RIGHT), y)
        draw(painter, box.left() + px(_FACT), box.right() - px(_EDGE), y)

    def _foot(self, painter: QPainter | None, box: QRectF, entry: Foot) -> int:
        theme, ink, foot = self._ink.theme, self._ink, entry.foot
        px, word_high, step = theme.px, theme.line("lead"), theme.line("caption")
        lines = ink.wrap(foot.sentence, box.width() - px(_FACT) - px(_EDGE))
        height = px(12) + px(12) + word_high + px(3) + step * len(lines) + px(16)
        if painter:
            x1, x2, y = box.left() + px(_EDGE), box.right() - px(_EDGE), box.top() + px(10)
            if foot.rule == "double":
                ink.double_rule(painter, x1, x2, y, foot.tone, self.rule_part)
            else:
                ink.hairline(painter, x1, x2, y, "warn" if foot.rule == "held" else "line2")
            where = self._fact_box(box, px(24), word_high)
            ink.icon(painter, QPointF(box.left() + px(_SPINE), where.center().y()), foot.icon, _ink(foot.tone), px(18))
            ink.text(painter, where, foot.word, foot.tone, "lead", 600)
            for index, text in enumerate(lines):
                below = self._fact_box(box, px(24) + word_high + px(3) + index * step, step)
                ink.text(painter, below, text, "text2", "caption")
        return height

    def _now(self, painter: QPainter | None, box: QRectF, entry: Now) -> int:
        theme, ink = self._ink.theme, self._ink
        px, high, step = theme.px, theme.line("body"), theme.line("caption")
        lines = ink.wrap(entry.text, box.width() - px(_FACT) - px(_EDGE)) if entry.text else []
        height = px(4) + high + step * len(lines) + px(12)
        if painter:
            where = self._fact_box(box, px(4), high)
            ink.text(painter, QRectF(box.left(), where.top(), px(_TIME_RIGHT), high), _("now"), "text3", "caption", 400, RIGHT)
            centre = QPointF(box.left() + px(_SPINE), where.center().y())
            ink.icon(painter, centre, entry.badge.icon, _ink(entry.badge.tone), px(16))
            ink.text(painter, where, entry.badge.word, entry.badge.tone, "body", 600)
            for index, text in enumerate(lines):
                ink.text(painter, self._fact_box(box, px(4) + high + index * step, step), text, "text2", "caption")
        return height


def _ink(tone: str) -> str:
    return "text2" if tone == "text" else tone


def _evidence_token(kind: Kind) -> str:
    return "text3" if kind in (Kind.NOT_YET, Kind.NEVER) else "text2"


class _Account(QListView):
    """What rows and foot share: one column of entries as high as its content, copied whole."""

    def __init__(self, ink: Ink, name: str, *, foot: bool) -> None:
        super().__init__()
        self._ink = ink
        self._ledger = LedgerModel(foot=foot, parent=self)
        self._delegate = LedgerDelegate(ink, self)
        self.setAccessibleName(name)
        self.setModel(self._ledger)
        self.setItemDelegate(self._delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        ink.theme.changed.connect(self._on_theme)

    @property
    def ledger(self) -> LedgerModel:
        return self._ledger

    def content_height(self) -> int:
        return sum(self.sizeHintForRow(row) for row in range(self._ledger.rowCount()))

    def fit(self) -> None:
        """As high as its rows, not higher: the foot stands right below the last one."""
        self.scheduleDelayedItemsLayout()
        self.setMaximumHeight(max(1, self.content_height()))

    def _on_theme(self) -> None:
        self.fit()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._ledger.as_text())
            return
        super().keyPressEvent(event)


class LedgerFoot(_Account):
    """The foot of the account and what holds now; always in sight, however long the account."""

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink, _("Foot of the ledger"), foot=True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._rule = QVariantAnimation(self)
        self._rule.setStartValue(0.0)
        self._rule.setEndValue(1.0)
        self._rule.setDuration(tokens.RULE_MS)
        self._rule.valueChanged.connect(self._on_rule)
        self.closed: bool | None = None

    def fit(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.setFixedHeight(max(1, self.content_height()))

    def show_foot(self, show: Mapping[str, Any], attempt: str | None, now: int | None) -> None:
        """The double rule draws itself once, if it came while the page was looked at."""
        before = self.closed
        if self._ledger.show(show, attempt, now):
            self.fit()
        first = self._ledger.entry(0)
        self.closed = isinstance(first, Foot) and first.foot.rule == "double"
        still = self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self) == 0
        if self.closed and before is False and self.isVisible() and not still:
            self._rule.start()

    def forget(self) -> None:
        """Another run is shown next: what closes then did not close now."""
        self.closed = None
        self._rule.stop()
        self._delegate.rule_part = 1.0

    def _on_rule(self, value: object) -> None:
        self._delegate.rule_part = float(value) if isinstance(value, float) else 1.0
        self.update(self._ledger.index(0))


class LedgerView(_Account):
    """The rows of one ledger; `foot` is the widget to stand below. Signal: `evidence` (the row's key) on click or Enter."""

    evidence = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__(ink, _("Ledger"), foot=False)
        self.foot = LedgerFoot(ink)
        self._waiting = -1
        self._closed: bool | None = None
        self.activated.connect(self._on_activated)
        self.clicked.connect(self._on_activated)

    def show_ledger(self, show: Mapping[str, Any], attempt: str | None = None, now: int | None = None) -> None:
        """Fill in what is on record; what is waited for stays in sight."""
        if self._ledger.show(show, attempt, now):
            self.fit()
        self.foot.show_foot(show, attempt, now)
        waiting = self._row_in_sight()
        if waiting != self._waiting or self.foot.closed != self._closed:  # closing gives the last row its evidence
            self._waiting, self._closed = waiting, self.foot.closed
            QTimer.singleShot(0, self, self._bring_into_sight)  # after the rows have their places

    def forget(self) -> None:
        self._waiting = -1
        self.foot.forget()

    def _bring_into_sight(self) -> None:
        if self._waiting >= 0:
            self.scrollTo(self._ledger.index(self._waiting))

    def _row_in_sight(self) -> int:
        """The row being waited for, else the last one on record."""
        last = 0
        for row in range(self._ledger.rowCount()):
            entry = self._ledger.entry(row)
            if isinstance(entry, Line):
                if entry.row.kind in (Kind.WAITING, Kind.CANNOT_TELL):
                    return row
                if entry.row.kind in (Kind.ESTABLISHED, Kind.REFUSED):
                    last = row
        return self._ledger.rowCount() - 1 if self.foot.closed else last

    def spine_at_completion(self) -> bool:
        for row in range(self._ledger.rowCount()):
            entry = self._ledger.entry(row)
            if isinstance(entry, Line) and entry.row.key == "work_completed":
                return bool(entry.above)
        return False

    def _on_activated(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY)
        if isinstance(entry, Line) and entry.row.facts:
            self.evidence.emit(entry.row.key)
