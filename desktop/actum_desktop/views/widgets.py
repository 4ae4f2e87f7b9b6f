"""Small themed widgets: labels, badges, cards, banners, buttons, segments. They look their colours up when they paint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import tokens
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink

_Layout = TypeVar("_Layout", bound=QBoxLayout)


def bare(layout: _Layout) -> _Layout:
    """Without margins and distances: parts that touch."""
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout


class Label(QLabel):
    """Text in one of the sizes and inks of the theme; plain text always (R19)."""

    def __init__(
        self, theme: Theme, text: str = "", size: str = "body", weight: int = 400, token: str = "text", *, wrap: bool = False
    ) -> None:
        super().__init__(text)
        self._theme, self._size, self._weight, self._token = theme, size, weight, token
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        theme.changed.connect(self._dress)
        self._dress()

    def ink(self, token: str) -> None:
        if token != self._token:
            self._token = token
            self._dress()

    def set_look(self, size: str, weight: int, token: str) -> None:
        if (size, weight, token) != (self._size, self._weight, self._token):
            self._size, self._weight, self._token = size, weight, token
            self._dress()

    def _dress(self) -> None:
        self.setFont(self._theme.font(self._size, self._weight))
        palette = self.palette()
        palette.setColor(self.foregroundRole(), self._theme.color(self._token))
        self.setPalette(palette)


class Elided(QWidget):
    """One line that is cut at its right (a path in its middle) and whole in its tool tip."""

    def __init__(self, ink: Ink, size: str = "body", weight: int = 400, token: str = "text2", *, middle: bool = False) -> None:
        super().__init__()
        self._ink, self._font, self._token, self._middle, self._text = ink, (size, weight), token, middle, ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(40)

    def setText(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.setToolTip(text)
            self.setAccessibleName(text)
            self.update()

    def text(self) -> str:
        return self._text

    def sizeHint(self) -> QSize:
        return QSize(200, self._ink.theme.line(self._font[0]) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        size, weight = self._font
        self._ink.text(painter, QRectF(self.rect()), self._text, self._token, size, weight, middle=self._middle)
        painter.end()


class Card(QFrame):
    """A surface with a hairline and rounded corners; keep children inset by one."""

    def __init__(self, theme: Theme, ground: str = "surface", *, border: bool = True, radius: int = tokens.RADIUS_CARD) -> None:
        super().__init__()
        self._theme, self._ground, self._border, self._radius = theme, ground, border, radius
        theme.changed.connect(self.update)

    def paint_as(self, ground: str) -> None:
        self._ground = ground
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._theme.color(self._ground))
        painter.setPen(QPen(self._theme.color("hairline"), 1) if self._border else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), self._radius, self._radius)
        painter.end()


class Rule(QWidget):
    """A hairline on whole pixels."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("hairline"))
        painter.end()


class Badge(QWidget):
    """Icon and word in a status colour on its tint; 28 high beside a page title, else 22."""

    def __init__(self, ink: Ink, *, large: bool = False) -> None:
        super().__init__()
        self._ink, self._large = ink, large
        self._icon, self._word, self._tone = "info", "", "text2"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        ink.theme.changed.connect(self.updateGeometry)
        ink.theme.changed.connect(self.update)

    def say(self, icon: str, word: str, tone: str) -> None:
        if (icon, word, tone) == (self._icon, self._word, self._tone):
            return
        self._icon, self._word, self._tone = icon, word, tone
        self.setAccessibleName(word)
        self.updateGeometry()
        self.update()

    @property
    def word(self) -> str:
        return self._word

    def _size(self) -> str:
        return "body" if self._large else "caption"

    def sizeHint(self) -> QSize:
        px = self._ink.theme.px
        wide = self._ink.width(self._word, self._size(), 600)
        pad, icon, gap = (12, 15, 7) if self._large else (8, 14, 6)
        return QSize(round(px(pad) * 2 + px(icon) + px(gap) + wide + 1), px(28 if self._large else 22))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        px, ink = self._ink.theme.px, self._ink
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.theme.tint(self._tone))
        painter.drawRoundedRect(QRectF(self.rect()), tokens.RADIUS_BADGE, tokens.RADIUS_BADGE)
        pad, icon, gap = (12, 15, 7) if self._large else (8, 14, 6)
        middle = self.height() / 2
        ink.icon(painter, QPointF(px(pad) + px(icon) / 2, middle), self._icon, self._tone, px(icon))
        left = px(pad) + px(icon) + px(gap)
        box = QRectF(left, 0, self.width() - left, self.height())
        ink.text(painter, box, self._word, self._tone, self._size(), 600)
        painter.end()


