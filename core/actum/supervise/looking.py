"""What a look at the world means for an attempt: the decisions of §6 turned into what is seen, and a verdict in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from actum.clock import US, Now
from actum.limits import HOLD_DOUBLINGS_MAX, LAUNCH_DOUBTED_S, LOOK_AGAIN_S, RECONCILE_EVERY_S
from actum.model.changes import JournalEntry
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, TreeSeen
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.status import Status
from actum.supervise import waiting
from actum.supervise.attesting import METHOD, believed, word
from actum.supervise.clearing import end_leftovers, note_clear
from actum.supervise.computing import host_lost
from actum.supervise.deadlines import deadline_due
from actum.supervise.effects import Effect, RevokeClaim, Watch
from actum.supervise.machine import Machine
from actum.supervise.reconcile import Action, Decision, decide
from actum.supervise.started import signs_of_work


def looked(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """Match the evidence, note what it shows, and answer with what §6 says follows."""
    if m.has(FactName.SEALED) and m.row.pair.status is Status.RUNNING and seen.outcome is not OutcomeSeen.SEALED:
        seen = replace(seen, outcome=OutcomeSeen.SEALED)  # on record: the file may be gone by now
    if _claimed_meanwhile(seen):
        seen = replace(seen, host=HostSeen.ALIVE, host_identity=_identity(seen.claim_document), host_method="claim")
    seen = believed(m, seen)
    m.seen.evidence = seen
    decision = decide(m.row.pair, m.row.released, seen)
    if decision.action is Action.LAUNCH_LOST and signs_of_work(m):
        decision = Decision(17, Action.SIGN_OF_WORK)  # the claim was deleted; what the work left tells of it
    m.verdict = verdict(m, decision, seen)
    _note_host(m, seen)
    _note_claim(m, seen)
    _note_outcome(m, seen)
    _note_hold(m, waiting_for(seen) if decision.action is Action.HOLD else waiting.revocation(m), now)
    act = _ACTS.get(decision.action)
    return act(m, seen, now) if act is not None else []


def waiting_for(seen: Evidence) -> str:
    """What a hold waits for. “Cannot tell” is a verdict: the slot stays taken and an alert says this (R09)."""
    return "; ".join(f"{what}: {why}" for what, why in seen.why.items()) or "the evidence could not be read"


def _note_hold(m: Machine, held: str | None, now: Now) -> None:
    """A hold is looked at again each minute (§6); a fresh one sooner, since most pass at once: 1 s, 2 s, 4 s …

    A hello, an exit, waking or a person's asking makes the next look due at once, as ever.
    """
    m.held = held
    m.holds = 0 if held is None else m.holds + 1
    if held is not None:
        after_s = min(LOOK_AGAIN_S * 2 ** min(m.holds - 1, HOLD_DOUBLINGS_MAX), RECONCILE_EVERY_S)
        m.next_look_us = now.monotonic_us + int(after_s * US)


def _claimed_meanwhile(seen: Evidence) -> bool:
    """Whether the claim came into being during this very look: then its host was judged without knowing it (P01)."""
    claimant = _identity(seen.claim_document) if seen.claim is ClaimSeen.HOST else None
    return seen.host is not HostSeen.ALIVE and claimant is not None and seen.host_identity is None


def verdict(m: Machine, decision: Decision, seen: Evidence) -> dict[str, Any]:
    """The row of the launch screen and of `reconcile --json`. Its action is meant to be done; nothing of it is on record."""
    revocation = waiting.revocation(m)
    return {
        "run": m.row.run,
        "attempt": m.attempt,
        "n": m.row.n,
        "row": decision.number,
        "verdict": "cannot_tell" if decision.action is Action.HOLD or revocation else decision.action.value,
        "action": decision.action.value,
        "recorded": {"status": m.row.pair.status.value, "phase": m.row.pair.phase.value},
        "evidence": {
            "host": seen.host.value,
            "outcome": seen.outcome.value,
            "tree": seen.tree.value,
            "claim": seen.claim.value,
            "package": seen.package.value,
            "pids": [member.identity.pid for member in seen.members],
            "why": {**seen.why, **({waiting.CLAIM: revocation} if revocation else {})},
            "at": seen.at_us,
        },
    }


def _note_host(m: Machine, seen: Evidence) -> None:
    if seen.host is HostSeen.GONE:
        if m.seen.host_exit is None and seen.host_method == METHOD:
            m.seen.host_exit = word(m)
        elif m.seen.host_exit is None:
            m.seen.host_exit = {"method": seen.host_method or "lock free", "alive_lock": "free", "at": seen.at_us}
        return
    if seen.host is HostSeen.ALIVE:
        m.seen.host_exit = None
        m.seen.tree_gone = None
        m.seen.exit_observed = False
        m.forget_absence()
    if m.seen.identity is None and seen.host_identity is not None:
        m.seen.identity = seen.host_identity


def _note_claim(m: Machine, seen: Evidence) -> None:
    """A claim of the host is the first proven sign of its session, whatever is on record."""
    if seen.claim is not ClaimSeen.HOST:
        return
    m.seen.identity = m.seen.identity or _identity(seen.claim_document)
    if m.seen.sign is None:
        m.seen.sign = {"method": "claim", "at_us": seen.claim_document.get("at")}


def _note_outcome(m: Machine, seen: Evidence) -> None:
    if m.seen.outcome is None and seen.outcome_document and seen.outcome is not OutcomeSeen.UNKNOWN:
        m.seen.outcome = dict(seen.outcome_document)


def _adopt(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """The host lives: wait for its hello; a claim of its is a sign already (rows 10–13)."""
    host = m.host
    if host is None or m.seen.channel is not None or m.live.get("watched") == host:
        return []
    m.live["watched"] = host
    return [Watch(m.attempt, host)]


def _adopt_running(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """Row 11. A deadline that is overdue now counts only because the outcome was read after it, and is none (P19)."""
    due = deadline_due(m, now)
    if due is not None and m.live.get("deadline_due") == due and seen.outcome is OutcomeSeen.NONE:
        m.seen.silent_deadline = due
    return _adopt(m, seen, now)


def _sign(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """A claim, an outcome or work found is the first proven sign of the session (row 17)."""
    if m.seen.sign is None and seen.outcome_document:
        m.seen.sign = {"method": "outcome", "at_us": seen.outcome_document.get("at")}
    elif m.seen.sign is None:
        traces = {"traces": list(seen.traces)} if seen.traces else {}
        m.seen.sign = {"method": "work found", "pids": _pids(seen), **traces}
    return []


def _launch_lost(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """No host, no trace: revoke the claim after two absences, so that a late host gives way (row 15, P01)."""
    spawned_lately = not m.restored and now.monotonic_us - m.step_started_us <= LAUNCH_DOUBTED_S * US
    if spawned_lately and not m.seen.exit_observed:
        return []  # it may not have taken its lock yet
    note_clear(m, now)
    if m.seen.tree_gone is None and not m.seen.exit_observed:
        return []
    m.seen.tree_gone = None
    m.seen.absent_since_us = None
    return m.begin("revoke", RevokeClaim(m.row))


def _host_lost(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """Nothing is left that could still bring an outcome; one that a frame brought counts."""
    return host_lost(m, now) if m.pending is None and m.seen.outcome is None else []


def _end_tree(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    """Processes of a dead host's tree: ended by proven identity, named in an alert while they live (row 20)."""
    m.seen.absent_since_us = None
    effects = end_leftovers(m, now)
    if m.pending is None and not m.raised("tree_left"):
        alert = m.alert(now, "tree_left", "tree_left", "warning", pids=_pids(seen))
        entry = JournalEntry("tree_left", now.utc_us, {"pids": _pids(seen)})
        effects = [*m.persist(now, journal=(entry,), alerts=(alert,)), *effects]
    return effects


