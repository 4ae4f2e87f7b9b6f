"""Until every resource is confirmed free: host exited, tree gone, released (§5.9, §6 rows 12, 13, 19–22; R06, R07)."""

from __future__ import annotations

from typing import Any

from actum.clock import US, Now
from actum.limits import ABSENCE_APART_S, HOST_EXIT_GRACE_S, LOOK_AGAIN_S, PIDS_NAMED_MAX
from actum.model.changes import JournalEntry, RaiseAlert
from actum.model.evidence import ClaimSeen, HostSeen, TreeSeen
from actum.model.facts import Fact, FactName
from actum.model.status import AttemptEvent, FailureCode, Status
from actum.supervise import waiting
from actum.supervise.effects import Effect, EndTree, ReadRecords, RevokeClaim, Send, WriteStop
from actum.supervise.machine import Machine
from actum.supervise.opening import launched

DEADLINE_CAUSES = (FailureCode.STAGE_DEADLINE, FailureCode.OVERALL_DEADLINE)


def clearing(m: Machine, now: Now) -> list[Effect]:
    """CLEANING_UP of any status: wait for the host, then for its tree, record both, then release."""
    if not m.has(FactName.HOST_EXITED):
        if m.seen.host_exit is None or "launch" in m.doing:
            return press(m, now)
        if not claim_settled(m):
            return m.begin("revoke", RevokeClaim(m.row))
        if not m.has(FactName.LAUNCHED) and (m.seen.spawned is not None or m.seen.sign is not None):
            return launched(m, now)
    known = m.has(FactName.LAUNCHED)
    if known and not m.has(FactName.HOST_EXITED):
        revoked = {"claim": "revoked"} if m.seen.claim_revoked else {}  # one that comes late finds this and leaves
        return m.establish(now, FactName.HOST_EXITED, {**(m.seen.host_exit or {}), **revoked})
    if m.seen.tree_gone is None and not m.has(FactName.TREE_GONE):
        return await_tree(m, now)
    if known and not m.has(FactName.TREE_GONE):
        stopping = m.row.pair.status is Status.STOPPING
        journal = (JournalEntry("stop_stage", now.utc_us, {"stage": "tree_gone"}),) if stopping else ()
        return m.persist(now, None, Fact(FactName.TREE_GONE, now.utc_us, m.seen.tree_gone or {}), journal=journal)
    if known and not m.seen.records_done and not m.has(FactName.RELEASED):
        return last_records(m, now)
    return release(m, now)


def claim_settled(m: Machine) -> bool:
    """Whether no host can start the work any more: its exit was observed, its claim is revoked, or it is dead (P01).

    A claim by the host counts only when the look that found the host gone already knew that claim: `looking` says so.
    """
    evidence = m.seen.evidence
    dead = evidence is not None and evidence.claim is ClaimSeen.HOST and evidence.host is HostSeen.GONE
    return m.seen.exit_observed or m.seen.claim_revoked or dead or "attested" in m.live


def last_records(m: Machine, now: Now) -> list[Effect]:
    """Read the records to their end, now that nobody writes any more; a reading begun earlier does not count (R12)."""
    if "records" in m.doing or now.monotonic_us < m.live.get("records_not_before_us", 0):
        return []
    m.seen.records_final = True
    return m.begin("records", ReadRecords(m.row))


def release(m: Machine, now: Now) -> list[Effect]:
    """The arrow that frees slot and resources, in one transaction with the fact released (R06)."""
    facts: tuple[Fact, ...] = ()
    if m.has(FactName.LAUNCHED) and not m.has(FactName.RELEASED):
        facts = (Fact(FactName.RELEASED, now.utc_us, {"method": "host exited and tree gone on record"}),)
    columns: dict[str, Any] = {}
    journal: tuple[JournalEntry, ...] = ()
    if m.row.pair.status is not Status.RUNNING:
        columns = {"finished_at_us": now.utc_us, **m.parting()}
    if m.row.pair.status is Status.STOPPING:
        columns["stop_stage"] = {"stage": "released", "at_us": now.utc_us}
        journal = (JournalEntry("stop_stage", now.utc_us, {"stage": "released"}),)
    offer = sealed_late(m, now) if m.row.pair.status is not Status.RUNNING else ()
    if offer:
        journal = (*journal, JournalEntry("sealed_late", now.utc_us, {"offer": "adoption"}))
    return m.persist(now, AttemptEvent.TREE_CLEAR, *facts, columns=columns, journal=journal, alerts=offer)


def sealed_late(m: Machine, now: Now) -> tuple[RaiseAlert, ...]:
    """The offer of a package that was sealed although its attempt ended otherwise (§6 rows 8 and 22, P05)."""
    outcome, recorded = m.seen.outcome or {}, m.row.facts.get(FactName.SEALED)
    if m.row.adopts is not None or (recorded is None and outcome.get("kind") != "sealed"):
        return ()
    by, digest = (
        ("outcome", outcome.get("manifest_sha256")) if recorded is None else ("record", recorded.get("manifest_sha256"))
    )
    return (m.alert(now, "adoptable", "sealed_late", "info", n=m.row.n, sealed_by=by, manifest_sha256=digest),)


