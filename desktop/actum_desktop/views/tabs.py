"""Tabs: words on one hairline, the chosen one in ink with an accent line below; arrows move between them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget

from actum_desktop import tokens
from actum_desktop.views.ink import Ink


class Tab(QAbstractButton):
    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink, self._count = ink, ""
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        ink.theme.changed.connect(self.updateGeometry)

    def say(self, text: str, count: str) -> None:
        if (text, count) != (self.text(), self._count):
            self.setText(text)
            self._count = count
            self.setAccessibleName(f"{text} {count}".strip())
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        ink, px = self._ink, self._ink.theme.px
        wide = ink.width(self.text(), "body", 600)
        wide += px(8) + ink.width(self._count, "body") if self._count else 0
        return QSize(round(wide + 1), px(34))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ink, px = self._ink, self._ink.theme.px
        box = QRectF(0, 0, self.width() + 2, self.height() - 3)
        chosen = self.isChecked()
        weight = 600 if chosen else 500
        used = ink.text(painter, box, self.text(), "text" if chosen or self.underMouse() else "text2", "body", weight)
        ink.text(painter, box.adjusted(used + px(8), 0, 0, 0), self._count, "text2", "body")
        if chosen:
            painter.fillRect(QRectF(0, self.height() - 2, self.width(), 2), ink.theme.color("accent"))
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(ink.theme.color("accent"))
            painter.drawRoundedRect(
                QRectF(0.5, 4.5, self.width() - 1, self.height() - 11), tokens.RADIUS_BADGE, tokens.RADIUS_BADGE
            )
        painter.end()


class Tabs(QWidget):
    """Signal: `chosen` (key)."""

    chosen = Signal(object)

    def __init__(self, ink: Ink, name: str) -> None:
        super().__init__()
        self._ink = ink
        self._tabs: dict[str, Tab] = {}
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(ink.theme.px(24))
        self._row.addStretch(1)
        self.setAccessibleName(name)
        self._group.buttonClicked.connect(self._on_clicked)
        self.current = ""

    def relabel(self, key: str, text: str, count: str = "") -> None:
        tab = self._tabs.get(key)
        if tab is None:
            tab = self._tabs[key] = Tab(self._ink)
            self._group.addButton(tab)
            self._row.insertWidget(self._row.count() - 1, tab)
            if not self.current or key == self.current:
                self.current = key
                tab.setChecked(True)
        tab.say(text, count)

    def choose(self, key: str) -> None:
        self.current = key
        if key in self._tabs:
            self._tabs[key].setChecked(True)

    def _on_clicked(self) -> None:
        self.current = next(key for key, tab in self._tabs.items() if tab.isChecked())
        self.chosen.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        keys = list(self._tabs)
        if step is None or not keys:
            super().keyPressEvent(event)
            return
        self.choose(keys[(keys.index(self.current) + step) % len(keys)])
        self._tabs[self.current].setFocus()
        self.chosen.emit(self.current)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._ink.hairline(painter, 0, self.width(), self.height() - 1)
        painter.end()
