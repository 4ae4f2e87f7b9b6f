"""The metrics of a result as cards: the value as its rule left it, or the word and the reason why there is none (R15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from actum_desktop import measures, tokens
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models import celltext
from actum_desktop.views.ink import Ink

_CARD_WIDTH, _CARD_HEIGHT, _GAP = 172, 98, 12
_STATUS = {
    "unavailable": N_("Unavailable"),
    "not_applicable": N_("Not applicable"),
    "failed": N_("Failed"),
    "not_computed": N_("Not computed"),
}


@dataclass(frozen=True, slots=True)
class MetricWords:
    """One card. `value` None = there is none: `status` and `reason` say why. `tip` = everything that is known of it."""

    name: str
    value: str | None
    unit: str
    status: str
    caption: str
    tip: str

    @property
    def sentence(self) -> str:
        said = f"{self.value} {self.unit}".strip() if self.value is not None else self.status
        return ", ".join(part for part in (self.name, said, self.caption) if part)


def words(metric: Mapping[str, Any], declared: Mapping[str, Any] | None = None) -> MetricWords:
    """A metric of result.json; `declared` = what the contract says of it."""
    name = str(metric.get("title") or (declared or {}).get("title") or metric["name"])
    observations = metric.get("observation_count")
    meaning = str((declared or {}).get("meaning") or "")
    if metric.get("value") is None:
        reason = celltext.reason(metric.get("reason"))
        caption = reason[:1].upper() + reason[1:]
        if metric.get("reason") == "insufficient_observations" and observations is not None:
            needed = metric.get("observations_needed")
            counted = celltext.counted(observations, needed)
            caption = _("Only {observations}").format(observations=counted) if needed is None else counted
        status = _STATUS.get(str(metric.get("status")), N_("Unavailable"))
        return MetricWords(name, None, "", _(status), caption, _lines(name, meaning, reason, _told(observations)))
    value, raw = str(metric["value"]), str(metric.get("raw") or "")
    parts = []
    if metric.get("was_rounded") and raw:
        parts.append(_("rounded from {value}").format(value=celltext.number(_short(raw))))
    if observations is not None:
        parts.append(_observations(observations))
    if metric.get("rule"):
        parts.append(_("rule {name}").format(name=metric["rule"]))
    full = [_("exactly {value}").format(value=raw or value), *parts]
    caption = parts[0] if parts else _("as the work stated it")
    return MetricWords(name, celltext.number(value), str(metric.get("unit") or ""), "", caption, _lines(name, meaning, *full))


def _observations(count: Any) -> str:
    return ngettext("{n} observation", "{n} observations", int(count)).format(n=measures.count(int(count)))


def _told(count: Any) -> str:
    return "" if count is None else _observations(count)


def _short(text: str) -> str:
    return text if len(text) <= 9 else f"{text[:8]}…"


def _lines(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


class MetricCard(QWidget):
    """One metric; speaks its sentence, copied with Ctrl+C as exact text by the page."""

    def __init__(self, ink: Ink, shown: MetricWords) -> None:
        super().__init__()
        self._ink, self.words = ink, shown
        self.setAccessibleName(shown.sentence)
        self.setToolTip(shown.tip)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        ink.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        px, theme = self._ink.theme.px, self._ink.theme
        high = px(24) + theme.line("body") + theme.line("display") + theme.line("caption")
        return QSize(px(_CARD_WIDTH), max(px(_CARD_HEIGHT), high))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink, theme, px = self._ink, self._ink.theme, self._ink.theme.px
        missing = self.words.value is None
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        pen = QPen(theme.color("line2" if missing else "hairline"), 1)
        if missing:
            pen.setDashPattern([3, 3])
        if self.hasFocus():
            pen = QPen(theme.color("accent"), tokens.FOCUS)
            box = box.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(pen)
        painter.setBrush(theme.color("sunken" if missing else "surface"))
        painter.drawRoundedRect(box, tokens.RADIUS_CARD, tokens.RADIUS_CARD)
        inner = QRectF(px(14), px(8), self.width() - px(26), theme.line("body"))
        ink.text(painter, inner, self.words.name, "text2", "body", 500)
        middle = QRectF(inner.left(), inner.bottom() + px(2), inner.width(), theme.line("display"))
        if missing:
            ink.icon(painter, QPointF(middle.left() + px(8), middle.center().y()), "prohibit", "text2", px(17))
            ink.text(painter, middle.adjusted(px(24), 0, 0, 0), self.words.status, "text2", "title", 600)
        else:
            self._value(painter, middle)
        foot = QRectF(inner.left(), self.height() - px(10) - theme.line("caption"), inner.width(), theme.line("caption"))
        ink.text(painter, foot, self.words.caption, "text2", "caption", 500 if missing else 400)
        painter.end()

    def _value(self, painter: QPainter, box: QRectF) -> None:
        """As large as fits with its unit."""
        ink, value, unit = self._ink, self.words.value or "", self.words.unit
        room = box.width() - (ink.width(unit, "body") + 8 if unit else 0)
        fits = [size for size in ("display", "page", "title", "body") if ink.width(value, size, 600) <= room]
        size = fits[0] if fits else "body"
        used = ink.text(painter, QRectF(box.left(), box.top(), room, box.height()), value, "text", size, 600)
        baseline = box.adjusted(used + 6, 4, 0, 4)
        ink.text(painter, baseline, unit, "text2", "body")


class MetricCards(QWidget):
    """All cards, equal widths, five in a row at 1280."""

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        self._ink = ink
        self._cards: list[MetricCard] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(ink.theme.px(_GAP))
        self._columns = 0
        self.setAccessibleName(_("Metrics"))

    def show_metrics(self, metrics: Sequence[MetricWords]) -> None:
        if [card.words for card in self._cards] == list(metrics):
            return
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards = [MetricCard(self._ink, shown) for shown in metrics]
        self._columns = 0
        self._arrange()
        self.setVisible(bool(metrics))

    @property
    def cards(self) -> Sequence[MetricCard]:
        return self._cards

    def _arrange(self) -> None:
        px = self._ink.theme.px
        fitting = max(1, (self.width() + px(_GAP)) // (px(_CARD_WIDTH) + px(_GAP)))
        columns = max(1, min(5 if fitting >= 5 else fitting, len(self._cards) or 1))
        if columns == self._columns:
            return
        for column in range(max(columns, self._columns)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self._columns = columns
        for place, card in enumerate(self._cards):
            self._grid.addWidget(card, place // columns, place % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
