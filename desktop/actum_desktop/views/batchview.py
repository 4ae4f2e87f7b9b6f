"""Exporting many results in one go: what is written where, one bar for all of it, and how each file ended (§8).

Window-modal; runs go on. Cancelling gives up the file under way and those after it, and leaves whole files only; what was not
written can be tried again. Nothing is overwritten unless that is chosen.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import measures
from actum_desktop.documents import documents
from actum_desktop.i18n import N_, _, ngettext
from actum_desktop.models import batch
from actum_desktop.models.batch import Batch
from actum_desktop.models.batchmodel import BatchModel
from actum_desktop.views.ink import Ink
from actum_desktop.views.tick import Tick
from actum_desktop.views.widgets import Label, Rule, Segments, button
from actum_desktop.views.writingdialog import WritingDialog

_PROFILES = (("data", N_("Data")), ("spreadsheet", N_("Spreadsheet")))
_FORMATS = (
    *(("xlsx", "XLSX"), ("csv", "CSV"), ("parquet", "Parquet")),
    *(("arrow", "Arrow"), ("jsonl", N_("JSON lines")), ("json", "JSON")),
)
_OF_PROFILE = {"data": ("csv", "parquet", "arrow", "jsonl", "json"), "spreadsheet": ("xlsx", "csv")}
_EXISTING = (("skip", N_("Leave it out")), ("keep_both", N_("Keep both")), ("replace", N_("Replace")))
_WIDTH, _LIST_HEIGHT = 688, 190


class BatchDialog(WritingDialog):
    """Signals: `go_asked` (), `again_asked` (), `cancel_asked` (). Feed with `show_batch`."""

    go_asked = Signal()
    again_asked = Signal()
    changed = Signal()

    def __init__(self, ink: Ink, parent: QWidget, results: int, tables: int) -> None:
        super().__init__(parent)
        self._ink = ink
        self._state = "asking"  # asking | writing | ended
        title = ngettext("Export {n} result", "Export {n} results", results).format(n=results)
        about = ngettext("{n} table, a file for each", "{n} tables, a file for each", tables).format(n=tables)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self.setAccessibleName(f"{title}. {about}")
        self.setFixedWidth(ink.theme.px(_WIDTH))
        palette = self.palette()
        palette.setColor(self.backgroundRole(), ink.theme.color("raised"))
        self.setPalette(palette)
        self._make(title, about)
        self._on_profile("data")

    # ---- building

    def _make(self, title: str, about: str) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        self.profiles = Segments(theme, _("Profile"), [(key, _(word)) for key, word in _PROFILES])
        self.profiles.chosen.connect(self._on_profile)
        self.formats = Segments(theme, _("Format"), [(key, _(word)) for key, word in _FORMATS])
        self.formats.chosen.connect(self.changed)
        self.existing_choice = Segments(theme, _("A file that is there"), [(key, _(word)) for key, word in _EXISTING])
        self.metrics = Tick(self._ink, _("The metrics of each result too"))
        self.metrics.toggled.connect(self.changed)
        self.place = QLineEdit(documents())
        self.place.setAccessibleName(_("Folder"))
        self.place.setFont(theme.font("body"))
        self.place.setTextMargins(px(6), 0, 0, 0)
        self.place.textChanged.connect(self.changed)
        self._browse = button(theme, _("Choose…"), self._on_browse)
        self._note = Label(theme, "", "caption", 400, "text2", wrap=True)
        self.model = BatchModel(theme.color, self)
        self.files = QListView()
        self.files.setModel(self.model)
        self.files.setAccessibleName(_("Files"))
        self.files.setFont(theme.font("caption"))
        self.files.setUniformItemSizes(True)
        self.files.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.files.setFixedHeight(px(_LIST_HEIGHT))
        self._bar = QProgressBar()
        self._bar.setAccessibleName(_("Progress of all files"))
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(px(4))
        promise = _("Each file is read back and compared before it has its name.")
        self._foot = Label(theme, promise, "caption", 400, "text2", wrap=True)
        self._cancel = button(theme, _("Cancel"), self._on_cancel)
        self._folder = button(theme, _("Open folder"), self._on_folder, icon="folder-open")
        self._again = button(theme, _("Try again"), self.again_asked.emit)
        self._go = button(theme, _("Export"), self._on_go, kind="primary")
        self._go.setDefault(True)
        for made in (self._browse, self._cancel, self._folder, self._again):
            made.setAutoDefault(False)
        self._lay_out(title, about)
        for widget in (self._bar, self._folder, self._again):
            widget.hide()

    def _lay_out(self, title: str, about: str) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(18), px(24), px(16))
        column.setSpacing(px(10))
        column.addWidget(Label(theme, title, "title", 600))
        column.addWidget(Label(theme, about, "caption", 400, "text2"))
        words = (_("Profile"), _("Format"), _("Folder"), _("A file that is there"))
        names = [Label(theme, text, "body", 500, "text2") for text in words]
        wide = max(label.sizeHint().width() for label in names) + px(16)
        fields: tuple[tuple[QWidget, ...], ...] = (
            (self.profiles,),
            (self.formats,),
            (self.place, self._browse),
            (self.existing_choice,),
        )
        for label, widgets in zip(names, fields, strict=True):
            label.setFixedWidth(wide)
            row = QHBoxLayout()
            row.setSpacing(px(10))
            row.addWidget(label)
            for widget in widgets:
                row.addWidget(widget, 1 if widget is self.place else 0)
            if self.place not in widgets:
                row.addStretch(1)
            column.addLayout(row)
        below = QVBoxLayout()
        below.setContentsMargins(wide + px(10), 0, 0, 0)
        below.addWidget(self.metrics)
        below.addWidget(self._note)
        column.addLayout(below)
        column.addWidget(self.files)
        column.addWidget(self._bar)
        column.addWidget(Rule(theme))
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addWidget(self._foot, 1)
        for made in (self._folder, self._again, self._cancel, self._go):
            foot.addWidget(made)
        column.addLayout(foot)

    # ---- what was chosen

    @property
    def profile(self) -> str:
        return self.profiles.current

    @property
    def format(self) -> str:
        return self.formats.current

    @property
    def folder(self) -> Path:
        return Path(self.place.text().strip()).expanduser()

    @property
    def existing(self) -> str:
        """What is done where a file is: as the export command says it; left out = refuse, and never asked for."""
        return "refuse" if self.skip_there else self.existing_choice.current

    @property
    def skip_there(self) -> bool:
        return self.existing_choice.current == "skip"

    @property
    def state(self) -> str:
        return self._state

    @property
    def problem(self) -> str:
        """What is wrong with the folder; empty if nothing is."""
        if not self.folder.is_absolute():
            return _("Name the folder with its whole path, for example {path}.").format(path=documents())
        return "" if self.folder.is_dir() else _("The folder {folder} does not exist.").format(folder=self.folder)

    # ---- being told

    def show_batch(self, work: Batch) -> None:
        """The files as they stand."""
        self.model.show(work.items)
        if self._state == "asking":
            wrong = self.problem
            files = ngettext("{n} file", "{n} files", len(work.items)).format(n=measures.count(len(work.items)))
            about = _("about {size}").format(size=measures.size(work.size_bytes)) if work.size_bytes else ""
            self._note.ink("bad" if wrong else "text2")
            self._note.setText(wrong or " · ".join(part for part in (files, about) if part))
            return
        self._bar.setRange(0, 1000)
        self._bar.setValue(int(1000 * work.fraction))
        done = work.count(batch.WRITTEN, batch.THERE, batch.FAILED)
        if not work.ended:
            words = _("File {n} of {all}, {percent}")
            percent = measures.percent(min(0.99, work.fraction))
            self._foot.setText(words.format(n=min(done + 1, len(work.items)), all=len(work.items), percent=percent))

    def refuse(self, why: str) -> None:
        """Nothing was begun."""
        self._note.ink("bad")
        self._note.setText(why)

    def begin(self) -> None:
        self._become("writing")

    def end(self, work: Batch) -> None:
        """All files have ended, one way or another."""
        self._become("ended")
        written = work.count(batch.WRITTEN)
        left = work.count(batch.FAILED, batch.CANCELLED)
        told = ngettext("{n} file written, read back and equal.", "{n} files written, read back and equal.", written)
        parts = [told.format(n=measures.count(written))]
        if there := work.count(batch.THERE):
            parts.append(ngettext("{n} was there.", "{n} were there.", there).format(n=measures.count(there)))
        if left:
            parts.append(ngettext("{n} is not written.", "{n} are not written.", left).format(n=measures.count(left)))
        self._foot.setText(" ".join(parts))
        self._again.setVisible(bool(left))
        (self._again if left else self._go).setFocus()

    def _become(self, state: str) -> None:
        self._state = state
        asking, writing = state == "asking", state == "writing"
        for widget in (self.profiles, self.formats, self.existing_choice, self.metrics, self.place, self._browse):
            widget.setEnabled(asking)
        self._bar.setVisible(writing)
        self._folder.setVisible(state == "ended")
        self._again.setVisible(False)
        self._cancel.setVisible(state != "ended")
        self._cancel.setEnabled(True)
        self._go.setVisible(not writing)
        self._go.say(_("Close") if state == "ended" else _("Export"))
        if writing:
            self._cancel.setFocus()

    # ---- being used

    def _on_profile(self, key: object) -> None:
        known = _OF_PROFILE[str(key)]
        for each, _word in _FORMATS:
            self.formats.show_choice(each, each in known)
        if self.formats.current not in known:
            self.formats.choose(known[0])
        self.changed.emit()

    def _on_browse(self) -> None:
        path = QFileDialog.getExistingDirectory(self, _("Folder"), self.place.text())
        if path:
            self.place.setText(path)

    def _on_go(self) -> None:
        if self._state == "ended":
            self.accept()
        elif self.problem:
            self.refuse(self.problem)
            self.place.setFocus()
        else:
            self.go_asked.emit()

    def _on_folder(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.folder))):
            QGuiApplication.clipboard().setText(str(self.folder))
            words = _("No file manager answered. The path is in the clipboard: {path}")
            self._note.setText(words.format(path=self.folder))
