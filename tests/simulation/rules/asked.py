"""Checks at an answer to a person: it says what is on record, and nothing before (R04, R05, P10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actum.model.changes import Admit
from actum.model.status import RUN_TERMINAL
from actum.supervise import effects, events

from tests.simulation.checks import Ledger, at

if TYPE_CHECKING:
    from tests.simulation.driver import App

Said = str | None


@at("reply", "R04")
def a_stop_is_answered_after_its_commit(ledger: Ledger, app: App, reply: effects.Reply, asked: Any) -> Said:
    if reply.ok is None or "answer" not in reply.ok:
        return None
    run = ledger.truth.store.runs[int(reply.ok["run"])]
    told = reply.ok["answer"]
    if told == "closed":
        return None if run.status in RUN_TERMINAL else f"a stop is answered closed, and the run is {run.status}"
    recorded = run.stop_requested_at_us is not None or run.status in RUN_TERMINAL
    return None if recorded else f"a stop is answered {told}, and is not on record"


@at("reply", "R04")
def a_command_is_answered_once(ledger: Ledger, app: App, reply: effects.Reply, asked: Any) -> Said:
    return "a command is answered twice" if reply.command in app.replies else None


@at("reply", "R04")
def an_admission_is_answered_after_its_commit(ledger: Ledger, app: App, reply: effects.Reply, asked: Any) -> Said:
    if not isinstance(asked, events.AdmitAsked) or reply.ok is None:
        return None
    return None if int(reply.ok["run"]) in ledger.truth.store.runs else "an admission is answered, and there is no such run"


@at("reply", "R05")
def one_key_is_one_run(ledger: Ledger, app: App, reply: effects.Reply, asked: Any) -> Said:
    """The same key and request: the same run, however often; the same key and another request: refused."""
    if not isinstance(asked, events.AdmitAsked) or reply.ok is None:
        return None
    request: Admit = asked.request
    run = ledger.truth.store.runs[int(reply.ok["run"])]
    if run.request.key != request.key:
        return "a key is answered with the run of another key"
    same = run.request.request_digest == request.request_digest
    return None if same else "another request with the same key is answered as if it were the same"
