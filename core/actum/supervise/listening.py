"""What a host says, by frame or by spool: noted as seen, shown live, never taken as a status by itself (§7, R12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.clock import Now
from actum.model.changes import JournalEntry
from actum.model.facts import FactName
from actum.model.identity import ProcessIdentity
from actum.model.status import Contact, Phase, Status
from actum.supervise.clearing import press
from actum.supervise.effects import Effect, Send, Watch
from actum.supervise.events import ChannelClosed, Frame, Hello, StateRead
from actum.supervise.machine import Machine


def hello(m: Machine, event: Hello, now: Now) -> list[Effect]:
    """A proven host. Anything noted as absent before is discarded; the answer follows the commit (§6, §7)."""
    if m.row.released:  # its exit is on record: whoever this is, nobody waits for it (P13)
        data = {"channel": event.channel, "pid": event.identity.get("pid")}
        m.note(JournalEntry("late_host", now.utc_us, data))
        return [Send(m.attempt, "dismiss", {"why": "the attempt is released"})]
    m.seen.channel = event.channel
    m.seen.identity = ProcessIdentity.from_json(event.identity)
    m.seen.host_exit = None
    m.seen.tree_gone = None
    m.seen.exit_observed = False
    m.forget_absence()
    m.live["heard_us"] = m.live["noticed_us"] = now.monotonic_us
    m.live["watched"] = m.seen.identity
    if m.seen.sign is None:
        m.seen.sign = {"method": "hello", "at_us": now.utc_us, "claimed": event.claimed}
    m.live["greet"] = True
    held = (m.verdict or {}).get("verdict") == "cannot_tell"
    return [Watch(m.attempt, m.seen.identity), *(m.look_now(now) if held else [])]  # a hold is judged anew at once


def greet(m: Machine, now: Now) -> list[Effect]:
    """Answer a hello: after its contact is on record, hello-ack while the work may go on, else stop.

    Each hello has a commit of its own before its answer: an instance that lost the workspace unawares is told so by the store
    (P23) and never lets work go on that its successor has stopped (P04). While STARTING nothing is said yet: whether the host
    or a revocation has the claim is just being settled (P01).
    """
    if m.row.pair.status is Status.STARTING:
        return []
    if m.row.released:  # the release was being recorded while the hello came (P13)
        m.live["greet"] = False
        return [Send(m.attempt, "dismiss", {"why": "the attempt is released"})]
    if m.live.get("greeted") != m.seen.channel:
        return contact_on_record(m, now)
    m.live["greet"] = False
    if m.row.pair.status is not Status.RUNNING:
        m.stop_sent.pop("ask", None)  # the stop is delivered again on this channel
        m.stop_sent.pop("insist", None)
        return press(m, now)
    acknowledged: list[Effect] = [Send(m.attempt, "hello-ack", {"epoch": m.epoch})]
    if m.row.pair.phase not in (Phase.COMPUTING, Phase.SEALING) and m.seen.outcome_digest:
        acknowledged.append(Send(m.attempt, "ack", {"digest": m.seen.outcome_digest}))
    return acknowledged


def contact_on_record(m: Machine, now: Now) -> list[Effect]:
    """Contact is there, in the column; where it was lost a journal row, and no more alerts."""
    resumed = m.contact in (Contact.LOST, Contact.CANNOT_TELL) or (m.restored and "greeted" not in m.live)
    entry = JournalEntry("contact_resumed", now.utc_us, {"session": m.row.session, "epoch": m.epoch})
    m.held = None
    columns: dict[str, Any] = {}
    if m.contact is not Contact.OK:
        columns |= {"contact": "ok", "contact_since_us": now.utc_us, "contact_why": ""}
    if m.seen.identity is not None:
        columns["host_identity"] = m.seen.identity.to_json()
    alerts = tuple(alert for kind in ("cannot_tell", "lost_contact", "stall") for alert in m.no_alert(now, kind))
    journal = (entry,) if resumed else ()
    return m.persist(now, journal=journal, alerts=alerts, columns=columns, then=m.greets())


def cannot_tell(m: Machine, now: Now) -> list[Effect]:
    """A hold is said in the column, in the journal and in an alert, for as long as it lasts (R09)."""
    waiting = m.held or ""
    evidence = m.seen.evidence
    pids = [member.identity.pid for member in evidence.members] if evidence is not None else []
    return m.persist(
        now,
        journal=(JournalEntry("cannot_tell", now.utc_us, {"waiting_for": waiting}),),
        alerts=(m.alert(now, "cannot_tell", "cannot_tell", "warning", waiting_for=waiting, pids=pids),),
        columns={"contact": "cannot_tell", "contact_since_us": now.utc_us, "contact_why": waiting},
    )


def can_tell(m: Machine, now: Now) -> list[Effect]:
    """A hold is over: its alert goes away by itself; contact is what it now is."""
    exited = m.has(FactName.HOST_EXITED) or m.seen.host_exit is not None
    contact, why = ("none", "") if exited else ("lost", "no host has answered yet")
    entry = JournalEntry("can_tell", now.utc_us, {"contact": contact})
    columns = {"contact": contact, "contact_since_us": now.utc_us, "contact_why": why}
    return m.persist(now, journal=(entry,), columns=columns, alerts=m.no_alert(now, "cannot_tell"))


def lose_contact(m: Machine, now: Now, why: str) -> list[Effect]:
    """Nothing is heard of the host: said in the column, nothing else follows (R08)."""
    entry = JournalEntry("contact_lost", now.utc_us, {"why": why})
    columns = {"contact": "lost", "contact_since_us": now.utc_us, "contact_why": why}
    return m.persist(now, journal=(entry,), columns=columns)


def channel_closed(m: Machine, event: ChannelClosed) -> None:
    if m.seen.channel == event.channel:
        m.seen.channel = None


def frame(m: Machine, event: Frame, now: Now) -> list[Effect]:
    """One accepted frame. A frame of a channel that is no longer the attempt's changes nothing (R03)."""
    if event.channel != m.seen.channel:
        if event.type in ("ended", "sealed", "failed", "stopped") and m.live.get("late_channel") != event.channel:
            m.live["late_channel"] = event.channel  # said once a channel
            data = {"type": event.type, "channel": event.channel}
            m.note(JournalEntry("late_message", now.utc_us, data))
        return []
    m.live["heard_us"] = m.live["noticed_us"] = now.monotonic_us
    m.touched = True
    body = event.body
    if event.type == "progress":
        _progress(m, body, now)
    elif event.type == "stage":
        m.live["stage"] = {"name": body["name"], "total": body.get("total"), "active_s": m.live.get("active_s", 0.0)}
        m.live["progress"] = {**(m.live.get("progress") or {}), "stage": body["name"], "at": now.utc_us}
        m.live["last_progress_active_s"] = m.live.get("active_s", 0.0)
    elif event.type == "heartbeat":
        _heartbeat(m, body, now)
    elif event.type == "ended":
        m.seen.ended = body["ended"]
    elif event.type in ("sealed", "failed", "stopped"):
        return outcome(m, body["outcome"], body["digest"])
    elif event.type == "notice":
        return notice(m, body, now)
    return []