class Button(QPushButton):
    """A push button: kind "" | primary | link | ghost | crumb. An icon button without text is named by its tip."""

    def __init__(self, theme: Theme, text: str, *, kind: str = "", icon: str = "", small: bool = False, tip: str = "") -> None:
        super().__init__(text)
        self._theme, self._kind, self._icon_name, self._small = theme, kind, icon, small
        self.setProperty("kind", kind)
        self.setProperty("small", "true" if small else "false")
        self.setAccessibleName(text or tip)
        self.setToolTip(tip)
        theme.changed.connect(self._dress)
        self._dress()

    def say(self, text: str) -> None:
        self.setText(text)
        self.setAccessibleName(text)

    def _dress(self) -> None:
        theme, small = self._theme, self._small or self._kind == "crumb"
        self.setFont(theme.font("caption" if small else "body", 400 if self._kind == "crumb" else 500))
        if self._icon_name:
            token = {"primary": "on_fill", "link": "accent"}.get(self._kind, "text2")
            edge = 14 if self._small else 16
            gap = 0 if not self.text() else 5
            self.setIcon(theme.icon(self._icon_name, token, edge, gap=gap))
            self.setIconSize(QSize(theme.px(edge + gap), theme.px(edge)))
        if self._kind == "ghost":
            self.setFixedSize(theme.px(32), theme.px(32))


def button(
    theme: Theme,
    text: str,
    on_click: Callable[[], None] | None = None,
    *,
    kind: str = "",
    icon: str = "",
    small: bool = False,
    tip: str = "",
) -> Button:
    """A `Button` that calls `on_click`, a method of a QObject, when it is pressed."""
    made = Button(theme, text, kind=kind, icon=icon, small=small, tip=tip)
    if on_click is not None:
        made.clicked.connect(on_click)
    return made


class Segments(QFrame):
    """A row of exclusive choices on one sunken ground. Emits `chosen` with the key."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(3), theme.px(3), theme.px(3), theme.px(3))
        row.setSpacing(0)
        for key, text in choices:
            made = QPushButton(text)
            made.setObjectName("segment")
            made.setCheckable(True)
            made.setAccessibleName(text)
            made.setFont(theme.font("body", 500))
            self._group.addButton(made)
            self._buttons[key] = made
            row.addWidget(made)
        self._group.buttonClicked.connect(self._on_clicked)
        theme.changed.connect(self.update)
        if choices:
            self._buttons[choices[0][0]].setChecked(True)

    def choose(self, key: str) -> None:
        self._buttons[key].setChecked(True)

    def relabel(self, key: str, text: str) -> None:
        self._buttons[key].setText(text)
        self._buttons[key].setAccessibleName(text)

    def show_choice(self, key: str, shown: bool) -> None:
        """Whether a choice is offered at all."""
        self._buttons[key].setVisible(shown)

    @property
    def current(self) -> str:
        return next((key for key, made in self._buttons.items() if made.isChecked()), "")

    def _on_clicked(self) -> None:
        self.chosen.emit(self.current)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("tint_neutral"))
        painter.drawRoundedRect(QRectF(self.rect()), tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        painter.end()


class Banner(Card):
    """A tint with an icon, a title, at most two lines, and small buttons on the title line."""

    def __init__(self, ink: Ink, tone: str = "warn", icon: str = "warning-fill") -> None:
        super().__init__(ink.theme, f"tint_{tone}", border=False)
        theme = ink.theme
        self._theme_ref, self._icon_name, self._tone = theme, icon, tone
        self._icon = QLabel()
        self._icon.setAccessibleName(tone)
        self._title = Label(theme, "", "body", 600)
        self._text = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(theme.px(6))
        top = QHBoxLayout()
        top.setSpacing(theme.px(10))
        top.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(theme.px(4))
        first = QHBoxLayout()
        first.addWidget(self._title, 1)
        first.addLayout(self._buttons)
        column.addLayout(first)
        column.addWidget(self._text)
        top.addLayout(column, 1)
        self.setLayout(top)
        top.setContentsMargins(theme.px(13), theme.px(10), theme.px(12), theme.px(12))
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        ratio = self.devicePixelRatioF()
        self._icon.setPixmap(self._theme_ref.pixmap(self._icon_name, self._tone, self._theme_ref.px(18), ratio))

    def turn(self, tone: str, icon: str) -> None:
        """Another tone: `info` is neutral and says nothing about the status."""
        self._tone, self._icon_name = ("text2" if tone == "info" else tone), icon
        self.paint_as("tint_neutral" if tone == "info" else f"tint_{tone}")
        self._icon.setAccessibleName(tone)
        self._dress()

    def add(self, made: QPushButton) -> None:
        self._buttons.addWidget(made)

    def say(self, title: str, text: str) -> None:
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self.setAccessibleName(f"{title}. {text}")
