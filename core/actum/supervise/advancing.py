"""The next thing to establish: which step belongs to which pair, and what each kind of event notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actum.clock import US, Now
from actum.limits import HELPER_TRIES_MAX, HOST_SILENT_S, LOOK_AGAIN_S, PIDS_NAMED_MAX, PUBLISH_RETRY_S, RECORDS_EVERY_S
from actum.model.changes import JournalEntry
from actum.model.status import TERMINAL, Contact, Pair, Phase, Status
from actum.supervise import adopting, clearing, computing, deadlines, events, finishing, listening, opening, waiting
from actum.supervise.effects import Effect, ReadRecords
from actum.supervise.looking import tree_is_left
from actum.supervise.machine import Machine

Step = Callable[[Machine, Now], list[Effect]]


def _nothing(m: Machine, now: Now) -> list[Effect]:
    return []


def _queued(m: Machine, now: Now) -> list[Effect]:
    """An adoption needs no slot. A grant whose answer was lost may be on record: its slot is kept, and it is asked again."""
    return opening.grant_slot(m, now) if "slot" in m.doing else adopting.begin(m, now)


STEPS: Mapping[Phase, Step] = {
    Phase.QUEUED: _queued,  # the supervisor grants slots
    Phase.FREEZING: opening.freezing,
    Phase.LAUNCHING: opening.launching,
    Phase.COMPUTING: computing.computing,
    Phase.SEALING: computing.computing,
    Phase.CLEANING_UP: clearing.clearing,
    Phase.VERIFYING: finishing.verifying,
    Phase.PUBLISHING: finishing.publishing,
    Phase.PUBLISH_PENDING: finishing.publish_pending,
    Phase.CLOSED: _nothing,
}


def advance(m: Machine, now: Now) -> list[Effect]:
    """At most one Persist, and the effects that need none; nothing while an answer of the store is awaited."""
    if m.pending is not None or m.closed:
        return []
    effects = _urgent(m, now)
    effects += _failing(m, now)
    if m.pending is not None or now.monotonic_us < m.not_before_us:
        return effects
    effects += STEPS[m.row.pair.phase](m, now)
    if m.pending is None:
        effects += _beside(m, now)
    return effects


def _urgent(m: Machine, now: Now) -> list[Effect]:
    """A stop that is not on record yet comes before every other step (P07).

    So does one that came while the package was being published, once the rename has failed: there is nothing to finish now.
    """
    if m.row.pair.status in TERMINAL:
        return []
    if m.row.stop_requested_at_us is not None:
        return computing.stop_running(m, now) if m.row.pair.phase is Phase.PUBLISH_PENDING else []
    if m.seen.stop_cause is None:
        return []
    if m.row.pair.status is Status.CREATED:
        return opening.stop_unlaunched(m, now)
    return computing.stop_running(m, now)


def _failing(m: Machine, now: Now) -> list[Effect]:
    """What a step that failed has to say comes before its next try, and is not kept waiting for that."""
    if m.pending is not None or now.monotonic_us < m.says_not_before_us:
        return []
    return waiting.say(m, now) or (_contact(m, now) if waiting.revocation(m) else [])


def _beside(m: Machine, now: Now) -> list[Effect]:
    """Contact, warnings and records: what runs beside the steps and never holds them up."""
    if m.live.get("greet"):
        return listening.greet(m, now)
    if m.live.get("notices"):
        return m.persist(now)
    return _contact(m, now) or _stall_alert(m, now) or _waits_alert(m, now) or _records(m, now)


def _contact(m: Machine, now: Now) -> list[Effect]:
    """The column contact follows what is known now; it changes no status (R08)."""
    if m.held is not None:
        return listening.cannot_tell(m, now) if m.contact is not Contact.CANNOT_TELL else []
    if m.contact is Contact.CANNOT_TELL:
        return listening.can_tell(m, now) if m.seen.evidence is not None else []
    if m.row.pair.phase is not Phase.COMPUTING:
        return []
    silent = deadlines.silent_s(m, now)
    if m.contact is not Contact.LOST and silent > HOST_SILENT_S:
        return listening.lose_contact(m, now, f"no heartbeat for {silent:.0f} s")
    if m.contact is Contact.LOST and silent <= HOST_SILENT_S and "heard_us" in m.live:
        return listening.contact_on_record(m, now)
    return []


def _stall_alert(m: Machine, now: Now) -> list[Effect]:
    """An alert while no progress is seen, cleared when it goes on; the status is not touched (R08)."""
    if m.row.pair.phase is not Phase.COMPUTING:
        return []
    stalled = next((w for w in deadlines.warnings(m, now) if w["code"] == "no_progress"), None)
    raised = m.raised("stall")
    if stalled is not None and not raised:
        return m.persist(now, alerts=(m.alert(now, "stall", "no_progress", **stalled["data"]),))
    if stalled is None and raised:
        return m.persist(now, alerts=m.no_alert(now, "stall"))
    return []


def _waits_alert(m: Machine, now: Now) -> list[Effect]:
    """An alert while the host waits for the disk; it closes when the host goes on, or with the arrow that ends it."""
    waits = m.live.get("waits")
    if waits and not m.raised("waits"):
        return m.persist(now, alerts=(m.alert(now, "waits", waits["code"], message=waits["message"]),))
    if waits is None and "waits" in m.live and m.raised("waits"):
        return m.persist(now, alerts=m.no_alert(now, "waits"))
    return []


def _records(m: Machine, now: Now) -> list[Effect]:
    due = m.live.get("records_due_us", 0)
    if m.row.pair.phase is not Phase.COMPUTING or now.monotonic_us < due:
        return []
    m.live["records_due_us"] = now.monotonic_us + int(RECORDS_EVERY_S * US)
    return m.begin("records", ReadRecords(m.row))


# What the supervisor asks about a machine


def is_queued(m: Machine) -> bool:
    """Whether it waits for a slot. A run that adopts starts no work and needs none."""
    queued = m.row.pair.phase is Phase.QUEUED and m.row.adopts is None
    return queued and m.pending is None and m.row.stop_requested_at_us is None


def only_waits(m: Machine) -> bool:
    """Whether time alone can do nothing with it: it waits for a slot, and nobody asked for anything else."""
    return is_queued(m) and "slot" not in m.doing and m.seen.stop_cause is None and not m.live.get("notices")


def grant(m: Machine, now: Now) -> list[Effect]:
    m.doing.add("slot")
    return opening.grant_slot(m, now)


def needs_look(m: Machine) -> bool:
    """Whether there may be a host or a tree to look for."""
    return m.row.pair.status is not Status.CREATED and m.row.pair.phase is not Phase.VERIFYING and not m.closed


def stop_answer(m: Machine) -> str:
    """`finishing` while the verified package is being published, `closed` when all is over, else `accepted`."""
    if m.row.pair.status in TERMINAL and m.row.pair.status is not Status.STOPPED:
        return "closed"
    return "finishing" if m.row.pair == Pair(Status.RUNNING, Phase.PUBLISHING) else "accepted"


def unlooked_verdict(m: Machine) -> dict[str, Any]:
    """The verdict of an attempt for which there is nothing to look for: row 1 or row 7 of §6."""
    queue = m.row.pair.status is Status.CREATED and m.row.adopts is None
    word = "queue" if queue else "verify"
    return {
        "run": m.row.run,
        "attempt": m.attempt,
        "n": m.row.n,
        "row": 1 if queue else 7,
        "verdict": word,
        "action": word,
        "recorded": {"status": m.row.pair.status.value, "phase": m.row.pair.phase.value},
        "evidence": {},
    }


# What each kind of event notes


def note(m: Machine, event: Any, now: Now) -> list[Effect]:
    """Note one event about this attempt."""
    return _NOTES[type(event)](m, event, now)


def _on_frozen(m: Machine, event: events.Frozen, now: Now) -> list[Effect]:
    m.doing.discard("freeze")
    m.seen.frozen = None if event.crashed else event
    if not event.crashed:
        return []
    m.tries["freeze"] = HELPER_TRIES_MAX  # each of its helpers was asked that often already
    return _helper_crashed(m, "freeze", now, event.message)


def _on_prepared(m: Machine, event: events.Prepared, now: Now) -> list[Effect]:
    m.doing.discard("prepare")
    m.seen.prepared = event
    return []


def _on_spawned(m: Machine, event: events.Spawned, now: Now) -> list[Effect]:
    m.doing.discard("launch")
    m.seen.spawned = event
    return []


def _on_outcome_found(m: Machine, event: events.OutcomeFound, now: Now) -> list[Effect]:
    return [] if m.seen.outcome is not None or "look" in m.doing else m.look_now(now)


def _on_channel_closed(m: Machine, event: events.ChannelClosed, now: Now) -> list[Effect]:
    listening.channel_closed(m, event)
    return []


def _on_host_gone(m: Machine, event: events.HostGone, now: Now) -> list[Effect]:
    """The host's exit was observed: read its outcome now, if no frame brought it (P08)."""
    m.seen.exit_observed = True
    m.seen.host_exit = {"method": event.method, "alive_lock": "free" if event.alive_free else "held", "at": now.utc_us}
    m.seen.channel = None
    m.live["watched"] = None
    m.stale = "look" in m.doing
    if m.row.released or (m.seen.outcome is not None and m.row.pair.status is Status.RUNNING):
        return []
    return m.look_now(now)


