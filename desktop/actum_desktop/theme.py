"""Light and dark: palette, style sheet, fonts, colours and icons, all from `tokens`, cached and dropped together.

One `Theme` is made by `app.py` and handed to every view and delegate. Sizes are asked for as `theme.px(32)`: pixels at a
13 px body font, scaled by the unit u of the user's font.
"""

from __future__ import annotations

import sys

from actum.limits import ICON_CACHE_ENTRIES_MAX
from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication

from actum_desktop import tokens
from actum_desktop.i18n import chinese, resources
from actum_desktop.icons import GLYPHS
from actum_desktop.stylesheet import stylesheet

SCHEMES = ("system", "light", "dark")
_SHIPPED = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf", "Phosphor.ttf")
_GENERIC = {"", "sans", "sans serif", "sans-serif", "dejavu sans", "helvetica"}
_UI = {"win32": ("Segoe UI Variable Text", "Segoe UI"), "darwin": (".AppleSystemUIFont",)}
_MONO = {"win32": ("Cascadia Mono", "Consolas"), "darwin": ("SF Mono", "Menlo")}
_HAN = {"win32": ("Microsoft YaHei UI",), "darwin": ("PingFang SC",)}
_HAN_LINUX = ("Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Micro Hei")
_MONO_LINUX = ("JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono")
_UI_LINUX = ("Inter", "Noto Sans")
_ICON_FAMILY = "Phosphor"


class Theme(QObject):
    """Colours, fonts and icons of one look. Emits `changed` after palette, sheet and caches were replaced together."""

    changed = Signal()

    def __init__(self, app: QApplication, scheme: str = "system") -> None:
        super().__init__(app)
        self._app = app
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[tuple[str, int, bool], QFont] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
        self._base_px = _body_px(app)
        self._families = _load_families(app)
        self.scheme = scheme
        self.dark = False
        self.tokens = tokens.LIGHT
        self.use(scheme)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_scheme)

    # ---- choosing

    def use(self, scheme: str) -> None:
        """Switch to "light", "dark" or what the system asks for; everything on screen follows."""
        self.scheme = scheme
        asked = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        self.dark = scheme == "dark" or (scheme == "system" and asked)
        self.tokens = tokens.THEMES["dark" if self.dark else "light"]
        self.refresh()

    def refresh(self) -> None:
        """Rebuild everything from the tokens (also after a change of language: the Chinese family and line height)."""
        self._colors.clear()
        self._fonts.clear()
        self._pixmaps.clear()
        self._app.setFont(self.font())
        self._app.setPalette(self._palette())
        self._app.setStyleSheet(stylesheet(self.tokens, self.px))
        self.changed.emit()

    def _on_system_scheme(self, _scheme: Qt.ColorScheme) -> None:
        if self.scheme == "system":
            self.use("system")

    # ---- measures

    def px(self, distance: float) -> int:
        """`distance` pixels of the pictures, at the user's font."""
        return round(distance * self._base_px / tokens.BODY_PX)

    @property
    def u(self) -> float:
        """The unit of rhythm: 8 at a 13 px body font."""
        return tokens.UNIT_PX * self._base_px / tokens.BODY_PX

    def line(self, size: str = "body", mono: bool = False) -> int:
        """The height of one line of text; Chinese fallback glyphs are taller than the first family's metrics."""
        factor = tokens.TYPE[size] * self._base_px
        return round(factor * (1.3 if not chinese() or mono else 1.46))

    # ---- colours

    def color(self, token: str) -> QColor:
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = QColor(getattr(self.tokens, token))
        return found

    def tint(self, tone: str) -> QColor:
        """The ground of a badge or banner in `tone` (ok | warn | bad | accent; anything else is neutral)."""
        return self.color(f"tint_{tone}" if tone in ("ok", "warn", "bad", "accent") else "tint_neutral")

    # ---- fonts

    def font(self, size: str = "body", weight: int = 400, *, mono: bool = False) -> QFont:
        key = (size, weight, mono)
        found = self._fonts.get(key)
        if found is None:
            ui, mono_families, han = self._families
            found = QFont([*(mono_families if mono else ui), *han])
            found.setPixelSize(max(9, round(tokens.TYPE[size] * self._base_px)))
            found.setWeight(QFont.Weight(weight))
            found.setFeature(QFont.Tag("tnum"), 1)
            if size in ("page", "title", "display"):
                found.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 98.5)
            self._fonts[key] = found
        return found

    # ---- icons

    def pixmap(self, name: str, token: str, size: float, ratio: float) -> QPixmap:
        """Icon `name` in the colour of `token`, `size` logical pixels square."""
        key = (name, token, round(size * 4), ratio)
        found = self._pixmaps.get(key)
        if found is not None:
            return found
        if len(self._pixmaps) >= ICON_CACHE_ENTRIES_MAX:
            self._pixmaps.clear()
        edge = max(1, round(size * ratio))
        found = QPixmap(edge, edge)
        found.setDevicePixelRatio(ratio)
        found.fill(Qt.GlobalColor.transparent)
        font = QFont(_ICON_FAMILY)
        font.setPixelSize(round(size))
        painter = QPainter(found)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(font)
        painter.setPen(self.color(token))
        painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, GLYPHS[name])
        painter.end()
        self._pixmaps[key] = found
        return found

    def icon(self, name: str, token: str = "text2", size: float = 16, *, gap: float = 0) -> QIcon:
        """A QIcon for a button, with `gap` pixels of air at its right (buttons put their text too near)."""
        icon = QIcon()
        edge, air = self.px(size), self.px(gap)
        for ratio in (1.0, 2.0):
            for mode, ink in ((QIcon.Mode.Normal, token), (QIcon.Mode.Disabled, "text3")):
                wide = QPixmap(round((edge + air) * ratio), round(edge * ratio))
                wide.setDevicePixelRatio(ratio)
                wide.fill(Qt.GlobalColor.transparent)
                painter = QPainter(wide)
                painter.drawPixmap(0, 0, self.pixmap(name, ink, edge, ratio))
                painter.end()
                icon.addPixmap(wide, mode)
        return icon

    def _palette(self) -> QPalette:
        role, group, palette = QPalette.ColorRole, QPalette.ColorGroup, QPalette()
        for where, token in (
            (role.Window, "window"),
            (role.WindowText, "text"),
            (role.Base, "surface"),
            (role.AlternateBase, "sunken"),
            (role.ToolTipBase, "raised"),
            (role.ToolTipText, "text"),
            (role.PlaceholderText, "text3"),
            (role.Text, "text"),
            (role.Button, "surface"),
            (role.ButtonText, "text"),
            (role.BrightText, "bad"),
            (role.Light, "raised"),
            (role.Midlight, "hover"),
            (role.Dark, "line2"),
            (role.Mid, "hairline"),
            (role.Shadow, "hairline"),
            (role.Highlight, "tint_accent"),
            (role.HighlightedText, "text"),
            (role.Link, "accent"),
            (role.LinkVisited, "accent"),
            (role.Accent, "accent"),
        ):
            palette.setColor(where, self.color(token))
        for where in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            palette.setColor(group.Disabled, where, self.color("text3"))
        return palette


