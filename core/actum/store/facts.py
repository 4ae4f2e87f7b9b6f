"""Fact rows: each established once per attempt, never edited (R01).

The insert is *insert or ignore*; when the row is there already and the second observation differs, that is a journal row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import bindparam, select

from actum.model.facts import Fact
from actum.store import journal
from actum.store.jsontext import to_text
from actum.store.schema import fact
from actum.store.sql import Insertion, Statement
from actum.store.writing import Session

_insert = Insertion(fact, ("attempt", "fact", "at_us", "evidence"), once=True)
_found = Statement(
    select(fact.c.evidence, fact.c.at_us).where(fact.c.attempt == bindparam("v_attempt"), fact.c.fact == bindparam("v_fact"))
)


def add(session: Session, run: int, attempt_seq: int, facts: Iterable[Fact]) -> None:
    """Write facts in the order given; one that is known stays as it is."""
    for wanted in facts:
        evidence = to_text(dict(wanted.evidence))
        inserted = _insert.run(
            session.connection,
            session.mine,
            attempt=attempt_seq,
            fact=wanted.name.value,
            at_us=wanted.at_us,
            evidence=evidence,
        )
        if inserted.rowcount == 0:
            _second_observation(session, run, attempt_seq, wanted, evidence)


def _second_observation(session: Session, run: int, attempt_seq: int, wanted: Fact, evidence: str) -> None:
    known = _found.run(session.connection, v_attempt=attempt_seq, v_fact=wanted.name.value).fetchone()
    if known is None or known["evidence"] == evidence:
        return
    journal.add_entry(
        session,
        run,
        attempt_seq,
        "fact_observed_again",
        wanted.at_us,
        {"fact": wanted.name.value, "recorded": json.loads(known["evidence"]), "seen": dict(wanted.evidence)},
    )
