"""The page of one result: what was published, what holds of it now, its metrics with reasons, its tables, verify and export."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from actum_desktop import measures, tokens, wording
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.arrangement import Arrangements
from actum_desktop.models.extents import Extent, filtered, selected
from actum_desktop.models.resultreader import ResultSeen
from actum_desktop.models.tablereader import TableReader
from actum_desktop.ports import Asks
from actum_desktop.views.exportdialog import ExportDialog
from actum_desktop.views.ink import Ink
from actum_desktop.views.metriccards import MetricCards, words
from actum_desktop.views.remedies import Rebuild, remedy
from actum_desktop.views.tablepanel import TablePanel
from actum_desktop.views.widgets import Badge, Banner, Card, Elided, Label, button

_METRICS = "metrics"
_FILES_NAMED = 12


class ResultPage(QWidget):
    """Signals: `command_asked` (body of a command for the supervisor), `run_asked` (run number), `list_asked` ()."""

    command_asked = Signal(object)
    run_asked = Signal(object)
    list_asked = Signal()

    def __init__(self, ink: Ink, reader: TableReader, helper: Asks, arrangements: Arrangements) -> None:
        super().__init__()
        self._ink, self._helper = ink, helper
        self.run = 0
        self._seen: ResultSeen | None = None
        self._watch = ""
        self._found_bad = False
        self._dialog: ExportDialog | None = None
        self._exporting = ""
        self._arrangements = arrangements
        self._make(ink, reader)
        for keys, act in (
            ("Ctrl+F", self.tables.focus_search),
            ("Ctrl+Shift+F", self.tables.focus_search_in_column),
            ("F3", self.tables.find_next),
            ("Shift+F3", self.tables.find_previous),
            ("Ctrl+G", self.tables.focus_place),
        ):
            QShortcut(QKeySequence(keys), self, act)

    # ---- building

    def _make(self, ink: Ink, reader: TableReader) -> None:
        theme, px = ink.theme, ink.theme.px
        self._crumb = button(theme, _("Results"), self._on_list, kind="crumb")
        self._crumb_title = Label(theme, "", "caption", 400, "text2")
        self._crumb_run = button(theme, "", self._on_run, kind="crumb", tip=_("Go to the run"))
        self._title = Label(theme, "", "page", 600)
        self._history, self.now = Badge(ink, large=True), Badge(ink, large=True)
        self._verify = button(
            theme, _("Verify now"), self._on_verify, icon="shield-check", tip=_("Read all of it again and compare")
        )
        self._stop = button(theme, _("Cancel"), self._on_cancel_verify)
        self._folder = button(theme, _("Open folder"), self._on_folder, icon="folder-open")
        self._line = Elided(ink, "caption", 400, "text2")
        self.banner = Banner(ink, "bad", "x-circle-fill")
        self.rebuild = Rebuild(ink, self.banner, self)
        self.rebuild.asked.connect(self._on_rebuild)
        self.checked = Banner(ink, "ok", "check-circle-fill")
        self.metrics = MetricCards(ink)
        self._export_metrics = button(theme, _("Export metrics…"), self._on_export_metrics, kind="link", small=True)
        self.tables = TablePanel(ink, reader, self._helper, self._arrangements)
        self.tables.export_asked.connect(self.export)
        self.tables.failed.connect(self._on_failed)
        self.tables.rebuild_asked.connect(self._on_rebuild_asked)
        self._files = self._files_card(ink)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(14), 0, 0)
        column.setSpacing(px(2))
        for row in (self._crumbs(ink), self._head(ink)):
            held = QHBoxLayout()
            held.setContentsMargins(px(24), 0, px(24), 0)
            held.addLayout(row)
            column.addLayout(held)
        line = QHBoxLayout()
        line.setContentsMargins(px(24), 0, px(24), px(8))
        line.addWidget(self._line, 1)
        line.addWidget(self._export_metrics)
        column.addLayout(line)
        column.addWidget(self._scroll(ink), 1)
        for widget in (self.banner, self.checked, self._stop, self._files):
            widget.hide()

    def _crumbs(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(7))
        row.addWidget(self._crumb)
        for widget in (self._crumb_title, self._crumb_run):
            row.addWidget(Label(ink.theme, "›", "caption", 400, "text3"))
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def _head(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(8))
        row.addWidget(self._title)
        row.addSpacing(ink.theme.px(4))
        row.addWidget(self._history)
        row.addWidget(self.now)
        row.addStretch(1)
        for made in (self._stop, self._verify, self._folder):
            row.addWidget(made)
        return row

    def _scroll(self, ink: Ink) -> QScrollArea:
        px = ink.theme.px
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(px(24), 0, px(24), px(14))
        column.setSpacing(px(12))
        for widget in (self.banner, self.checked, self.metrics):
            column.addWidget(widget)
        column.addWidget(self.tables, 100)
        column.addWidget(self._files)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(body)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.viewport().setAutoFillBackground(False)
        body.setAutoFillBackground(False)
        return scroll

    def _files_card(self, ink: Ink) -> Card:
        """Of a result without tables: what it did publish, and how a task declares a table."""
        theme, px = ink.theme, ink.theme.px
        card = Card(theme)
        column = QVBoxLayout(card)
        column.setContentsMargins(px(16), px(14), px(16), px(16))
        column.setSpacing(px(8))
        self._files_title = Label(theme, "", "body", 600)
        self._files_text = Label(theme, "", "caption", 400, "text", wrap=True)
        hint = _("A task hands over a table with ctx.table(name, rows), or a program writes {code} to its messages.")
        code = '{"table": "prices", "path": "prices.csv"}'
        column.addWidget(self._files_title)
        column.addWidget(self._files_text)
        column.addWidget(Label(theme, hint.replace("{code}", code), "caption", 400, "text2", wrap=True))
        card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        return card

    # ---- feeding

    def open(self, run: int) -> None:
        """Show another result; what was known of the last one goes at once."""
        if run != self.run:
            self.run, self._seen, self._found_bad = run, None, False
            self.tables.forget()
            self._crumb_run.say(_("Run {n}").format(n=run))
            for label in (self._title, self._crumb_title):
                label.setText("")
            self._line.setText("")
            for widget in (self.banner, self.checked, self._history, self.now, self.metrics, self._files, self.tables):
                widget.hide()

    def seen(self, seen: ResultSeen) -> None:
        if seen.run != self.run:
            return
        first, self._seen = self._seen is None, seen
        self._title.setText(seen.title or _("Run {n}").format(n=seen.run))
        self._crumb_title.setText(seen.title)
        problem = seen.error or seen.unreadable
        self.banner.setVisible(problem is not None or self._found_bad)  # what a verification found stands until the next
        if problem is not None:
            self._say(problem)
        there = seen.package is not None
        for widget in (self._verify, self._folder):
            widget.setVisible(there and not self._watch)
        self._folder.setVisible(there)
        self._badges(seen)
        self._line.setText("  ·  ".join(self._measures(seen)))
        cards = [words(metric, seen.declared.get(str(metric.get("name")))) for metric in seen.metrics]
        self.metrics.show_metrics(cards)
        self._export_metrics.setVisible(bool(cards) and seen.unreadable is None)
        self.tables.setVisible(bool(seen.tables))
        if seen.tables:
            self.tables.show_tables(str(seen.show.get("task") or ""), seen.tables, seen.readings)
            if first and self.window().focusWidget() is self._crumb:  # until there was a table to work in
                self.tables.focus_start()
        self._show_files(seen)

    def _badges(self, seen: ResultSeen) -> None:
        show = seen.show
        self._history.setVisible(bool(show))
        if show:
            word = wording.status(str(show.get("status")), str(show.get("phase") or ""), bool(show.get("released")))
            self._history.say(word.icon, word.word, word.tone)
        badge = wording.result_badge(show.get("result"))
        self.now.setVisible(badge is not None)
        if badge is not None:
            self.now.say(badge.icon, badge.word, badge.tone)
            self.now.setToolTip(str((show.get("result") or {}).get("reason") or ""))

    def _measures(self, seen: ResultSeen) -> list[str]:
        show, now = seen.show, measures.now_us()
        if not show:
            return []
        parts = [_("Run {n}").format(n=seen.run)]
        if show.get("started_at"):
            parts.append(measures.when(show["started_at"], now))
        parts.append(_("took {time}").format(time=measures.duration(show.get("duration_s"))))
        published = next((fact["at"] for fact in show.get("facts") or [] if fact.get("fact") == "published"), None)
        if published:
            parts.append(_("published {time}").format(time=measures.clock(published)))
        result = show.get("result") or {}
        if result:
            parts.append(measures.size(result.get("size_bytes")))
        return [*parts, *seen.notes[:1]]

    def _show_files(self, seen: ResultSeen) -> None:
        shown = seen.package is not None and not seen.tables and seen.unreadable is None
        self._files.setVisible(shown)
        if not shown:
            if seen.package is None and seen.error is None and seen.show:
                self._say(ActumError("no_result", _("This run has no result."), "", _("The run page says why.")))
                self.banner.show()
            return
        files = seen.files
        self._files_title.setText(
            ngettext("No table; {n} file was published", "No table; {n} files were published", len(files)).format(n=len(files))
        )
        lines = [f"{Path(str(item['name'])).name}  {measures.size(item['size'])}" for item in files[:_FILES_NAMED]]
        if len(files) > _FILES_NAMED:
            lines.append(_("and {n} more").format(n=measures.count(len(files) - _FILES_NAMED)))
        self._files_text.setText("\n".join(lines))

    def _say(self, error: ActumError) -> None:
        self.rebuild.offer(False)
        self.banner.say(error.what, measures.joined(error.why, error.remedy))

    def _on_failed(self, error: ActumError) -> None:
        self._say(error)
        self.banner.show()

    # ---- verifying

    def _on_verify(self) -> None:
        if not self._watch and self._seen is not None and self._seen.package is not None:
            self._watch = secrets.token_hex(8)
            self.checked.hide()
            self._verify.hide()
            self._stop.show()
            self.now.say("shield-check", _("Being verified…"), "accent")
            self.command_asked.emit({"verb": "verify", "run": self.run, "watch": self._watch})

    def _on_cancel_verify(self) -> None:
        self.command_asked.emit({"verb": "cancel", "watch": self._watch})

    def progressed(self, watch: str, done: int, total: int, unit: str) -> None:
        if watch == self._watch and watch:
            percent = measures.percent(min(0.99, done / max(1, total)))
            self.now.say("shield-check", _("Being verified, {percent}").format(percent=percent), "accent")
        elif watch == self._exporting and self._dialog is not None:
            self._dialog.progress(done, total, unit)

    def verified(self, told: Mapping[str, Any] | None, error: ActumError | None) -> None:
        """The answer to Verify now."""
        self._watch = ""
        self._stop.hide()
        self._verify.show()
        if self._seen is not None:
            self._badges(self._seen)
        if told is None:
            if error is not None and error.code != "cancelled":
                self._on_failed(error)
            return
        if int(told.get("run") or 0) != self.run:
            return
        good = told["state"] == "readable"
        badge = wording.result_badge({"state": told["state"], "checked_at": measures.now_us()})
        if badge is not None:
            self.now.say(badge.icon, badge.word, badge.tone)
        if good:
            report = told.get("details") or {}
            files, rows = (report.get("bytes") or {}).get("files"), (report.get("content") or {}).get("rows")
            words = _("{files} files and {rows} rows were read again.")
            said = words.format(files=measures.count(files), rows=measures.count(rows)) if files else str(told["reason"])
            proof = _("Every byte and every value is as it was published. This does not prove that the formula is right.")
            self.checked.say(said, proof)
            self.tables.trust()
        else:
            self._say(ActumError(str(told["state"]), badge.word if badge else "", str(told["reason"]), remedy(told)))
            self.rebuild.offer(bool(told.get("rebuildable")))
            self.tables.source.suspect()
        self._found_bad = not good
        self.checked.setVisible(good)
        self.banner.setVisible(not good)

    def _on_rebuild_asked(self) -> None:
        self.rebuild.ask(self.tables.line.rebuild)

    def _on_rebuild(self) -> None:
        """The derived tables again, from the authority; answered as a verification is."""
        self.rebuild.offer(False)
        self.now.say("shield-check", _("Derived tables are made again…"), "accent")
        self.command_asked.emit({"verb": "rebuild", "run": self.run})

    # ---- exporting

    def _on_export_metrics(self) -> None:
        self.export(_METRICS)

    def export(self, name: object) -> None:
        """Open the dialog for a table, or for the metrics."""
        seen = self._seen
        if seen is None or seen.package is None or self._dialog is not None:
            return
        what = str(name)
        table = next((item for item in seen.tables if item["name"] == what), None)
        rows = len(seen.metrics) if table is None else table.get("rows")
        about = _("Result of run {n}, {title}").format(n=seen.run, title=seen.title)
        title = _("Export metrics") if table is None else _("Export {name}").format(name=what)
        dialog = ExportDialog(self._ink, self.window(), what, title, about, rows, f"{what}-{seen.run}", *self._extents(what))
        self._dialog = dialog
        dialog.losses_asked.connect(self._on_losses_asked)
        dialog.export_asked.connect(self._on_export_asked)
        dialog.cancel_asked.connect(self._on_export_cancelled)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()

    def _extents(self, name: str) -> tuple[Extent | None, Extent | None]:
        """What is shown and what is selected of this table, where it is the one that is open."""
        if name != self.tables.name:
            return None, None
        query, total = self.tables.query, self.tables.model.total
        return filtered(query, total), selected(query, total, self.tables.grid.selected_ranges())

    @property
    def dialog(self) -> ExportDialog | None:
        return self._dialog

    def _on_losses_asked(self) -> None:
        seen, dialog = self._seen, self._dialog
        if seen is not None and dialog is not None:
            args = {"package": str(seen.package), "name": dialog.table, "query": dialog.query}
            args["published"] = None if seen.published is None else seen.published.to_json()
            self._helper.ask("losses", args, self._on_losses)

    def _on_losses(self, found: Mapping[str, Any] | None, error: ActumError | None) -> None:
        if self._dialog is not None:
            self._dialog.show_losses(found, error)

    def _on_export_asked(self, body: object) -> None:
        if isinstance(body, dict):
            self._exporting = secrets.token_hex(8)
            self.command_asked.emit({**body, "verb": "export", "run": self.run, "watch": self._exporting})

    def _on_export_cancelled(self) -> None:
        self.command_asked.emit({"verb": "cancel", "watch": self._exporting})

    def exported(self, made: Mapping[str, Any] | None, error: ActumError | None) -> None:
        """The answer to an export."""
        self._exporting = ""
        if self._dialog is None:
            return
        if made is not None:
            self._dialog.exported(made)
        elif error is not None:
            self._dialog.refused(error)

    def _on_dialog_finished(self) -> None:
        dialog, self._dialog = self._dialog, None
        self._helper.cancel("losses")
        if dialog is not None:
            dialog.deleteLater()

    # ---- going and keys

    def _on_list(self) -> None:
        self.list_asked.emit()

    def _on_run(self) -> None:
        self.run_asked.emit(self.run)

    def _on_folder(self) -> None:
        if self._seen is None or self._seen.package is None:
            return
        where = self._seen.package
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(where))):
            QGuiApplication.clipboard().setText(str(where))
            self._line.setText(_("No file manager answered. The path is in the clipboard: {path}").format(path=where))

    def focus_start(self) -> None:
        if self.tables.isVisible():
            self.tables.focus_start()
        else:
            self._crumb.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self._ink.theme.px
        self.tables.set_wide(self.width() + px(tokens.SIDEBAR) >= px(tokens.WRAP_BELOW))
