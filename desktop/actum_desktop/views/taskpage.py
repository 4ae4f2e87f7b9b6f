"""The page of one task: its form, its runs, its policies, and what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.contracts import durations
from actum.contracts.delivery import ExportOnSuccess
from actum.contracts.document import Contract, FunctionWork, ProgramWork, load
from actum.errors import ActumError
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from actum_desktop import measures
from actum_desktop.forms.paths import Surroundings
from actum_desktop.forms.presets import Preset
from actum_desktop.i18n import _, pgettext
from actum_desktop.models.tasks import CardRuns, TaskItem, kind_words
from actum_desktop.views.beforepanel import LinesCard
from actum_desktop.views.runform import PastRun, RunAsked, RunForm
from actum_desktop.views.tabs import Tabs
from actum_desktop.views.widgets import Badge, Banner, Card, Label, button


@dataclass(frozen=True, slots=True)
class TaskRunAsked:
    """One press of Run, for the supervisor."""

    task: str
    version: str
    asked: RunAsked


class TaskPage(QWidget):
    """Signals: `back_asked` (), `run_asked` (TaskRunAsked), `presets_kept` (tuple of Preset), `run_chosen` (number)."""

    back_asked = Signal()
    run_asked = Signal(object)
    presets_kept = Signal(object)
    run_chosen = Signal(object)

    def __init__(self, item: TaskItem, around: Surroundings) -> None:
        super().__init__()
        self.item, self._around, self._ink = item, around, around.ink
        self.run_form: RunForm | None = None
        self._tabs = Tabs(self._ink, _("Parts of the task"))
        self._runs = LinesCard(self._ink, _("Runs of this task"))
        self._runs.chosen.connect(self.run_chosen)
        self._shown = QWidget()
        self._stack = QStackedLayout(
            self._shown
        )  # without a widget of its own, what is added first would be a window for a moment
        self._keys: list[str] = []
        self._build()
        self._tabs.chosen.connect(self._on_tab)

    # ---- building

    def _build(self) -> None:
        px = self._ink.theme.px
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(10), 0, 0)
        column.setSpacing(0)
        top = QVBoxLayout()
        top.setContentsMargins(px(24), 0, px(24), 0)
        top.setSpacing(px(4))
        top.addLayout(self._crumbs())
        top.addLayout(self._head())
        if self.item.first_words:
            top.addWidget(Label(self._ink.theme, self.item.first_words, "body", 400, "text2", wrap=True))
        top.addSpacing(px(4))
        top.addWidget(self._tabs)
        column.addLayout(top)
        column.addWidget(self._shown, 1)
        try:
            contract = load(self.item.contract)
        except ActumError as error:
            self._add("run", pgettext("tab", "Run"), self._unreadable(error))
            return
        self.run_form = RunForm(contract, self._around)
        self.run_form.run_asked.connect(self._on_run)
        self.run_form.presets_kept.connect(self.presets_kept)
        self.run_form.run_chosen.connect(self.run_chosen)
        self._add("run", pgettext("tab", "Run"), self.run_form)
        self._add("runs", _("Runs"), self._scrolled(self._runs))
        self._add("policies", _("Policies"), self._scrolled(self._table(policy_rows(contract))))
        self._add("about", _("About"), self._scrolled(self._about(contract)))

    def _crumbs(self) -> QHBoxLayout:
        theme, px = self._ink.theme, self._ink.theme.px
        row = QHBoxLayout()
        row.setSpacing(px(6))
        row.addWidget(button(theme, _("Tasks"), self.back_asked.emit, kind="crumb", tip=_("Back to the tasks (Esc)")))
        row.addWidget(Label(theme, "›", "body", 400, "text3"))
        row.addWidget(Label(theme, self.item.title, "body", 400, "text2"))
        row.addStretch(1)
        return row

    def _head(self) -> QHBoxLayout:
        px = self._ink.theme.px
        row = QHBoxLayout()
        row.setSpacing(px(12))
        row.addWidget(Label(self._ink.theme, self.item.title, "page", 600))
        version = Badge(self._ink)
        version.say("flag", _("version {version}").format(version=self.item.version), "text2")
        row.addWidget(version)
        if self.item.disabled:
            disabled = Badge(self._ink)
            disabled.say("prohibit", _("disabled"), "warn")
            row.addWidget(disabled)
        row.addStretch(1)
        return row

    def _add(self, key: str, text: str, page: QWidget) -> None:
        self._keys.append(key)
        self._tabs.relabel(key, text)
        self._stack.addWidget(page)

    def _unreadable(self, error: ActumError) -> QWidget:
        """A definition of a newer program is shown as such, never guessed at."""
        banner = Banner(self._ink, "warn")
        banner.say(_("This version of Actum cannot read the definition of this task."), f"{error.what} {error.why}".strip())
        return self._scrolled(banner)

    def _scrolled(self, inside: QWidget) -> QScrollArea:
        px = self._ink.theme.px
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(24), px(14), px(24), px(16))
        column.addWidget(inside)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(self.item.title)
        scroll.setWidget(page)
        return scroll

    def _table(self, rows: Sequence[tuple[str, str]]) -> Card:
        theme, px = self._ink.theme, self._ink.theme.px
        card = Card(theme)
        grid = QGridLayout(card)
        grid.setContentsMargins(px(20), px(16), px(20), px(16))
        grid.setHorizontalSpacing(px(24))
        grid.setVerticalSpacing(px(10))
        grid.setColumnStretch(1, 1)
        for index, (title, text) in enumerate(rows):
            grid.addWidget(Label(theme, title, "body", 400, "text2"), index, 0, Qt.AlignmentFlag.AlignTop)
            value = Label(theme, text, "body", 500, wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleName(f"{title}: {text}")
            grid.addWidget(value, index, 1)
        return card

    def _about(self, contract: Contract) -> Card:
        return self._table(about_rows(self.item, contract))

    # ---- what is said

    def show_presets(self, kept: Sequence[Preset]) -> None:
        if self.run_form is not None:
            self.run_form.show_presets(kept)

    def show_runs(self, runs: Sequence[PastRun], card: CardRuns) -> None:
        """Newest first."""
        for made, run in zip(self._runs.lines(len(runs)), runs, strict=True):
            made.show_run(run.number, run.cells, run.when)
        self._tabs.relabel("runs", _("Runs"), str(len(runs)) if runs else "")
        if self.run_form is not None:
            self.run_form.show_last(runs[:4], card.span)

    def fill(self, raw: Mapping[str, Any]) -> None:
        if self.run_form is not None:
            self.run_form.fill(raw)

    def _on_run(self, asked: RunAsked) -> None:
        self.run_asked.emit(TaskRunAsked(self.item.name, self.item.version, asked))

    def _on_tab(self, key: object) -> None:
        self._stack.setCurrentIndex(self._keys.index(str(key)))

    def focus_start(self) -> None:
        if self.run_form is not None and self._tabs.current == "run":
            self.run_form.focus_start()


def policy_rows(contract: Contract) -> list[tuple[str, str]]:
    """What the task declares: when its work is ended, warned of, tried again."""

    def time_of(limit: Any) -> str:
        return _("none") if limit is None else measures.duration(durations.seconds(limit))

    policies = contract.policies
    stages = ", ".join(f"{name} {time_of(limit)}" for name, limit in sorted(policies.stage_deadlines.items()))
    after = {
        "wait": _("waits for processes the work leaves behind"),
        "end": _("ends processes the work leaves behind"),
    }
    lost = policies.supervisor_lost_after
    retry = policies.retry.maximum
    again = _("{n} times at most").format(n=retry) if retry else _("never")
    return [
        (_("Deadline to start"), time_of(policies.start_deadline)),
        (_("Deadlines of stages"), stages or _("none")),
        (_("Overall deadline"), time_of(policies.deadline)),
        (_("Warns without progress for"), time_of(policies.stall_after)),
        (_("Between asking to stop and insisting"), time_of(policies.grace)),
        (_("After the work's own end"), after.get(policies.after_exit, policies.after_exit)),
        (_("Exit codes that are right"), ", ".join(map(str, policies.accepted_exit_codes))),
        (_("Tried again"), again),
        (_("Safe to repeat"), _("yes") if policies.safe_to_repeat else _("no")),
        (_("Exported on success"), exported_words(policies.export_on_success)),
        (_("Without a supervisor"), _("goes on") if lost is None else _("ends after {time}").format(time=time_of(lost))),
    ]


def exported_words(policy: ExportOnSuccess | None) -> str:
    """`every table as csv, into FOLDER, named “{task} {run} {table}”`."""
    if policy is None:
        return _("nothing")
    what = ", ".join(policy.tables) or _("every table")
    words = _("{what} as {format}, into {folder}, named “{name}”")
    return words.format(what=what, format=policy.format, folder=policy.folder, name=policy.name)


def about_rows(item: TaskItem, contract: Contract) -> list[tuple[str, str]]:
    found = [(_("Name"), item.name), (_("Kind"), kind_words(item))]
    work = contract.work
    if isinstance(work, ProgramWork):
        found += [(_("Program"), work.program), (_("Arguments"), " ".join(work.arguments) or _("none"))]
    elif isinstance(work, FunctionWork):
        found += [(_("File"), work.file), (_("Function"), work.function), (_("Interpreter"), work.interpreter)]
    if item.description.strip():
        found.append((_("Description"), item.description.strip()))
    outputs = ", ".join((*contract.outputs, *(f"{name} ({_('must be there')})" for name in contract.required)))
    found.append((_("Publishes"), outputs))
    for table in contract.tables:
        names = ", ".join(column.name for column in table.columns)
        found.append((_("Table {name}").format(name=table.name), names or _("columns as the work writes them")))
    found += [(metric.title, metric.meaning or metric.name) for metric in contract.metrics]
    return found
