"""From a released attempt to a recorded success: derive, verify, publish, commit (§5.10–5.14)."""

from __future__ import annotations

from collections.abc import Callable

from actum.clock import Now
from actum.limits import HELPER_TRIES_MAX, PUBLISH_RETRY_S
from actum.model.changes import JournalEntry, RaiseAlert
from actum.model.facts import Fact, FactName
from actum.model.status import AttemptEvent, FailureCode
from actum.supervise.effects import Derive, Effect, Publish, Quarantine, Verify
from actum.supervise.machine import Machine

# Codes of a step that the disk did not serve, or for which no helper could be asked: nothing was found out (FORMATS).
BUSY = "busy"
NO_VERDICT = frozenset({FailureCode.DISK_FULL.value, FailureCode.IO_ERROR.value, BUSY})


def verifying(m: Machine, now: Now) -> list[Effect]:
    """VERIFYING: one helper derives, another verifies; a rejection is final, a crashed helper is none."""
    derived, verified = m.seen.derived, m.seen.verified
    if derived is None or derived.crashed:
        m.seen.derived = None
        return try_step(m, now, "derive", Derive(m.row))
    if derived.error is not None and derived.code in NO_VERDICT:
        m.seen.derived = None
        return step_refused(m, now, "derive", derived.code, derived.error)
    if derived.error is not None:
        return m.fail(now, AttemptEvent.REJECTED, derived.code, derived.error, {"step": "derive"})
    if verified is None or verified.crashed:
        m.seen.verified = None
        return try_step(m, now, "verify", Verify(m.row))
    if verified.error is not None and verified.code in NO_VERDICT:
        m.seen.verified = None
        return step_refused(m, now, "verify", verified.code, verified.error)
    if verified.error is not None:
        alert = m.alert(now, "rejected", str(verified.code), "bad", message=verified.error)
        return m.fail(now, AttemptEvent.REJECTED, verified.code, verified.error, verified.details, (alert,))
    if not m.has(FactName.BYTES_VERIFIED):
        return m.establish(now, FactName.BYTES_VERIFIED, verified.bytes)
    content = Fact(FactName.CONTENT_VERIFIED, now.utc_us, {**verified.content, "recorded": dict(verified.recorded)})
    return m.persist(now, AttemptEvent.VERIFIED, content, alerts=m.no_alert(now, "helper"), then=_may_rename(m))


def publishing(m: Machine, now: Now) -> list[Effect]:
    """PUBLISHING: the durable steps and the rename, the fact published, then the commit that makes it a success."""
    if m.seen.published is None:
        if m.seen.verified is None:
            return _verify_again(m, now)
        if m.seen.verified.crashed:
            m.seen.verified = None
            return _verify_again(m, now)
        if m.seen.verified.error is not None and m.seen.verified.code in NO_VERDICT:
            code, why, m.seen.verified = m.seen.verified.code, m.seen.verified.error, None
            return step_refused(m, now, "verify", code, why)
        if m.seen.verified.error is not None:
            return _rejected_again(m, now, m.seen.verified.error)
        return _publish(m, now)
    published = m.seen.published
    if published.failure == "unsure":  # perhaps it is published: only another try can end this phase
        m.seen.published = None
        alert = m.alert(now, "publish_pending", "publish_pending", message=published.message)
        return _step_waits(m, now, "publish", FailureCode.IO_ERROR, published.message, alert)
    if published.failure == "rename":  # kept until its arrow is on record: no rename while nobody can tell (P07)
        alert = m.alert(now, "publish_pending", "publish_pending", message=published.message)
        entry = JournalEntry("publish_pending", now.utc_us, {"message": published.message})
        journal = () if m.raised("publish_pending") else (entry,)
        return m.persist(now, AttemptEvent.RENAME_FAILED, journal=journal, alerts=(alert,), then=_wait_to_publish(m))
    if published.failure == "differs":
        return reject_published(m, now, published.message)
    if published.failure == "neither":
        return package_lost(m, now)
    if not m.has(FactName.PUBLISHED):
        return m.establish(now, FactName.PUBLISHED, published.evidence)
    return record(m, now)


def _publish(m: Machine, now: Now) -> list[Effect]:
    """A rename follows a commit made after the verification: an instance that lost the workspace unawares is told so by the
    store (P23) before it puts into results/ what its successor may have stopped since.
    """
    if "publish" in m.doing:
        return []
    if not m.live.pop("may_rename", False):
        entry = JournalEntry("verified_again", now.utc_us, {"published": m.seen.package_only == "results"})
        return m.persist(now, journal=() if m.raised("publish_pending") else (entry,), then=_may_rename(m))
    return m.begin("publish", Publish(m.row, _recorded(m)))


def _may_rename(m: Machine) -> Callable[[Now], list[Effect]]:
    def confirmed(now: Now) -> list[Effect]:
        m.live["may_rename"] = True
        return []

    return confirmed


