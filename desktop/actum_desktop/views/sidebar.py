"""The left side: where one can go, and what is active now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from actum.limits import ACTIVE_SHOWN_MAX
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import tokens
from actum_desktop.i18n import _
from actum_desktop.models.runcells import RunCells
from actum_desktop.views.ink import RIGHT, Ink


@dataclass(frozen=True, slots=True)
class Active:
    """One open run in the sidebar."""

    number: int
    cells: RunCells


def mark(painter: QPainter, ink: Ink, box: QRectF) -> None:
    """The mark of the program: a tick over a double rule."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.theme.color("fill"))
    painter.drawRoundedRect(box, box.width() * 0.22, box.width() * 0.22)
    unit = box.width() / 20
    pen = QPen(ink.theme.color("on_fill"), 2 * unit)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    tick = QPainterPath(QPointF(box.left() + 6 * unit, box.top() + 7.6 * unit))
    tick.lineTo(box.left() + 8.8 * unit, box.top() + 10.2 * unit)
    tick.lineTo(box.left() + 14 * unit, box.top() + 4.8 * unit)
    painter.drawPath(tick)
    for y in (13.2, 15.8):
        painter.fillRect(QRectF(box.left() + 5 * unit, box.top() + y * unit, 10 * unit, 1.4 * unit), ink.theme.color("on_fill"))


