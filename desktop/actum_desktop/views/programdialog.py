"""Run a program, or add a Python function: what `actum task add` does, by pointing and clicking (§15).

It goes the same way (`actum.contracts.define`) and away from the GUI thread: a function's file is imported in a child with
a time limit, interpreters are asked for their versions, a trial starts the program once. The window goes on meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from actum.contracts.define import define
from actum.contracts.parameters import Parameter
from actum.engines import interpreters
from actum.engines.interpreters import Interpreter
from actum.engines.tried import Tried
from actum.errors import ActumError
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.forms import beforerun, draft
from actum_desktop.forms.draft import FUNCTION, PROGRAM, Draft
from actum_desktop.forms.editors import Choice, GrowingEdit
from actum_desktop.forms.parameterrows import ParameterRows
from actum_desktop.forms.paths import PathEditor, Surroundings
from actum_desktop.i18n import _, ngettext
from actum_desktop.models.background import Background
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Banner, Card, Label, Rule, Segments, button

_LOOK_MS = 300


class Trial(Protocol):
    """Starts a program once and says what it came to; blocks."""

    def __call__(
        self,
        command: Sequence[str],
        cwd: str | None,
        profile: str,
        variables: Mapping[str, str],
        *,
        gone: Callable[[], bool],
    ) -> Tried: ...


class ProgramDialog(QDialog):
    """Signals: `defined` (a contract document, to be sent to the supervisor)."""

    defined = Signal(object)

    def __init__(self, ink: Ink, background: Background, kind: str, trial: Trial, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ink, self._background, self._trial = ink, background, trial
        self._named = False
        self._asked_near = ""
        self._found: list[Interpreter] = []
        self.setWindowTitle(_("New task"))
        self.setAccessibleName(_("New task"))
        px = ink.theme.px
        self.resize(px(760), px(700))
        self._around = Surroundings(ink, background, Path.home(), 1 << 62)
        self._make_fields()
        self._build()
        self._looking = QTimer(self)
        self._looking.setSingleShot(True)
        self._looking.setInterval(_LOOK_MS)
        self._looking.timeout.connect(self._ask_interpreters)
        self.choose_kind(kind)
        self._ask_interpreters()
        self._on_profile()

    # ---- building

    def _make_fields(self) -> None:
        theme = self._ink.theme
        self.kind = Segments(theme, _("What kind of work"), ((PROGRAM, _("A program")), (FUNCTION, _("A Python function"))))
        self.kind.chosen.connect(self._on_kind)
        self.file = PathEditor(theme, Parameter("program", "file", _("Program or file"), policy="pin"), self._around)
        self.file.edited.connect(self._on_file)
        self.file.found.connect(self._on_file)
        self.function = self._line(_("Function"), _("name of the function in the file"))
        self.interpreter = Choice(theme)
        self.interpreter.setAccessibleName(_("Interpreter"))
        self.interpreter.activated.connect(self._on_changed)
        self.arguments = self._several(_("Arguments"), _("one a line; {name} stands for a parameter"))
        self.parameters = ParameterRows(self._ink)
        self.parameters.changed.connect(self._on_changed)
        self.folder = PathEditor(theme, Parameter("cwd", "folder", _("Working folder"), optional=True), self._around)
        self.folder.edited.connect(self._on_changed)
        self.name = self._line(_("Name"), _("lower-case letters, digits, - _ ."))
        self.name.textEdited.connect(self._on_named)
        self.title = self._line(_("Title"), _("what people read"))
        self.outputs = self._line(_("Files to publish"), _("all it writes; else patterns, for example *.csv, report.html"))
        self.required = self._line(_("Files that must be there"), _("patterns; without them it is no result"))
        self.timeout = self._line(_("Overall deadline"), _("none; for example 2h"))
        self.start = self._line(_("Deadline to start"), "60s")
        self.stages = self._line(_("Deadlines of stages"), _("for example load=10m, fit=1h"))
        self.stall = self._line(_("Warn without progress for"), "10m")
        self.export = self._line(_("Folder for its tables"), _("none; for example ~/results"))
        self.profile = Choice(theme)
        self.profile.setAccessibleName(_("Environment"))
        for key, text in (
            ("inherit", _("as Actum's own")),
            ("clean", _("clean: only home, language and path")),
            ("login", _("as the login shell's")),
        ):
            self.profile.addItem(text, key)
        self.profile.activated.connect(self._on_profile)
        self.variables = Label(theme, "", "caption", 400, "text3", wrap=True)

    def _line(self, name: str, placeholder: str) -> QLineEdit:
        edit = QLineEdit()
        edit.setFont(self._ink.theme.font())
        edit.setTextMargins(self._ink.theme.px(8), 0, 0, 0)
        edit.setAccessibleName(name)
        edit.setPlaceholderText(placeholder)
        edit.setToolTip(placeholder)
        edit.textChanged.connect(self._on_changed)
        return edit

    def _several(self, name: str, placeholder: str) -> GrowingEdit:
        edit = GrowingEdit(self._ink.theme, several=True)
        edit.setAccessibleName(name)
        edit.setPlaceholderText(placeholder)
        edit.textChanged.connect(self._on_changed)
        return edit

    def _build(self) -> None:
        theme, px = self._ink.theme, self._ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(18), 0, 0)
        column.setSpacing(px(10))
        head = QVBoxLayout()
        head.setContentsMargins(px(24), 0, px(24), 0)
        head.setSpacing(px(4))
        self._head = Label(theme, "", "title", 600)
        self._sub = Label(theme, "", "body", 400, "text2", wrap=True)
        head.addWidget(self._head)
        head.addWidget(self._sub)
        kinds = QHBoxLayout()
        kinds.addWidget(self.kind)
        kinds.addStretch(1)
        head.addSpacing(px(6))
        head.addLayout(kinds)
        column.addLayout(head)
        self.banner = Banner(self._ink, "bad", "x-circle-fill")
        self.banner.hide()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setAccessibleName(_("New task"))
        scroll.setWidget(self._fields())
        self._scroll = scroll
        column.addWidget(scroll, 1)
        column.addWidget(Rule(theme))
        column.addLayout(self._foot())

    def _fields(self) -> QWidget:
        px = self._ink.theme.px
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(24), px(4), px(24), px(16))
        column.setSpacing(px(14))
        column.addWidget(self.banner)
        column.addLayout(self._field(_("Program or file"), self.file))
        self._function_row = self._pair((_("Function"), self.function))
        column.addWidget(self._function_row)
        column.addWidget(self._pair((_("Interpreter"), self.interpreter)))
        self._program_box = QWidget()
        inside = QVBoxLayout(self._program_box)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(px(14))
        inside.addLayout(self._field(_("Arguments"), self.arguments))
        inside.addWidget(self._preview_card())
        inside.addLayout(self._field(_("Parameters: what a run is asked for"), self.parameters))
        column.addWidget(self._program_box)
        column.addWidget(self._pair((_("Name"), self.name), (_("Title"), self.title)))
        column.addLayout(self._field(_("Working folder"), self.folder, _("Left out: the fresh folder for its output.")))
        column.addWidget(self._pair((_("Files to publish"), self.outputs), (_("Files that must be there"), self.required)))
        column.addWidget(self._pair((_("Overall deadline"), self.timeout), (_("Deadline to start"), self.start)))
        column.addWidget(self._pair((_("Deadlines of stages"), self.stages), (_("Warn without progress for"), self.stall)))
        column.addWidget(self._pair((_("Environment"), self.profile), (_("Export on success into"), self.export)))
        column.addWidget(self.variables)
        self.trial = Card(self._ink.theme, "sunken", border=False)
        told = QVBoxLayout(self.trial)
        told.setContentsMargins(px(12), px(10), px(12), px(10))
        self._trial_words = Label(self._ink.theme, "", "body", 500, wrap=True)
        self._trial_tail = self._mono()
        told.addWidget(self._trial_words)
        told.addWidget(self._trial_tail)
        self.trial.hide()
        column.addWidget(self.trial)
        column.addStretch(1)
        return page

    def _mono(self) -> Label:
        label = Label(self._ink.theme, "", "caption", 400, "text2", wrap=True)
        label.setFont(self._ink.theme.font("caption", mono=True))
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _preview_card(self) -> Card:
        px = self._ink.theme.px
        card = Card(self._ink.theme, "sunken", border=False)
        row = QVBoxLayout(card)
        row.setContentsMargins(px(12), px(8), px(12), px(8))
        row.setSpacing(px(2))
        row.addWidget(Label(self._ink.theme, _("The exact command, without a shell"), "caption", 500, "text2"))
        self.preview = self._mono()
        row.addWidget(self.preview)
        return card

    def _field(self, title: str, widget: QWidget, help_text: str = "") -> QVBoxLayout:
        theme = self._ink.theme
        column = QVBoxLayout()
        column.setSpacing(theme.px(4))
        label = Label(theme, title, "body", 500)
        label.setBuddy(widget)
        column.addWidget(label)
        column.addWidget(widget)
        if help_text:
            column.addWidget(Label(theme, help_text, "caption", 400, "text3", wrap=True))
        return column

    def _pair(self, *fields: tuple[str, QWidget]) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._ink.theme.px(16))
        for index, (title, widget) in enumerate(fields):
            grid.addLayout(self._field(title, widget), 0, index)
            grid.setColumnStretch(index, 1)
        return box

    def _foot(self) -> QHBoxLayout:
        theme, px = self._ink.theme, self._ink.theme.px
        foot = QHBoxLayout()
        foot.setContentsMargins(px(24), px(10), px(24), px(14))
        foot.setSpacing(px(8))
        promise = _("A task is only a definition; nothing runs before you run it.")
        foot.addWidget(Label(theme, promise, "caption", 400, "text2", wrap=True), 1)
        self.try_button = button(theme, _("Test run"), self.try_it, tip=_("Starts the program once, outside any run"))
        foot.addWidget(self.try_button)
        foot.addWidget(button(theme, _("Cancel"), self.reject))
        self.define_button = button(theme, _("Define task"), self.define_it, kind="primary")
        foot.addWidget(self.define_button)
        self.define_button.setDefault(True)
        return foot

    # ---- what stands there

    def draft(self) -> Draft:
        return Draft(
            kind=self.kind.current,
            name=self.name.text().strip(),
            title=self.title.text().strip(),
            program=self.file.text().strip(),
            function=self.function.text().strip(),
            interpreter=str(self.interpreter.currentData() or ""),
            arguments=draft.lines(self.arguments.text()),
            cwd=self.folder.text().strip(),
            parameters=self.parameters.values(),
            outputs=draft.patterns(self.outputs.text()),
            required=draft.patterns(self.required.text()),
            timeout=self.timeout.text().strip(),
            start_timeout=self.start.text().strip(),
            stages=draft.patterns(self.stages.text()),
            stall_after=self.stall.text().strip(),
            export_to=self.export.text().strip(),
            profile=str(self.profile.currentData()),
        )

    def choose_kind(self, kind: str) -> None:
        self.kind.choose(kind)
        self._on_kind()

    def _on_kind(self) -> None:
        is_program = self.kind.current == PROGRAM
        self._head.setText(_("Run a program") if is_program else _("Add a Python function"))
        sub = (
            _("Any script or executable becomes a task.") if is_program else _("A decorated function in a file becomes a task.")
        )
        self._sub.setText(sub)
        self._function_row.setVisible(not is_program)
        self._program_box.setVisible(is_program)
        self.try_button.setVisible(is_program)
        self._show_interpreters()
        self._on_changed()

    def _on_named(self) -> None:
        self._named = bool(self.name.text())

    def _on_file(self) -> None:
        path = self.file.text().strip()
        if not self._named:
            self.name.setText(draft.name_from(path))
        if path != self._asked_near:
            self._looking.start()
        self._on_changed()

    def _on_changed(self) -> None:
        now = self.draft()
        self.parameters.blockSignals(True)
        self.parameters.ensure(now.unnamed())
        self.parameters.blockSignals(False)
        text = self.draft().preview()
        self.preview.setText(text or _("Name a program first."))
        self.preview.setAccessibleName(text)

    # ---- interpreters and environment

    def _ask_interpreters(self) -> None:
        path = self.file.text().strip()
        self._asked_near = path
        near = Path(os.path.expanduser(path)).parent if path.startswith(("/", "~")) else None
        self._background.ask("interpreters", lambda: interpreters.find(near), self._on_interpreters)

    def _on_interpreters(self, found: Any, error: Exception | None) -> None:
        self._found = list(found or [])
        self._show_interpreters()
        self._on_changed()

    def _show_interpreters(self) -> None:
        chosen = self.interpreter.currentData()
        found = self._found
        self.interpreter.clear()
        is_program, script = self.kind.current == PROGRAM, draft.needs_interpreter(self.file.text().strip())
        if is_program:
            self.interpreter.addItem(_("none: the program starts by itself"), "")
        elif not found:
            self.interpreter.addItem(_("looking …"), "")
        kinds = {"own": _("Actum's own"), "system": _("system"), "venv": _("virtual environment")}
        for each in found:
            if is_program or each.usable:
                place = beforerun.measures_path(each.path)
                text = f"Python {each.version} · {kinds.get(each.kind, each.kind)} · {place}"
                self.interpreter.addItem(text, each.path)
                self.interpreter.setItemData(self.interpreter.count() - 1, each.path, Qt.ItemDataRole.ToolTipRole)
        at = self.interpreter.findData(chosen) if chosen else -1
        at = self.interpreter.findData(chosen) if chosen else -1
        first = 1 if is_program and script and self.interpreter.count() > 1 else 0
        self.interpreter.setCurrentIndex(at if at >= 0 else first)

    def _on_profile(self) -> None:
        profile = str(self.profile.currentData())
        self._background.ask("profile", lambda: beforerun.variable_names(profile), self._on_variables)

    def _on_variables(self, names: Any, error: Exception | None) -> None:
        if isinstance(error, ActumError):
            self.variables.setText(f"{error.what} {error.why}")
            return
        count = ngettext("{n} variable", "{n} variables", len(names or [])).format(n=len(names or []))
        shown = ", ".join((names or [])[:12])
        more = " …" if len(names or []) > 12 else ""
        self.variables.setText(f"{count}: {shown}{more}")
        self.variables.setToolTip(", ".join(names or []))

    # ---- trying and defining

    def try_it(self) -> None:
        """Start the program once with the defaults; a parameter without one is named instead of guessed."""
        now = self.draft()
        values, missing = draft.sample_values(now.parameters)
        if missing or not now.program:
            text = _("Name a program first.")
            if missing:
                text = _("A test run needs a default for: {names}.").format(names=", ".join(missing))
            self._tell_trial(text, "")
            return
        command = now.words(values)
        self._tell_trial(_("Starting …"), "")
        self.try_button.setEnabled(False)
        self.try_button.setToolTip(_("A test run is under way."))
        cwd = os.path.expanduser(now.cwd) or None
        background = self._background

        def gone() -> bool:
            """The dialog or the window was closed."""
            return not background.awaited("tryout")

        trial = self._trial
        background.ask("tryout", lambda: trial(command, cwd, now.profile, now.variables, gone=gone), self._on_tried)

    def _on_tried(self, tried: Any, error: Exception | None) -> None:
        self.try_button.setEnabled(True)
        self.try_button.setToolTip(_("Starts the program once, outside any run"))
        if not isinstance(tried, Tried):
            self._tell_trial(error.what if isinstance(error, ActumError) else str(error), "")
            return
        time = measures.duration(tried.seconds)
        if tried.problem:
            words = tried.problem
        elif tried.exit_code is None:
            words = _("Still at work after {time}; the test run ended it.").format(time=time)
        else:
            words = _("Ended with exit code {code} after {time}.").format(code=tried.exit_code, time=time)
        if tried.files:
            words = measures.joined(words, _("It wrote {names}.").format(names=", ".join(tried.files[:6])))
        self._tell_trial(words, tried.tail)

    def _tell_trial(self, words: str, tail: str) -> None:
        self._trial_words.setText(words)
        self._trial_tail.setText(tail)
        self._trial_tail.setVisible(bool(tail))
        self.trial.setAccessibleName(f"{words} {tail}")
        self.trial.show()
        QTimer.singleShot(0, self, self._show_trial)

    def _show_trial(self) -> None:
        self._scroll.ensureWidgetVisible(self.trial)

    def define_it(self) -> None:
        """The contract is made in the background: a function's file is imported in a child."""
        now = self.draft()
        self.banner.hide()
        self._background.ask("define", lambda: define(now.definition(), draft.base_of(now)), self._on_contract)

    def _on_contract(self, contract: Any, error: Exception | None) -> None:
        if isinstance(error, ActumError):
            self.refused(error)
        elif error is not None:
            raise error
        else:
            self.defined.emit(contract)

    def refused(self, error: ActumError) -> bool:
        """Shown here; the dialog stays open."""
        self.banner.say(error.what, " ".join(part for part in (error.why, error.remedy) if part))
        self.banner.show()
        self._scroll.ensureWidgetVisible(self.banner)
        return True

    def focus_start(self) -> None:
        self.file.setFocus()

    def done(self, result: int) -> None:
        for key in ("interpreters", "profile", "tryout", "define"):
            self._background.forget(key)
        super().done(result)
