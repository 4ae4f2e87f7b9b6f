"""Checks of facts: in order, complete where success is claimed, agreeing with the release (R01, R06)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from actum.model.facts import FACTS, POSITION, FactName, is_prefix
from actum.model.status import Status
from actum.store.audit.report import Finding, Look

_KNOWN = {name.value for name in FACTS}
_ON_THE_WAY = frozenset({Status.CREATED, Status.STARTING, Status.RUNNING, Status.SUCCEEDED})
_ONLY_OF_SUCCESS = (FactName.REFERENCE_COMMITTED, FactName.SUCCEEDED)
_BACKUP = "Something other than Actum wrote this row; compare it with a copy from backups/."
_FACTS = (
    "SELECT a.run, a.n, a.status, a.released, a.session, (SELECT group_concat(fact) FROM fact WHERE attempt = a.seq) AS names"
    " FROM attempt a ORDER BY a.run, a.n"
)


def fact_order(look: Look) -> Iterator[Finding]:
    """The facts of an attempt on its way to success are the first k of the fourteen; others have `admitted` at least."""
    for row in look.each(_FACTS):
        names = _names(row)
        unknown = sorted(set(names) - _KNOWN)
        if unknown:
            yield look.finding(_subject(row), f"It has facts nobody knows: {', '.join(unknown)}.", _BACKUP)
            continue
        ordered = sorted((FactName(name) for name in names), key=POSITION.__getitem__)
        if row["status"] in _ON_THE_WAY and not is_prefix(ordered):
            missing = next(name for name, found in zip(FACTS, [*ordered, None], strict=False) if name is not found)
            yield look.finding(_subject(row), f"It has later facts, but not “{missing.value}”.", _BACKUP)
        elif FactName.ADMITTED not in ordered:
            yield look.finding(_subject(row), "It was never admitted.", _BACKUP)


def success_proven(look: Look) -> Iterator[Finding]:
    """SUCCEEDED has all fourteen facts and a result row; nothing else claims its last two facts or has a result."""
    results = {
        row[0] for row in look.reader.connection.execute("SELECT a.id FROM result r JOIN attempt a ON a.seq = r.attempt")
    }
    for row in look.each(_FACTS.replace("SELECT ", "SELECT a.id, ", 1)):
        names = _names(row)
        succeeded = row["status"] == Status.SUCCEEDED
        if succeeded and set(names) != _KNOWN:
            missing = [name.value for name in FACTS if name.value not in names]
            yield look.finding(_subject(row), f"It is SUCCEEDED without: {', '.join(missing)}.", _BACKUP)
        if succeeded and row["id"] not in results:
            yield look.finding(_subject(row), "It is SUCCEEDED without a result row.", _BACKUP)
        if not succeeded and row["id"] in results:
            yield look.finding(_subject(row), f"It has a result, but is {row['status']}.", _BACKUP)
        if not succeeded and any(name.value in names for name in _ONLY_OF_SUCCESS):
            yield look.finding(_subject(row), f"It has a fact of success, but is {row['status']}.", _BACKUP)


def released_facts(look: Look) -> Iterator[Finding]:
    """An attempt that was launched is released with a `released` fact, and no other way."""
    for row in look.each(_FACTS):
        names = _names(row)
        fact = FactName.RELEASED.value in names
        if fact and not row["released"]:
            yield look.finding(_subject(row), "It has the fact “released”, but holds its slot.", _BACKUP)
        if row["released"] and not fact and FactName.LAUNCHED.value in names:
            yield look.finding(_subject(row), "It was launched and let go without the fact “released”.", _BACKUP)


def _names(row: Mapping[str, Any]) -> list[str]:
    return [] if row["names"] is None else str(row["names"]).split(",")


def _subject(row: Mapping[str, Any]) -> str:
    return f"run {row['run']}, attempt {row['n']}"


CHECKS = (
    ("fact_order", "Facts are the first of the fourteen, in order", fact_order),
    ("success_proven", "Every success is proven by all its facts", success_proven),
    ("released_facts", "Release is on the record", released_facts),
)
