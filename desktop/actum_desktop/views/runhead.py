"""The head of a run's page: where it stands, its name and badges, its first line in plain words, and what may be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from actum_desktop import measures, wording
from actum_desktop.controller.events import Live
from actum_desktop.i18n import _
from actum_desktop.ledger import attempt_state
from actum_desktop.models.history import Usage
from actum_desktop.models.runcells import warning_data
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Badge, Elided, Label, button


class RunHead(QWidget):
    """Signals: `asked` (back | stop | insist | result | edit | rerun | command | json | ledger | folder).

    Attributes: stop, insist, result, edit, more (buttons), badge, warning, now (badges), sentence, measures.
    """

    asked = Signal(object)

    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._crumb = button(theme, _("Runs"), self._on_back, kind="crumb")
        self._crumb_task = Label(theme, "", "caption", 400, "text2")
        self._crumb_run = Label(theme, "", "caption", 400, "text2")
        self._crumb_run.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._title = Label(theme, "", "page", 600)
        self.badge, self.warning = Badge(ink, large=True), Badge(ink, large=True)
        self.now = Badge(ink, large=True)
        self.sentence = Elided(ink, "body", 500, "text")
        self.measures = Elided(ink, "caption", 400, "text2")
        self.stop = button(theme, _("Stop…"), self._on_stop, icon="square", tip=_("Stop this run (S)"))
        self.insist = button(theme, _("Insist now"), self._on_insist, icon="lightning", tip=_("End what is left at once"))
        self.result = button(theme, _("Open result"), self._on_result, icon="table")
        self.edit = button(
            theme, _("Edit and rerun"), self._on_edit, icon="pencil-simple", tip=_("Open the form with these values (Ctrl+E)")
        )
        self.more = button(theme, "", kind="ghost", icon="dots-three", tip=_("More"))
        self._menu = QMenu(self.more)
        self._menu.setAccessibleName(_("More"))
        self._actions = {}
        for key, text, keys in (
            ("rerun", _("Rerun with the same values"), "Ctrl+R"),
            ("command", _("Copy as command"), "Ctrl+Shift+C"),
            ("json", _("Copy as JSON"), ""),
            ("ledger", _("Copy the ledger as text"), ""),
            ("folder", _("Open folder"), ""),
        ):
            action = self._menu.addAction(f"{text}\t{keys}" if keys else text)
            action.setData(key)
            self._actions[key] = action
        self._menu.triggered.connect(self._on_action)
        self.more.clicked.connect(self._on_more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(2))
        column.addLayout(self._crumbs(ink))
        column.addLayout(self._line(ink))
        column.addSpacing(px(2))
        column.addWidget(self.sentence)
        column.addWidget(self.measures)

    def _crumbs(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(7))
        row.addWidget(self._crumb)
        for label in (self._crumb_task, self._crumb_run):
            row.addWidget(Label(ink.theme, "›", "caption", 400, "text3"))
            row.addWidget(label)
        row.addStretch(1)
        return row

    def _line(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(8))
        row.addWidget(self._title)
        row.addSpacing(ink.theme.px(4))
        for badge in (self.badge, self.warning, self.now):
            row.addWidget(badge)
        row.addStretch(1)
        for made in (self.insist, self.stop, self.result, self.edit, self.more):
            row.addWidget(made)
        return row

    # ---- showing

    def show_run(self, run: int, show: Mapping[str, Any], live: Live | None, usage: Usage, now: int) -> None:
        state = attempt_state(show)
        title = str(show.get("task_title") or show.get("task") or "")
        self._title.setText(title)
        self._crumb_task.setText(title)
        self._crumb_run.setText(str(run))
        contact = "cannot_tell" if state["cannot_tell"] else "ok"
        word = wording.status(str(show.get("status")), state["phase"], bool(show.get("released")), contact=contact)
        self.badge.say(word.icon, word.word, word.tone)
        self.sentence.setText(wording.sentence(show, now))
        self.measures.setText("  ·  ".join(_measure_parts(show, live, usage, now)))
        warning = warning_now(show, live)
        self.warning.setVisible(warning is not None and not show.get("stop"))
        if warning is not None:
            text = wording.warning_badge(str(warning.get("code")), warning_data(warning, live, now))
            self.warning.say("warning-fill", text, "warn")
        result = wording.result_badge(show.get("result"))
        looked_at = result is not None and str((show.get("result") or {}).get("state")) != "unchecked"
        self.now.setVisible(looked_at)
        if result is not None:
            self.now.say(result.icon, result.word, result.tone)
        self._show_buttons(show, state)

    def _show_buttons(self, show: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        stopping = state["status"] == "STOPPING" or bool(show.get("stop"))
        insisting = str((show.get("stop") or {}).get("stage")) in ("insisting", "tree_gone", "released")
        can_stop = "stop" in (show.get("allowed_actions") or [])
        self.stop.setVisible(can_stop and not stopping)
        self.insist.setVisible(stopping and not insisting and state["phase"] != "CLOSED")
        self.result.setVisible(bool(show.get("result")))
        has_folder = bool(show.get("result") or show.get("unverified_files"))
        self._actions["folder"].setVisible(has_folder)
        self._actions["folder"].setText(_("Open result folder") if show.get("result") else _("Open its files"))

    # ---- acting

    def _on_back(self) -> None:
        self.asked.emit("back")

    def _on_stop(self) -> None:
        self.asked.emit("stop")

    def _on_insist(self) -> None:
        self.asked.emit("insist")

    def _on_result(self) -> None:
        self.asked.emit("result")

    def _on_edit(self) -> None:
        self.asked.emit("edit")

    def _on_more(self) -> None:
        self._menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _on_action(self, action: object) -> None:
        self.asked.emit(action.data())  # type: ignore[attr-defined]


def warning_now(show: Mapping[str, Any], live: Live | None) -> Mapping[str, Any] | None:
    if live is None or show.get("phase") == "CLOSED" or not live.warnings:
        return None
    return live.warnings[0]


def _measure_parts(show: Mapping[str, Any], live: Live | None, usage: Usage, now: int) -> list[str]:
    state = attempt_state(show)
    parts = [_("Attempt {n}").format(n=state["n"])]
    if show.get("started_at"):
        parts.append(_("started {time}").format(time=measures.when(show["started_at"], now)))
    else:
        parts.append(_("asked {time}").format(time=measures.when(show.get("created_at"), now)))
    if state["phase"] == "CLOSED":
        parts.append(_("took {time}").format(time=measures.duration(show.get("duration_s"))))
        if usage.cpu_percent is not None:
            parts.append(_("avg CPU {cpu}").format(cpu=measures.cpu(usage.cpu_percent)))
        if usage.peak_rss_bytes:
            parts.append(_("peak memory {size}").format(size=measures.size(usage.peak_rss_bytes)))
    else:
        if live is not None and live.active_s:
            parts.append(_("{time} active").format(time=measures.duration(live.active_s)))
        if show.get("heartbeat_at") and not show.get("released"):
            parts.append(_("heartbeat {age} ago").format(age=measures.age(show["heartbeat_at"], now)))
    stop = show.get("stop") or {}
    if stop.get("asked_at") or stop.get("at"):
        parts.append(_("stop asked {time}").format(time=measures.clock(stop.get("asked_at") or stop.get("at"))))
    if adopts := wording.relation(show):
        parts.append(adopts)
    elif show.get("rerun_of"):
        parts.append(_("rerun of {n}").format(n=show["rerun_of"]))
    else:
        parts.append(wording.trigger(show.get("trigger")))
    return parts
