"""The tab Run of a task: presets, the form, what the run will need, the last runs; and Run, which is never disabled."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actum.contracts.document import Contract
from actum.errors import ActumError, CannotTell, InvalidParameters
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QMenu, QScrollArea, QVBoxLayout, QWidget

from actum_desktop.forms import beforerun, copying, presets, rawvalues, sentences
from actum_desktop.forms.beforerun import Needs
from actum_desktop.forms.formview import FormView
from actum_desktop.forms.paths import PathEditor, Surroundings, dropped
from actum_desktop.forms.presetline import DEFAULTS, PresetLine
from actum_desktop.forms.presets import Preset
from actum_desktop.forms.presses import Presses
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.runcells import RunCells
from actum_desktop.views.beforepanel import BeforePanel, LinesCard
from actum_desktop.views.widgets import Card, Label, Rule, button

_SIDE_FROM_PX = 860  # narrower pages have the side below the form


@dataclass(frozen=True, slots=True)
class RunAsked:
    """Raw values as they are filled in, and the key of the press."""

    parameters: Mapping[str, Any]
    key: str


@dataclass(frozen=True, slots=True)
class PastRun:
    number: int
    cells: RunCells
    when: str


class RunForm(QWidget):
    """Signals: `run_asked` (RunAsked), `presets_kept` (tuple of Preset), `run_chosen` (number)."""

    run_asked = Signal(object)
    presets_kept = Signal(object)
    run_chosen = Signal(object)

    def __init__(self, contract: Contract, around: Surroundings, *, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._ink, self._contract, self._around = around.ink, contract, around
        self._base: Path = around.base
        self._presets: tuple[Preset, ...] = ()
        self._start: Mapping[str, Any] = rawvalues.defaults(contract)
        self._filled: Mapping[str, Any] = {}  # what the form held when it was filled
        self._presses = Presses(now_s)
        self._span: tuple[float, float, int] | None = None
        self._waiting, self._free = 0, 1
        self._variables: tuple[str, ...] = ()
        self.form = FormView(around.ink.theme, contract, around)
        self.line = PresetLine(around.ink)
        self.before = BeforePanel(around.ink)
        self._build()
        self.form.changed.connect(self._on_changed)
        self.form.checked.connect(self._on_checked)
        self.line.chosen.connect(self.choose_preset)
        self.line.reset_asked.connect(self.reset)
        self.line.save_asked.connect(self._on_save)
        self.line.delete_asked.connect(self._on_delete)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.press, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._menu = QMenu(self)
        self._menu.setAccessibleName(_("Which field takes the file"))
        self._menu.triggered.connect(self._on_field_for_file)
        self.setAcceptDrops(True)
        self._ask_environment()
        self._fill()
        self._on_checked()

    # ---- building

    def _build(self) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(px(20), px(14), px(20), px(20))
        inside.setSpacing(px(14))
        inside.addWidget(self.line)
        inside.addWidget(Rule(theme))
        if self._contract.parameters:
            inside.addWidget(self.form)
        else:
            inside.addWidget(Label(theme, _("This task asks for nothing."), "body", 400, "text2"))
            self.line.hide()
        inside.addStretch(1)
        self._presets_card = LinesCard(self._ink, _("Presets"))
        self._presets_card.chosen.connect(self.choose_preset)
        self._last = LinesCard(self._ink, _("Last runs"))
        self._last.chosen.connect(self.run_chosen)
        side = QWidget()
        self._side = side
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(12))
        for each in (self.before, self._presets_card, self._last):
            column.addWidget(each)
        column.addStretch(1)
        page = QWidget()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, page)
        self._row.setContentsMargins(px(24), px(14), px(24), px(16))
        self._row.setSpacing(px(16))
        self._row.addWidget(card, 1)
        self._row.addWidget(side)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName(_("Form"))
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.area, 1)
        whole.addWidget(Rule(theme))
        whole.addLayout(self._foot())
        self._presets_card.lines(0)
        self._last.lines(0)

    def _foot(self) -> QHBoxLayout:
        theme, px = self._ink.theme, self._ink.theme.px
        self.run = button(theme, _("Run"), self.press, kind="primary", icon="play", tip=_("Run (Ctrl+Enter)"))
        self._cross = QLabel()
        self._cross.setFixedSize(px(16), px(16))
        self._wrong = Label(theme, "", "body", 500, "bad")
        self.go = button(theme, _("Go to it"), self._on_go, kind="link")
        foot = QHBoxLayout()
        foot.setContentsMargins(px(24), px(10), px(24), px(10))
        foot.setSpacing(px(8))
        foot.addWidget(self.run)
        foot.addSpacing(px(4))
        foot.addWidget(self._cross)
        foot.addWidget(self._wrong)
        foot.addWidget(self.go)
        foot.addStretch(1)
        foot.addWidget(button(theme, _("Copy as JSON"), self.copy_json, kind="link"))
        foot.addWidget(button(theme, _("Copy as command"), self.copy_command, kind="link", icon="terminal-window"))
        return foot

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self._ink.theme.px
        beside = self.width() >= px(_SIDE_FROM_PX)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._side.setMinimumWidth(px(304) if beside else 0)
        self._side.setMaximumWidth(px(304) if beside else 16_777_215)

    # ---- running

    def press(self) -> None:
        """Run: the first thing that is wrong is shown, or the run is asked for, once."""
        if self.form.check_all():
            self.form.go_to_first()
            return
        raw = self.form.raw()
        key = self._presses.press(json.dumps(raw, sort_keys=True))
        if key is not None:
            self._on_checked()
            self.run_asked.emit(RunAsked(raw, key))

    def admitted(self) -> None:
        self._presses.answered()
        self._on_checked()

    def refused(self, error: ActumError) -> bool:
        """The supervisor said no; what it says of fields stands under them. True = all of it is shown here."""
        if isinstance(error, CannotTell):
            self._presses.answered(cannot_tell=True)
        else:
            self._presses.refused()
        self._on_checked()
        if not isinstance(error, InvalidParameters):
            return False
        self.form.tell({name: sentences.local(said) for name, said in error.fields.items()})
        self.form.go_to_first()
        return True

    def _on_go(self) -> None:
        self.form.go_to_first()

    def _on_checked(self) -> None:
        count = len(self.form.shown_wrong())
        if count:
            text = ngettext("{n} field needs a change", "{n} fields need a change", count).format(n=count)
        elif self.form.across:
            text = _("Some fields do not fit together")
        else:
            text = _("Sent …") if self._presses.pending else ""
        wrong = bool(text) and not self._presses.pending
        self._wrong.ink("bad" if wrong else "text2")
        self._wrong.setText(text)
        self._cross.setVisible(wrong)
        self.go.setVisible(wrong)
        if wrong:
            px = self._ink.theme.px
            self._cross.setPixmap(self._ink.theme.pixmap("x-circle-fill", "bad", px(16), self.devicePixelRatioF()))

    # ---- files dropped beside the fields

    def take(self, name: str, paths: Sequence[str]) -> None:
        """Fill a path field with what was dropped."""
        editor = self.form.boxes[name].editor
        if isinstance(editor, PathEditor):
            editor.take(paths)
            self.form.go_to(name)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._fields_for(dropped(event.mimeData())):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        """The one field that takes it gets it; of several, one is chosen."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        paths = dropped(event.mimeData())
        fields = self._fields_for(paths)
        if len(fields) == 1:
            self.take(fields[0], paths)
            return
        self._menu.clear()
        for name in fields:
            title = self.form.boxes[name].parameter.title
            self._menu.addAction(_("Use as {field}").format(field=title).replace("&", "&&")).setData((name, paths))
        self._menu.popup(self.mapToGlobal(event.position().toPoint()))

    def _on_field_for_file(self, action: QAction) -> None:
        name, paths = action.data()
        self.take(name, paths)

    def _fields_for(self, paths: Sequence[str]) -> list[str]:
        """The path fields that take what is dragged: folders go to folders, several files to fields of several."""
        if not paths:
            return []
        folder = os.path.isdir(paths[0])
        fitting = ("folder",) if folder else ("file", "files") if len(paths) == 1 else ("files",)
        return [name for name, box in self.form.boxes.items() if box.parameter.type in fitting]

    # ---- presets

    def show_presets(self, kept: Sequence[Preset]) -> None:
        self._presets = tuple(kept)
        self._show_presets(self.line.current)

    def _show_presets(self, current: str) -> None:
        self.line.show_presets(self._presets, current)
        lines = self._presets_card.lines(len(self._presets))
        for made, preset in zip(lines, self._presets, strict=True):
            note = _("in use") if preset.name == self.line.current else ""
            made.show_preset(preset.name, preset.name, presets.line(self._contract, preset), note)

    def choose_preset(self, name: object) -> None:
        found = next((each for each in self._presets if each.name == name), None)
        self._start = rawvalues.defaults(self._contract) if found is None else found.parameters
        self._show_presets(found.name if found is not None else DEFAULTS)
        self._fill()

    def fill(self, raw: Mapping[str, Any]) -> None:
        """Values of an earlier run, to be edited and run again."""
        self._start = {**rawvalues.defaults(self._contract), **raw}
        self._show_presets(DEFAULTS)
        self._fill()

    def reset(self) -> None:
        self._fill()

    def _fill(self) -> None:
        self.form.fill(self._start)
        self._filled = self.form.raw()
        self._on_changed()

    def _on_save(self, name: str) -> None:
        raw = self.form.raw()
        self._presets = presets.with_preset(self._presets, name, raw)
        self._start = self._filled = raw
        self._show_presets(name)
        self._on_changed()
        self.presets_kept.emit(self._presets)

    def _on_delete(self, name: str) -> None:
        self._presets = presets.without(self._presets, name)
        self._start = rawvalues.defaults(self._contract)
        self._show_presets(DEFAULTS)
        self._on_changed()
        self.presets_kept.emit(self._presets)

    # ---- what is said beside the form

    def show_last(self, runs: Sequence[PastRun], span: tuple[float, float, int] | None) -> None:
        self._span = span
        for made, run in zip(self._last.lines(len(runs)), runs, strict=True):
            made.show_run(run.number, run.cells, run.when)
        self._show_before()

    def show_slots(self, waiting: int, free: int) -> None:
        if (waiting, free) != (self._waiting, self._free):
            self._waiting, self._free = waiting, free
            self._show_before()

    def _on_changed(self) -> None:
        self.line.show_changed(len(rawvalues.changed(self._contract, self._filled, self.form.raw())))
        self._show_before()

    def _show_before(self) -> None:
        needs = Needs(
            self._contract,
            self.form.raw(),
            self.form.infos(),
            self._around.copy_bytes_max,
            self._variables,
            self._span,
            self._waiting,
            self._free,
        )
        self.before.show_rows(beforerun.rows(needs))

    def _ask_environment(self) -> None:
        profile = self._contract.environment.profile
        self._around.background.ask("environment", lambda: beforerun.variable_names(profile), self._on_environment)

    def _on_environment(self, names: Any, error: Exception | None) -> None:
        self._variables = tuple(names or ())
        self._show_before()

    # ---- copies

    def copy_command(self) -> None:
        QGuiApplication.clipboard().setText(copying.as_command(self._contract, self.form.raw(), self._base))

    def copy_json(self) -> None:
        QGuiApplication.clipboard().setText(copying.as_json(self._contract, self.form.raw(), self._base))

    def focus_start(self) -> None:
        if self._contract.parameters:
            self.form.focus_start()
        else:
            self.run.setFocus()
