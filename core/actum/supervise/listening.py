"""What a host says, by frame or by spool: noted as seen, shown live, never taken as a status by itself (§7, R12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.clock import Now
from actum.model.changes import JournalEntry
from actum.model.identity import ProcessIdentity
from actum.model.status import Contact, Phase, Status
from actum.supervise.effects import Effect, Send, Watch
from actum.supervise.events import ChannelClosed, Frame, Hello, StateRead
from actum.supervise.machine import Machine


def hello(m: Machine, event: Hello, now: Now) -> list[Effect]:
    """A proven host. Anything noted as absent before is discarded; the answer follows the commit (§6, §7)."""
    m.seen.channel = event.channel
    m.seen.identity = ProcessIdentity.from_json(event.identity)
    m.seen.host_exit = None
    m.seen.tree_gone = None
    m.forget_absence()
    m.live["heard_us"] = now.monotonic_us
    if m.seen.sign is None:
        m.seen.sign = {"method": "hello", "at_us": now.utc_us, "claimed": event.claimed}
    m.live["greet"] = True
    return [Watch(m.attempt, m.seen.identity)]


def greet(m: Machine, now: Now) -> list[Effect]:
    """Answer a hello once its contact is on record: hello-ack while the work may go on, else stop."""
    m.live["greet"] = False
    if m.row.pair.status is Status.RUNNING:
        ack = [Send(m.attempt, "hello-ack", {"epoch": m.epoch})]
        if m.row.pair.phase is not Phase.COMPUTING and m.seen.outcome_digest:
            ack.append(Send(m.attempt, "ack", {"digest": m.seen.outcome_digest}))
        return list(ack)
    m.stop_sent.pop("ask", None)  # the stop is delivered again on this channel
    m.stop_sent.pop("insist", None)
    return []


def resume_contact(m: Machine, now: Now) -> list[Effect]:
    """Contact is there again: a journal row, the column, and no more alert."""
    resumed = m.restored or m.contact is Contact.LOST or m.contact is Contact.CANNOT_TELL
    entry = JournalEntry("contact_resumed", now.utc_us, {"session": m.row.session, "epoch": m.epoch})
    m.contact = Contact.OK
    m.held = None
    columns: dict[str, Any] = {"contact": "ok", "contact_since_us": now.utc_us, "contact_why": ""}
    if m.seen.identity is not None:
        columns["host_identity"] = m.seen.identity.to_json()
    alerts = m.no_alert(now, "cannot_tell") + m.no_alert(now, "lost_contact")
    return m.persist(now, journal=(entry,) if resumed else (), alerts=alerts, columns=columns)


def lose_contact(m: Machine, now: Now, why: str) -> list[Effect]:
    """Nothing is heard of the host: said in the column, nothing else follows (R08)."""
    m.contact = Contact.LOST
    entry = JournalEntry("contact_lost", now.utc_us, {"why": why})
    columns = {"contact": "lost", "contact_since_us": now.utc_us, "contact_why": why}
    return m.persist(now, journal=(entry,), columns=columns)


def channel_closed(m: Machine, event: ChannelClosed) -> None:
    if m.seen.channel == event.channel:
        m.seen.channel = None


def frame(m: Machine, event: Frame, now: Now) -> list[Effect]:
    """One accepted frame. A frame of a channel that is no longer the attempt's changes nothing (R03)."""
    if event.channel != m.seen.channel:
        return []
    m.live["heard_us"] = now.monotonic_us
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
    m.live.setdefault("notices", []).append(JournalEntry(str(body["code"]), now.utc_us, dict(body)))
    return []


def state(m: Machine, event: StateRead, now: Now) -> list[Effect]:
    """state.json, where no frames come: the same as what frames would have said."""
    document = event.state
    if document.get("session") != m.row.session:
        return []
    age_us = max(0, now.utc_us - int(document.get("at") or now.utc_us))
    heard = now.monotonic_us - age_us
    if heard <= m.live.get("heard_us", -1) or document.get("seq") == m.live.get("state_seq"):
        return []
    m.live["state_seq"] = document.get("seq")
    m.live["heard_us"] = heard
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


def silence_us(m: Machine, now: Now) -> int:
    """Microseconds of monotonic time since the host last spoke; 0 when it never did."""
    heard = m.live.get("heard_us")
    return 0 if heard is None else max(0, now.monotonic_us - int(heard))


