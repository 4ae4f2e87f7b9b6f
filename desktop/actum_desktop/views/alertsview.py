"""Open alerts: the list at the left; at the right what happened, what it means now, the evidence and what one can do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QScrollArea,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import measures
from actum_desktop.alerts import AlertWords, alert_words, attestation_means
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.source import AlertItem
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.popover import Popover
from actum_desktop.views.widgets import Card, Elided, Label, button

Index = QModelIndex | QPersistentModelIndex
ALERT = int(Qt.ItemDataRole.UserRole)
ROOT = QModelIndex()


class AlertsModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: list[tuple[AlertItem, AlertWords]] = []

    def show(self, items: list[AlertItem]) -> None:
        fresh = [(item, alert_words(item.code, item.severity, item.data, item.title)) for item in items]
        if fresh != self.items:
            self.beginResetModel()
            self.items = fresh
            self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        item, words = self.items[index.row()]
        if role == ALERT:
            return (item, words)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{words.title}. {words.happened}"
        return None


class AlertDelegate(QStyledItemDelegate):
    def __init__(self, ink: Ink, parent: QWidget) -> None:
        super().__init__(parent)
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self._ink.theme.px(62))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        ink, px, theme = self._ink, self._ink.theme.px, self._ink.theme
        box = QRectF(option.rect)
        item, words = index.data(ALERT)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("tint_accent"))
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), theme.color("accent"))
        upper = QRectF(box.left() + px(48), box.top() + px(11), box.width() - px(64), px(20))
        ink.icon(painter, QPointF(box.left() + px(27), upper.center().y()), words.icon, words.tone, px(16))
        time = measures.short_clock(item.at_us) if measures.is_today(item.at_us) else measures.short_day(item.at_us)
        used = ink.text(painter, upper, time, "text2", "caption", 400, RIGHT)
        ink.text(painter, upper.adjusted(0, 0, -used - px(12), 0), words.title, "text", "body", 600)
        ink.text(painter, upper.translated(0, px(20)), words.happened, "text2", "caption")
        ink.hairline(painter, box.left() + px(16), box.right() - px(16), box.bottom() - 1)
        painter.restore()


class AlertDetail(QScrollArea):
    """One alert in full."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._ink = ink
        self.setWidgetResizable(True)
        self.setAccessibleName(_("The alert"))
        self.viewport().setAutoFillBackground(False)
        self._title = Label(theme, "", "title", 600, wrap=True)
        self._note = Label(theme, "", "caption", 400, "text2")
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(px(24), px(20), px(24), px(20))
        column.setSpacing(px(4))
        column.addWidget(self._title)
        column.addWidget(self._note)
        self._parts: dict[str, tuple[Label, Label]] = {}
        names = (
            ("happened", _("What happened")),
            ("means", _("What that means now")),
            ("evidence", _("Evidence")),
            ("remedy", _("What you can do")),
        )
        for key, name in names:
            head = Label(theme, name, "caption", 600, "text2")
            text = Label(theme, "", "caption" if key == "evidence" else "body", 400, wrap=True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addSpacing(px(12))
            column.addWidget(head)
            column.addWidget(text)
            self._parts[key] = (head, text)
        column.addStretch(1)
        self.setWidget(inner)
        inner.setAutoFillBackground(False)  # which the scroll area has just switched on

    def show_alert(self, item: AlertItem, words: AlertWords) -> None:
        self._title.setText(words.title)
        run = _("run {n}").format(n=item.run) if item.run is not None else ""
        raised = _("raised {time}").format(time=measures.when(item.at_us))
        self._note.setText(" · ".join(part for part in (raised, run) if part))
        lines = "\n".join(f"{key}: {value}" for key, value in words.evidence)
        values = {"happened": words.happened, "means": words.means, "evidence": lines, "remedy": words.remedy}
        for key, text in values.items():
            head, label = self._parts[key]
            label.setText(text)
            head.setVisible(bool(text))
            label.setVisible(bool(text))


class AlertsView(QWidget):
    """Signals: `run_chosen` (run number), `adopt_asked` (run number), `deliver_asked` ((run number, what is told how it went)),
    `attest_asked` (run number, once the person has read what it means), `check_asked` ()."""

    run_chosen = Signal(object)
    attest_asked = Signal(object)
    adopt_asked = Signal(object)
    deliver_asked = Signal(object)
    check_asked = Signal()

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme = ink.theme
        self.model = AlertsModel(self)
        self._list = QListView()
        self._list.setModel(self.model)
        self._list.setItemDelegate(AlertDelegate(ink, self._list))
        self._list.setAccessibleName(_("Open alerts"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.viewport().setAutoFillBackground(False)
        self._list.selectionModel().currentChanged.connect(self._on_current)
        self._list.activated.connect(self._on_open)
        self._detail = AlertDetail(ink)
        self._note = Label(theme, "", "body", 400, "text2")
        self._checked = Elided(ink, "caption", 400, "text2")
        self._open = button(theme, _("Open the run"), self._on_open, icon="arrow-right")
        self._adopt = button(theme, _("Adopt it"), self._on_adopt, icon="shield-check")
        self._deliver = button(theme, _("Export again"), self._on_deliver, icon="download-simple")
        self._attest = button(theme, _("It is gone…"), self._on_attest, icon="question")
        self._popover = Popover(ink, self, _("Keep holding"))
        self._popover.confirmed.connect(self._on_attested)
        self._attested: int | None = None  # of whom the question is
        self._delivering: dict[int, str] = {}  # run → how it goes, or went
        self._check = button(theme, _("Check now"), self._on_check, kind="primary", icon="arrows-clockwise")
        self._nothing = Label(theme, "", "body", 400, "text2", wrap=True)
        self._shown = QWidget()
        self._stack = QStackedLayout(
            self._shown
        )  # without a widget of its own, what is added first would be a window for a moment
        for offered in (self._adopt, self._attest, self._deliver):  # with all of them the page would be wider than a screen
            offered.hide()
        self._build(ink)
        self.show_alerts([])

    def _build(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        head = QHBoxLayout()
        head.setSpacing(px(12))
        head.addWidget(Label(theme, _("Alerts"), "page", 600))
        head.addWidget(self._note)
        head.addStretch(1)
        left, right = Card(theme), Card(theme)
        left.setFixedWidth(px(404))
        for card, widget in ((left, self._list), (right, self._detail)):
            inside = QVBoxLayout(card)
            inside.setContentsMargins(1, 1, 1, 1)
            inside.addWidget(widget)
        foot = QHBoxLayout()
        foot.setContentsMargins(px(24), 0, px(24), px(20))
        foot.setSpacing(px(8))
        foot.addWidget(self._checked, 1)
        foot.addWidget(self._adopt)
        foot.addWidget(self._attest)
        foot.addWidget(self._deliver)
        foot.addWidget(self._open)
        foot.addWidget(self._check)
        right.layout().addLayout(foot)  # type: ignore[union-attr]
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(16))
        row.addWidget(left)
        row.addWidget(right, 1)
        empty = QWidget()
        inside = QVBoxLayout(empty)
        inside.setContentsMargins(0, px(8), 0, 0)
        inside.addWidget(self._nothing)
        inside.addStretch(1)
        self._stack.addWidget(both)
        self._stack.addWidget(empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(14))
        column.addLayout(head)
        column.addWidget(self._shown, 1)

    def show_alerts(self, items: list[AlertItem]) -> None:
        chosen = self._current()
        self.model.show(items)
        count = len(items)
        self._note.setText(ngettext("{n} needs you", "{n} need you", count).format(n=count) if count else "")
        self._now = measures.clock(measures.now_us())
        self._nothing.setText(_("Nothing needs you. Last checked {time}.").format(time=self._now))
        self._stack.setCurrentIndex(0 if count else 1)
        if count:
            keys = [item.key for item, _words in self.model.items]
            row = keys.index(chosen[0].key) if chosen and chosen[0].key in keys else 0
            self._list.setCurrentIndex(self.model.index(row))
            self._on_current()

    def _current(self) -> tuple[AlertItem, AlertWords] | None:
        index = self._list.currentIndex()
        return self.model.items[index.row()] if index.isValid() and index.row() < len(self.model.items) else None

    def _on_current(self) -> None:
        chosen = self._current()
        if chosen is not None:
            self._detail.show_alert(*chosen)
            self._open.setVisible(chosen[0].run is not None)
            self._adopt.setVisible(chosen[0].run is not None and chosen[0].code == "sealed_late")
            self._attest.setVisible(chosen[0].run is not None and chosen[0].code == "cannot_tell")
            self._deliver.setVisible(chosen[0].run is not None and chosen[0].code == "export_failed")
            said = self._delivering.get(chosen[0].run or 0)
            self._deliver.setEnabled(said != _("Being exported…"))
            self._checked.setText(said or _("Looked at {time}; again every minute").format(time=self._now))

    def _on_attest(self) -> None:
        """The one way out of a hold that no look can end: a person's word (R09)."""
        chosen = self._current()
        if chosen is not None and chosen[0].run is not None:
            self._attested = chosen[0].run
            title = _("Is nothing left of run {n}?").format(n=self._attested)
            self._popover.ask(self._attest, title, attestation_means(), _("I attest it"))

    def _on_attested(self) -> None:
        if self._attested is not None:
            self.attest_asked.emit(self._attested)

    def _on_open(self) -> None:
        chosen = self._current()
        if chosen is not None and chosen[0].run is not None:
            self.run_chosen.emit(chosen[0].run)

    def _on_adopt(self) -> None:
        chosen = self._current()
        if chosen is not None and chosen[0].run is not None:
            self.adopt_asked.emit(chosen[0].run)

    def _on_deliver(self) -> None:
        chosen = self._current()
        if chosen is not None and chosen[0].run is not None:
            run = chosen[0].run
            self._delivering = {run: _("Being exported…")}
            self._on_current()
            self.deliver_asked.emit((run, partial(self._delivered, run)))

    def _delivered(self, run: int, found: Mapping[str, Any]) -> None:
        """What was exported takes its alert away; what was not stays, and says why."""
        failed = found.get("failed") or ()
        self._delivering = {run: _("Still not exported: {why}").format(why=failed[0]["why"])} if failed else {}
        self._on_current()

    def _on_check(self) -> None:
        self._check.setEnabled(False)
        self.check_asked.emit()

    def checked(self, answer: object) -> None:
        """What came of looking again, or why nothing did."""
        self._check.setEnabled(True)
        self._now = measures.clock(measures.now_us())
        said = answer.what if isinstance(answer, ActumError) else ""
        if isinstance(answer, list):
            text = ngettext("looked again at {time}: {n} verdict", "looked again at {time}: {n} verdicts", len(answer))
            said = text.format(time=self._now, n=len(answer))
        self._checked.setText(said)

    def focus_start(self) -> None:
        self._list.setFocus()
