"""Whether an attempt that ended without a result left a sealed package that can be adopted (R03, §6 row 8, P05).

Two kinds are told apart and said. *outcome* (or *record*): the host sealed and said so, but a stop, a deadline or a loss came
first. *manifest*: there is a valid manifest and no outcome; the host died between the two. Such a package is never continued
by itself, since nobody confirmed the end of its tree; a person may adopt it, and is told that its digest was recorded by
nobody at the time. What verification has refused once is not offered again; where an adoption was stopped, or refused for
what has been mended since, it may be asked for again. A refusal is a finding: what earlier versions recorded as one although
a helper had only failed, or had not been asked, is none, and is known by its words. Nothing is changed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actum.errors import Conflict
from actum.generation import read_generation
from actum.ipc import spool
from actum.model.facts import FactName
from actum.model.run import AttemptRow, Deletion
from actum.model.status import FailureCode, Phase
from actum.results import manifest
from actum.store.rows import UNSUCCESSFUL, Adopter, AttemptDetail, FactRow, RunRow
from actum.workspace import Workspace

ADOPTABLE = UNSUCCESSFUL
# Verification has looked at these, or at their inputs, and has refused them.
REFUSED = frozenset({FailureCode.RESULT_REJECTED.value, FailureCode.INPUT_CHANGED.value, FailureCode.PACKAGE_LOST.value})
# How earlier versions worded a rejection that was no finding: a defect of the helper, too little memory, too long a queue.
_NO_FINDING = re.compile(
    r"The helper failed in “|Too much waits for this helper|"
    r".* cannot be read any more: (?:Too much waits for this helper|\w+: .*\(\w+\.py, line \d+\))",
    re.DOTALL,
)
_ELSEWHERE = "What attempt {n} sealed was sealed for the workspace that this one is a copy of; it can be adopted there."


@dataclass(frozen=True, slots=True)
class SealedPackage:
    """`sealed_by` is *record*, *outcome* or *manifest*; `ended` how the work ended, where its host said so."""

    sealed_by: str
    manifest_sha256: str
    sealed_at_us: int
    ended: Mapping[str, Any]

    def evidence(self) -> dict[str, Any]:
        """As it stands in the fact `admitted` of the run that adopts."""
        return {
            "sealed_by": self.sealed_by,
            "manifest_sha256": self.manifest_sha256,
            "sealed_at_us": self.sealed_at_us,
            **({"ended": dict(self.ended)} if self.ended else {}),
        }


@dataclass(frozen=True, slots=True)
class Ended:
    """One attempt as far as this question needs it; `sealed` is the evidence of its fact, where there is one."""

    run: int
    attempt: str
    n: int
    session: str | None
    status: str
    closed: bool
    failure_code: str | None
    failure_message: str
    deletion: str
    is_adoption: bool
    sealed: Mapping[str, Any] | None


def of_row(row: AttemptRow) -> Ended:
    return Ended(
        run=row.run,
        attempt=row.attempt,
        n=row.n,
        session=row.session,
        status=row.pair.status.value,
        closed=row.pair.phase is Phase.CLOSED and row.released,
        failure_code=row.failure_code,
        failure_message=row.failure_message,
        deletion=row.deletion.value,
        is_adoption=row.adopts is not None,
        sealed=row.facts.get(FactName.SEALED),
    )


def of_detail(run: RunRow, attempt: AttemptDetail, facts: Sequence[FactRow]) -> Ended:
    sealed = next((fact for fact in facts if fact.attempt == attempt.id and fact.fact == FactName.SEALED), None)
    return Ended(
        run=run.number,
        attempt=attempt.id,
        n=attempt.n,
        session=attempt.session,
        status=attempt.status,
        closed=attempt.phase == Phase.CLOSED and attempt.released,
        failure_code=attempt.failure_code,
        failure_message=attempt.failure_message or "",
        deletion=run.deletion,
        is_adoption=run.adopted_attempt is not None,
        sealed=None if sealed is None else {**sealed.evidence, "at_us": sealed.at_us},
    )


def key_of(attempt: str, after: Adopter | None = None) -> str:
    """The idempotency key of the run that adopts this attempt: asking twice is one run (R05).

    `after` is the newest adoption there was: one that stands has its key already, behind one that ended the next has its own.
    """
    return f"adoption:{attempt}" if after is None else f"adoption:{attempt}:after-{after.number}"


def offer_key(attempt: str) -> str:
    """The key of the alert that offers an attempt's sealed package."""
    return f"adoptable:{attempt}"


