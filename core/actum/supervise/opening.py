"""From the queue to a host: slot, frozen inputs, recorded session, spawn (§5.1–5.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from actum.clock import US, Now
from actum.limits import LAUNCH_DOUBTED_S
from actum.model.changes import JournalEntry
from actum.model.facts import Fact, FactName
from actum.model.identity import new_token
from actum.model.status import AttemptEvent, FailureCode, Phase
from actum.supervise import waiting
from actum.supervise.effects import Effect, Freeze, Launch, Prepare, RevokeClaim
from actum.supervise.finishing import BUSY, step_refused, try_step
from actum.supervise.machine import Machine
from actum.supervise.started import signs_of_work

LATE_START_GRACE_S = 5.0  # the host ends itself at its start deadline; only then is it called lost


def grant_slot(m: Machine, now: Now) -> list[Effect]:
    """CREATED / QUEUED → FREEZING; the supervisor has counted the slots."""
    return m.persist(now, AttemptEvent.SLOT_GRANTED, journal=(JournalEntry("slot_granted", now.utc_us),))


def freezing(m: Machine, now: Now) -> list[Effect]:
    """Freeze (once per run), record the fact, then record the session and go to STARTING.

    A helper that crashes over it, or takes no more, has found nothing out about an input: it is asked again, and at last held.
    """
    if m.gated:
        return []
    frozen = m.seen.frozen
    if frozen is None:
        return try_step(m, now, "freeze", Freeze(m.row, again=m.has(FactName.INPUTS_FROZEN)))
    if frozen.code == BUSY:
        m.seen.frozen = None
        return step_refused(m, now, "freeze", frozen.code, frozen.message)
    if frozen.code is not None:
        return m.fail(now, AttemptEvent.FREEZE_FAILED, frozen.code, frozen.message, frozen.details)
    if not m.has(FactName.INPUTS_FROZEN):
        fact = Fact(FactName.INPUTS_FROZEN, now.utc_us, frozen.evidence)
        alerts = m.no_alert(now, "helper")
        return m.persist(now, None, fact, inputs=frozen.inputs, columns=frozen.columns, alerts=alerts)
    prepared = m.seen.prepared
    if m.seen.tokens is None or prepared is None:
        return prepare(m)
    if prepared.error is not None:
        return m.fail(now, AttemptEvent.FREEZE_FAILED, prepared.code, prepared.error)
    columns: Mapping[str, Any] = {**m.seen.tokens, "started_at_us": now.utc_us, **frozen.columns}
    return m.persist(now, AttemptEvent.INPUTS_FROZEN, columns=columns, alerts=m.no_alert(now, "helper"))


def prepare(m: Machine) -> list[Effect]:
    """Three independent tokens, and the folder that holds the secret; nothing is spawned before they are on record."""
    if "prepare" in m.doing:
        return []
    session, cookie, secret = new_token(), new_token(), new_token()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    m.seen.tokens = {"session": session, "cookie": cookie, "secret_sha256": digest}
    known = m.seen.frozen.columns if m.seen.frozen is not None else {}
    code, environment = known.get("code") or {}, known.get("environment") or {}
    return m.begin("prepare", Prepare(m.row, session, cookie, secret, code, environment))


def stop_unlaunched(m: Machine, now: Now) -> list[Effect]:
    """A stop before any launch closes at once; there is nothing to release."""
    entry = JournalEntry("stop_requested", now.utc_us, {"cause": m.seen.stop_cause})
    return m.persist(
        now,
        AttemptEvent.STOP_ASKED,
        journal=(entry,),
        columns={"finished_at_us": now.utc_us},
        run_columns={"stop_requested_at_us": now.utc_us},
    )


def launching(m: Machine, now: Now) -> list[Effect]:
    """STARTING: the spawn and its answer, then the first proven sign of the session, else the start deadline."""
    tokens, spawned = m.seen.tokens, m.seen.spawned
    if tokens is not None and tokens["session"] == m.row.session and spawned is None and m.seen.sign is None:
        return m.begin("launch", Launch(m.row))  # this instance has recorded the session: it alone may spawn, once
    if spawned is not None and spawned.error is not None and m.seen.sign is None:
        return m.fail(now, AttemptEvent.SPAWN_FAILED, spawned.code, spawned.error)
    if not m.has(FactName.LAUNCHED) and (spawned is not None or m.seen.sign is not None):
        return launched(m, now)
    if "revoke" in m.doing:
        return []  # whether the host may still start is being settled
    if m.seen.claim_revoked or "launch_attested" in m.live:
        return launch_lost(m, now)
    if m.seen.sign is not None:
        return contact(m, now)
    judged = m.seen.evidence is not None or not m.restored
    if judged and (m.held is None or waiting.revocation(m)) and _start_overdue(m, now):
        return m.begin("revoke", RevokeClaim(m.row))
    waited_us = now.monotonic_us - m.step_started_us
    doubtful = m.restored or (spawned is not None and waited_us > LAUNCH_DOUBTED_S * US)
    return m.look(now) if doubtful else []  # a host that is gone need not be waited for until its deadline


def launched(m: Machine, now: Now) -> list[Effect]:
    """Fact launched: the spawn's answer, or a sign of the session where the answer went with an earlier instance."""
    spawned, sign = m.seen.spawned, m.seen.sign or {}
    if spawned is not None and spawned.error is None:
        return m.establish(now, FactName.LAUNCHED, spawned.evidence)
    evidence = {"method": "sign of the session", "sign": sign.get("method")}
    return m.establish(now, FactName.LAUNCHED, evidence, sign.get("at_us"))


def contact(m: Machine, now: Now) -> list[Effect]:
    """The first proven sign: hello, claim or outcome (fact contact_made, → RUNNING)."""
    sign = dict(m.seen.sign or {})
    at_us = sign.pop("at_us", None) or now.utc_us
    identity = m.seen.identity
    columns: dict[str, Any] = {"contact": "ok", "contact_since_us": now.utc_us, "contact_why": ""}
    if identity is not None:
        columns["host_identity"] = identity.to_json()
        sign["host"] = identity.to_json()
    fact = Fact(FactName.CONTACT_MADE, at_us, sign)
    m.held = None
    alerts = m.no_alert(now, "cannot_tell")  # whether the work had begun
    return m.persist(now, AttemptEvent.CONTACT_MADE, fact, columns=columns, alerts=alerts, then=m.greets())


def launch_lost(m: Machine, now: Now) -> list[Effect]:
    """The claim is revoked: no host will start the work any more."""
    if _start_overdue(m, now):
        words = f"The host did not start the work within {m.policies.start_deadline_s:.0f} s."
        return m.fail(now, AttemptEvent.LAUNCH_LOST, FailureCode.START_DEADLINE, words, work_started=bool(signs_of_work(m)))
    words = "The launch was recorded, but no host and no trace of its work was found."
    return m.fail(now, AttemptEvent.LAUNCH_LOST, FailureCode.LAUNCH_LOST, words, work_started=bool(signs_of_work(m)))


def _start_overdue(m: Machine, now: Now) -> bool:
    """Whether the host had its time to start. Active time of this instance only: sleep and clock changes do not count."""
    waited_us = now.monotonic_us - m.step_started_us
    return m.row.pair.phase is Phase.LAUNCHING and waited_us > (m.policies.start_deadline_s + LATE_START_GRACE_S) * US
