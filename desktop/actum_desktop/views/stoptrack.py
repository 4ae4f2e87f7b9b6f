"""The stop, stage by stage: asked, insists, released. It stays after the end; released is ticked by the record alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from actum_desktop import measures
from actum_desktop.i18n import _, ngettext
from actum_desktop.ledger import Kind, attempt_state
from actum_desktop.views.ink import RIGHT, Ink
from actum_desktop.views.widgets import Card


@dataclass(frozen=True, slots=True)
class Stage:
    title: str
    kind: Kind
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Track:
    title: str
    note: str
    stages: tuple[Stage, Stage, Stage]


def track(show: Mapping[str, Any], journal: tuple[Mapping[str, Any], ...], processes: int | None, now: int) -> Track | None:
    """What the stop has come to; None where none was asked."""
    stop = show.get("stop") or {}
    state = attempt_state(show)
    asked = measures.micros(stop.get("asked_at") or stop.get("at") or stop.get("at_us"))
    if asked is None:
        return None
    insisted = _time_of(journal, "insisting")
    if insisted is None and stop.get("stage") == "insisting":
        insisted = measures.micros(stop.get("at_us") or stop.get("at"))
    released = measures.micros((state["facts"].get("released") or {}).get("at"))
    closed = bool(state["released"])
    left = stop.get("next_in_s")
    ago = measures.duration(max(0, now - asked) / 1e6)
    first = Stage(_("Asked"), Kind.ESTABLISHED, measures.clock(asked), _asked_text(stop, processes))
    third = _released(closed, released, asked, bool(insisted), left)
    second = _insists(closed, insisted, left, processes)
    if closed:
        ended = released or measures.micros(show.get("finished_at")) or now
        title, note = _("Stopped and released"), measures.duration(max(0, ended - asked) / 1e6)
    elif insisted:
        title, note = _("Stopping: Actum insists"), _("asked {time} ago").format(time=ago)
    else:
        title = _("Stopping: asked {time} ago").format(time=ago)
        note = _("insists in {time}").format(time=measures.duration(float(left))) if left is not None else ""
    return Track(title, note, (first, second, third))


def _time_of(journal: tuple[Mapping[str, Any], ...], stage: str) -> int | None:
    for row in journal:
        data = row.get("data") or {}
        if data.get("stage") == stage or row.get("kind") in (stage, f"stop_{stage}"):
            return measures.micros(row.get("at"))
    return None


def _asked_text(stop: Mapping[str, Any], processes: int | None) -> str:
    if stop.get("stage") == "requested":
        return _("recorded, not delivered yet")
    if processes:
        return ngettext("SIGTERM to {n} process", "SIGTERM to {n} processes", processes).format(n=processes)
    return _("SIGTERM to the work")


def _insists(closed: bool, insisted: int | None, left: Any, processes: int | None) -> Stage:
    if insisted is not None:
        remain = (
            ngettext("{n} remains, identity proven", "{n} remain, identity proven", processes).format(n=processes)
            if processes and not closed
            else _("identity proven for each")
        )
        return Stage(_("Insists"), Kind.ESTABLISHED, f"{measures.clock(insisted)} · SIGKILL", remain)
    if closed:
        return Stage(_("Insists"), Kind.NEVER, _("was not needed"), "")
    when = _("in {time}, if anything is left").format(time=measures.duration(float(left))) if left is not None else ""
    return Stage(_("Insists"), Kind.WAITING, when or _("if anything is left"), _("only what is proven its own"))


def _released(closed: bool, released: int | None, asked: int, insisted: bool, left: Any) -> Stage:
    if closed:
        text = measures.clock(released) if released is not None else _("nothing was started")
        return Stage(_("Released"), Kind.ESTABLISHED, text, _("the slot is free"))
    kind = Kind.WAITING if insisted else Kind.NOT_YET
    return Stage(_("Released"), kind, _("when no process is left"), _("the slot stays taken till then"))


class StopTrack(Card):
    def __init__(self, ink: Ink) -> None:
        super().__init__(ink.theme)
        self._ink = ink
        self._track: Track | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(400, self._ink.theme.px(118))

    def show_track(self, shown: Track | None) -> None:
        self.setVisible(shown is not None)
        if shown is None or shown == self._track:
            return
        self._track = shown
        words = {Kind.ESTABLISHED: _("done"), Kind.WAITING: _("waited for"), Kind.NEVER: "", Kind.NOT_YET: _("not yet")}
        parts = [", ".join(p for p in (s.title, words.get(s.kind, ""), s.first, s.second) if p) for s in shown.stages]
        self.setAccessibleName(". ".join([shown.title, *parts]))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._track is None:
            return
        ink, px, step = self._ink, self._ink.theme.px, self._ink.theme.line("caption")
        painter = QPainter(self)
        head = QRectF(px(16), px(8), self.width() - px(32), px(20))
        ink.text(painter, head, self._track.title, "text", "body", 600)
        ink.text(painter, head, self._track.note, "text2", "caption", 400, RIGHT)
        third = (self.width() - px(32)) / 3
        y = px(50)
        for index, stage in enumerate(self._track.stages):
            left = px(16) + index * third
            title_wide = ink.width(stage.title, "body", 600)
            if index < 2:
                following = self._track.stages[index + 1].kind
                solid = stage.kind is Kind.ESTABLISHED and following in (Kind.ESTABLISHED, Kind.WAITING)
                x1, x2 = left + px(27) + title_wide + px(10), left + third - px(10)
                if solid:
                    painter.fillRect(QRectF(x1, y - 0.75, x2 - x1, 1.5), ink.theme.color("text2"))
                else:
                    ink.dotted(painter, x1, x2, y)
            ink.node(painter, QPointF(left + px(8), y), stage.kind)
            faint = stage.kind in (Kind.NOT_YET, Kind.NEVER)
            box = QRectF(left + px(27), y - px(10), third - px(30), px(20))
            ink.text(painter, box, stage.title, "text3" if faint else "text", "body", 400 if faint else 600)
            waiting = stage.kind is Kind.WAITING
            below = QRectF(left + px(27), y + px(11), third - px(34), step)
            token = "accent" if waiting else "text3" if faint else "text"
            ink.text(painter, below, stage.first, token, "caption", 600 if waiting else 400)
            ink.text(painter, below.translated(0, step + 1), stage.second, "text3" if faint else "text2", "caption")
        painter.end()
