"""Checks of adoptions: each names an attempt that could be adopted, takes over its facts, published its package (R03, P16)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from actum.model.facts import FACTS, FactName
from actum.model.run import Deletion, Trigger
from actum.model.status import RUN_TERMINAL
from actum.results import manifest
from actum.store.adoptable import ADOPTABLE
from actum.store.audit.report import Finding, Look

_BACKUP = "Something other than Actum wrote this row; compare it with a copy from backups/."
_INHERITED = frozenset(name.value for name in FACTS[FACTS.index(FactName.INPUTS_FROZEN) : FACTS.index(FactName.RELEASED) + 1])


def adoptions(look: Look) -> Iterator[Finding]:
    """A run with trigger adoption names a released attempt that ended without a result, of a run that is kept meanwhile."""
    rows = look.each(
        "SELECT r.number, r.status, r.trigger, r.adopted_attempt, a.run, a.n, a.status AS was, a.released, o.deletion"
        " FROM run r LEFT JOIN attempt a ON a.id = r.adopted_attempt LEFT JOIN run o ON o.number = a.run"
        " WHERE r.adopted_attempt IS NOT NULL OR r.trigger = ? ORDER BY r.number",
        Trigger.ADOPTION.value,
    )
    for row in rows:
        subject = f"run {row['number']}"
        if row["adopted_attempt"] is None or row["trigger"] != Trigger.ADOPTION:
            yield look.finding(subject, "Its trigger and the attempt it adopts do not agree.", _BACKUP)
        elif row["run"] is None:
            yield look.finding(subject, "The attempt it adopts does not exist.", _BACKUP)
        elif row["was"] not in ADOPTABLE or not row["released"]:
            yield look.finding(subject, f"It adopts attempt {row['n']} of run {row['run']}, which is {row['was']}.", _BACKUP)
        elif row["deletion"] != Deletion.NONE and row["status"] not in RUN_TERMINAL:
            yield look.finding(subject, f"It is open, and run {row['run']}, whose package it reads, is deleted.", _BACKUP)


def adopted_facts(look: Look) -> Iterator[Finding]:
    """What was established of the old attempt says so in the new run's facts, and nothing else does."""
    rows = look.each(
        "SELECT a.run, a.n, f.fact, f.evidence, r.adopted_attempt FROM fact f JOIN attempt a ON a.seq = f.attempt"
        " JOIN run r ON r.number = a.run WHERE r.adopted_attempt IS NOT NULL OR f.evidence LIKE ? ORDER BY a.run",
        '%"method":"adopted"%',
    )
    for row in rows:
        evidence = json.loads(row["evidence"])
        inherited = evidence.get("method") == "adopted"
        subject = f"run {row['run']}, attempt {row['n']}, {row['fact']}"
        if inherited != (row["adopted_attempt"] is not None and row["fact"] in _INHERITED):
            yield look.finding(subject, "Its evidence does not say rightly whether the fact was taken over.", _BACKUP)
        elif inherited and (evidence.get("from") or {}).get("attempt") != row["adopted_attempt"]:
            yield look.finding(subject, "It was taken over from another attempt than the one the run adopts.", _BACKUP)


def adopted_packages(look: Look) -> Iterator[Finding]:
    """The package of an adopted result was sealed for the attempt that the run adopts."""
    rows = list(
        look.each(
            "SELECT res.run, res.path, r.adopted_attempt FROM result res JOIN run r ON r.number = res.run"
            " WHERE r.adopted_attempt IS NOT NULL ORDER BY res.run"
        )
    )
    for row in rows:
        try:
            document, _ = manifest.read_manifest(look.ws.path / row["path"])
        except (OSError, manifest.NotAPackage):
            continue  # that is said by the check of packages
        if document.get("attempt") != row["adopted_attempt"]:
            remedy = f"`actum verify {row['run']}` records what holds now; put the package back from a backup of results/."
            what = "It is not the package of the attempt the run adopts."
            yield look.finding(f"run {row['run']}, {row['path']}", what, remedy)


CHECKS = (
    ("adoptions", "Every adoption names what could be adopted", adoptions),
    ("adopted_facts", "Facts that were taken over say so", adopted_facts),
    ("adopted_packages", "Adopted results are what was sealed then", adopted_packages),
)
