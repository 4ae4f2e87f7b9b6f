"""Whether the host ever started the work: what decides if an attempt may be repeated (R05, P01).

Theory. A host claims before it starts the work, so without its claim nothing was computed. But the claim is a file that the
work can delete, and an absence proves nothing that something else contradicts. So the work counts as never started only
where no claim of the host is there *and* nothing shows that it worked: no contact that knew its claim, no heartbeat, no
`ended`, no record, no process of its tree, and no trace in its folder.
"""

from __future__ import annotations

from actum.model.evidence import ClaimSeen
from actum.model.facts import FactName
from actum.supervise.machine import Machine

_CLAIMED = ("claim", "outcome", "work found")  # first signs that only a host which has claimed can give


def signs_of_work(m: Machine) -> list[str]:
    """What is known of the work besides the claim, in a few words each; nothing where it was never started."""
    seen = m.seen.evidence
    contact = m.row.facts.get(FactName.CONTACT_MADE) or m.seen.sign or {}
    told = {
        "its first contact": contact.get("method") in _CLAIMED or contact.get("claimed") is True,
        "a heartbeat": m.live.get("heartbeat_at_us") is not None,
        "the end of its root": m.seen.ended is not None,
        "records": m.row.records_offset > 0,
        "processes": seen is not None and bool(seen.members),
    }
    traces = seen.traces if seen is not None else ()
    return [what for what, shown in told.items() if shown] + list(traces)


def never_started(m: Machine) -> bool:
    """Whether the last look found no claim of the host, and nothing shows that the work was started all the same."""
    seen = m.seen.evidence
    unclaimed = seen is not None and seen.claim in (ClaimSeen.NONE, ClaimSeen.REVOKED)
    return unclaimed and not signs_of_work(m)