def _body_px(app: QApplication) -> float:
    """The platform's UI font size in pixels, 13 where the platform names none."""
    font = app.font()
    pixels = font.pixelSize() if font.pixelSize() > 0 else font.pointSizeF() * 96 / 72
    platform = QGuiApplication.platformName()
    if platform in ("offscreen", "minimal") or pixels <= 0:
        return float(tokens.BODY_PX)
    return float(max(11, min(40, pixels)))


def _load_families(app: QApplication) -> tuple[list[str], list[str], list[str]]:
    """The families of text, of code and of Chinese, in the order they are tried; loads the shipped ones."""
    folder = resources() / "fonts"
    for name in _SHIPPED:
        if QFontDatabase.addApplicationFont(str(folder / name)) < 0:
            raise RuntimeError(f"The shipped font {name} cannot be read.")
    han = list(_HAN.get(sys.platform, _HAN_LINUX))
    mono = list(_MONO.get(sys.platform, _MONO_LINUX))
    if sys.platform in _UI:
        return list(_UI[sys.platform]), mono, han
    own = app.font().family()
    if own.lower() not in _GENERIC and _tabular(app.font()):
        return [own, *_UI_LINUX], mono, han
    return list(_UI_LINUX), mono, han


def _tabular(font: QFont) -> bool:
    """Whether its figures are of one width, so that numbers stand under each other."""
    trial = QFont(font)
    trial.setFeature(QFont.Tag("tnum"), 1)
    metrics = QFontMetricsF(trial)
    return abs(metrics.horizontalAdvance("1") - metrics.horizontalAdvance("8")) < 0.01
