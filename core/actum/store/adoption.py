"""Adoption in the store: a new run takes up the sealed package of an attempt that was closed without it (R03, P16).

The old run is not touched but by a row in its journal and by its offer, which is answered now. One adoption of an attempt
stands at most, open or succeeded: the index `run_adopted_once` is the last defence, and asking again finds the run that is
there. One that was stopped or refused stands no longer, and the next may be asked for. The triggers `run_adopts` and
`run_adopted` refuse the rest: an attempt that is not released, one of a deleted run, and deletion under an open adoption.
"""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from actum.model.changes import Admit, ClearAlert, JournalEntry, RefusalKind
from actum.model.run import Deletion
from actum.store import journal
from actum.store.adoptable import ADOPTABLE, offer_key
from actum.store.schema import attempt, run
from actum.store.sql import MINE, Statement
from actum.store.writing import Refusal, Session

_origin = Statement(
    select(
        attempt.c.seq,
        attempt.c.run,
        attempt.c.n,
        attempt.c.status,
        attempt.c.released,
        attempt.c.code,
        attempt.c.environment,
        run.c.deletion,
        run.c.adopted_attempt,
    )
    .join(run, run.c.number == attempt.c.run)
    .where(attempt.c.id == bindparam("v_attempt"))
)
_by = Statement(
    select(run.c.number).where(run.c.adopted_attempt == bindparam("v_attempt")).order_by(run.c.number.desc()).limit(1)
)
_inherits = Statement(
    update(attempt)
    .where(attempt.c.seq == bindparam("v_seq"), MINE)
    .values(code=bindparam("v_code"), environment=bindparam("v_environment"), epoch=bindparam("mine"))
)


def refuse(session: Session, attempt_id: str) -> None:
    """Raises Refusal where this attempt cannot be adopted."""
    row = _origin.run(session.connection, v_attempt=attempt_id).fetchone()
    problem = ""
    if row is None:
        problem = f"There is no attempt {attempt_id}."
    elif row["deletion"] != Deletion.NONE.value:
        problem = f"Run {row['run']} is in the trash."
    elif row["status"] not in ADOPTABLE or not row["released"]:
        problem = f"Attempt {row['n']} of run {row['run']} is {row['status']}; only one that ended without a result is adopted."
    elif row["adopted_attempt"] is not None:
        problem = f"Run {row['run']} is an adoption itself."
    if problem:
        raise Refusal(RefusalKind.CONDITION, problem)


def taken(session: Session, attempt_id: str) -> Refusal:
    """What to answer when the unique index says that a run with another key has adopted this attempt."""
    row = _by.run(session.connection, v_attempt=attempt_id).fetchone()
    return Refusal(RefusalKind.CONDITION, f"Run {row['number'] if row else '?'} has adopted it already.")


def begun(session: Session, number: int, seq: int, request: Admit) -> int:
    """Code and environment are those of the work that was done; the offer is answered. The number of the old run."""
    assert request.adopts is not None, "only an adoption begins like this"
    row = _origin.run(session.connection, v_attempt=request.adopts).fetchone()
    _inherits.run(session.connection, mine=session.mine, v_seq=seq, v_code=row["code"], v_environment=row["environment"])
    entry = JournalEntry("adopted_by", request.at_us, {"run": number, "n": row["n"]})
    journal.add_entries(session, row["run"], row["seq"], (entry,))
    journal.set_alerts(session, row["run"], (ClearAlert(offer_key(request.adopts), request.at_us),))
    return int(row["run"])
