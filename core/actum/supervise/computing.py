"""From contact to an outcome: work ended, sealed, failed, stopped, or past a deadline (§5.5–5.8, §6 row 18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.clock import Now
from actum.model.changes import JournalEntry
from actum.model.evidence import ClaimSeen
from actum.model.facts import Fact, FactName
from actum.model.status import AttemptEvent, FailureCode, Phase
from actum.supervise.clearing import DEADLINE_CAUSES
from actum.supervise.deadlines import deadline_due
from actum.supervise.effects import Effect, Send
from actum.supervise.machine import Machine
from actum.supervise.started import never_started, signs_of_work

# Causes of a stopped outcome that are deadlines; the cause is the failure code.
DEADLINES = frozenset(code.value for code in DEADLINE_CAUSES)


def computing(m: Machine, now: Now) -> list[Effect]:
    """RUNNING / COMPUTING or SEALING."""
    outcome = m.seen.outcome
    if outcome is None:
        if m.row.pair.phase is Phase.COMPUTING and _completed(m):
            return work_completed(m, now, m.seen.ended or {}, "frame")
        if m.seen.silent_deadline is not None and m.seen.silent_deadline == deadline_due(m, now):
            return deadline_passed_silently(m, now)
        m.seen.silent_deadline = None  # the host has spoken since the look
        return m.look(now) if m.seen.host_exit is not None else []
    if outcome["kind"] == "sealed":
        if m.row.pair.phase is Phase.COMPUTING:
            return work_completed(m, now, outcome.get("ended") or {}, "outcome")
        return sealed(m, now, outcome)
    return unsuccessful(m, now, outcome)


def work_completed(m: Machine, now: Now, ended: Mapping[str, Any], method: str) -> list[Effect]:
    """Fact computation_ended: the root ended as the contract accepts, and its descendants have ended."""
    fact = Fact(FactName.COMPUTATION_ENDED, int(ended.get("at") or now.utc_us), {"method": method, "ended": dict(ended)})
    return m.persist(now, AttemptEvent.WORK_COMPLETED, fact, columns=m.parting())


def sealed(m: Machine, now: Now, outcome: Mapping[str, Any]) -> list[Effect]:
    """Fact sealed: the manifest's digest as the host wrote it; acknowledged once committed (R04)."""
    evidence = {"method": "outcome", "manifest_sha256": outcome.get("manifest_sha256"), "session": outcome.get("session")}
    fact = Fact(FactName.SEALED, int(outcome.get("at") or now.utc_us), evidence)
    return m.persist(now, AttemptEvent.OUTCOME_SEALED, fact, columns=m.parting(), then=acknowledge(m))


def acknowledge(m: Machine) -> Any:
    """The ack that lets the host exit at once."""

    def ack(now: Now) -> list[Effect]:
        return [Send(m.attempt, "ack", {"digest": m.seen.outcome_digest})] if m.seen.outcome_digest else []

    return ack


def unsuccessful(m: Machine, now: Now, outcome: Mapping[str, Any]) -> list[Effect]:
    """An outcome failed or stopped: its own code, or the code that its cause maps to (FORMATS)."""
    cause = outcome.get("cause") or ""
    details = {**(outcome.get("details") or {}), **({"ended": outcome["ended"]} if outcome.get("ended") else {})}
    message = str(outcome.get("message") or "")
    if outcome["kind"] == "stopped" and cause in DEADLINES:
        words = message or f"The {cause.replace('_', ' ')} passed and the host ended the work."
        effects = m.fail(now, AttemptEvent.DEADLINE_PASSED, cause, words, details)
    elif outcome["kind"] == "stopped" and cause == "supervisor_lost":
        words = message or "No supervisor came back within the time the task allows, so the host ended the work."
        effects = m.fail(now, AttemptEvent.OUTCOME_FAILED, FailureCode.SUPERVISOR_LOST, words, details)
    elif outcome["kind"] == "stopped":
        words = message or f"The host ended the work (cause: {cause}), and no stop is on record."
        effects = m.fail(now, AttemptEvent.OUTCOME_FAILED, FailureCode.HOST_LOST, words, details)
    else:
        code = outcome.get("code") or FailureCode.WORK_FAILED
        effects = m.fail(now, AttemptEvent.OUTCOME_FAILED, code, message or "The work failed.", details)
    m.on_persisted = acknowledge(m)
    return effects


def host_lost(m: Machine, now: Now) -> list[Effect]:
    """The host is gone and left no outcome (P08: the outcome was read after the host was proven gone)."""
    unstarted = never_started(m)
    words = "The host is gone and left no outcome: it was ended from outside, or the machine stopped."
    details = None
    if unstarted:
        words = "The host ended before it started the work; nothing was computed."
    elif m.seen.evidence is not None and m.seen.evidence.claim in (ClaimSeen.NONE, ClaimSeen.REVOKED):
        signs = signs_of_work(m)
        words += f" Its claim is not there any more, yet the work had started: {', '.join(signs)} show it."
        details = {"claim": m.seen.evidence.claim.value, "signs": signs}
    alert = m.alert(now, "host_lost", "host_lost", "bad", host=dict(m.row.host_identity or {}))
    event, code = AttemptEvent.OUTCOME_FAILED, FailureCode.HOST_LOST
    return m.fail(now, event, code, words, details, alerts=(alert,), work_started=not unstarted)


def deadline_passed_silently(m: Machine, now: Now) -> list[Effect]:
    """The deadline passed while the host was silent past its grace, and its outcome was read: none (P19)."""
    code = m.seen.silent_deadline or FailureCode.OVERALL_DEADLINE
    words = f"The {code.replace('_', ' ')} passed, and the host did not answer; Actum ends the work itself."
    m.seen.silent_deadline = None
    return m.fail(now, AttemptEvent.DEADLINE_PASSED, code, words, {"by": "supervisor"})


def stop_running(m: Machine, now: Now) -> list[Effect]:
    """A user's stop of a launched attempt: recorded first, then delivered (R04)."""
    cause = m.seen.stop_cause or "user"
    entry = JournalEntry("stop_requested", now.utc_us, {"cause": cause, "insist": m.seen.insist})
    columns: dict[str, Any] = {**m.parting()}
    if m.row.pair.phase is not Phase.PUBLISHING:
        columns["stop_stage"] = {"stage": "requested", "at_us": now.utc_us}
    return m.persist(
        now,
        AttemptEvent.STOP_ASKED,
        journal=(entry,),
        columns=columns,
        run_columns={"stop_requested_at_us": now.utc_us},
    )


def _completed(m: Machine) -> bool:
    """Whether the `ended` object seen is a completion; a failing one is left to the outcome that follows it."""
    ended = m.seen.ended
    return ended is not None and ended.get("signal") is None and ended.get("exit_code") in m.policies.accepted_exit_codes