def outcome(m: Machine, document: Mapping[str, Any], digest: str) -> list[Effect]:
    """A terminal frame; one that was recorded already is acknowledged again."""
    if document.get("session") != m.row.session:
        return []
    m.seen.outcome_digest = digest
    if m.seen.outcome is None:
        m.seen.outcome = dict(document)
    recorded = m.row.pair.phase not in (Phase.COMPUTING, Phase.SEALING, Phase.LAUNCHING)
    return [Send(m.attempt, "ack", {"digest": digest})] if recorded and m.pending is None else []


def notice(m: Machine, body: Mapping[str, Any], now: Now) -> list[Effect]:
    """Stop stages and other notices of the host become journal rows, written at the next free moment."""
    holds = (body.get("data") or {}).get("holds")
    if holds is not None:
        m.live["waits"] = {"code": str(body["code"]), "message": str(body["text"])} if holds else None
    m.note(JournalEntry(str(body["code"]), now.utc_us, dict(body)))
    return []


def state(m: Machine, event: StateRead, now: Now) -> list[Effect]:
    """state.json, where no frames come: the same as what frames would have said."""
    document = event.state
    seq = document.get("seq")
    if document.get("session") != m.row.session or seq == m.live.get("state_seq"):
        return []
    heard = now.monotonic_us  # a new seq was written since the last reading; only the first reading may be old
    if m.live.get("state_seq") is None and not event.final:
        heard = _written_us(document, now)
        if heard <= m.live.get("heard_us", -1):
            return []
    m.live["state_seq"] = seq
    m.live["heard_us"], m.live["noticed_us"] = heard, now.monotonic_us
    m.touched = True
    if document.get("progress"):
        m.live["progress"] = dict(document["progress"])
    stage = document.get("stage")
    if stage and stage.get("name") != (m.live.get("stage") or {}).get("name"):
        m.live["stage"] = {"name": stage["name"], "total": stage.get("total"), "active_s": document.get("active_s", 0.0)}
    _heartbeat(m, document, now)
    m.live["heartbeat_at_us"] = document.get("heartbeat_at")
    if document.get("ended"):
        m.seen.ended = document["ended"]
    return []


def _written_us(document: Mapping[str, Any], now: Now) -> int:
    """When a state file that was there already was written, in monotonic time: as lately as either clock allows (§12).

    The wall clock may have been set since, and monotonic time may be another one in there (a time namespace, an older host
    that does not say it): a silence that only one of them knows of is none, since it could end work by its deadline.
    """
    by_wall_us = max(0, now.utc_us - int(document.get("at") or now.utc_us))
    written = document.get("monotonic_at")
    by_monotonic_us = now.monotonic_us - written if type(written) is int else 0
    return now.monotonic_us - max(0, min(by_wall_us, by_monotonic_us))


def _progress(m: Machine, body: Mapping[str, Any], now: Now) -> None:
    fields = {key: body.get(key) for key in ("done", "total", "unit", "stage", "message")}
    m.live["progress"] = {**fields, "at": now.utc_us}
    m.live["last_progress_active_s"] = m.live.get("active_s", 0.0)


def _heartbeat(m: Machine, body: Mapping[str, Any], now: Now) -> None:
    activity = dict(body.get("activity") or {})
    before, before_s = m.live.get("activity") or {}, m.live.get("active_s")
    active = float(body.get("active_s") or 0.0)
    if before.get("cpu_s") is not None and before_s is not None and active - before_s > 0.2:
        used = max(0.0, float(activity.get("cpu_s") or 0.0) - float(before["cpu_s"]))
        m.live["cpu_percent"] = 100.0 * used / (active - before_s)
    m.live["activity"] = activity
    m.live["active_s"] = active
    m.live["processes"] = body.get("processes")
    m.live["heartbeat_at_us"] = now.utc_us
    if body.get("last_progress_active_s") is not None:
        m.live["last_progress_active_s"] = float(body["last_progress_active_s"])
