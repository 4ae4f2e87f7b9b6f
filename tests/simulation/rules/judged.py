"""Checks of what an instance makes of its looks: a hold is said, nobody is forgotten, a question is answered whole (R09)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.limits import RECONCILE_EVERY_S
from actum.model.run import AttemptRow
from actum.model.status import Contact, Phase
from actum.supervise import effects, events

from tests.simulation.checks import Ledger, at

if TYPE_CHECKING:
    from tests.simulation.driver import App

Said = str | None
_TICK_S = 5  # between two ticks of an instance that is there, at most
_NOBODY_THERE = (Phase.QUEUED, Phase.FREEZING, Phase.VERIFYING, Phase.CLOSED)  # no host, no tree to look for


@at("looked", "R09")
def a_hold_is_said_at_once(ledger: Ledger, app: App, row: AttemptRow, verdict: Any) -> Said:
    """Once “cannot tell” is concluded it is in the column contact, or on its way there, or waits for the store."""
    m = app.supervisor.machines.get(row.attempt)
    if verdict["action"] != "hold" or m is None:
        return None
    waits = m.pending is not None or m.not_before_us > ledger.truth.clocks.monotonic_us
    told = m.row.contact is Contact.CANNOT_TELL or app.deposed
    return None if told or waits else f"{row.run}/{row.n} cannot be told of, and nothing is on its way to say so"


@at("bounds", "R09")
def everybody_is_looked_at_each_minute(ledger: Ledger, app: App) -> Said:
    """Of whom there may be a host or a tree, no minute of this instance's time passes without a look (§6)."""
    now_us = ledger.truth.clocks.monotonic_us
    for m in app.supervisor.machines.values():
        if m.row.pair.phase in _NOBODY_THERE:
            app.looked_at.pop(m.attempt, None)
            continue
        since_us = now_us - app.looked_at.setdefault(m.attempt, now_us)
        if since_us > (RECONCILE_EVERY_S + _TICK_S) * US and "look" not in m.doing:
            return f"{m.row.run}/{m.row.n} was not looked at for {since_us / US:.0f} s"
    return None


@at("reply", "R09")
def a_reconciliation_judges_every_attempt(ledger: Ledger, app: App, reply: effects.Reply, asked: Any) -> Said:
    """Whoever asks for all is told of all that were open then and still are, each by the word of its verdict."""
    if not isinstance(asked, events.ReconcileAsked) or reply.ok is None or "verdicts" not in reply.ok:
        return None
    told = {verdict["attempt"] for verdict in reply.ok["verdicts"] if verdict.get("verdict")}
    silent = (app.open_when_asked[reply.command] & app.supervisor.machines.keys()) - told
    return f"nothing is said of {sorted(map(ledger.truth.label, silent))}" if silent else None
