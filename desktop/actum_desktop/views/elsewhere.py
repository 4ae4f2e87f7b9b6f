"""A result that came from elsewhere: looked at, verified to a named level, with what that shows and what it does not.

It is no result of this workspace: nothing is recorded of it, nothing is written beside it. What only its sender can tell, the
digest it was sealed with, is asked for; without it the package can be shown to be consistent with itself and no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.results.tables import Readable
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.i18n import _
from actum_desktop.models.arrangement import Arrangements
from actum_desktop.models.tablereader import TableReader
from actum_desktop.ports import Asks
from actum_desktop.views.ink import Ink
from actum_desktop.views.metriccards import MetricCards, words
from actum_desktop.views.packagedrop import PackageDrop
from actum_desktop.views.tablepanel import TablePanel
from actum_desktop.views.widgets import Badge, Banner, Card, Elided, Label, Segments, button

_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
SAMPLE = "sample:4"


class ElsewherePage(PackageDrop):
    """Signals: `list_asked` (), `open_asked` (path or None to be asked), `verify_asked` ({level, digest|None}),
    `cancel_asked` ()."""

    list_asked = Signal()
    open_asked = Signal(object)
    verify_asked = Signal(object)
    cancel_asked = Signal()

    def __init__(self, ink: Ink, reader: TableReader, helper: Asks, arrangements: Arrangements) -> None:
        super().__init__(ink)
        self.package_dropped.connect(self.open_asked)
        self._found: Mapping[str, Any] | None = None
        self._make(ink, reader, helper, arrangements)
        self.clear()

    # ---- building

    def _make(self, ink: Ink, reader: TableReader, helper: Asks, arrangements: Arrangements) -> None:
        theme, px = ink.theme, ink.theme.px
        self._title = Label(theme, "", "page", 600)
        self.now = Badge(ink, large=True)
        self._line = Elided(ink, "caption", 400, "text2")
        self.verify_button = button(theme, _("Verify"), self._on_verify, kind="primary", icon="shield-check")
        self.cancel_button = button(theme, _("Cancel"), self.cancel_asked.emit)
        self.another_button = button(theme, _("Open another…"), self._on_open, icon="folder-open")
        self.banner = Banner(ink, "bad", "x-circle-fill")
        self.metrics = MetricCards(ink)
        self.tables = TablePanel(ink, reader, helper, arrangements)
        self.tables.only_look()
        self.tables.failed.connect(self.failed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(14), 0, 0)
        column.setSpacing(px(4))
        for row in (self._crumbs(ink), self._head(ink)):
            held = QHBoxLayout()
            held.setContentsMargins(px(24), 0, px(24), 0)
            held.addLayout(row)
            column.addLayout(held)
        line = QHBoxLayout()
        line.setContentsMargins(px(24), 0, px(24), px(8))
        line.addWidget(self._line, 1)
        column.addLayout(line)
        column.addWidget(self._scroll(ink), 1)

    def _crumbs(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(7))
        row.addWidget(button(ink.theme, _("Results"), self.list_asked.emit, kind="crumb"))
        row.addWidget(Label(ink.theme, "›", "caption", 400, "text3"))
        row.addWidget(Label(ink.theme, _("From elsewhere"), "caption", 400, "text2"))
        row.addStretch(1)
        return row

    def _head(self, ink: Ink) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(ink.theme.px(8))
        row.addWidget(self._title)
        row.addWidget(self.now)
        row.addStretch(1)
        for made in (self.cancel_button, self.verify_button, self.another_button):
            row.addWidget(made)
        return row

    def _scroll(self, ink: Ink) -> QScrollArea:
        px = ink.theme.px
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(px(24), 0, px(24), px(14))
        column.setSpacing(px(12))
        column.addWidget(self.banner)
        column.addWidget(self._proof_card(ink))
        column.addWidget(self.metrics)
        column.addWidget(self.tables, 100)
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

    def _proof_card(self, ink: Ink) -> Card:
        """How far to look, the digest its sender tells, what was shown and what was not."""
        theme, px = ink.theme, ink.theme.px
        self._card = Card(theme)
        column = QVBoxLayout(self._card)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(8))
        choices = (("content", _("Everything")), ("bytes", _("Bytes")), (SAMPLE, _("A sample")))
        self.level = Segments(theme, _("How far to look"), choices)
        self.digest = QLineEdit()
        self.digest.setTextMargins(px(6), 0, 0, 0)
        self.digest.setPlaceholderText(_("The digest that its sender told you (64 signs); may be left empty"))
        self.digest.setAccessibleName(_("Digest from the sender"))
        self.digest.setFont(theme.font("caption"))
        self.digest.setMaxLength(80)
        self.digest.textChanged.connect(self._on_digest)
        row = QHBoxLayout()
        row.setSpacing(px(10))
        row.addWidget(self.level)
        row.addWidget(self.digest, 1)
        self._problem = Label(theme, "", "caption", 400, "bad")
        self._own = Label(theme, "", "caption", 400, "text2", wrap=True)
        self._own.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy_button = button(theme, _("Copy the digest"), self._on_copy, kind="link", small=True)
        own = QHBoxLayout()
        own.addWidget(self._own, 1)
        own.addWidget(self.copy_button)
        self.shown = Label(theme, "", "body", 500, "ok", wrap=True)
        self.not_shown = Label(theme, "", "caption", 400, "text2", wrap=True)
        column.addLayout(row)
        column.addWidget(self._problem)
        column.addLayout(own)
        column.addWidget(self.shown)
        column.addWidget(self.not_shown)
        return self._card

    # ---- feeding

    def clear(self) -> None:
        """Nothing is open."""
        self._found = None
        self._title.setText(_("From elsewhere"))
        self._line.setText(_("Drop a pack (.actumpack) or the folder of a result here, or open one."))
        self.digest.clear()
        self._problem.hide()
        self.tables.forget()
        for widget in (self.banner, self.now, self._card, self.metrics, self.tables, self.verify_button, self.cancel_button):
            widget.hide()

    def opening(self, path: str) -> None:
        self.clear()
        self._line.setText(_("Opening {name}…").format(name=Path(path).name))

    def show_result(self, path: str, found: Mapping[str, Any]) -> None:
        """What the helper read of it; nothing of that is verified yet."""
        self.clear()
        self._found = found
        self._title.setText(str(found.get("task") or Path(path).name))
        made_in = _("of the workspace it was made in")
        parts = [_("Run {n}").format(n=found.get("run")), made_in, measures.size(found["size_bytes"])]
        if type(found.get("sealed_at")) is int:
            parts.append(_("sealed {time}").format(time=measures.when(found["sealed_at"], measures.now_us())))
        self._line.setText("  ·  ".join([*parts, *[str(note) for note in found["notes"]][:1], path]))
        self._own.setText(_("Its digest: {digest}").format(digest=found["digest"]))
        self.shown.hide()
        self.not_shown.setText(_("Not verified yet: what stands below is what the package says of itself."))
        self.now.say("question", _("not verified"), "text2")
        self.metrics.show_metrics([words(metric) for metric in found["metrics"]])
        self.tables.setVisible(bool(found["tables"]))
        if found["tables"]:
            readings = {name: Readable.from_json(told) for name, told in found["readings"].items()}
            self.tables.show_tables("", found["tables"], readings)
        for widget in (self.now, self._card, self.verify_button):
            widget.show()
        self.verify_button.setFocus()

    def failed(self, error: ActumError) -> None:
        self.banner.say(error.what, measures.joined(error.why, error.remedy))
        self.banner.show()

    # ---- verifying

    def _on_digest(self) -> None:
        text = self.digest.text().strip()
        wrong = bool(text) and not _DIGEST.fullmatch(text)
        self._problem.setText(_("A digest has 64 signs, 0–9 and a–f.") if wrong else "")
        self._problem.setVisible(wrong)

    def _on_verify(self) -> None:
        text = self.digest.text().strip().lower()
        if text and not _DIGEST.fullmatch(text):
            self.digest.setFocus()
            return
        self.banner.hide()
        self.verify_button.hide()
        self.cancel_button.show()
        self.now.say("shield-check", _("Being verified…"), "accent")
        self.verify_asked.emit({"level": self.level.current, "digest": text or None})

    def progressed(self, done: int, total: int) -> None:
        percent = measures.percent(min(0.99, done / max(1, total)))
        self.now.say("shield-check", _("Being verified, {percent}").format(percent=percent), "accent")

    def verified(self, level: str, digest: str | None, told: Mapping[str, Any] | None, error: ActumError | None) -> None:
        """The answer to Verify: said to the level that was looked at, never beyond."""
        self.cancel_button.hide()
        self.verify_button.show()
        if told is None:
            self.now.say("question", _("not verified"), "text2")
            if error is not None and error.code != "cancelled":
                self.failed(error)
            return
        good = bool(told["ok"])
        sealed = good and digest is not None and level in ("bytes", "content")  # of some chunks that would say too much
        self.now.say(*(("check-circle-fill", _("as it was sealed"), "ok") if sealed else _plain(good)))
        self.shown.setVisible(good)
        self.shown.setText("\n".join(self._shown(level, digest, told)))
        self.not_shown.setText("\n".join(_not_shown(level, digest)))
        if not good:
            self.failed(ActumError("damaged", _("The package is not what it says it is."), str(told["reason"])))

    def _shown(self, level: str, digest: str | None, told: Mapping[str, Any]) -> list[str]:
        files = measures.count((told.get("bytes") or {}).get("files"))
        content = told.get("content") or {}
        if level == "bytes":
            said = [_("Shown: {files} files have the bytes that the manifest lists.").format(files=files)]
        elif level == "content":
            whole = _("Shown: {files} files have their bytes, and {rows} rows mean what their authority means.")
            said = [whole.format(files=files, rows=measures.count(content.get("rows")))]
        else:
            sampled = _("Shown: {rows} rows mean what their authority means ({extent}). No file was read whole.")
            said = [sampled.format(rows=measures.count(content.get("rows")), extent=content.get("extent"))]
        if digest is not None:
            said.append(_("Shown: its manifest is the one whose digest you were told."))
        return said

    # ---- small things

    def _on_copy(self) -> None:
        if self._found is not None:
            QGuiApplication.clipboard().setText(str(self._found["digest"]))

    def _on_open(self) -> None:
        self.open_asked.emit(None)

    def focus_start(self) -> None:
        (self.verify_button if self._found is not None else self.another_button).setFocus()


def _plain(good: bool) -> tuple[str, str, str]:
    if good:
        return "check-circle-fill", _("consistent with itself"), "ok"
    return "x-circle-fill", _("not consistent"), "bad"


def _not_shown(level: str, digest: str | None) -> list[str]:
    said = []
    if digest is None:
        said.append(_("Not shown: whose result it is, and that it is the one that was sealed. Compare its digest for that."))
    if level == "bytes":
        said.append(_("Not shown: that its tables mean what their authority means."))
    elif level != "content":
        said.append(_("Not shown: the bytes of its files, and the rows that are not in the sample."))
    said.append(_("Not shown: that its source is trustworthy, or its formula right."))
    return said
