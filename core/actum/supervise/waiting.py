"""A step that met an error and is tried again says so at once, and takes it back when it goes on (R06, R09, R12).

Theory. An error that only the machine knows of keeps a slot, and nobody learns why. So what is tried again is noted here by
the kind of its alert. The alert is raised in the next change of the attempt, also while the next try is waited for; it is
renewed where the words have changed, and closed when the step went on. The journal has it once, however often it is met
(R11). One error is more than a nuisance: while the claim cannot be revoked, nobody can tell whether the host
will still begin the work. That is a hold, with the alert of a hold, and a person may attest that nothing of it is left.
"""

from __future__ import annotations

from actum.clock import Now
from actum.model.changes import JournalEntry
from actum.model.facts import FactName
from actum.model.status import Phase
from actum.supervise.effects import Effect
from actum.supervise.machine import Machine

RECORDS, QUARANTINE, STOP_FILE, SIGNALS = "records", "quarantine", "stop_file", "signals"
CLAIM = "claim"  # said by its hold
ALERTED = {RECORDS: "records_unread", QUARANTINE: "quarantine_waits", STOP_FILE: "stop_unwritten", SIGNALS: "signals_refused"}
_UNTIL_EXIT = (STOP_FILE, SIGNALS)  # of the host; what is left of its tree has an alert of its own


def failed(m: Machine, now: Now, kind: str, message: str, *, journalled: bool = False) -> None:
    """This step met an error and will be tried again: journalled the first time, unless the caller has done so."""
    if kind not in m.failing and not journalled:
        m.note(JournalEntry("step_waits", now.utc_us, {"step": kind, "message": message}))
    m.failing[kind] = message
    if kind == CLAIM:
        m.held = revocation(m)


def went_on(m: Machine, kind: str) -> None:
    """This step was done. An earlier instance may have raised its alert: that is closed as well."""
    known = m.failing.pop(kind, None)
    if kind == CLAIM and known is not None:
        m.held = None
    if m.restored and kind not in m.passed:
        m.passed.add(kind)
        m.alerts.add(f"{kind}:{m.attempt}")


def say(m: Machine, now: Now) -> list[Effect]:
    """The alerts as they ought to be, where they are not."""
    for kind in _UNTIL_EXIT:
        if m.has(FactName.HOST_EXITED):
            m.failing.pop(kind, None)
    wanted = {kind: m.failing[kind] for kind in ALERTED if kind in m.failing}
    new = {kind: each for kind, each in wanted.items() if m.said.get(kind) != each or not m.raised(kind)}
    over = [kind for kind in ALERTED if kind not in wanted and m.raised(kind)]
    if not new and not over:
        return []
    raised = tuple(m.alert(now, kind, ALERTED[kind], message=each) for kind, each in new.items())
    cleared = tuple(alert for kind in over for alert in m.no_alert(now, kind))

    def said(now: Now) -> list[Effect]:
        m.said |= new
        return []

    return m.persist(now, alerts=(*raised, *cleared), then=said)


def revocation(m: Machine) -> str | None:
    """What is waited for while the claim cannot be revoked: whether the host may still begin the work (P01)."""
    error = m.failing.get(CLAIM)
    if error is None or "attested" in m.live:
        return None
    if m.row.pair.phase is Phase.LAUNCHING and m.seen.sign is not None:
        return None  # it has begun: nothing is to be revoked
    return f"the launch cannot be revoked, so a late host might still begin the work: {error}"
