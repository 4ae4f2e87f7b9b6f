"""A run that adopts begins at verification: what was established of the old attempt counts for it, and says so (R03, P16).

Theory. No work is started, no slot is needed, and nothing is signalled: the old attempt is released. What a new run would
have to establish from `inputs_frozen` to `released` was established then, by whoever watched it; those facts are taken over
in one transaction with the arrow, each with the time of then and method *adopted*, naming run and attempt. A fact that was
never recorded (the stop came first, or the host died between the manifest and its outcome) follows from the sealed package
itself, and says that it does. From VERIFYING on the run is like any other; its package lies in the old attempt's folder
until it is renamed into the results. Keeps R01, R03.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum.clock import Now
from actum.model.changes import JournalEntry
from actum.model.facts import FACTS, Fact, FactName
from actum.model.run import AdoptedRow
from actum.model.status import AttemptEvent
from actum.supervise.effects import Effect
from actum.supervise.machine import Machine

INHERITED = FACTS[FACTS.index(FactName.INPUTS_FROZEN) : FACTS.index(FactName.RELEASED) + 1]
ADOPTED = "adopted"  # the method of every inherited fact

_FROM_PACKAGE: Mapping[FactName, str] = {
    FactName.COMPUTATION_ENDED: "the sealed package: a host seals only after the work has ended as its contract accepts",
    FactName.SEALED: "the manifest in the staging folder",
}
_OTHERWISE = "the sealed package of its session; nobody recorded this at the time"


def begin(m: Machine, now: Now) -> list[Effect]:
    """CREATED / QUEUED of a run that adopts → RUNNING / VERIFYING; nothing for any other run, which waits for its slot."""
    origin = m.row.adopts
    if origin is None:
        return []
    sealed = m.row.facts.get(FactName.ADMITTED) or {}
    facts = tuple(inherited(origin, name, sealed, now) for name in INHERITED)
    entry = JournalEntry("adopts", now.utc_us, {"run": origin.run, "n": origin.n, "sealed_by": sealed.get("sealed_by")})
    return m.persist(now, AttemptEvent.ADOPTED, *facts, journal=(entry,))


def inherited(origin: AdoptedRow, name: FactName, sealed: Mapping[str, Any], now: Now) -> Fact:
    """One fact of the old attempt as a fact of the new one. `sealed` is what was seen of the package at the admission."""
    known = origin.facts.get(name)
    source = {"run": origin.run, "n": origin.n, "attempt": origin.attempt}
    if known is not None:
        kept = {key: value for key, value in known.items() if key not in ("method", "at_us", "epoch", "observer", "from")}
        source["observer"] = known.get("observer")
        return Fact(name, int(known["at_us"]), {**kept, "method": ADOPTED, "then": known.get("method"), "from": source})
    evidence: dict[str, Any] = {"method": ADOPTED, "then": None, "from": source, "seen": _FROM_PACKAGE.get(name, _OTHERWISE)}
    if name is FactName.SEALED:
        evidence["manifest_sha256"] = sealed.get("manifest_sha256")
        evidence["session"] = origin.session
    if name is FactName.COMPUTATION_ENDED and sealed.get("ended"):
        evidence["ended"] = sealed["ended"]
    return Fact(name, int(sealed.get("sealed_at_us") or now.utc_us), evidence)
