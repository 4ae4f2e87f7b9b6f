"""The documents of `show`, `runs` and `facts` (§16): everything known of a run, as one JSON object.

History comes from the store; the live part of an open attempt from its spool. What may be done next is computed from
the status table, never guessed. Files of an unsuccessful attempt are listed as what they are: not a result (R13).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum import clock
from actum.limits import UNVERIFIED_FILES_LISTED_MAX
from actum.model.status import ARROWS, RUN_TERMINAL, AttemptEvent, Pair, Phase, RunStatus, Status
from actum.store import adoptable, live
from actum.store.live import LiveState, time_text
from actum.store.queries import Reader
from actum.store.rows import AlertRow, AttemptDetail, FactRow, ResultView, RunListRow, RunRow
from actum.workspace import Workspace

UNVERIFIED = "not a result, not verified"
_UNSUCCESSFUL = frozenset({Status.FAILED, Status.START_FAILED, Status.TIMEOUT, Status.STOPPED})


def show_document(reader: Reader, ws: Workspace, run: int | str) -> dict[str, Any]:
    """The document of `show --json`. `run` is a number or an id. Raises NotFound."""
    with reader.snapshot():
        row = reader.run(run)
        attempts = reader.attempts(row.number)
        facts = reader.facts(row.number)
        result = reader.result(row.number)
        inputs = reader.attempt_rows(open_only=False, run=row.number)[-1].inputs
        alerts = reader.alerts(run=row.number)
        set_us = reader.clock_set_us(row.number)
        adoption = _adoption(reader, ws, row, attempts, facts)
    now_us = clock.utc_us()
    current = next(attempt for attempt in attempts if attempt.id == row.current_attempt)
    folder = ws.attempt_folder(row.number, current.n)
    state = live.read(folder, current.session) if current.phase != Phase.CLOSED else LiveState()
    return {
        "schema": "actum.show/1",
        "run": row.number,
        "id": row.id,
        "task": row.task,
        "task_version": row.task_version,
        "trigger": row.trigger,
        "key": row.key,
        "labels": list(row.labels),
        "parameters": dict(row.parameters),
        "status": row.status,
        "phase": current.phase,
        "released": current.released,
        "contact": _contact(current),
        "created_at": time_text(row.created_at_us),
        "started_at": time_text(row.started_at_us),
        "finished_at": time_text(row.finished_at_us),
        "duration_s": _duration(row, now_us, set_us, state.active_s or (current.activity or {}).get("active_s")),
        "retry_at": time_text(row.retry_at_us),
        "rerun_of": row.rerun_of,
        "adoption": adoption,
        "request_digest": row.request_digest,
        "progress": state.progress or live.progress(current.progress),
        "heartbeat_at": state.heartbeat_at,
        "activity": state.activity or live.activity(current.activity),
        "processes": state.processes,
        "deadlines": live.deadlines(row.contract, state, _launched(facts, current), now_us),
        "stop": _stop(row, current, now_us),
        "failure": _failure(current),
        "attempts": [_attempt(attempt) for attempt in attempts],
        "facts": [_fact(fact) for fact in facts],
        "result": None if result is None else _result(ws, result),
        "inputs": [
            {
                "name": item.name,
                "path": item.path,
                "policy": item.policy,
                "sha256": item.sha256,
                "size": item.size,
                "store": item.store,
            }
            for item in inputs
        ],
        "environment": current.environment,
        "code": current.code,
        "alerts": [alert_document(alert) for alert in alerts],
        "allowed_actions": [*allowed_actions(row, current, result), *(["adopt"] if adoption["offer"] else [])],
        "unverified_files": unverified_files(folder, current),
    }


def runs_document(row: RunListRow, ws: Workspace) -> dict[str, Any]:
    """One line of `runs --json`; the progress of work that computes is read from its spool."""
    computing = row.phase in (Phase.COMPUTING, Phase.SEALING)
    state = live.read(ws.attempt_folder(row.number, row.n), None) if computing else LiveState()
    return {
        "schema": "actum.runs/1",
        "run": row.number,
        "id": row.id,
        "task": row.task,
        "task_version": row.task_version,
        "trigger": row.trigger,
        "key": row.key,
        "labels": list(row.labels),
        "status": row.status,
        "phase": row.phase,
        "released": row.released,
        "contact": {"state": row.contact},
        "created_at": time_text(row.created_at_us),
        "started_at": time_text(row.started_at_us),
        "finished_at": time_text(row.finished_at_us),
        "attempt": row.attempt,
        "n": row.n,
        "progress": state.progress or live.progress(row.progress),
        "failure": None if row.failure_code is None else {"code": row.failure_code},
        "result": None if row.result_digest is None else {"digest": row.result_digest},
    }


def facts_document(reader: Reader, run: int | str) -> list[dict[str, Any]]:
    """The lines of `facts --json`. Raises NotFound."""
    number = reader.resolve(run)
    return [{"schema": "actum.facts/1", "run": number, **_fact(fact)} for fact in reader.facts(number)]


def alert_document(alert: AlertRow) -> dict[str, Any]:
    return {
        "key": alert.key,
        "code": alert.code,
        "severity": alert.severity,
        "run": alert.run,
        "data": dict(alert.data),
        "opened_at": time_text(alert.opened_at_us),
        "raised_at": time_text(alert.raised_at_us),
        "cleared_at": time_text(alert.cleared_at_us),
    }


def allowed_actions(row: RunRow, current: AttemptDetail, result: ResultView | None) -> list[str]:
    """What a person may do with the run now, as verbs of the command line."""
    if row.deletion != "none":
        return []
    pair = Pair(Status(current.status), Phase(current.phase))
    if row.status == RunStatus.RETRYING:
        return ["stop"]
    if row.status not in RUN_TERMINAL:
        return ["stop"] if AttemptEvent.STOP_ASKED in ARROWS[pair] else []
    return ["rerun", "export", "verify"] if result is not None else ["rerun"]


def _adoption(
    reader: Reader, ws: Workspace, row: RunRow, attempts: Sequence[AttemptDetail], facts: Sequence[FactRow]
) -> dict[str, Any]:
    """Which attempt this run adopts, which run adopts one of its, and what it left that could be adopted now (R03)."""
    origin = None if row.adopted_attempt is None else reader.adopted_from(row.adopted_attempt)
    by, offer = None, None
    for attempt in reversed(attempts):
        newest = reader.adopted_by(attempt.id) if attempt.status in adoptable.ADOPTABLE else None
        by = by or (newest.number if newest is not None and newest.stands else None)
        ended = adoptable.of_detail(row, attempt, facts)
        sealed = None if by or offer or adoptable.refusal(ended) else adoptable.sealed_package(ws, ended)
        if sealed is not None:
            offer = {"n": attempt.n, "sealed_by": sealed.sealed_by, "manifest_sha256": sealed.manifest_sha256}
            offer["after"] = None if newest is None else {"run": newest.number, "status": newest.status}
    of = None if origin is None else {"run": origin[0], "n": origin[1], "attempt": row.adopted_attempt}
    return {"of": None if of is None else {**of, "again": _adoptable_again(reader, ws, row)}, "by": by, "offer": offer}


def _adoptable_again(reader: Reader, ws: Workspace, row: RunRow) -> bool:
    """Whether this adoption ended without a result, and what it took up can be taken up by the next (P16)."""
    attempt = str(row.adopted_attempt)
    newest = reader.adopted_by(attempt)
    if newest is None or newest.number != row.number or newest.stands:
        return False
    old = reader.attempt_row(attempt)
    ended = None if old is None else adoptable.of_row(old)
    return ended is not None and not adoptable.refusal(ended) and adoptable.sealed_package(ws, ended) is not None


def unverified_files(folder: Path, attempt: AttemptDetail) -> dict[str, Any] | None:
    """What an unsuccessful attempt left in its staging folder, labelled (R13); None when there is nothing."""
    if attempt.status not in _UNSUCCESSFUL:
        return None
    place = folder / "staging" / "files"
    found = sorted(_files(place))
    if not found:
        return None
    return {
        "label": UNVERIFIED,
        "folder": str(place),
        "files": [{"name": name, "size": size} for name, size in found[:UNVERIFIED_FILES_LISTED_MAX]],
        "more": max(0, len(found) - UNVERIFIED_FILES_LISTED_MAX),
    }


def _files(place: Path) -> list[tuple[str, int]]:
    """Regular files below `place`; links are not followed."""
    found = []
    for parent, _, names in os.walk(place, followlinks=False):
        for name in names:
            path = Path(parent, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            found.append((path.relative_to(place).as_posix(), status.st_size))
    return found


def _contact(attempt: AttemptDetail) -> dict[str, Any]:
    return {"state": attempt.contact, "since": time_text(attempt.contact_since_us), "why": attempt.contact_why}


def _duration(row: RunRow, now_us: int, set_us: int, active_s: object) -> float | None:
    """Seconds it took, or has taken so far; what the wall clock was set by meanwhile is no time that passed."""
    if row.started_at_us is None:
        return None
    return clock.passed_s(row.started_at_us, row.finished_at_us or now_us, set_us=set_us, active_s=active_s)


def _launched(facts: Sequence[FactRow], attempt: AttemptDetail) -> int | None:
    """When the start deadline began to count; None when it does not count any more."""
    if attempt.phase != Phase.LAUNCHING:
        return None
    return next((fact.at_us for fact in facts if fact.attempt == attempt.id and fact.fact == "launched"), None)


def _stop(row: RunRow, attempt: AttemptDetail, now_us: int) -> dict[str, Any] | None:
    """The stage a stop has reached. `next_in_s` counts down to the next one while there is one.

    A stage recorded before the stop was asked is of a host that was told to leave after its attempt had failed.
    """
    if row.stop_requested_at_us is None:
        return None
    recorded = attempt.stop_stage or {}
    if recorded.get("at_us", 0) < row.stop_requested_at_us:
        recorded = {"stage": "released"} if attempt.released else {}
    at_us = recorded.get("at_us", row.stop_requested_at_us)
    left = recorded.get("next_in_s")
    counting = isinstance(left, int | float) and attempt.phase != Phase.CLOSED
    return {
        "stage": recorded.get("stage", "requested"),
        "at": time_text(at_us),
        "next_in_s": max(0.0, left - max(0, now_us - at_us) / clock.US) if counting else None,  # the clock may go back
        "asked_at": time_text(row.stop_requested_at_us),
    }


def _failure(attempt: AttemptDetail) -> dict[str, Any] | None:
    if attempt.failure_code is None:
        return None
    return {"code": attempt.failure_code, "message": attempt.failure_message, "details": attempt.failure_details}


def _attempt(attempt: AttemptDetail) -> dict[str, Any]:
    identity: Mapping[str, Any] = attempt.host_identity or {}
    return {
        "attempt": attempt.id,
        "n": attempt.n,
        "session": attempt.session,
        "service_instance": attempt.service_instance,
        "engine": "local",
        "engine_job": None,
        "pid": identity.get("pid"),
        "status": attempt.status,
        "phase": attempt.phase,
        "released": attempt.released,
        "contact": _contact(attempt),
        "exit": {"code": attempt.exit_code, "signal": attempt.exit_signal},
        "failure": _failure(attempt),
        "started_at": time_text(attempt.started_at_us),
        "finished_at": time_text(attempt.finished_at_us),
    }


def _fact(fact: FactRow) -> dict[str, Any]:
    evidence = {**fact.evidence, "observer": fact.observer, "epoch": fact.epoch}
    return {"fact": fact.fact, "at": time_text(fact.at_us), "attempt": fact.attempt, "evidence": evidence}


def _result(ws: Workspace, result: ResultView) -> dict[str, Any]:
    check = result.check
    return {
        "id": result.id,
        "state": "unchecked" if check is None else check.state,
        "reason": "" if check is None else check.reason,
        "checked_at": None if check is None else time_text(check.at_us),
        "checked_level": None if check is None else check.level,
        "path": str(ws.path / result.path),
        "digest": result.digest,
        "size_bytes": result.size_bytes,
        "rows": result.rows_total,
        "metrics": [dict(metric) for metric in result.metrics],
        "tables": [dict(table) for table in result.tables],
        "files": [dict(file) for file in result.files],
    }