def _clear(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
    note_clear(m, now)
    return []


def _package(where: str) -> Callable[[Machine, Evidence, Now], list[Effect]]:
    def note(m: Machine, seen: Evidence, now: Now) -> list[Effect]:
        if m.seen.package_only is None:
            m.seen.package_only = where
        return []

    return note


_ACTS: Mapping[Action, Callable[[Machine, Evidence, Now], list[Effect]]] = {
    Action.ADOPT: _adopt_running,
    Action.AWAIT_EXIT: _adopt,
    Action.STOP_AGAIN: _adopt,
    Action.SIGN_OF_WORK: _sign,
    Action.LAUNCH_LOST: _launch_lost,
    Action.HOST_LOST: _host_lost,
    Action.END_TREE: _end_tree,
    Action.SEALED_CLEAR: _clear,
    Action.STOPPED_CLEAR: _clear,
    Action.RELEASE: _clear,
    Action.COMMIT: _package("results"),
    Action.PUBLISH: _package("staging"),
    Action.PACKAGE_DIFFERS: _package("differs"),
    Action.PACKAGE_LOST: _package("neither"),
}


def _pids(seen: Evidence) -> list[int]:
    return [member.identity.pid for member in seen.members]


def _identity(claim: Mapping[str, Any]) -> ProcessIdentity | None:
    try:
        return ProcessIdentity.from_json(claim.get("identity") or {})
    except ValueError:
        return None


def tree_is_left(seen: Evidence | None) -> bool:
    """Whether the last look found living members of a tree whose host is gone."""
    return seen is not None and seen.tree is TreeSeen.LEFT and seen.host is HostSeen.GONE
