"""Settings: look and language are this user's, the rest is the workspace's. All take effect at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum import settings
from actum.errors import WrongUse
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from actum_desktop import i18n, measures
from actum_desktop.controller.events import Supervising
from actum_desktop.i18n import N_, _
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Label, Rule, Segments, bare

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Number:
    """A setting that is a number. `each` = how much of the stored value one of the shown unit is."""

    name: str
    title: str
    note: str
    unit: str = ""
    each: int = 1


NUMBERS = (
    Number("slots", N_("Runs at the same time"), N_("More wait their turn. What computes already is left alone.")),
    Number(
        "input_copy_bytes_max",
        N_("Copy inputs up to"),
        N_("A copied input cannot change while work computes. A larger one is compared before and after instead."),
        "MiB",
        _MIB,
    ),
    Number(
        "free_bytes_min",
        N_("Keep free on the disk"),
        N_("With less than this, waiting runs wait until there is room."),
        "MiB",
        _MIB,
    ),
    Number(
        "sweep_mib_per_s",
        N_("Read results again at most so fast"),
        N_("In the background, while no work computes, to notice damage early. 0 turns it off."),
        "MiB/s",
    ),
    Number("sweep_again_days", N_("Read each result again after"), N_("Days since it was last read whole."), N_("days")),
)


class SettingsView(QWidget):
    """Signals: `scheme_chosen` ("system" | "light" | "dark"), `language_chosen` ("system" or a code), `set_asked` ((name of a
    setting, value))."""

    set_asked = Signal(object)
    scheme_chosen = Signal(object)
    language_chosen = Signal(object)

    def __init__(self, ink: Ink, language: str) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._shown: dict[str, Any] = {}
        self.fields: dict[str, QLineEdit] = {}
        self.wrongs: dict[str, Label] = {}
        schemes = (("system", _("As the system")), ("light", _("Light")), ("dark", _("Dark")))
        self._scheme = Segments(theme, _("Look"), schemes)
        self._scheme.choose(theme.scheme)
        self._scheme.chosen.connect(self.scheme_chosen)
        languages = [("system", _("As the system")), *i18n.NAMES.items()]
        self._language = Segments(theme, _("Language"), languages)
        self._language.choose(language)
        self._language.chosen.connect(self.language_chosen)
        self._awake = Segments(theme, _("Keep awake"), (("on", _("While work computes")), ("off", _("Never"))))
        self._awake.chosen.connect(lambda key: self.set_asked.emit(("keep_awake", key == "on")))
        waiting = _("Waiting runs after a crash")
        self._resume = Segments(theme, waiting, (("wait", _("Wait for a click")), ("start", _("Start by themselves"))))
        self._resume.chosen.connect(lambda key: self.set_asked.emit(("resume_queue_after_crash", key == "start")))
        look = self._row(theme, _("Look"), _("Light or dark; the colours mean the same in both."), self._scheme)
        speak = self._row(theme, _("Language"), _("Of the window and of the commands that it starts."), self._language)
        obeyed = _("Whether the system obeys is said in the line at the bottom. Work that sleep interrupts goes on afterwards.")
        awake = self._row(theme, _("Keep awake"), obeyed, self._awake)
        after = self._row(theme, waiting, _("What computed goes on in any case."), self._resume)
        numbers = [self._number(theme, number) for number in NUMBERS]
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(10))
        column.addWidget(Label(theme, _("Settings"), "page", 600))
        for title, rows in ((_("This user"), [look, speak]), (_("This workspace"), [numbers[0], after, awake, *numbers[1:]])):
            column.addSpacing(px(4))
            column.addWidget(Label(theme, title, "body", 600, "text2"))
            column.addWidget(self._card(theme, rows))
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(_("Settings"))
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(body)
        bare(QVBoxLayout(self)).addWidget(scroll)

    def _card(self, theme: Theme, rows: list[QHBoxLayout]) -> Card:
        px = theme.px
        card = Card(theme)
        card.setMaximumWidth(px(760))
        inside = QVBoxLayout(card)
        inside.setContentsMargins(px(16), px(12), px(16), px(12))
        inside.setSpacing(px(11))
        for place, row in enumerate(rows):
            if place:
                inside.addWidget(Rule(theme))
            inside.addLayout(row)
        return card

    def _row(self, theme: Theme, title: str, note: str, *controls: QWidget, below: Label | None = None) -> QHBoxLayout:
        row = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(theme.px(3))
        words.addWidget(Label(theme, title, "body", 500))
        words.addWidget(Label(theme, note, "caption", 400, "text2", wrap=True))
        if below is not None:
            words.addWidget(below)
        row.addLayout(words, 1)
        for control in controls:
            row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _number(self, theme: Theme, number: Number) -> QHBoxLayout:
        field = self.fields[number.name] = QLineEdit()
        field.setAccessibleName(_(number.title))
        field.setAlignment(Qt.AlignmentFlag.AlignRight)
        field.setFixedWidth(theme.px(96))
        field.editingFinished.connect(lambda: self._on_number(number))
        unit = Label(theme, _(number.unit) if number.unit else "", "caption", 400, "text2")
        unit.setFixedWidth(theme.px(44))
        wrong = self.wrongs[number.name] = Label(theme, "", "caption", 400, "bad", wrap=True)
        wrong.hide()
        return self._row(theme, _(number.title), _(number.note), field, unit, below=wrong)

    # ---- values

    def show_values(self, values: Mapping[str, Any]) -> None:
        """What is set now, whoever set it; what is being typed is left alone."""
        self._shown = dict(values)
        self._resume.choose("start" if values["resume_queue_after_crash"] else "wait")
        for number in NUMBERS:
            field = self.fields[number.name]
            if not (field.hasFocus() and field.isModified()):
                field.setText(self._text(number))
                self.wrongs[number.name].hide()

    def supervising(self, state: Supervising) -> None:
        self._awake.choose("on" if state.awake.setting else "off")

    def _text(self, number: Number) -> str:
        stored = self._shown.get(number.name)
        return "" if stored is None else str(stored // number.each)

    def _on_number(self, number: Number) -> None:
        """Taken when the field is left or Enter is pressed; what is not allowed stays, with the reason under it."""
        field, wrong = self.fields[number.name], self.wrongs[number.name]
        text = field.text().strip().replace(",", "").replace(" ", "")
        if not field.isModified() or text == self._text(number):
            wrong.hide()
            return
        value: Any = int(text) * number.each if text.isascii() and text.isdigit() else text
        try:
            settings.check(number.name, value)
        except WrongUse:
            low, high = (bound // number.each for bound in settings.KNOWN[number.name].bounds)
            needed = _("A whole number from {low} to {high} is needed.")
            wrong.setText(needed.format(low=low, high=measures.count(high)))
            wrong.show()
            return
        wrong.hide()
        field.setModified(False)
        self.set_asked.emit((number.name, value))

    def focus_start(self) -> None:
        self._scheme.setFocus()
