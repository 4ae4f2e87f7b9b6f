"""The command palette (UI.md §5): one line to type in, what it finds below; keyboard only, over the dimmed window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtCore import QModelIndex as ModelIndex
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models import palette
from actum_desktop.models.palette import ROW, Entry, Found, Head, PaletteModel
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.widgets import Card, Label, Rule

_WIDE, _TOP, _ROW, _HEAD, _LIST_HIGH = 680, 92, 36, 32, 420
_TYPING_MS = 60
_STRIP_RIGHT, _HINT_WIDE = 190, 116


@dataclass(frozen=True, slots=True)
class Action:
    """Something the window can do. `group` is actions or settings; `keys` its shortcut ("" = none)."""

    name: str
    title: str
    note: str = ""
    icon: str = "lightning"
    keys: str = ""
    group: str = "actions"


class PaletteDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, model: PaletteModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink, self._model = ink, model

    def sizeHint(self, option: QStyleOptionViewItem, index: ModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, self._ink.theme.px(_HEAD if isinstance(index.data(ROW), Head) else _ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex | QPersistentModelIndex) -> None:
        painter.save()
        ink, px, box, row = self._ink, self._ink.theme.px, QRectF(option.rect), index.data(ROW)
        if isinstance(row, Head):
            ink.text(painter, box.adjusted(px(22), px(6), -px(22), 0), row.title, "text2", "caption", 600)
        else:
            self._entry(painter, box, row, bool(option.state & QStyle.StateFlag.State_Selected))
        painter.restore()

    def _entry(self, painter: QPainter, box: QRectF, row: Entry, chosen: bool) -> None:
        ink, px = self._ink, self._ink.theme.px
        if chosen:
            ground = box.adjusted(px(8), 0, -px(8), 0)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.theme.color("tint_accent"))
            painter.drawRoundedRect(ground, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
            painter.fillRect(QRectF(ground.left(), box.top() + px(9), 3, box.height() - px(18)), ink.theme.color("accent"))
        if row.icon:
            ink.icon(painter, QPointF(box.left() + px(30), box.center().y()), row.icon, row.tone, px(15))
        right = box.right() - px(22)
        used = ink.text(
            painter, QRectF(right - px(200), box.top(), px(200), box.height()), row.hint, "text2", "caption", 500, RIGHT
        )
        right -= used + px(14)
        if row.strip is not None:
            left = box.right() - px(_STRIP_RIGHT + 10)
            ink.strip(painter, left, box.center().y(), row.strip)
            right = left - px(12)
        left = box.left() + px(51)
        left += self._title(painter, QRectF(left, box.top(), right - left, box.height()), row.title)
        room = QRectF(left + px(10), box.top(), right - left - px(10), box.height())
        if room.width() > px(24):
            ink.text(painter, room, row.note, "text2", "caption")

    def _title(self, painter: QPainter, box: QRectF, title: str) -> float:
        """The title, what was typed in accent 700; the width drawn."""
        ink, left, at = self._ink, box.left(), 0
        pieces: list[tuple[str, bool]] = []
        for start, end in palette.hits(self._model.words, title):
            pieces += [(title[at:start], False), (title[start:end], True)]
            at = end
        for text, hit in [*pieces, (title[at:], False)]:
            room = QRectF(left, box.top(), max(0.0, box.right() - left), box.height())
            left += ink.text(painter, room, text, "accent" if hit else "text", "body", 700 if hit else 600)
        return left - box.left()


class Palette(QWidget):
    """Signals: `chosen` (Entry), `run_asked` (Entry of a task, Ctrl+Enter), `asked` (text, for the reader of the store)."""

    chosen = Signal(object)
    run_asked = Signal(object)
    asked = Signal(object)

    def __init__(self, ink: Ink, home: QWidget) -> None:
        super().__init__(home)
        self._ink, self._home = ink, home
        self._actions: tuple[Action, ...] = ()
        self._before: QWidget | None = None
        self.setAccessibleName(_("Command palette"))
        self.model = PaletteModel(self)
        self._make(ink)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._on_typed)
        self.line.textChanged.connect(self._on_text)
        home.installEventFilter(self)
        self.hide()

    def _make(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        self._card = Card(theme, "raised", radius=tokens.RADIUS_DIALOG)
        self._card.setParent(self)
        self.line = QLineEdit()
        self.line.setObjectName("bare")
        self.line.setFont(theme.font("lead"))
        self.line.setPlaceholderText(_("Search or do"))
        self.line.setAccessibleName(_("Search or do"))
        self.line.addAction(theme.icon("magnifying-glass", "text3"), QLineEdit.ActionPosition.LeadingPosition)
        self.line.installEventFilter(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(PaletteDelegate(ink, self.model, self.list))
        self.list.setAccessibleName(_("Found"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.viewport().setAutoFillBackground(False)
        self.list.clicked.connect(self._on_clicked)
        self.none = Label(theme, "", "body", 400, "text2")
        self.none.setContentsMargins(px(22), px(12), px(22), px(12))
        head = QHBoxLayout()
        head.setContentsMargins(px(20), px(12), px(22), px(12))
        head.addWidget(self.line, 1)
        head.addWidget(Label(theme, _("tasks, runs, results, actions"), "caption", 400, "text2"))
        foot = QHBoxLayout()
        foot.setContentsMargins(px(22), px(8), px(22), px(9))
        foot.setSpacing(px(16))
        keys = (_("↑ ↓ choose"), _("Enter opens"), _("Ctrl Enter runs the task"), _("Esc closes"))
        for text in keys:
            foot.addWidget(Label(theme, text, "caption", 400, "text2"))
        foot.addStretch(1)
        foot.addWidget(Label(theme, _("Paste a run's id to jump to it"), "caption", 400, "text2"))
        column = QVBoxLayout(self._card)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule(theme))
        column.addWidget(self.none)
        column.addWidget(self.list)
        column.addWidget(Rule(theme))
        column.addLayout(foot)

    # ---- opening and closing

    def open(self, actions: Sequence[Action]) -> None:
        """Over the window, empty, ready to be typed into."""
        self._actions = tuple(actions)
        self.model.use_titles(
            {
                "jump": _("This run"),
                "actions": _("Actions here"),
                "tasks": _("Tasks"),
                "runs": _("Runs"),
                "results": _("Results"),
                "settings": _("Settings"),
            }
        )
        self._before = self._home.focusWidget()
        self.line.clear()
        self._typing.stop()
        self.model.show(dict.fromkeys(palette.GROUPS, ()), ())
        self.setGeometry(self._home.rect())
        self.show()
        self.raise_()
        self.line.setFocus()
        self._show_own()
        self._on_typed()

    def close_up(self) -> None:
        self._typing.stop()
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()
        self._before = None

    # ---- finding

    def _on_text(self) -> None:
        self._show_own()
        self._typing.start()

    def _on_typed(self) -> None:
        if self.isVisible():
            self.asked.emit(self.line.text())

    def _show_own(self) -> None:
        """What the window can do, at once."""
        words = palette.words_of(self.line.text())
        fitting = [action for action in self._actions if palette.matches(words, action.title, action.note)]
        groups = {group: tuple(_entry(a) for a in fitting if a.group == group) for group in ("actions", "settings")}
        self._show(groups, words)

    def found(self, found: Found) -> None:
        """The store's answer."""
        if not self.isVisible() or found.text != self.line.text().strip():
            return
        self._show(dict(found.groups), palette.words_of(found.text))
        if found.exact is not None:
            self.close_up()
            self.chosen.emit(Entry("run", found.exact, ""))

    def _show(self, groups: dict[str, tuple[Entry, ...]], words: tuple[str, ...]) -> None:
        before = self.current() if self.model.words == words else None
        self.model.show(groups, words)
        place = self.model.place_of(before) if before is not None else -1
        if groups.get("jump"):
            place = self.model.first()
        self._select(place if place >= 0 else self.model.first())
        empty = self.model.rowCount() == 0
        self.none.setVisible(empty)
        self.none.setText(_("Nothing matches “{text}”.").format(text=self.line.text().strip()))
        self._fit()

    def _fit(self) -> None:
        px = self._ink.theme.px
        high = sum(self.list.sizeHintForRow(row) for row in range(self.model.rowCount())) + px(10)
        most = min(px(_LIST_HIGH), self.height() - px(_TOP) - px(120))
        self.list.setVisible(self.model.rowCount() > 0)
        self.list.setFixedHeight(max(px(_ROW), min(high, most)))
        wide = min(px(_WIDE), self.width() - px(32))
        self._card.setFixedWidth(wide)
        self._card.adjustSize()
        self._card.move((self.width() - wide) // 2, min(px(_TOP), max(px(8), self.height() - self._card.height() - px(8))))

    # ---- choosing

    def current(self) -> Entry | None:
        row = self.model.row(self.list.currentIndex().row())
        return row if isinstance(row, Entry) else None

    def _select(self, row: int) -> None:
        if row >= 0:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(self.model.index(row), flags)
            self.line.setAccessibleDescription(str(self.model.index(row).data()))

    def _take(self, how: Callable[[Entry], None]) -> None:
        entry = self.current()
        if entry is not None:
            self.close_up()
            how(entry)

    def _on_clicked(self, index: ModelIndex) -> None:
        self._take(self.chosen.emit)

    def _run(self, entry: Entry) -> None:
        if entry.key == "task":
            self.run_asked.emit(entry)
        else:
            self.chosen.emit(entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._home and isinstance(event, QResizeEvent) and self.isVisible():
            self.setGeometry(self._home.rect())
            self._fit()
        if watched is self.line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._pressed(event)
        return False

    def _pressed(self, event: QKeyEvent) -> bool:
        key, row = Qt.Key(event.key()), self.list.currentIndex().row()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Tab):
            self._select(self.model.step(row, 1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Backtab):
            self._select(self.model.step(row, -1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            asks = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._take(self._run if asks else self.chosen.emit)
        elif key == Qt.Key.Key_Escape:
            self.close_up()
        else:
            return False
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Beside the card: away."""
        if not self._card.geometry().contains(event.position().toPoint()):
            self.close_up()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(0, 0, 0, 128 if self._ink.theme.dark else 71))
        shadow = QRectF(self._card.geometry())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for grown in (10, 6, 3):
            painter.setBrush(QColor(0, 0, 0, 7))
            painter.drawRoundedRect(shadow.adjusted(-grown, -grown + 3, grown, grown + 3), 12 + grown, 12 + grown)
        painter.end()


def _entry(action: Action) -> Entry:
    keys = action.keys.replace("+", " ")  # as keys are drawn everywhere beside a name
    return Entry("action", action.name, action.title, action.note, action.icon, "text2", keys)
