"""One transition of one attempt, and what its run becomes in the same transaction (R01, R02, R06, P09, P10, P23).

`_attempt_status` is the only statement in the program that writes attempt.status, `_run_status` the only one that writes
run.status; both get the next status from `model.status`, never from a request. Facts and the result row are written
before the status, so that the database itself can refuse a success that is not proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, select, update

from actum.model.changes import ATTEMPT_COLUMNS, RUN_COLUMNS, Arrow, Change, Changes, Persisted, RefusalKind, StopRun
from actum.model.run import Deletion
from actum.model.status import (
    RELEASING,
    RUN_TERMINAL,
    TERMINAL,
    AttemptEvent,
    IllegalArrow,
    Pair,
    RunStatus,
    Status,
    after,
    run_status,
)
from actum.store import facts, inputs, journal, loading, results
from actum.store.jsontext import to_text_or_none
from actum.store.schema import attempt, run
from actum.store.sql import MINE, Statement
from actum.store.writing import Refusal, Session

JSON_COLUMNS = frozenset(
    {"host_identity", "failure_details", "progress", "activity", "environment", "code", "stop_stage", "labels"}
)

_state = Statement(
    select(
        attempt.c.seq,
        attempt.c.run,
        attempt.c.status,
        attempt.c.phase,
        attempt.c.released,
        run.c.status.label("run_status"),
        run.c.current_attempt,
        run.c.stop_requested_at_us,
        run.c.deletion,
        run.c.adopted_attempt,
    )
    .join(run, run.c.number == attempt.c.run)
    .where(attempt.c.id == bindparam("v_attempt"))
)
_attempt_status = Statement(
    update(attempt)
    .where(
        attempt.c.id == bindparam("v_attempt"),
        attempt.c.status == bindparam("v_status_before"),
        attempt.c.phase == bindparam("v_phase_before"),
        select(run.c.current_attempt).where(run.c.number == attempt.c.run).scalar_subquery() == attempt.c.id,
        MINE,
    )
    .values(
        status=bindparam("v_status"),
        phase=bindparam("v_phase"),
        released=func.max(attempt.c.released, bindparam("v_released")),
        finished_at_us=func.coalesce(attempt.c.finished_at_us, bindparam("v_finished_at_us")),
        epoch=bindparam("mine"),
    )
)
_run_status = Statement(
    update(run)
    .where(
        run.c.number == bindparam("v_run"),
        run.c.status == bindparam("v_status_before"),
        run.c.current_attempt == bindparam("v_attempt_before"),
        MINE,
    )
    .values(
        status=bindparam("v_status"),
        current_attempt=bindparam("v_attempt"),
        retry_at_us=bindparam("v_retry_at_us"),
        finished_at_us=bindparam("v_finished_at_us"),
        epoch=bindparam("mine"),
    )
)
_run_started = Statement(
    update(run)
    .where(run.c.number == bindparam("v_run"), run.c.started_at_us.is_(None), MINE)
    .values(started_at_us=bindparam("v_at_us"), epoch=bindparam("mine"))
)
_stop_asked = Statement(
    update(run)
    .where(run.c.number == bindparam("v_run"), run.c.stop_requested_at_us.is_(None), MINE)
    .values(stop_requested_at_us=bindparam("v_at_us"), epoch=bindparam("mine"))
)


def refuse_columns(request: Change) -> None:
    """Raises ValueError for a column that no request may set (a bug of the caller, found in the caller's thread)."""
    wrong = (set(request.columns) - ATTEMPT_COLUMNS) | (set(request.run_columns) - RUN_COLUMNS)
    if wrong:
        raise ValueError(f"a change may not set {', '.join(sorted(wrong))}")


def change(session: Session, request: Change) -> Persisted:
    """One transaction about one attempt. Raises Refusal."""
    state = _state.run(session.connection, v_attempt=request.attempt).fetchone()
    if state is None:
        raise Refusal(RefusalKind.CONDITION, f"There is no attempt {request.attempt}.")
    believed = request.arrow.before if request.arrow else request.expects
    if believed is not None and (state["status"], state["phase"]) != tuple(believed):
        raise _not_there(session, request.attempt, f"The attempt is {state['status']} / {state['phase']}, not {believed}.")
    target = _target(session, request)
    if request.arrow is not None and request.arrow.event is AttemptEvent.ADOPTED and state["adopted_attempt"] is None:
        raise _not_there(session, request.attempt, "The run adopts nothing: it begins with its inputs.")
    seq, number = state["seq"], state["run"]
    facts.add(session, number, seq, request.facts)
    if request.inputs is not None:
        inputs.freeze(session, number, request.inputs)
    if request.result is not None:
        results.commit(session, number, seq, request.result)
    _set_run_columns(session, number, request.run_columns)
    _set_columns(session, request.attempt, number, request.columns)
    if request.arrow is not None and target is not None:
        _follow(session, request, request.arrow, target, state)
    journal.add_entries(session, number, seq, request.journal)
    journal.add_records(session, seq, request.records)
    alerts = journal.set_alerts(session, number, request.alerts)
    row = loading.one(session.connection, request.attempt)
    return Persisted(Changes(frozenset({number}), alerts=alerts), row)


def stop_run(session: Session, request: StopRun) -> Persisted:
    """RETRYING → STOPPED; the attempt keeps its status (P10). Raises Refusal."""
    row = loading.current(session.connection, request.run)
    if row is None or row.run_status is not RunStatus.RETRYING:
        raise Refusal(RefusalKind.CONDITION, f"Run {request.run} is not waiting for a retry.", row)
    _set_run_columns(session, request.run, {"stop_requested_at_us": request.at_us})
    stopped = run_status(Status.STOPPED, retries=False)
    move_run(session, request.run, RunStatus.RETRYING, row.attempt, stopped, row.attempt)
    journal.add_entries(session, request.run, None, request.journal)
    return Persisted(Changes(frozenset({request.run})), loading.one(session.connection, row.attempt))


def move_run(
    session: Session,
    number: int,
    before: RunStatus,
    attempt_before: str,
    status: RunStatus,
    attempt_id: str,
    retry_at_us: int | None = None,
    finished_at_us: int | None = None,
) -> None:
    """Write run.status, conditional on what it was. Raises Refusal."""
    moved = _run_status.run(
        session.connection,
        mine=session.mine,
        v_run=number,
        v_status_before=before.value,
        v_attempt_before=attempt_before,
        v_status=status.value,
        v_attempt=attempt_id,
        v_retry_at_us=retry_at_us,
        v_finished_at_us=(finished_at_us or session.now_us) if status in RUN_TERMINAL else None,
    )
    if moved.rowcount != 1:
        raise Refusal(RefusalKind.CONDITION, f"Run {number} is not {before} any more.")


def _target(session: Session, request: Change) -> Pair | None:
    """What the table answers to the arrow; None without one. Raises Refusal where it has no such arrow."""
    if request.arrow is None:
        return None
    try:
        return after(request.arrow.before, request.arrow.event)
    except IllegalArrow as error:
        raise _not_there(session, request.attempt, str(error)) from error


def _follow(session: Session, request: Change, arrow: Arrow, target: Pair, state: Mapping[str, Any]) -> None:
    """Write the pair that the table answers, and the run's status with it."""
    moved = _attempt_status.run(
        session.connection,
        mine=session.mine,
        v_attempt=request.attempt,
        v_status_before=arrow.before.status.value,
        v_phase_before=arrow.before.phase.value,
        v_status=target.status.value,
        v_phase=target.phase.value,
        v_released=int(target in RELEASING),
        v_finished_at_us=session.now_us if target.status in TERMINAL else None,
    )
    if moved.rowcount != 1:
        raise _not_there(session, request.attempt, "The attempt is not the current one of its run.")
    if target.status is not arrow.before.status:
        _run_follows(session, request, arrow.before, target, state)
    if target != arrow.before:
        journal.add_entry(
            session,
            state["run"],
            state["seq"],
            "status_changed",
            session.now_us,
            {"from": list(arrow.before), "event": arrow.event.value, "to": list(target)},
        )


def _run_follows(session: Session, request: Change, before: Pair, target: Pair, state: Mapping[str, Any]) -> None:
    """The run has its current attempt's status, or RETRYING where the policy retries and nobody asked to stop (P09)."""
    stop_asked = state["stop_requested_at_us"] is not None or request.run_columns.get("stop_requested_at_us") is not None
    wanted = request.retry_at_us is not None and not stop_asked and state["deletion"] == Deletion.NONE.value
    status = run_status(target.status, retries=wanted)
    move_run(
        session,
        state["run"],
        run_status(before.status, retries=False),
        request.attempt,
        status,
        request.attempt,
        request.retry_at_us if status is RunStatus.RETRYING else None,
        request.columns.get("finished_at_us"),
    )


def _set_columns(session: Session, attempt_id: str, number: int, columns: Mapping[str, Any]) -> None:
    if not columns:
        return
    values = {f"v_{name}": to_text_or_none(value) if name in JSON_COLUMNS else value for name, value in columns.items()}
    _columns_of("attempt", tuple(sorted(columns))).run(session.connection, mine=session.mine, v_of=attempt_id, **values)
    if columns.get("started_at_us") is not None:
        _run_started.run(session.connection, mine=session.mine, v_run=number, v_at_us=columns["started_at_us"])


def _set_run_columns(session: Session, number: int, columns: Mapping[str, Any]) -> None:
    """The first stop counts: two stops are one."""
    asked = columns.get("stop_requested_at_us")
    if asked is not None:
        _stop_asked.run(session.connection, mine=session.mine, v_run=number, v_at_us=asked)
    if "labels" in columns:
        labels = to_text_or_none(list(columns["labels"]))
        _columns_of("run", ("labels",)).run(session.connection, mine=session.mine, v_of=number, v_labels=labels)


@lru_cache(maxsize=256)
def _columns_of(table: str, names: tuple[str, ...]) -> Statement:
    values: dict[str, BindParameter[Any]] = {name: bindparam(f"v_{name}") for name in names}
    if table == "run":
        return Statement(update(run).where(run.c.number == bindparam("v_of"), MINE).values(**values, epoch=bindparam("mine")))
    return Statement(update(attempt).where(attempt.c.id == bindparam("v_of"), MINE).values(**values, epoch=bindparam("mine")))


def _not_there(session: Session, attempt_id: str, message: str) -> Refusal:
    return Refusal(RefusalKind.CONDITION, message, loading.one(session.connection, attempt_id))