def record(m: Machine, now: Now) -> list[Effect]:
    """Result rows, the reference and SUCCEEDED in one transaction: the only way to succeed (R01)."""
    verified = m.seen.verified
    assert verified is not None, "a success is recorded only after this instance verified it"
    assert verified.result is not None, "a verified package comes with its result row"
    facts = (
        Fact(FactName.REFERENCE_COMMITTED, now.utc_us, {"method": "one transaction", "digest": verified.result.digest}),
        Fact(FactName.SUCCEEDED, now.utc_us, {"method": "the thirteen facts before this one are on record"}),
    )
    columns = {"finished_at_us": now.utc_us, **m.parting()}
    return m.persist(now, AttemptEvent.RECORDED, *facts, result=verified.result, columns=columns)


def publish_pending(m: Machine, now: Now) -> list[Effect]:
    """The retry timer has run out (the caller waits for it): publish from the start, with another verification (row 7)."""
    m.seen.package_only = m.seen.published = m.seen.verified = None
    return m.persist(now, AttemptEvent.RETRY_DUE)


def _wait_to_publish(m: Machine) -> Callable[[Now], list[Effect]]:
    def wait(now: Now) -> list[Effect]:
        m.wait(now, PUBLISH_RETRY_S)
        return []

    return wait


def _rejected_again(m: Machine, now: Now, why: str) -> list[Effect]:
    """A rejection counts where the package still is when it is looked for again, and is verified there again.

    An instance that lost the workspace unawares may publish while this one verifies, and another may have done so while this
    one still believes in its own: then the package is whole, in the other place.
    """
    where, m.seen.package_only = m.seen.package_only, None
    if where is not None and m.seen.rejected_in == where:
        m.seen.package_only = where
        return reject_published(m, now, why)
    m.seen.rejected_in, m.seen.verified = where, None
    m.tries["verify"] = 0
    return m.look_now(now)


def reject_published(m: Machine, now: Now, why: str) -> list[Effect]:
    """The package is not the one that was verified: on record first, which only the present epoch can write (P23); then to
    quarantine, then FAILED (row 6).
    """
    if m.seen.quarantined:
        alert = m.alert(now, "rejected", "package_differs", "bad", message=why)
        details = {"quarantined": True}
        return m.fail(now, AttemptEvent.PACKAGE_LOST, FailureCode.RESULT_REJECTED, why, details, (alert,))
    if "quarantine" in m.doing:
        return []
    told, m.live["differs"] = m.live.get("differs"), True
    journal = () if told else (JournalEntry("package_differs", now.utc_us, {"message": why}),)
    return m.persist(now, journal=journal, then=lambda later: m.begin("quarantine", Quarantine(m.row)))


def package_lost(m: Machine, now: Now) -> list[Effect]:
    """The package is in neither place (row 6)."""
    words = "The verified package is neither in staging nor at its target; it was removed from outside."
    alert = m.alert(now, "rejected", "package_lost", "bad")
    return m.fail(now, AttemptEvent.PACKAGE_LOST, FailureCode.PACKAGE_LOST, words, alerts=(alert,))


def _verify_again(m: Machine, now: Now) -> list[Effect]:
    """After a restart: look where the package is, then verify it there under this service instance (rows 4–6)."""
    where = m.seen.package_only
    if where in ("staging", "results"):
        return try_step(m, now, "verify", Verify(m.row, published=where == "results"))
    if where == "differs":
        return reject_published(m, now, "The package at the target is not the one that was verified.")
    if where == "neither":
        return package_lost(m, now)
    return m.look(now)


def step_refused(m: Machine, now: Now, step: str, code: str, why: str) -> list[Effect]:
    """The disk did not serve a helper's step, or no helper took it: no verdict, and its tries begin anew."""
    m.tries[step] = 0
    return _step_waits(m, now, step, code, why, m.alert(now, "helper", code, step=step, message=why))


def _step_waits(m: Machine, now: Now, step: str, code: str, why: str, alert: RaiseAlert) -> list[Effect]:
    """Journalled once, for as long as its alert is open (R11); tried again when there may be room."""
    m.wait(now, PUBLISH_RETRY_S)
    entry = JournalEntry("step_waits", now.utc_us, {"step": step, "code": code, "message": why})
    return m.persist(now, journal=() if alert.key in m.alerts else (entry,), alerts=(alert,))


def try_step(m: Machine, now: Now, name: str, effect: Effect) -> list[Effect]:
    """Begin a helper's step, three times at most; then hold in the phase, with an alert, until a person asks for more."""
    if name in m.doing:
        return []
    if m.tries.get(name, 0) >= HELPER_TRIES_MAX:
        return [] if m.raised("helper") else m.persist(now, alerts=(crashed_alert(m, now, name),))
    m.tries[name] = m.tries.get(name, 0) + 1
    return m.begin(name, effect)


def crashed_alert(m: Machine, now: Now, step: str) -> RaiseAlert:
    """What a step crashed of, by name; it is said even where the crash came while something else was being recorded."""
    return m.alert(now, "helper", "helper_crashed", verb=step, tries=m.tries.get(step, 0), message=m.live.get("crash", ""))


def _recorded(m: Machine) -> dict[str, str]:
    """The digests recorded with content_verified; what is published must have them."""
    evidence = m.row.facts[FactName.CONTENT_VERIFIED]
    return dict(evidence.get("recorded") or {})
