"""Admission: a run and its attempt 1, or the run that has the key already (R04, R05); and attempt n+1 of a retry.

The look-up by key decides; the unique index `run_key` is the last defence, and answers the same way when the look-up is
missing.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import bindparam, select

from actum.model.changes import Admit, Changes, NextAttempt, Persisted, RefusalKind
from actum.model.run import AttemptRow, Deletion
from actum.model.status import RunStatus, Status, run_status
from actum.store import adoption, facts, inputs, journal, loading, runs
from actum.store.jsontext import to_text
from actum.store.schema import attempt, run, task, task_version
from actum.store.sql import Insertion, Statement
from actum.store.writing import Refusal, Session

_by_key = Statement(select(run.c.number, run.c.request_digest, run.c.deletion).where(run.c.key == bindparam("v_key")))
_version = Statement(
    select(task_version.c.seq, task.c.disabled)
    .join(task, task.c.name == task_version.c.task)
    .where(
        task_version.c.task == bindparam("v_task"),
        task_version.c.version == bindparam("v_version"),
        task_version.c.contract_digest == bindparam("v_digest"),
    )
)
_insert_run = Insertion(
    run,
    (
        "id",
        "task",
        "task_version",
        "key",
        "request_digest",
        "request",
        "parameters",
        "trigger",
        "labels",
        "current_attempt",
        "created_at_us",
        "rerun_of",
        "adopted_attempt",
        "admitted_epoch",
    ),
)
_insert_attempt = Insertion(attempt, ("id", "run", "n", "created_at_us"))


def admit(session: Session, request: Admit) -> Persisted:
    """Insert, or find the run that has this key. Raises Refusal."""
    if session.key_lookup:
        known = _known(session, request)
        if known is not None:
            return known
    version = _version.run(
        session.connection, v_task=request.task, v_version=request.task_version, v_digest=request.contract_digest
    ).fetchone()
    if version is None:
        raise Refusal(RefusalKind.TASK, f"There is no task “{request.task}” of version {request.task_version}.")
    if version["disabled"] and request.adopts is None:  # an adoption starts no work
        raise Refusal(RefusalKind.TASK, f"The task “{request.task}” is disabled.", details={"code": "task_disabled"})
    if request.adopts is not None:
        adoption.refuse(session, request.adopts)
    try:
        number = _insert(session, request, version["seq"])
    except sqlite3.IntegrityError as error:
        if "run.key" not in str(error) and "run.adopted_attempt" not in str(error):
            raise
        known = _known(session, request)
        if known is None and request.adopts is not None:
            raise adoption.taken(session, request.adopts) from error
        if known is None:
            raise
        return known
    seq = _add_attempt(session, number, request.attempt, 1, request.at_us)
    inputs.add(session, number, request.inputs)
    facts.add(session, number, seq, (request.fact,))
    journal.add_entries(session, number, seq, request.journal)
    touched = {number}
    if request.adopts is not None:
        touched.add(adoption.begun(session, number, seq, request))
    row = loading.one(session.connection, request.attempt)
    changes = Changes(frozenset(touched), frozenset({request.task}), alerts=request.adopts is not None)
    return Persisted(changes, row, created=True)


def next_attempt(session: Session, request: NextAttempt) -> Persisted:
    """Attempt n+1 with the run's frozen inputs. Raises Refusal unless the run waits for it and attempt n is released."""

    row = loading.current(session.connection, request.run)
    problem = _no_next(row, request)
    if problem or row is None:
        raise Refusal(RefusalKind.CONDITION, problem, row)
    seq = _add_attempt(session, request.run, request.attempt, request.n, request.at_us)
    created = run_status(Status.CREATED, retries=False)
    runs.move_run(session, request.run, RunStatus.RETRYING, request.previous, created, request.attempt)
    facts.add(session, request.run, seq, request.facts)
    journal.add_entries(session, request.run, seq, request.journal)
    return Persisted(Changes(frozenset({request.run})), loading.one(session.connection, request.attempt), created=True)


def _known(session: Session, request: Admit) -> Persisted | None:
    """The answer for a key that is taken; None when it is free. A purged run keeps its key for ever (P25)."""
    found = _by_key.run(session.connection, v_key=request.key).fetchone()
    if found is None:
        return None
    row = loading.current(session.connection, found["number"])
    if found["request_digest"] == request.request_digest:
        return Persisted(Changes(), row, created=False)
    raise Refusal(
        RefusalKind.KEY,
        f"The key “{request.key}” belongs to run {found['number']}, which has another request.",
        row,
        {
            "run": found["number"],
            "deletion": found["deletion"],
            "request_digest": found["request_digest"],
            "other_request_digest": request.request_digest,
        },
    )


def _no_next(row: AttemptRow | None, request: NextAttempt) -> str:
    if row is None or row.run_status is not RunStatus.RETRYING:
        return f"Run {request.run} is not waiting for a retry."
    if row.attempt != request.previous or row.n + 1 != request.n:
        return f"Attempt {request.n} of run {request.run} does not follow the current one."
    if not row.released:
        return f"Attempt {row.n} of run {request.run} is not released."
    if row.stop_requested_at_us is not None or row.deletion is not Deletion.NONE:
        return f"A stop or delete of run {request.run} was asked."
    return ""


def _insert(session: Session, request: Admit, version_seq: int) -> int:
    cursor = _insert_run.run(
        session.connection,
        session.mine,
        id=request.run_id,
        task=request.task,
        task_version=version_seq,
        key=request.key,
        request_digest=request.request_digest,
        request=request.request,
        parameters=to_text(dict(request.parameters)),
        trigger=request.trigger,
        labels=to_text(list(request.labels)),
        current_attempt=request.attempt,
        created_at_us=request.at_us,
        rerun_of=request.rerun_of,
        adopted_attempt=request.adopts,
        admitted_epoch=session.mine,
    )
    return _inserted(cursor, "run")


def _add_attempt(session: Session, number: int, attempt_id: str, n: int, at_us: int) -> int:
    cursor = _insert_attempt.run(session.connection, session.mine, id=attempt_id, run=number, n=n, created_at_us=at_us)
    return _inserted(cursor, "attempt")


def _inserted(cursor: sqlite3.Cursor, what: str) -> int:
    if cursor.rowcount != 1 or cursor.lastrowid is None:
        raise Refusal(RefusalKind.EPOCH, f"The {what} was not written: a newer service instance exists.")
    return cursor.lastrowid