def await_tree(m: Machine, now: Now) -> list[Effect]:
    """Empty by the host's own word where its exit was observed; else two equal empty looks at least a second apart."""
    outcome = m.seen.outcome or {}
    tree = outcome.get("tree") or {}
    method = str(tree.get("method") or "")
    free = (m.seen.host_exit or {}).get("alive_lock") == "free"
    if m.seen.exit_observed and method.startswith("subreaper") and free:
        seen = "waitpid said no child is left (ECHILD)"
        if method != "subreaper":
            seen = "the host found no child but nested ones, twice"
        note_tree_gone(m, {"method": method, "seen": seen, **_excluded(tree)})
        return clearing(m, now)
    return m.look(now)


def note_tree_gone(m: Machine, evidence: dict[str, Any]) -> None:
    """The tree is gone by this method; it is recorded by `clearing`."""
    m.seen.tree_gone = evidence
    m.held = waiting.revocation(m)


def note_clear(m: Machine, now: Now) -> None:
    """One look found no process of the tree: enough after a reboot, else the first or the second of two absences."""
    evidence = m.seen.evidence
    if evidence is None or evidence.tree is not TreeSeen.CLEAR or evidence.host is not HostSeen.GONE:
        return
    if evidence.tree_method == "boot":
        note_tree_gone(m, {"method": "boot", "seen": "the machine was started again since"})
        return
    if evidence.tree_method == "attested":
        note_tree_gone(m, dict(m.live.get("attested") or {}))
        return
    first = m.seen.absent_since_us
    if first is None:
        m.seen.absent_since_us = now.monotonic_us
        m.next_look_us = now.monotonic_us + int(ABSENCE_APART_S * US)
    elif now.monotonic_us - first >= ABSENCE_APART_S * US:
        seen = f"two empty looks, {(now.monotonic_us - first) / US:.1f} s apart"
        excluded = "a process forked in the host's last second that cleared its environment"
        outcome = m.seen.outcome or {}
        note_tree_gone(
            m,
            {"method": evidence.tree_method or "lock + scan", "seen": seen, "not_excluded": excluded}
            | _excluded(outcome.get("tree")),
        )


def press(m: Machine, now: Now) -> list[Effect]:
    """The host still lives, as far as is known: tell it to stop, insist, at last end it by identity, the host last (P04)."""
    if m.row.pair.status is Status.RUNNING:
        waited_us = now.monotonic_us - m.step_started_us
        ending = end_by_identity(m, now, "insist") if waited_us > HOST_EXIT_GRACE_S * US else []
        return [*m.look(now), *ending] if waited_us > LOOK_AGAIN_S * US else []
    effects: list[Effect] = []
    level, due = level_due(m, now)
    if level == "insist":
        m.stop_sent.setdefault("insisting", now.monotonic_us)  # counted even where the stop file cannot be written
    if level not in m.stop_sent:
        m.stop_sent[level] = now.monotonic_us
        cause = stop_cause(m)
        effects.append(WriteStop(m.row, level, cause))
        effects.append(Send(m.attempt, "stop", {"level": level, "cause": cause}))
    if due:
        effects += end_by_identity(m, now, "insist")
    return effects + m.look(now)


def stop_cause(m: Machine) -> str:
    """Why the host is told to stop, in the closed words of the channel."""
    if m.row.pair.status is Status.TIMEOUT and m.row.failure_code in DEADLINE_CAUSES:
        return str(m.row.failure_code)
    return "user" if m.row.stop_requested_at_us is not None else "dismissed"


def level_due(m: Machine, now: Now) -> tuple[str, bool]:
    """The level due since the stop was recorded, and whether the host had its time to obey (then it is ended by identity)."""
    grace_us = m.policies.grace_s * US
    waited_us: float = now.monotonic_us - m.step_started_us
    if m.restored and m.row.stop_requested_at_us is not None:
        waited_us += min(max(0, now.utc_us - m.row.stop_requested_at_us - waited_us), grace_us)
    insisted = m.stop_sent.get("insisting")
    level = "insist" if m.seen.insist or waited_us >= grace_us else "ask"
    return level, insisted is not None and now.monotonic_us - insisted >= grace_us


def end_by_identity(m: Machine, now: Now, level: str) -> list[Effect]:
    """Signal what the last look proved to be of this attempt, once a second at most."""
    evidence = m.seen.evidence
    if evidence is None or now.monotonic_us - m.stop_sent.get("identity", -US) < US:
        return []
    host = m.host if evidence.host is HostSeen.ALIVE else None
    if not evidence.members and host is None:
        return []
    m.stop_sent["identity"] = now.monotonic_us
    return m.begin("end", EndTree(m.attempt, level, evidence.members, host))


def end_leftovers(m: Machine, now: Now) -> list[Effect]:
    """The host is gone and part of its tree lives: ask, and insist after the grace (§6 row 20)."""
    asked = m.stop_sent.setdefault("leftovers", now.monotonic_us)
    level = "insist" if m.seen.insist or now.monotonic_us - asked >= m.policies.grace_s * US else "ask"
    return end_by_identity(m, now, level)


def _excluded(tree: Any) -> dict[str, Any]:
    """Who of a nested Actum the host left alone, as it says; their pids are named where a person reads of the end."""
    if not isinstance(tree, dict) or not tree.get("nested"):
        return {}
    named = tree.get("nested_pids")
    pids = [pid for pid in named if type(pid) is int][:PIDS_NAMED_MAX] if isinstance(named, list) else []
    return {"nested_left_alone": tree["nested"], **({"pids": pids} if pids else {})}