def _on_claim_answered(m: Machine, event: events.ClaimAnswered, now: Now) -> list[Effect]:
    """Revoked: no host will start. Found by the host: the supervisor gives way and looks again (P01)."""
    m.doing.discard("revoke")
    if event.error is not None:
        m.wait(now, LOOK_AGAIN_S)
        waiting.failed(m, now, waiting.CLAIM, event.error)
        return []
    waiting.went_on(m, waiting.CLAIM)
    if event.revoked or event.claim.get("by") == "supervisor":
        m.seen.claim_revoked = True
        return []
    m.forget_absence()
    m.seen.host_exit = m.seen.tree_gone = m.seen.evidence = None
    if m.seen.sign is None:
        m.seen.sign = {"method": "claim", "at_us": event.claim.get("at")}
    return m.look_now(now)


def _on_records(m: Machine, event: events.RecordsRead, now: Now) -> list[Effect]:
    """Records count as read only once they are on record; a batch that cannot be written now is read again.

    So does what was passed over, which is no record: the offset after it is on record before anything is read further.
    """
    m.doing.discard("records")
    last = m.seen.records_final and not event.more

    def kept(now: Now) -> list[Effect]:
        m.seen.records_done = last
        return []

    if event.error is not None:
        m.live["records_not_before_us"] = now.monotonic_us + int(LOOK_AGAIN_S * US)
        waiting.failed(m, now, waiting.RECORDS, event.error)
        return []
    waiting.went_on(m, waiting.RECORDS)
    if m.pending is not None:
        return []
    _note_passed_over(m, event, now)
    if not event.records and event.skipped is None:
        return kept(now)
    return m.persist(now, records=event.records, columns={"records_offset": event.offset}, then=kept)


