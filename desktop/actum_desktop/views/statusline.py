"""The line at the bottom: whether everything is recorded, the slots, free space, and where the workspace is."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from actum_desktop import awakewords, measures, tokens
from actum_desktop.controller.events import Supervising
from actum_desktop.i18n import _
from actum_desktop.views.ink import Ink

_LOOK_MS = 30_000
_SAID_S = 5.0


class StatusLine(QWidget):
    def __init__(self, ink: Ink, workspace: Path) -> None:
        super().__init__()
        self._ink, self._workspace = ink, workspace
        self._left: list[tuple[str, str, str]] = []
        self._free = ""
        self._said: tuple[str, str, str] | None = None
        self._said_until = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        ink.theme.changed.connect(self.update)
        self.starting()

    def starting(self) -> None:
        self._left = [("circle-dashed", _("Starting"), "text2")]
        self.update()

    def supervising(self, state: Supervising) -> None:
        self._left = self._words(state)
        if self._said is not None and time.monotonic() < self._said_until and state.error is None:
            self._left[0] = self._said
        self._speak()

    def _words(self, state: Supervising) -> list[tuple[str, str, str]]:
        if state.error is not None:
            return [("warning-fill", str(state.error.what), "warn")]
        text = _("{taken} of {slots} slots in use").format(taken=state.slots_taken, slots=state.slots)
        word = _("Supervising, everything recorded") if state.slots_taken else _("Ready")
        words = [("check-circle", word, "text2"), ("squares-four", text, "text2")]
        if state.queue_paused:
            text = _("Queue paused") if state.queue_held else _("Queue paused since the last crash")
            words.append(("pause", text, "warn"))
        said = awakewords.truth(state.awake, under_way=bool(state.slots_taken))
        if said is not None:
            words.append(said)
        return words

    def say(self, text: str, tone: str = "text2") -> None:
        """A short notice in place of the first words: long enough to be read, then the next state replaces it."""
        self._said, self._said_until = ("info", text, tone), time.monotonic() + _SAID_S
        self._left = [self._said, *self._left[1:]]
        self._speak()

    def look(self) -> None:
        """Free space; a stat call, twice a minute."""
        place = self._workspace
        while not place.exists() and place != place.parent:
            place = place.parent
        try:
            self._free = _("{size} free").format(size=measures.size(shutil.disk_usage(place).free))
        except OSError:
            self._free = ""
        self._speak()

    def _speak(self) -> None:
        words = [text for _icon, text, _tone in self._left] + [self._free, self._place()]
        self.setAccessibleName(", ".join(word for word in words if word))
        self.setToolTip(str(self._workspace))
        self.update()

    def _place(self) -> str:
        try:
            return f"~/{self._workspace.relative_to(Path.home())}"
        except (ValueError, RuntimeError):
            return str(self._workspace)

    def sizeHint(self) -> QSize:
        return QSize(600, self._ink.theme.px(tokens.STATUS_LINE))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ink, px = self._ink, self._ink.theme.px
        painter.fillRect(self.rect(), ink.theme.color("sidebar"))
        ink.hairline(painter, 0, self.width(), 0)
        box = QRectF(self.rect())
        right = float(box.right() - px(15))
        for icon, text in (("folder", self._place()), ("hard-drive", self._free)):
            if not text:
                continue
            wide = min(ink.width(text, "caption"), box.width() / 2)
            ink.text(painter, QRectF(right - wide, 0, wide + 1, box.height()), text, "text2", "caption", middle=True)
            ink.icon(painter, QPointF(right - wide - px(13), box.center().y()), icon, "text2", px(14))
            right -= wide + px(44)
        x = float(px(15))
        for icon, text, tone in self._left:
            ink.icon(painter, QPointF(x + px(6), box.center().y()), icon, tone, px(14))
            x += px(18)
            x += ink.text(painter, QRectF(x, 0, max(0.0, right - x), box.height()), text, tone, "caption") + px(24)
        painter.end()