def refusal(ended: Ended) -> str:
    """Why this attempt cannot be adopted whatever it left; "" where it may be looked at."""
    if ended.deletion != Deletion.NONE:
        return f"Run {ended.run} is in the trash."
    if ended.is_adoption:
        return f"Run {ended.run} is an adoption itself; what can be adopted is the run whose package it took up."
    if ended.status not in ADOPTABLE or not ended.closed:
        return f"Attempt {ended.n} is {ended.status}; only one that ended without a result, and is released, is adopted."
    if ended.failure_code in REFUSED and not _NO_FINDING.match(ended.failure_message):
        return f"Verification has refused what attempt {ended.n} left ({ended.failure_code})."
    return ""


def is_of_another(ws: Workspace, ended: Ended) -> bool:
    """Whether its package was sealed for the workspace that this one is a copy of: verification would refuse it here."""
    known = read_generation(ws)
    try:
        document, _ = manifest.read_manifest(ws.attempt_folder(ended.run, ended.n) / "staging")
    except (OSError, manifest.NotAPackage):
        return False
    return known is not None and document.get("workspace") != known.database_uuid


def sealed_package(ws: Workspace, ended: Ended) -> SealedPackage | None:
    """What this attempt sealed and nobody published, or None. Reads small files; raises nothing."""
    if is_of_another(ws, ended):
        return None
    folder = ws.attempt_folder(ended.run, ended.n)
    outcome = spool.read_outcome(folder)
    if isinstance(outcome, spool.Unreadable):
        return None
    said = outcome if isinstance(outcome, dict) and outcome["session"] == ended.session else None
    if said is not None and said["kind"] != "sealed":
        return None
    try:
        document, digest = manifest.read_manifest(folder / "staging")
    except (OSError, manifest.NotAPackage):
        return None
    if (document.get("run"), document.get("attempt"), document.get("session")) != (ended.run, ended.attempt, ended.session):
        return None
    sealed_at_us = int(document.get("sealed_at") or 0)
    if ended.sealed is not None:
        recorded = ended.sealed
        return SealedPackage("record", str(recorded.get("manifest_sha256") or ""), int(recorded["at_us"]), {})
    if said is not None:
        sha256, at_us = str(said.get("manifest_sha256") or ""), int(said.get("at") or sealed_at_us)
        return SealedPackage("outcome", sha256, at_us, said.get("ended") or {})
    return SealedPackage("manifest", digest, sealed_at_us, {})


def find(ws: Workspace, rows: Sequence[AttemptRow], n: int | None = None) -> tuple[AttemptRow, SealedPackage]:
    """The newest attempt among `rows` that can be adopted (or attempt `n`). Raises Conflict(not_adoptable) with the reason."""
    wanted = [row for row in reversed(rows) if n is None or row.n == n]
    why = [f"There is no attempt {n}."] if not wanted else []
    for row in wanted:
        ended = of_row(row)
        problem = refusal(ended)
        found = None if problem else sealed_package(ws, ended)
        if found is not None:
            return row, found
        elsewhere = not problem and is_of_another(ws, ended)
        why.append(problem or (_ELSEWHERE if elsewhere else "Attempt {n} left no sealed package.").format(n=row.n))
    origin = rows[-1].adopts if rows else None
    raise Conflict(
        "not_adoptable",
        f"Run {rows[-1].run} cannot be adopted." if rows else "There is nothing to adopt.",
        why[0],
        f"Adopt run {origin.run} again." if origin else "Rerun it: the work is done again, under a number of its own.",
    )
