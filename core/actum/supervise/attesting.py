"""A person's word that nothing of an attempt is left: the only way out of a hold that no look can end (§6, R07, R09).

Theory. Another machine, a folder that never comes back, a claim that names a stranger: what cannot be seen from here may be
known to a person. Their word stands in for what a look could not tell, and for nothing else: whoever is seen alive is not
attested away, an outcome that can be read counts as ever, and nobody is signalled for it. It is journalled before it has an
effect; the facts it leads to say that a person said so, who, and what was being waited for. A package that is found later
is offered for adoption, as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from actum.clock import Now
from actum.errors import ActumError, Conflict
from actum.model.changes import Answer, JournalEntry, Note, Refused
from actum.model.evidence import ClaimSeen, Evidence, HostSeen, OutcomeSeen, TreeSeen
from actum.model.run import AttemptRow
from actum.model.status import Phase, Status
from actum.supervise import waiting
from actum.supervise.commands import refusal_error
from actum.supervise.effects import Effect, Reply
from actum.supervise.events import Attested
from actum.supervise.machine import Machine

METHOD = "attested"
_SEEN_AGAIN = frozenset({"contact_resumed", "late_host", "tree_left", "signalled"})


def asked(m: Machine | None, event: Attested, now: Now) -> Note | Reply:
    """What journals the word, or why there is nothing to attest."""
    problem = _refusal(m)
    if m is None or problem is not None:
        return Reply(event.command, error=problem)
    entry = JournalEntry("attested", now.utc_us, {"by": event.by, "waited_for": m.held})
    return Note(journal=(entry,), run=m.row.run, attempt=m.attempt)


def answered(m: Machine, event: Attested, answer: Answer, now: Now) -> list[Effect]:
    """The word is on record: it is used from now on."""
    if isinstance(answer, Refused):
        return [Reply(event.command, error=refusal_error(answer))]
    m.live["attested"] = {"method": METHOD, "by": event.by, "at": now.utc_us, "waited_for": m.held}
    return [Reply(event.command, {"run": m.row.run, "n": m.row.n, "by": event.by}), *m.look_now(now)]


def _refusal(m: Machine | None) -> ActumError | None:
    what, remedy = "There is nothing to attest.", "`actum show RUN` says where it stands."
    if m is None or m.held is None:
        return Conflict("nothing_to_attest", what, "What became of this run can be told from here, or it is over.", remedy)
    seen = m.seen.evidence
    if seen is not None and (seen.host is HostSeen.ALIVE or seen.tree is TreeSeen.LEFT):
        return Conflict("nothing_to_attest", what, "Something of this run is seen alive.", "Stop it: `actum stop RUN`.")
    if m.row.pair.phase in (Phase.VERIFYING, Phase.PUBLISHING, Phase.PUBLISH_PENDING):
        why = "Its processes are gone; what is waited for is the place of its package."
        return Conflict("nothing_to_attest", what, why, "Put the folder back, or mount its disk.")
    return None


def believed(m: Machine, seen: Evidence) -> Evidence:
    """The evidence with what a person attested in the place of what could not be seen."""
    if "attested" not in m.live:
        return seen
    if seen.host is HostSeen.ALIVE or seen.tree is TreeSeen.LEFT:
        m.live.pop("attested")
        return seen
    told: dict[str, Any] = {}
    if seen.host is HostSeen.UNKNOWN:
        told |= {"host": HostSeen.GONE, "host_method": METHOD}
    if seen.tree is TreeSeen.UNKNOWN:
        told |= {"tree": TreeSeen.CLEAR, "tree_method": METHOD}
    if seen.outcome is OutcomeSeen.UNKNOWN:
        told |= {"outcome": OutcomeSeen.NONE}
    unsettled = seen.claim is ClaimSeen.UNKNOWN or (seen.claim is ClaimSeen.NONE and waiting.CLAIM in m.failing)
    if unsettled and m.row.pair.status is Status.STARTING:
        told |= {"claim": ClaimSeen.NONE}
        m.live["launch_attested"] = True  # the claim cannot be revoked where its folder cannot be written
    return replace(seen, **told)


def on_record(entries: Iterable[tuple[str, int, Mapping[str, Any]]]) -> dict[str, Any] | None:
    """The word that stands after these journal rows (kind, time, data) of one attempt: one that was given is not asked for
    again after a crash (R18). It has lapsed once something of the attempt was seen again after it.
    """
    given: dict[str, Any] | None = None
    for kind, at_us, data in entries:
        if kind == "attested":
            given = {"method": METHOD, "by": data.get("by"), "at": at_us, "waited_for": data.get("waited_for")}
        elif kind in _SEEN_AGAIN or (kind == "can_tell" and data.get("contact") != "none"):
            given = None
    return given


def remembered(row: AttemptRow) -> dict[str, Any]:
    """What a new service instance knows of an attempt from a person's word that stands on record."""
    return {} if row.attested is None else {"attested": dict(row.attested)}


def word(m: Machine) -> dict[str, Any]:
    """The word as the evidence of a fact; empty where there is none."""
    return dict(m.live.get("attested") or {})