def _note_passed_over(m: Machine, event: events.RecordsRead, now: Now) -> None:
    """Lines that are no records, journalled when the first is passed over, and all of them together at the end (R11)."""
    known = m.live.get("passed_over", {"lines": 0, "bytes": 0, "upto": -1, "told": 0})
    skipped = event.skipped
    if skipped is not None and event.offset > known["upto"]:  # a batch may be read again
        lines, size = known["lines"] + skipped["lines"], known["bytes"] + skipped["bytes"]
        known = {**skipped, **known, "lines": lines, "bytes": size, "upto": event.offset}
    if known["lines"] > known["told"] and (known["told"] == 0 or not event.more):
        known["told"] = known["lines"]
        data = {name: known[name] for name in ("lines", "bytes", "offset", "why")}
        m.note(JournalEntry("records_skipped", now.utc_us, data))
    m.live["passed_over"] = known


def _on_derived(m: Machine, event: events.Derived, now: Now) -> list[Effect]:
    m.doing.discard("derive")
    m.seen.derived = event
    return _helper_crashed(m, "derive", now, event.error) if event.crashed else []


def _on_verified(m: Machine, event: events.Verified, now: Now) -> list[Effect]:
    m.doing.discard("verify")
    m.seen.verified = event
    return _helper_crashed(m, "verify", now, event.error) if event.crashed else []


