"""The page of one run: its first line in words, the ledger filling in, the stop, what is wrong, charts, log, registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from actum.errors import ActumError
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
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from actum_desktop import measures, tokens, wording
from actum_desktop.charts.progresschart import ProgressChart
from actum_desktop.controller.events import Live
from actum_desktop.forms import again
from actum_desktop.i18n import _
from actum_desktop.ledger import attempt_state
from actum_desktop.models import details, runoffers
from actum_desktop.models.history import Sample, estimate, joined
from actum_desktop.models.runcells import fraction_of, warning_data
from actum_desktop.models.runoffers import Offer
from actum_desktop.models.runreader import Seen
from actum_desktop.views.detailsview import DetailsView
from actum_desktop.views.endbanner import EndBanner
from actum_desktop.views.ink import Ink
from actum_desktop.views.ledgerview import LedgerView
from actum_desktop.views.logview import LogPanel
from actum_desktop.views.popover import Popover
from actum_desktop.views.runhead import RunHead, warning_now
from actum_desktop.views.stoptrack import StopTrack, track
from actum_desktop.views.tabs import Tabs
from actum_desktop.views.widgets import Banner, Card, Label, Rule, button

_TABS = ("overview", "log", "evidence", "events", "records", "inputs", "files", "attempts")


class RunPage(QWidget):
    """Signals: `stop_asked` ((run, level)), `back_asked` (), `result_asked` (run), `rerun_asked` (a body for the supervisor),
    `edit_asked` ((task, parameters, run)), `attempt_chosen` ((run, n)), `told` (a short notice in words)."""

    stop_asked = Signal(object)
    back_asked = Signal()
    result_asked = Signal(object)
    rerun_asked = Signal(object)
    edit_asked = Signal(object)
    attempt_chosen = Signal(object)
    told = Signal(object)

    def __init__(self, ink: Ink, ws: Workspace) -> None:
        super().__init__()
        self._ink, self._ws = ink, ws
        self._show: dict[str, Any] = {}
        self._seen = Seen(0)
        self._live: Live | None = None
        self._samples: Sequence[Sample] = ()  # what this window saw
        self._attempt: str | None = None
        self.run = 0
        self._log_of: tuple[int, int] | None = None
        self._said = ""
        self._ask_next = False
        self._make(ink)
        self._second = QTimer(self)
        self._second.setInterval(1_000)
        self._second.timeout.connect(self._refresh)
        self._make_shortcuts()

    # ---- building

    def _make_shortcuts(self) -> None:
        here = Qt.ShortcutContext.WidgetWithChildrenShortcut
        for keys, slot in (
            ("S", self.ask_stop),
            ("Ctrl+F", self.look_for),
            ("F3", self._log.find_next),
            ("Shift+F3", self._log.find_previous),
            ("Ctrl+R", self.rerun),
            ("Ctrl+E", self.edit),
            ("Ctrl+Shift+C", self.copy_command),
        ):
            QShortcut(QKeySequence(keys), self, slot, context=here)

    def _make(self, ink: Ink) -> None:
        px = ink.theme.px
        self._head = RunHead(ink)
        self._head.asked.connect(self._on_asked)
        self._stop, self._badge, self._sentence = self._head.stop, self._head.badge, self._head.sentence
        self._tabs = Tabs(ink, _("Parts of this run"))
        self._tabs.chosen.connect(self._on_tab)
        self._popover = Popover(ink, self)
        self._popover.confirmed.connect(self._on_stop_confirmed)
        parts = QWidget()
        self._stack = QStackedLayout(parts)  # without a widget of its own, what is added first would be a window for a moment
        self._stack.addWidget(self._overview(ink))
        self._log_page = QWidget()
        self._log_place = QVBoxLayout(self._log_page)
        self._log_place.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._log_page)
        names = (_("Evidence"), _("Events"), _("Records"), _("Inputs and parameters"), _("Files"), _("Attempts"))
        self._registers = [DetailsView(ink, name) for name in names]
        for register in self._registers:
            card = Card(ink.theme)
            inside = QVBoxLayout(card)
            inside.setContentsMargins(1, 4, 1, 4)
            inside.addWidget(register)
            self._stack.addWidget(card)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(14), px(24), px(14))
        column.setSpacing(px(2))
        column.addWidget(self._head)
        column.addSpacing(px(6))
        column.addWidget(self._tabs)
        column.addSpacing(px(12))
        column.addWidget(parts, 1)

    def _overview(self, ink: Ink) -> QWidget:
        px = ink.theme.px
        page = QWidget()
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(px(16))
        self._ledger_card = self._ledger_side(ink)
        self._body.addWidget(self._ledger_card)
        self._right_column = right = QVBoxLayout()
        right.setSpacing(px(12))
        self._track = StopTrack(ink)
        self._banner = Banner(ink, "warn", "warning-fill")
        self._failed = EndBanner(ink)
        self._failed.adopt_asked.connect(self.rerun_asked)
        self._failed.files_asked.connect(self._on_left_files)
        self._last = button(ink.theme, _("Show last line"), self._on_last_line, small=True)
        self._banner.add(self._last)
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
            self.run, self._show, self._seen, self._live, self._samples = run, {}, Seen(run), None, ()
            self._attempt, self._log_of, self._said, self._ask_next = None, None, "", False
            self._ledger.forget()
            self._tabs.choose("overview")
            self._on_tab("overview")
            self._popover.hide()

    def seen(self, seen: Seen) -> None:
        if seen.run != self.run:
            return
        if seen.error is not None:
            self._sentence.setText(str(seen.error))
            return
        self._show = dict(seen.show or {})
        self._seen = seen
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

    def close_down(self) -> None:
        """Before the window goes."""
        self._second.stop()
        self._log.close_down()

    @property
    def attempt_n(self) -> int:
        """The attempt that is shown; 0 = the current one."""
        return int(attempt_state(self._show, self._attempt)["n"] or 1) if self._attempt is not None else 0

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
        of = (self._show.get("adoption") or {}).get("of")  # the work was done there
        which = (int(of["run"]), int(of["n"])) if of else (self.run, int(state["n"] or 1))
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
        else:
            self._second.stop()
        self._head.show_run(self.run, show, self._live, self._seen.usage, now)
        for key, (name, count) in self._tab_texts(show).items():
            self._tabs.relabel(key, name, count)
        self._choose_attempts(show)
        self._ledger.show_ledger(show, self._attempt, now)
        processes = self._live.processes if self._live else show.get("processes")
        self._track.show_track(track(show, self._seen.journal, processes, now))
        self._warn(show, now)
        self._chart_words(show)
        self._log.refresh()
        self._fill_register(self._tabs.current)

    def _tab_texts(self, show: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        seen, lines = self._seen, self._log.lines.total
        return {
            "overview": (_("Overview"), ""),
            "log": (_("Log"), measures.count(lines) if lines else ""),
            "evidence": (_("Evidence"), str(len(attempt_state(show, self._attempt)["facts"]))),
            "events": (_("Events"), measures.count(len(seen.journal)) + ("+" if seen.more_journal else "")),
            "records": (_("Records"), measures.count(len(seen.records)) + ("+" if seen.more_records else "")),
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

    def _warn(self, show: Mapping[str, Any], now: int) -> None:
        warning = warning_now(show, self._live)
        self._banner.setVisible(warning is not None and not show.get("stop"))
        if warning is not None:
            self._banner.say(*wording.warning(str(warning.get("code")), warning_data(warning, self._live, now)))
        self._failed.show_end(show)

    def _chart_words(self, show: Mapping[str, Any]) -> None:
        fraction = fraction_of(show)
        words = [measures.percent(fraction)] if fraction is not None else []
        text = wording.progress_text(show)
        progress = " · ".join([*words, text]) if text else "".join(words)
        note = ""
        if show.get("stop") and show.get("phase") != "CLOSED":
            note = _("No estimate while stopping")
        elif warning_now(show, self._live) is not None:
            note = _("No estimate while there is no progress")
        elif show.get("phase") == "COMPUTING":
            note = estimate(self._samples)
        own = self._seen.n == (self.attempt_n or self._seen.n)
        current = not self.attempt_n or self.attempt_n == len(show.get("attempts") or [1])
        samples = joined(self._seen.samples if own else (), self._samples if current else ())
        self._chart.show_samples(samples, progress, note)

    def _fill_register(self, key: str) -> None:
        index = _TABS.index(key)
        if index < 2 or not self._show:
            return
        rows = details.register(key, self._show, self._seen, self._attempt)
        self._registers[index - 2].rows.show(rows)

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

    def _on_asked(self, what: str) -> None:
        """What the head asks for."""
        match what:
            case "back":
                self.back_asked.emit()
            case "insist":
                self.stop_asked.emit((self.run, "insist"))
            case "result":
                self.result_asked.emit(self.run)
            case "ledger":
                self._copied("\n".join(wording.ledger_lines(self._merged(), self._attempt)), _("The ledger"))
            case _:
                acts = {"stop": self.ask_stop, "edit": self.edit, "rerun": self.rerun, "folder": self._on_folder}
                acts |= {"command": self.copy_command, "json": self.copy_json, "adopt": self._failed.ask_adopt}
                acts[what]()

    def offers(self) -> list[Offer]:
        """What can be done with this run now, for the palette."""
        shown = {"stop": self._stop.isVisibleTo(self), "insist": self._head.insist.isVisibleTo(self)}
        return runoffers.offers(self.run, self._show, shown) if self._show else []

    def do(self, name: str) -> None:
        """One of the offers."""
        if name == "find":
            self.look_for()
        else:
            self._on_asked(name)

    def rerun(self) -> None:
        """The same task with the same values, as a run of its own."""
        if self._show:
            self.rerun_asked.emit(again.body(self._show))

    def edit(self) -> None:
        """The form of its task, filled with its values."""
        if self._show:
            asked = (str(self._show["task"]), dict(self._show.get("parameters") or {}), int(self._show["run"]))
            self.edit_asked.emit(asked)

    def copy_command(self) -> None:
        self._copy_again(again.as_command, _("The command"))

    def copy_json(self) -> None:
        self._copy_again(again.as_json, _("The parameters"))

    def _copy_again(self, how: Callable[[Mapping[str, Any], Mapping[str, Any]], str], what: str) -> None:
        if not self._show:
            return
        try:
            self._copied(how(self._seen.contract, self._show), what)
        except ActumError as error:
            self.told.emit(str(error))

    def _copied(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.told.emit(_("{what} is in the clipboard.").format(what=what))

    def look_for(self) -> None:
        """Find in the log, where it is shown; another part is left for it."""
        if self._tabs.current not in ("overview", "log"):
            self.choose("log")
        self._log.focus_find()

    def choose(self, key: str) -> None:
        """Another part of the page."""
        self._tabs.choose(key)
        self._on_tab(key)

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
            self.told.emit(_("No file manager answered. The path is in the clipboard: {path}").format(path=where))

    def _on_last_line(self) -> None:
        self._log.lines.follow()
        self._log.lines.setFocus()

    def _on_attempt(self, index: int) -> None:
        last = index == self._attempts.count() - 1
        self._attempt = None if last else str(self._attempts.itemData(index))
        self._ledger.forget()
        self._open_log()
        self._refresh()
        self.attempt_chosen.emit((self.run, self.attempt_n))

    def _on_evidence(self) -> None:
        self.choose("evidence")

    def _on_evidence_of(self, _key: str) -> None:
        self._on_evidence()

    def _on_tab(self, key: object) -> None:
        self._fill_register(str(key))
        if key == "log":
            self._log_place.addWidget(self._log)
        elif key == "overview":
            self._right_column.addWidget(self._log, 10)
        self._stack.setCurrentIndex(_TABS.index(str(key)))
        if key == "log":
            self._log.lines.setFocus()

    def focus_start(self) -> None:
        if self._tabs.current == "log":
            self._log.lines.setFocus()
        else:
            self._ledger.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

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
