"""Exporting a table or the metrics: what each profile keeps and loses is said first; then the file is written and read back.

Window-modal; runs go on. Nothing is overwritten unless the box that appears for it is ticked. While it is written its place
is shown and it can be cancelled; afterwards its folder can be opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from PySide6.QtCore import QDir, QStandardPaths, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from actum_desktop import measures
from actum_desktop.i18n import N_, _
from actum_desktop.models import losswords
from actum_desktop.models.batch import ENDINGS, free_path
from actum_desktop.views.exportcards import ProfileCard
from actum_desktop.views.ink import Ink
from actum_desktop.views.tick import Tick
from actum_desktop.views.widgets import Label, Rule, Segments, button
from actum_desktop.views.writingdialog import WritingDialog

_FORMATS = {
    "xlsx": "XLSX",
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "jsonl": N_("JSON lines"),
    "json": "JSON",
}
_PROFILE_FORMATS = {"data": ("csv", "parquet", "arrow", "jsonl", "json"), "spreadsheet": ("xlsx", "csv")}
_WIDTH = 688


class ExportDialog(WritingDialog):
    """Signals: `export_asked` (body without verb, run and watch), `cancel_asked` (), `losses_asked` ().

    Feed with `show_losses`, `progress`, `exported`, `refused`.
    """

    export_asked = Signal(object)
    losses_asked = Signal()

    def __init__(
        self,
        ink: Ink,
        parent: QWidget,
        name: str,
        title: str,
        about: str,
        rows: int | None,
        stem: str,
        filtered: tuple[Mapping[str, Any], int] | None = None,
        selected: tuple[Mapping[str, Any], int] | None = None,
    ) -> None:
        """`filtered` = the query of the rows that are shown, and how many they are, where these are not all; `selected` = that
        of the rows that are selected among them, where there are some."""
        super().__init__(parent)
        self._parts = {key: part for key, part in (("filtered", filtered), ("selected", selected)) if part is not None}
        self._found: Mapping[str, Any] | None = None
        self._ink, self.table, self._stem, self._rows = ink, name, stem, rows
        self._state = "asking"  # asking | writing | written
        self._format = "csv"
        self._made: Mapping[str, Any] = {}
        self._by_hand = self._picked = False  # the name, the format
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self.setAccessibleName(f"{title}. {about}")
        self.setFixedWidth(ink.theme.px(_WIDTH))
        palette = self.palette()
        palette.setColor(self.backgroundRole(), ink.theme.color("raised"))
        self.setPalette(palette)
        self._make(title, about)
        self._choose("data")
        QTimer.singleShot(0, self, self._ask_losses)

    # ---- building

    def _make(self, title: str, about: str) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        self.data = ProfileCard(self._ink, "data", _("Data"), _("For programs. Lossless."))
        self.sheet = ProfileCard(self._ink, "spreadsheet", _("Spreadsheet"), _("For people. Says where it loses something."))
        for card in (self.data, self.sheet):
            card.picked.connect(self._choose)
        kept = (
            _("UTF-8 without BOM, quoted by RFC 4180"),
            _("Decimals exact, times ISO 8601 with zone"),
            _("Null and empty text stay different"),
            _("Each missing value keeps its reason column"),
        )
        self.data.show_lines([("check", "ok", text) for text in kept])
        self.sheet.show_lines([("clock", "text2", _("Looking at every row for what it would lose…"))])
        self._formats = Segments(theme, _("Format"), tuple((key, _(word)) for key, word in _FORMATS.items()))
        self._formats.chosen.connect(self._on_format)
        self._only = Label(theme, _("Parquet, Arrow and JSON belong to Data."), "caption", 400, "text2")
        words = {"filtered": _("Filtered"), "selected": _("Selected")}
        extents = [("all", _("All") if self._rows is None else f"{_('All')}  {measures.count(self._rows)}")]
        extents += [(key, f"{words[key]}  {measures.count(part[1])}") for key, part in self._parts.items()]
        self.extent = Segments(theme, _("Rows"), tuple(extents))
        self.extent.chosen.connect(self._on_extent)
        self._keep_both = button(theme, _("Keep both"), self._on_keep_both, kind="link", small=True)
        self.place = QLineEdit()
        self.place.setAccessibleName(_("Save as"))
        self.place.setFont(theme.font("body"))
        self.place.setTextMargins(px(6), 0, 0, 0)
        self.place.textEdited.connect(self._on_typed)
        self.place.textChanged.connect(self._on_place)
        self._browse = button(theme, _("Choose…"), self._on_browse)
        self._note = Label(theme, "", "caption", 400, "text2", wrap=True)
        self.overwrite = Tick(self._ink, _("Replace the file that is there"))
        self.overwrite.toggled.connect(self._look)
        self._bar = QProgressBar()
        self._bar.setAccessibleName(_("Progress of the export"))
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(px(4))
        self._foot = Label(
            theme, _("The file is read back and compared before it is offered."), "caption", 400, "text2", wrap=True
        )
        self._cancel = button(theme, _("Cancel"), self._on_cancel)
        self._folder = button(theme, _("Open folder"), self._on_folder, icon="folder-open")
        self._go = button(theme, _("Export"), self._on_go, kind="primary")
        self._go.setDefault(True)
        self._cancel.setAutoDefault(False)
        for made in (self._browse, self._folder):
            made.setAutoDefault(False)
        self._lay_out(title, about)
        self._bar.hide()
        self._folder.hide()
        self.overwrite.hide()
        self._keep_both.hide()

    def _lay_out(self, title: str, about: str) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(18), px(24), px(16))
        column.setSpacing(px(10))
        column.addWidget(Label(theme, title, "title", 600))
        column.addWidget(Label(theme, about, "caption", 400, "text2"))
        cards = QHBoxLayout()
        cards.setSpacing(px(12))
        cards.addWidget(self.data, 1)
        cards.addWidget(self.sheet, 1)
        column.addLayout(cards)
        names = [Label(theme, text, "body", 500, "text2") for text in (_("Format"), _("Rows"), _("Save as"))]
        wide = max(label.sizeHint().width() for label in names) + px(20)
        for label in names:
            label.setFixedWidth(wide)
        row = QHBoxLayout()
        row.setSpacing(px(10))
        row.addWidget(names[0])
        row.addWidget(self._formats)
        row.addWidget(self._only)
        row.addStretch(1)
        column.addLayout(row)
        row = QHBoxLayout()
        row.setSpacing(px(10))
        row.addWidget(names[1])
        row.addWidget(self.extent)
        row.addStretch(1)
        column.addLayout(row)
        for widget in (names[1], self.extent):
            widget.setVisible(bool(self._parts))
        row = QHBoxLayout()
        row.setSpacing(px(10))
        row.addWidget(names[2])
        row.addWidget(self.place, 1)
        row.addWidget(self._browse)
        column.addLayout(row)
        below = QVBoxLayout()
        below.setContentsMargins(wide + px(10), 0, 0, 0)
        below.addWidget(self._note)
        row = QHBoxLayout()
        row.addWidget(self.overwrite)
        row.addWidget(self._keep_both)
        row.addStretch(1)
        below.addLayout(row)
        column.addLayout(below)
        column.addWidget(self._bar)
        column.addWidget(Rule(theme))
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addWidget(self._foot, 1)
        for made in (self._folder, self._cancel, self._go):
            foot.addWidget(made)
        column.addLayout(foot)

    # ---- asking

    def _ask_losses(self) -> None:
        self.losses_asked.emit()

    def _choose(self, profile: object) -> None:
        self._profile = str(profile)
        (self.data if profile == "data" else self.sheet).radio.setChecked(True)
        (self.sheet if profile == "data" else self.data).radio.setChecked(False)
        known = _PROFILE_FORMATS[self._profile]
        for key in _FORMATS:
            self._formats.show_choice(key, key in known)
        if self._format not in known or not self._picked:
            self._format = known[0]
        self._formats.choose(self._format)
        self._only.setVisible(self._profile == "spreadsheet")
        self._suggest()
        self._tell_losses()

    def _on_format(self, key: object) -> None:
        self._format, self._picked = str(key), True
        self._suggest()
        self._tell_losses()

    def _on_extent(self, _key: object) -> None:
        """Other rows are asked about."""
        self._found = None
        self.sheet.show_lines([("clock", "text2", _("Looking at every row for what it would lose…"))])
        self._look()
        self._ask_losses()

    @property
    def query(self) -> Mapping[str, Any] | None:
        """What the rows to export are, None = all."""
        part = self._parts.get(self.extent.current)
        return None if part is None else part[0]

    def _on_keep_both(self) -> None:
        self._by_hand = True
        self.place.setText(str(free_path(self.path)))

    def _suggest(self) -> None:
        """A free name in the user's documents, until one was typed; then only its ending follows."""
        if self._by_hand:
            path = Path(self.place.text())
            if path.suffix in ENDINGS.values():
                self.place.setText(str(path.with_suffix(ENDINGS[self._format])))
            return
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        home = Path(folder if folder and Path(folder).is_dir() else QDir.homePath())
        ending = ("-sheet" if self._profile == "spreadsheet" else "") + ENDINGS[self._format]
        self.place.setText(str(home / f"{self._stem}{ending}"))

    def _on_typed(self) -> None:
        self._by_hand = True

    def _on_place(self) -> None:
        """A name that ends like another format of the profile is meant so."""
        meant = [key for key in _PROFILE_FORMATS[self._profile] if ENDINGS[key] == self.path.suffix.lower()]
        if meant and meant[0] != self._format:
            self._format, self._picked = meant[0], True
            self._formats.choose(self._format)
            self._tell_losses()
        self._look()

    def _on_browse(self) -> None:
        path, _filter = QFileDialog.getSaveFileName(
            self, _("Save as"), self.place.text(), options=QFileDialog.Option.DontConfirmOverwrite
        )
        if path:
            self._by_hand = True
            self.place.setText(path)

    @property
    def path(self) -> Path:
        return Path(self.place.text()).expanduser()

    def _look(self) -> None:
        """What is known of the place before anything is written."""
        if self._state != "asking":
            return
        text = self.place.text().strip()
        path = self.path
        taken = bool(text) and (path.exists() or Path(f"{path}.actum.json").exists())
        for offered in (self.overwrite, self._keep_both):
            offered.setVisible(taken and not path.is_dir())
        if not taken:
            self.overwrite.setChecked(False)
        wrong = str(((self._found or {}).get("refused") or {}).get(self._format, ""))
        if wrong:
            pass
        elif not path.is_absolute():
            wrong = _("Name the file with its whole path, for example {path}.").format(path=Path(QDir.homePath()) / self._stem)
        elif path.is_dir():
            wrong = _("This is a folder. Name a file in it.")
        elif not path.parent.is_dir():
            wrong = _("The folder {folder} does not exist.").format(folder=path.parent)
        elif taken and not self.overwrite.isChecked():
            wrong = _("A file of this name is there. Choose another name, or tick the box to replace it.")
        said = wrong or " · ".join(part for part in (*self._figures(), _("The name is free; nothing is overwritten.")) if part)
        if taken and not wrong:
            said = _("The file that is there is replaced once the new one was read back.")
        self._note.ink("bad" if wrong else "text2")
        self._note.setText(said)
        self._wrong = bool(wrong)

    def _figures(self) -> tuple[str, str]:
        """How many rows it will hold, and about how large it will be."""
        part = self._parts.get(self.extent.current)
        rows = self._rows if part is None else part[1]
        size = ((self._found or {}).get("bytes_about") or {}).get(self._format)
        told = _("{n} rows").format(n=measures.count(rows)) if rows is not None else ""
        return told, _("about {size}").format(size=measures.size(size)) if size else ""

    def _on_go(self) -> None:
        if self._state == "written":
            self.accept()
            return
        self._look()
        if self._wrong:
            self.place.setFocus()
            return
        self._become("writing")
        self.export_asked.emit(
            {
                "name": self.table,
                "format": self._format,
                "profile": self._profile,
                "path": str(self.path),
                "existing": "replace" if self.overwrite.isChecked() else "refuse",
                **({} if self.query is None else {"query": dict(self.query)}),
            }
        )

    # ---- being told

    def show_losses(self, found: Mapping[str, Any] | None, error: ActumError | None) -> None:
        if found is None:
            why = " ".join(part for part in (error.what, error.why) if part) if error else ""
            self.sheet.show_lines([("warning-fill", "warn", why)])
            return
        self._found = found
        self._tell_losses()
        self._look()

    def _tell_losses(self) -> None:
        """Of the spreadsheet format that is chosen, or would be."""
        if self._found is None:
            return
        format = self._format if self._format in _PROFILE_FORMATS["spreadsheet"] else _PROFILE_FORMATS["spreadsheet"][0]
        lines = []
        if why := self._found["refused"].get(format):
            lines.append(("warning-fill", "warn", why))
        for loss in self._found["losses"][format]:
            text, lossy = losswords.sentence(loss)
            lines.append(("warning-fill", "warn", text) if lossy else ("check", "ok", text))
        if not any(tone == "warn" for _icon, tone, _text in lines):
            lines.append(("check", "ok", _("Nothing is lost in this table")))
        lines.sort(key=lambda line: line[1] != "warn")
        marked = _("UTF-8 with BOM, so that a spreadsheet reads it right")
        typed = _("Numbers, dates and texts keep their types; nothing is a formula")
        self.sheet.show_lines([*lines, ("check", "ok", typed if format == "xlsx" else marked)])

    def progress(self, done: int, total: int, _unit: str) -> None:
        if self._state != "writing":
            return
        self._bar.setRange(0, 1000)
        self._bar.setValue(int(1000 * done / max(1, total)))
        stages = 3 if self._profile == "spreadsheet" else 2
        comparing = done * stages >= total * (stages - 1)
        words = _("Read back and compared, {percent}") if comparing else _("Being written, {percent}")
        self._foot.setText(words.format(percent=measures.percent(min(0.99, done / max(1, total)))))

    def exported(self, made: Mapping[str, Any]) -> None:
        self._made = made
        self._become("written")
        words = _("{rows} rows written, read back and equal. {size}.")
        self._foot.setText(words.format(rows=measures.count(made["rows"]), size=measures.size(made["size_bytes"])))
        self._note.ink("text2")
        beside = _("Beside it, {file} says which result it came from.").format(file=Path(str(made["sidecar"])).name)
        parts = [str(part["file"]) for part in made.get("parts") or ()]
        self._note.setText(
            _("{n} files: {names}.").format(n=len(parts), names=", ".join(parts)) + " " + beside if parts else beside
        )
        self._go.setFocus()

    def refused(self, error: ActumError) -> None:
        """Nothing was left behind; the person can change something and try again."""
        self._become("asking")
        self._look()
        self._note.ink("text2" if error.code == "cancelled" else "bad")
        words = (
            _("Cancelled. Nothing was left behind.")
            if error.code == "cancelled"
            else " ".join(part for part in (error.what, error.why, error.remedy) if part)
        )
        self._note.setText(words)
        self._foot.setText(_("The file is read back and compared before it is offered."))

    def _become(self, state: str) -> None:
        self._state = state
        asking, writing = state == "asking", state == "writing"
        for widget in (
            *(self.data, self.sheet, self._formats, self.extent),
            *(self.place, self._browse, self.overwrite, self._keep_both),
        ):
            widget.setEnabled(asking)
        self._bar.setVisible(writing)
        self._bar.setRange(0, 0)
        self._folder.setVisible(state == "written")
        self._cancel.setVisible(state != "written")
        self._cancel.setEnabled(True)
        self._go.setVisible(not writing)
        self._go.say(_("Close") if state == "written" else _("Export"))
        if writing:
            self._foot.setText(_("Being written…"))
            self._cancel.setFocus()

    def _on_folder(self) -> None:
        folder = self.path.parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            QGuiApplication.clipboard().setText(str(folder))
            self._note.setText(_("No file manager answered. The path is in the clipboard: {path}").format(path=folder))

    @property
    def state(self) -> str:
        return self._state
