"""The two profiles of an export as cards: what each keeps, and what the second one would lose, by column."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QRadioButton, QScrollArea, QVBoxLayout, QWidget

from actum_desktop import tokens
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Label


class Line(QWidget):
    """A mark and a sentence that wraps."""

    def __init__(self, ink: Ink, icon: str, tone: str, text: str) -> None:
        super().__init__()
        self._ink, self._icon, self._tone = ink, icon, tone
        self.label = Label(ink.theme, text, "caption", 400, "text", wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(ink.theme.px(22), 0, 0, 0)
        row.addWidget(self.label, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px = self._ink.theme.px
        middle = self._ink.theme.line("caption") / 2 + 1
        self._ink.icon(painter, QRectF(0, middle - px(7), px(14), px(14)).center(), self._icon, self._tone, px(14))
        painter.end()


class ProfileCard(QFrame):
    """One profile: a radio button with its promise and its lines. Signal: `picked` (profile)."""

    picked = Signal(object)

    def __init__(self, ink: Ink, profile: str, title: str, promise: str) -> None:
        super().__init__()
        self._ink, self.profile = ink, profile
        theme, px = ink.theme, ink.theme.px
        self.radio = QRadioButton(title)
        self.radio.setFont(theme.font("lead", 600))
        self.radio.setAccessibleName(f"{title}. {promise}")
        self.radio.toggled.connect(self._on_toggled)
        self._lines = QVBoxLayout()
        self._lines.setContentsMargins(0, 0, px(6), 0)
        self._lines.setSpacing(px(4))
        self._lines.addStretch(1)
        inside = QWidget()
        inside.setLayout(self._lines)
        scroll = QScrollArea()
        scroll.setWidget(inside)
        inside.setAutoFillBackground(False)  # the scroll area has switched it on
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.viewport().setAutoFillBackground(False)
        scroll.setAccessibleName(title)
        scroll.setFixedHeight(px(136))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(14), px(12), px(8), px(10))
        column.setSpacing(px(4))
        column.addWidget(self.radio)
        told = QHBoxLayout()
        told.setContentsMargins(px(26), 0, 0, 0)
        told.addWidget(Label(theme, promise, "caption", 400, "text2"))
        column.addLayout(told)
        held = QHBoxLayout()
        held.setContentsMargins(px(26), px(2), 0, 0)
        held.addWidget(scroll)
        column.addLayout(held)
        column.addStretch(1)
        ink.theme.changed.connect(self.update)

    def show_lines(self, lines: Sequence[tuple[str, str, str]]) -> None:
        """(icon, tone, text) each."""
        while self._lines.count() > 1:
            taken = self._lines.takeAt(0)
            widget = taken.widget() if taken is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for place, (icon, tone, text) in enumerate(lines):
            self._lines.insertWidget(place, Line(self._ink, icon, tone, text))

    @property
    def texts(self) -> list[str]:
        return [line.label.text() for line in self.findChildren(Line) if not line.isHidden()]

    def _on_toggled(self, on: bool) -> None:
        self.update()
        if on:
            self.picked.emit(self.profile)

    def mousePressEvent(self, event: object) -> None:
        self.radio.setChecked(True)
        self.radio.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen, theme = self.radio.isChecked(), self._ink.theme
        painter.setPen(QPen(theme.color("accent" if chosen else "hairline"), tokens.FOCUS if chosen else 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), tokens.RADIUS_CARD, tokens.RADIUS_CARD)
        painter.end()