def _helper_crashed(m: Machine, name: str, now: Now, why: str | None) -> list[Effect]:
    """A crashed helper is no rejection: said, and tried again (FORMATS)."""
    m.live["crash"] = why or ""
    if m.pending is not None:
        return []
    entry = JournalEntry("helper_crashed", now.utc_us, {"verb": name, "tries": m.tries.get(name, 0), "message": why or ""})
    return m.persist(now, journal=(entry,), alerts=(finishing.crashed_alert(m, now, name),))


def _on_published(m: Machine, event: events.Published, now: Now) -> list[Effect]:
    m.doing.discard("publish")
    m.seen.published = event
    return []


def _on_quarantined(m: Machine, event: events.Quarantined, now: Now) -> list[Effect]:
    m.doing.discard("quarantine")
    if event.error is not None:
        m.wait(now, PUBLISH_RETRY_S)
        waiting.failed(m, now, waiting.QUARANTINE, event.error)
        return []
    waiting.went_on(m, waiting.QUARANTINE)
    m.seen.quarantined = True
    return []


def _on_signalled(m: Machine, event: events.Signalled, now: Now) -> list[Effect]:
    """Signals are journalled; the same signals to the same processes with the same answers once."""
    m.doing.discard("end")
    said = {"level": event.level, "processes": [dict(each) for each in event.results]}
    if said != m.seen.ended_pids:
        m.seen.ended_pids = said
        m.note(JournalEntry("signalled", now.utc_us, said))
    m.next_look_us = 0 if tree_is_left(m.seen.evidence) else m.next_look_us
    results = [(each.get("pid"), str(each.get("result"))) for each in event.results]
    refused = [f"{pid}: {result.removeprefix('refused:')}" for pid, result in results if result.startswith("refused")]
    if refused:
        why = ", ".join(refused[:PIDS_NAMED_MAX])
        waiting.failed(m, now, waiting.SIGNALS, why, journalled=True)
        return []
    waiting.went_on(m, waiting.SIGNALS)
    return []


def _on_stop_written(m: Machine, event: events.StopWritten, now: Now) -> list[Effect]:
    """Delivered by the spool, whatever the channel does; where that failed, once more in a while."""
    if event.error is not None:
        m.stop_sent.pop(event.level, None)
        m.wait(now, LOOK_AGAIN_S)
        if waiting.STOP_FILE not in m.failing:
            m.note(JournalEntry("stop_stage", now.utc_us, {"stage": "not_delivered", "why": event.error}))
        waiting.failed(m, now, waiting.STOP_FILE, event.error, journalled=True)
        return []
    waiting.went_on(m, waiting.STOP_FILE)
    entry = JournalEntry("stop_stage", now.utc_us, {"stage": "delivered", "level": event.level})
    m.note(entry)
    return []


def _on_step(m: Machine, event: events.Step, now: Now) -> list[Effect]:
    """How far a helper has come; nothing of one that goes on after a stop has ended its phase (R10)."""
    if m.row.pair.phase in (Phase.FREEZING, Phase.VERIFYING):
        m.live["step"] = {"verb": event.verb, "done": event.done, "total": event.total, "unit": event.unit}
    return []


_NOTES: dict[type, Callable[[Machine, Any, Now], list[Effect]]] = {
    events.Frozen: _on_frozen,
    events.Prepared: _on_prepared,
    events.Spawned: _on_spawned,
    events.Hello: listening.hello,
    events.Frame: listening.frame,
    events.StateRead: listening.state,
    events.OutcomeFound: _on_outcome_found,
    events.ChannelClosed: _on_channel_closed,
    events.HostGone: _on_host_gone,
    events.ClaimAnswered: _on_claim_answered,
    events.RecordsRead: _on_records,
    events.Derived: _on_derived,
    events.Verified: _on_verified,
    events.Published: _on_published,
    events.Quarantined: _on_quarantined,
    events.Signalled: _on_signalled,
    events.StopWritten: _on_stop_written,
    events.Step: _on_step,
}
