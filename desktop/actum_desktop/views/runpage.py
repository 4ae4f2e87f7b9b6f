"""The page of one run: its first line in words, the ledger filling in, the stop, what is wrong, charts, log, registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum.workspace import Workspace
from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QDesktopServices,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from actum_desktop import measures, tokens, wording
from actum_desktop.charts.progresschart import ProgressChart
from actum_desktop.controller.events import Live
from actum_desktop.i18n import _
from actum_desktop.ledger import attempt_state
from actum_desktop.models import details
from actum_desktop.models.history import Sample, estimate
from actum_desktop.models.runcells import fraction_of, warning_data
from actum_desktop.models.runreader import Seen
from actum_desktop.views.detailsview import DetailsView
from actum_desktop.views.ink import Ink
from actum_desktop.views.ledgerview import LedgerView
from actum_desktop.views.logview import LogPanel
from actum_desktop.views.popover import Popover
from actum_desktop.views.stoptrack import StopTrack, track
from actum_desktop.views.tabs import Tabs
from actum_desktop.views.widgets import Badge, Banner, Card, Elided, Label, Rule, button

_TABS = ("overview", "evidence", "events", "inputs", "files", "attempts")


class RunPage(QWidget):
    """Signals: `stop_asked` ((run, level)), `back_asked` (), `result_asked` (run)."""

    stop_asked = Signal(object)
    back_asked = Signal()
    result_asked = Signal(object)

    def __init__(self, ink: Ink, ws: Workspace) -> None:
        super().__init__()
        self._ink, self._ws = ink, ws
        self._show: dict[str, Any] = {}
        self._journal: tuple[Mapping[str, Any], ...] = ()
        self._live: Live | None = None
        self._samples: Sequence[Sample] = ()
        self._attempt: str | None = None
        self.run = 0
        self._log_of: tuple[int, int] | None = None
        self._said = ""
        self._ask_next = False
        self._make(ink)
        self._second = QTimer(self)
        self._second.setInterval(1_000)
        self._second.timeout.connect(self._refresh)
        QShortcut(QKeySequence("S"), self, self.ask_stop, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        QShortcut(QKeySequence.StandardKey.Find, self, self._log.focus_find)
        QShortcut(QKeySequence("F3"), self, self._log.find_next)

    # ---- building

    def _make(self, ink: Ink) -> None:
        theme, px = ink.theme, ink.theme.px
        self._crumb = button(theme, _("Runs"), self._on_back, kind="crumb")
        self._crumb_task = Label(theme, "", "caption", 400, "text2")
        self._crumb_run = Label(theme, "", "caption", 400, "text2")
        self._crumb_run.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._title = Label(theme, "", "page", 600)
        self._badge, self._warning = Badge(ink, large=True), Badge(ink, large=True)
        self._now = Badge(ink, large=True)
        self._sentence = Elided(ink, "body", 500, "text")
        self._measures = Elided(ink, "caption", 400, "text2")
        self._stop = button(theme, _("Stop…"), self.ask_stop, icon="square", tip=_("Stop this run (S)"))
        self._insist = button(theme, _("Insist now"), self._on_insist, icon="lightning", tip=_("End what is left at once"))
        self._folder = button(theme, _("Open folder"), self._on_folder, icon="folder-open")
        self._open_result = button(theme, _("Open result"), self._on_result, icon="table")
        self._copy = button(theme, "", self._on_copy, kind="ghost", icon="copy", tip=_("Copy the ledger as text"))
        self._tabs = Tabs(ink, _("Parts of this run"))
        self._tabs.chosen.connect(self._on_tab)
        self._popover = Popover(ink, self)
        self._popover.confirmed.connect(self._on_stop_confirmed)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._overview(ink))
        names = (_("Evidence"), _("Events"), _("Inputs and parameters"), _("Files"), _("Attempts"))
        self._registers = [DetailsView(ink, name) for name in names]
        for register in self._registers:
            card = Card(theme)
            inside = QVBoxLayout(card)
            inside.setContentsMargins(1, 4, 1, 4)
            inside.addWidget(register)
            self._stack.addWidget(card)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(14), px(24), px(14))
        column.setSpacing(px(2))
        column.addLayout(self._crumbs(ink))
        column.addLayout(self._head(ink))
        column.addSpacing(px(2))
        column.addWidget(self._sentence)
        column.addWidget(self._measures)
        column.addSpacing(px(6))
        column.addWidget(self._tabs)
        column.addSpacing(px(12))
        column.addLayout(self._stack, 1)

    def _crumbs(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(7))
        row.addWidget(self._crumb)
        for label in (self._crumb_task, self._crumb_run):
            row.addWidget(Label(ink.theme, "›", "caption", 400, "text3"))
            row.addWidget(label)
        row.addStretch(1)
        return row

    def _head(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(8))
        row.addWidget(self._title)
        row.addSpacing(ink.theme.px(4))
        for badge in (self._badge, self._warning, self._now):
            row.addWidget(badge)
        row.addStretch(1)
        for made in (self._insist, self._stop, self._open_result, self._folder, self._copy):
            row.addWidget(made)
        return row

    def _overview(self, ink: Ink) -> QWidget:
        px = ink.theme.px
        page = QWidget()
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(px(16))
        self._ledger_card = self._ledger_side(ink)
        self._body.addWidget(self._ledger_card)
        right = QVBoxLayout()
        right.setSpacing(px(12))
        self._track = StopTrack(ink)
        self._banner = Banner(ink, "warn", "warning-fill")
        self._failed = Banner(ink, "bad", "x-circle-fill")
        self._last = button(ink.theme, _("Show last line"), self._on_last_line, small=True)
        self._banner.add(self._last)
        self._left = button(ink.theme, _("Open its files"), self._on_left_files, small=True, icon="folder-open")
        self._failed.add(self._left)
        chart_card = Card(ink.theme)
        inside = QVBoxLayout(chart_card)
        inside.setContentsMargins(1, 1, 1, 1)
        self._chart = ProgressChart(ink)
        inside.addWidget(self._chart)
        self._log = LogPanel(ink)
        for widget in (self._track, self._banner, self._failed):
            widget.hide()
            right.addWidget(widget)
        right.addWidget(chart_card, 11)
        right.addWidget(self._log, 10)
        self._right = QWidget()
        self._right.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        self._body.addWidget(self._right, 1)
        return page

    def _ledger_side(self, ink: Ink) -> Card:
        theme, px = ink.theme, ink.theme.px
        card = Card(theme)
        column = QVBoxLayout(card)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(px(16), px(8), px(12), px(8))
        head.addWidget(Label(theme, _("Ledger"), "lead", 600))
        head.addStretch(1)
        self._attempts = QComboBox()
        self._attempts.setAccessibleName(_("Attempt"))
        self._attempts.setFont(theme.font("caption", 500))
        self._attempts.activated.connect(self._on_attempt)
        self._attempts.hide()
        head.addWidget(self._attempts)
        head.addWidget(button(theme, _("Evidence"), self._on_evidence, kind="link", small=True))
        column.addLayout(head)
        column.addWidget(Rule(theme))
        self._ledger = LedgerView(ink)
        self._ledger.evidence.connect(self._on_evidence_of)
        column.addWidget(self._ledger, 100)
        column.addWidget(self._ledger.foot)
        column.addStretch(1)
        return card

    # ---- feeding

    def open(self, run: int) -> None:
        """Show another run; what was known of the last one goes at once."""
        if run != self.run:
            self.run, self._show, self._journal, self._live, self._samples = run, {}, (), None, ()
            self._attempt, self._log_of, self._said, self._ask_next = None, None, "", False
            self._ledger.forget()
            self._tabs.choose("overview")
            self._stack.setCurrentIndex(0)
            self._popover.hide()

    def seen(self, seen: Seen) -> None:
        if seen.run != self.run:
            return
        if seen.error is not None:
            self._sentence.setText(str(seen.error))
            return
        self._show = dict(seen.show or {})
        self._journal = seen.journal
        self._open_log()
        self._refresh()
        self._announce()
        if self._ask_next:
            self._ask_next = False
            self.ask_stop()

    def live(self, live: Live, samples: Sequence[Sample]) -> None:
        if live.run == self.run:
            self._live, self._samples = live, samples
            self._refresh()

    def _merged(self) -> dict[str, Any]:
        """The document with what is known now laid over it."""
        show = dict(self._show)
        live = self._live
        if live is not None and show.get("phase") != "CLOSED":
            show["progress"] = live.progress or show.get("progress")
            show["step"] = live.step
            if live.stop:
                show["stop"] = {**(show.get("stop") or {}), **live.stop}
            show["heartbeat_at"] = live.heartbeat_at_us or show.get("heartbeat_at")
        return show

    def _open_log(self) -> None:
        state = attempt_state(self._show, self._attempt)
        which = (self.run, int(state["n"] or 1))
        closed = state["phase"] == "CLOSED"
        self._log.open_attempt = not closed
        if which != self._log_of:
            self._log_of = which
            self._log.open(self._ws.attempt_folder(*which) / "log", which[1])
        self._log.lines.watch(not closed)

    # ---- showing

    def _refresh(self) -> None:
        if not self._show:
            return
        now, show = measures.now_us(), self._merged()
        open_run = show.get("phase") != "CLOSED" or show.get("status") == "RETRYING"
        if open_run and self.isVisible():
            self._second.start()
        elif not open_run:
            self._second.stop()
        self._head_words(show, now)
        self._ledger.show_ledger(show, self._attempt, now)
        processes = self._live.processes if self._live else show.get("processes")
        self._track.show_track(track(show, self._journal, processes, now))
        self._warn(show, now)
        self._chart_words(show)
        self._log.refresh()
        self._fill_register(self._tabs.current)

    def _head_words(self, show: Mapping[str, Any], now: int) -> None:
        state = attempt_state(show)
        title = str(show.get("task_title") or show.get("task") or "")
        self._title.setText(title)
        self._crumb_task.setText(title)
        self._crumb_run.setText(str(self.run))
        contact = "cannot_tell" if state["cannot_tell"] else "ok"
        word = wording.status(str(show.get("status")), state["phase"], bool(show.get("released")), contact=contact)
        self._badge.say(word.icon, word.word, word.tone)
        self._sentence.setText(wording.sentence(show, now))
        self._measures.setText("  ·  ".join(self._measure_parts(show, now)))
        warning = self._warning_now()
        self._warning.setVisible(warning is not None and not show.get("stop"))
        if warning is not None:
            text = wording.warning_badge(str(warning.get("code")), warning_data(warning, self._live, now))
            self._warning.say("warning-fill", text, "warn")
        result = wording.result_badge(show.get("result"))
        looked_at = result is not None and str((show.get("result") or {}).get("state")) != "unchecked"
        self._now.setVisible(looked_at)
        if result is not None:
            self._now.say(result.icon, result.word, result.tone)
        stopping = state["status"] == "STOPPING" or bool(show.get("stop"))
        insisting = str((show.get("stop") or {}).get("stage")) in ("insisting", "tree_gone", "released")
        closed = state["phase"] == "CLOSED"
        can_stop = "stop" in (show.get("allowed_actions") or [])
        self._stop.setVisible(can_stop and not stopping)
        self._insist.setVisible(stopping and not insisting and not closed)
        told_below = bool((show.get("failure") or {}).get("code"))
        self._folder.setVisible(bool(show.get("result") or (show.get("unverified_files") and not told_below)))
        self._open_result.setVisible(bool(show.get("result")))
        self._folder.say(_("Open result folder") if show.get("result") else _("Open its files"))
        for key, (name, count) in self._tab_texts(show).items():
            self._tabs.relabel(key, name, count)
        self._choose_attempts(show)

    def _measure_parts(self, show: Mapping[str, Any], now: int) -> list[str]:
        state = attempt_state(show)
        parts = [_("Attempt {n}").format(n=state["n"])]
        if show.get("started_at"):
            parts.append(_("started {time}").format(time=measures.when(show["started_at"], now)))
        else:
            parts.append(_("asked {time}").format(time=measures.when(show.get("created_at"), now)))
        if state["phase"] == "CLOSED":
            parts.append(_("took {time}").format(time=measures.duration(show.get("duration_s"))))
        else:
            if self._live is not None and self._live.active_s:
                parts.append(_("{time} active").format(time=measures.duration(self._live.active_s)))
            if show.get("heartbeat_at") and not show.get("released"):
                parts.append(_("heartbeat {age} ago").format(age=measures.age(show["heartbeat_at"], now)))
        stop = show.get("stop") or {}
        if stop.get("asked_at") or stop.get("at"):
            parts.append(_("stop asked {time}").format(time=measures.clock(stop.get("asked_at") or stop.get("at"))))
        parts.append(wording.trigger(show.get("trigger")))
        return parts

    def _tab_texts(self, show: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        return {
            "overview": (_("Overview"), ""),
            "evidence": (_("Evidence"), str(len(attempt_state(show, self._attempt)["facts"]))),
            "events": (_("Events"), str(len(self._journal))),
            "inputs": (_("Inputs and parameters"), ""),
            "files": (_("Files"), ""),
            "attempts": (_("Attempts"), str(len(show.get("attempts") or []))),
        }

    def _choose_attempts(self, show: Mapping[str, Any]) -> None:
        known = [(str(item.get("attempt")), int(item.get("n") or 1)) for item in show.get("attempts") or []]
        self._attempts.setVisible(len(known) > 1)
        if self._attempts.count() == len(known):
            return
        self._attempts.clear()
        for identity, n in known:
            self._attempts.addItem(_("Attempt {n}").format(n=n), identity)
        self._attempts.setCurrentIndex(len(known) - 1)

    def _warning_now(self) -> Mapping[str, Any] | None:
        if self._live is None or self._show.get("phase") == "CLOSED" or not self._live.warnings:
            return None
        return self._live.warnings[0]

    def _warn(self, show: Mapping[str, Any], now: int) -> None:
        warning = self._warning_now()
        self._banner.setVisible(warning is not None and not show.get("stop"))
        if warning is not None:
            self._banner.say(*wording.warning(str(warning.get("code")), warning_data(warning, self._live, now)))
        failure = show.get("failure") or {}
        self._failed.setVisible(bool(failure.get("code")))
        if failure.get("code"):
            code = str(failure["code"])
            said = str(failure.get("message") or "")
            label = _("Its files are not a result and not verified.") if show.get("unverified_files") else ""
            text = measures.joined(said, wording.failure_remedy(code), label)
            self._failed.say(wording.failure_sentence(code), text)
        self._left.setVisible(bool(show.get("unverified_files")))

    def _chart_words(self, show: Mapping[str, Any]) -> None:
        fraction = fraction_of(show)
        words = [measures.percent(fraction)] if fraction is not None else []
        text = wording.progress_text(show)
        progress = " · ".join([*words, text]) if text else "".join(words)
        note = ""
        if show.get("stop") and show.get("phase") != "CLOSED":
            note = _("No estimate while stopping")
        elif self._warning_now() is not None:
            note = _("No estimate while there is no progress")
        elif show.get("phase") == "COMPUTING":
            note = estimate(self._samples)
        self._chart.show_samples(self._samples, progress, note)

    def _fill_register(self, key: str) -> None:
        index = _TABS.index(key)
        if not index or not self._show:
            return
        rows = {
            "evidence": lambda: details.evidence(self._show, self._attempt),
            "events": lambda: details.events(self._journal),
            "inputs": lambda: details.inputs(self._show),
            "files": lambda: details.files(self._show),
            "attempts": lambda: details.attempts(self._show),
        }[key]()
        self._registers[index - 1].rows.show(rows)

    def _announce(self) -> None:
        """A change of status is said once."""
        word = self._badge.word
        if self._said and word != self._said:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, wording.sentence(self._show)))
        self._said = word

    # ---- acting

    def ask_stop(self) -> None:
        """The confirmation, in place, with its consequence in one sentence."""
        if not self._stop.isVisible():
            return
        text = _("The work is asked to stop and gets time to close its files; what is left then is ended. No result.")
        self._popover.ask(self._stop, _("Stop run {n}?").format(n=self.run), text, _("Stop this run"))

    def ask_when_known(self) -> None:
        """Ask as soon as the run has been read."""
        if self._show:
            self.ask_stop()
        else:
            self._ask_next = True

    def _on_stop_confirmed(self) -> None:
        self.stop_asked.emit((self.run, "ask"))

    def _on_insist(self) -> None:
        self.stop_asked.emit((self.run, "insist"))

    def _on_back(self) -> None:
        self.back_asked.emit()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(wording.ledger_lines(self._merged(), self._attempt)))

    def _on_result(self) -> None:
        self.result_asked.emit(self.run)

    def _on_folder(self) -> None:
        result = self._show.get("result")
        if result:
            self._reveal(str(result.get("path")))
        else:
            self._on_left_files()

    def _on_left_files(self) -> None:
        left = self._show.get("unverified_files") or {}
        if left.get("folder"):
            self._reveal(str(left["folder"]))

    def _reveal(self, path: str) -> None:
        """Open the folder in the system's file manager; where there is none, its path is in the clipboard."""
        where = Path(path)
        if not where.is_absolute():
            where = self._ws.path / where
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(where))):
            QGuiApplication.clipboard().setText(str(where))
            self._measures.setText(_("No file manager answered. The path is in the clipboard: {path}").format(path=where))

    def _on_last_line(self) -> None:
        self._log.lines.follow()
        self._log.lines.setFocus()

    def _on_attempt(self, index: int) -> None:
        last = index == self._attempts.count() - 1
        self._attempt = None if last else str(self._attempts.itemData(index))
        self._ledger.forget()
        self._open_log()
        self._refresh()

    def _on_evidence(self) -> None:
        self._tabs.choose("evidence")
        self._on_tab("evidence")

    def _on_evidence_of(self, _key: str) -> None:
        self._on_evidence()

    def _on_tab(self, key: object) -> None:
        self._fill_register(str(key))
        self._stack.setCurrentIndex(_TABS.index(str(key)))

    def focus_start(self) -> None:
        self._ledger.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self._ink.theme.px
        wide = self.width() + px(tokens.SIDEBAR) >= px(tokens.WRAP_BELOW)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        self._body.setDirection(direction)
        if wide:
            self._ledger_card.setFixedWidth(px(tokens.LEDGER))
        else:
            self._ledger_card.setMinimumWidth(0)
            self._ledger_card.setMaximumWidth(16_777_215)
        self._popover.hide()
