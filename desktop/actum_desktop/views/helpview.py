"""Help: what Actum answers, how the ledger is read, which keys there are, and what is not promised."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from actum_desktop.i18n import N_, _
from actum_desktop.models.details import Detail, Pair, Section
from actum_desktop.views.detailsview import DetailsView
from actum_desktop.views.ink import Ink
from actum_desktop.views.widgets import Card, Label

_KEYS = (
    ("Ctrl+K", N_("Search tasks, runs and results, or do something; a run's number or id goes to the run")),
    ("Ctrl+1 … 4", N_("Tasks, Runs, Results, Alerts")),
    ("Ctrl+N", N_("New task")),
    ("Ctrl+Enter", N_("Run the form; in the palette, run the task")),
    ("Enter", N_("open the run; in a log, the whole line")),
    ("F, Down, Tab", N_("filter the rows of a table; what fits where one types, and to take it")),
    ("S", N_("stop the run, with a question in place")),
    ("Ctrl+E, Ctrl+R", N_("edit and rerun, rerun with the same values")),
    ("/", N_("to the filter")),
    ("Ctrl+F, F3, Shift+F3", N_("find here, the next, the one before")),
    ("Ctrl+Shift+F", N_("find in the chosen column of a table")),
    ("Ctrl+G", N_("go to a row of a table")),
    ("Menu, Shift+F10", N_("what can be done with the chosen column: sort, count values, hide, move, freeze")),
    ("Ctrl+Shift+Left, Ctrl+Shift+Right", N_("move the chosen column")),
    ("Ctrl+A, Ctrl+Alt+C", N_("choose all rows of a table, copy the chosen ones for a spreadsheet")),
    ("Alt+Left, Alt+Right", N_("back, forward")),
    ("Esc", N_("close, leave the field, clear the filter")),
    ("Ctrl+C", N_("copy the rows, the line or the ledger as text")),
    ("Ctrl+Shift+C", N_("copy the run as a command")),
    ("F6", N_("to the next part of the window")),
    ("Ctrl+,  F1", N_("settings, help")),
    ("Ctrl+Q", N_("quit; with work in flight, after a question")),
)
_READING = (
    (N_("Filled mark"), N_("a fact, established once, with its time and its evidence")),
    (N_("Ring"), N_("the one fact that is being waited for")),
    (N_("Dotted line"), N_("not written yet")),
    (N_("Double rule"), N_("closed: terminal and released; nothing can change any more")),
)
_PROMISES = (
    (N_("Is promised"), N_("A run is called succeeded only after its package was read back, published and recorded.")),
    (N_("Is promised"), N_("Work goes on when this window is closed or killed, and is found again.")),
    (N_("Is not promised"), N_("Verification does not prove that a source is right or a formula correct.")),
    (N_("Is not promised"), N_("Work is a process of yours, not a sandbox. Logging out or restarting ends it.")),
)


class HelpView(QWidget):
    def __init__(self, ink: Ink) -> None:
        super().__init__()
        theme, px = ink.theme, ink.theme.px
        self._list = DetailsView(ink, _("Help"))
        self._list.rows.show(rows())
        card = Card(theme)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(1, 4, 1, 4)
        inside.addWidget(self._list)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(16), px(24), px(16))
        column.setSpacing(px(14))
        column.addWidget(Label(theme, _("Help"), "page", 600))
        column.addWidget(card, 1)

    def focus_start(self) -> None:
        self._list.setFocus()


def rows() -> list[Detail]:
    """The page, as rows."""
    found: list[Detail] = [Section(_("What Actum answers"))]
    found.append(Pair("", _("Is this work really done, and how do we know?")))
    found.append(Section(_("How the ledger is read")))
    found += [Pair(_(label), _(text)) for label, text in _READING]
    found.append(Section(_("What is promised, and what is not")))
    found += [Pair(_(label), _(text)) for label, text in _PROMISES]
    found.append(Section(_("Keys")))
    found += [Pair(label, _(text)) for label, text in _KEYS]
    return found