class NavButton(QAbstractButton):
    def __init__(self, ink: Ink, text: str, icon: str, tip: str = "") -> None:
        super().__init__()
        self._ink, self._icon, self._count, self._loud = ink, icon, "", False
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(tip)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        ink.theme.changed.connect(self.update)

    def count(self, text: str, *, loud: bool = False) -> None:
        """A plain number at the right; only alerts have a tint."""
        if (text, loud) != (self._count, self._loud):
            self._count, self._loud = text, loud
            self.setAccessibleName(f"{self.text()} {text}".strip())
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(200), self._ink.theme.px(tokens.NAV_ROW))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px, box = self._ink, self._ink.theme.px, QRectF(self.rect())
        chosen = self.isChecked()
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen or self.underMouse():
            painter.setBrush(ink.theme.color("chosen" if chosen else "hover"))
            painter.drawRoundedRect(box, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        if self.hasFocus():
            painter.setPen(QPen(ink.theme.color("accent"), tokens.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        ink.icon(painter, QPointF(px(18), box.center().y()), self._icon, "accent" if chosen else "text2", px(15))
        label = box.adjusted(px(36), 0, -px(40), 0)
        ink.text(painter, label, self.text(), "text" if chosen else "text2", "body", 600 if chosen else 500)
        if self._count:
            wide = max(px(20), ink.width(self._count, "caption", 600) + px(12))
            badge = QRectF(box.right() - px(12) - wide, box.center().y() - px(10), wide, px(20))
            if self._loud:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(ink.theme.color("tint_warn"))
                painter.drawRoundedRect(badge, tokens.RADIUS_BADGE, tokens.RADIUS_BADGE)
                ink.text(painter, badge, self._count, "warn", "caption", 700, "centre")
            else:
                ink.text(painter, box.adjusted(0, 0, -px(14), 0), self._count, "text2", "caption", 500, RIGHT)
        painter.end()


class SearchButton(QAbstractButton):
    """Looks like a field and opens the palette."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.setText(_("Search or do"))
        self.setAccessibleName(_("Search or do"))
        self.setToolTip(_("Search tasks, runs and results, or do something (Ctrl+K)"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        ink.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(200), self._ink.theme.px(tokens.CONTROL))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px = self._ink, self._ink.theme.px
        box = QRectF(self.rect()).adjusted(px(4) + 0.5, 0.5, -px(4) - 0.5, -0.5)
        focused = self.hasFocus()
        painter.setPen(QPen(ink.theme.color("accent" if focused else "hairline"), tokens.FOCUS if focused else 1))
        painter.setBrush(ink.theme.color("surface"))
        painter.drawRoundedRect(box, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        ink.icon(painter, QPointF(box.left() + px(16), box.center().y()), "magnifying-glass", "text2", px(15))
        used = ink.text(painter, box.adjusted(0, 0, -px(9), 0), "Ctrl K", "text2", "micro", 500, RIGHT)
        ink.text(painter, box.adjusted(px(32), 0, -used - px(14), 0), self.text(), "text2", "body")
        painter.end()


class ActiveButton(QAbstractButton):
    """One open run: icon, name, percent, bar."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self.active: Active | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_run(self, active: Active | None) -> None:
        self.setVisible(active is not None)
        if active is not None and active != self.active:
            self.active = active
            self.setAccessibleName(active.cells.sentence)
            self.setToolTip(active.cells.sentence)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._ink.theme.px(200), self._ink.theme.px(40))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.active is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, px, cells = self._ink, self._ink.theme.px, self.active.cells
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(ink.theme.color("accent"), tokens.FOCUS) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(ink.theme.color("hover"))
            frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(frame, tokens.RADIUS_CONTROL, tokens.RADIUS_CONTROL)
        line = QRectF(px(32), px(4), self.width() - px(42), px(18))
        warned = bool(cells.badge)
        icon, tone = ("warning-fill", "warn") if warned else (cells.status.icon, cells.status.tone)
        ink.icon(painter, QPointF(px(17), line.center().y()), icon, tone, px(14))
        used = ink.text(painter, line, cells.percent, "warn" if warned else "text2", "caption", 500, RIGHT)
        ink.text(painter, line.adjusted(0, 0, -used - px(8), 0), cells.title, "text", "caption", 500)
        if cells.fraction is not None:
            ink.bar(painter, QRectF(px(32), px(26), self.width() - px(42), px(3)), cells.fraction, cells.bar)
        else:
            ink.text(painter, QRectF(px(32), px(20), self.width() - px(42), px(16)), cells.stage, "text3", "micro")
        painter.end()


class Sidebar(QWidget):
    """Signals: `chosen` (key of a screen), `run_chosen` (run number), `palette_asked` ()."""

    chosen = Signal(object)
    run_chosen = Signal(object)
    palette_asked = Signal()

    def __init__(self, ink: Ink, name: str) -> None:
        super().__init__()
        self._ink, self._name = ink, name
        px = ink.theme.px
        self.setFixedWidth(px(tokens.SIDEBAR))
        self.setAccessibleName(_("Navigation"))
        self._group = QButtonGroup(self)
        self._buttons: dict[str, NavButton] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(px(8), px(46), px(8), px(8))
        column.setSpacing(px(2))
        self._search = SearchButton(ink)
        self._search.clicked.connect(self.palette_asked)
        column.addWidget(self._search)
        column.addSpacing(px(8))
        for key, text, icon, keys in self.screens():
            column.addWidget(self._add(key, text, icon, keys))
        column.addSpacing(px(38))
        self._active = [ActiveButton(ink) for _index in range(ACTIVE_SHOWN_MAX)]
        for made in self._active:
            made.hide()
            made.clicked.connect(self._on_active)
            column.addWidget(made)
        column.addStretch(1)
        for key, text, icon, keys in self.below():
            column.addWidget(self._add(key, text, icon, keys))
        self._group.buttonClicked.connect(self._on_clicked)
        ink.theme.changed.connect(self.update)

    @staticmethod
    def screens() -> list[tuple[str, str, str, str]]:
        """(key, title, icon, keys), from top to bottom."""
        return [
            ("tasks", _("Tasks"), "squares-four", "Ctrl+1"),
            ("runs", _("Runs"), "play-circle", "Ctrl+2"),
            ("results", _("Results"), "table", "Ctrl+3"),
            ("alerts", _("Alerts"), "bell", "Ctrl+4"),
        ]

    @staticmethod
    def below() -> list[tuple[str, str, str, str]]:
        """The same, for what stands at the bottom."""
        return [
            ("settings", _("Settings"), "gear", "Ctrl+,"),
            ("help", _("Help"), "question", "F1"),
            ("about", _("About"), "info", ""),
        ]

    def _add(self, key: str, text: str, icon: str, keys: str) -> NavButton:
        made = NavButton(self._ink, text, icon, f"{text} ({keys})" if keys else text)
        self._group.addButton(made)
        self._buttons[key] = made
        return made

    def choose(self, key: str) -> None:
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def focus_chosen(self) -> None:
        next((made for made in self._buttons.values() if made.isChecked()), self._buttons["runs"]).setFocus()

    def counts(self, open_runs: int, alerts: int) -> None:
        self._buttons["runs"].count(str(open_runs) if open_runs else "")
        self._buttons["alerts"].count(str(alerts) if alerts else "", loud=True)

    def show_active(self, runs: Sequence[Active]) -> None:
        for index, made in enumerate(self._active):
            made.show_run(runs[index] if index < len(runs) else None)
        self.update()

    def _on_active(self) -> None:
        sender = self.sender()
        if isinstance(sender, ActiveButton) and sender.active is not None:
            self.run_chosen.emit(sender.active.number)

    def _on_clicked(self) -> None:
        self.chosen.emit(next(key for key, made in self._buttons.items() if made.isChecked()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ink, px = self._ink, self._ink.theme.px
        painter.fillRect(self.rect(), ink.theme.color("sidebar"))
        painter.fillRect(QRectF(self.width() - 1, 0, 1, self.height()), ink.theme.color("hairline"))
        mark(painter, ink, QRectF(px(18), px(14), px(20), px(20)))
        ink.text(painter, QRectF(px(48), px(12), self.width() - px(60), px(24)), self._name, "text", "body", 600, middle=True)
        if self._active[0].isVisible():
            top = self._active[0].y() - px(26)
            ink.text(painter, QRectF(px(18), top, px(180), px(20)), _("Active now"), "text2", "caption", 600)
        painter.end()
