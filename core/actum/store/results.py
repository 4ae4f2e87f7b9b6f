"""Result rows: what was published, what holds of it now, what was exported from it (R13, R16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, select

from actum.model.changes import AddExport, AddResultCheck, Changes, Persisted, RefusalKind, ResultRow
from actum.model.identity import uuid7
from actum.store import journal
from actum.store.jsontext import to_text
from actum.store.schema import attempt, export, result, result_check, result_file
from actum.store.sql import Insertion, Statement
from actum.store.writing import Refusal, Session

_insert = Insertion(
    result,
    (
        "attempt",
        "id",
        "run",
        "path",
        "digest",
        "derived_digest",
        "metrics",
        "tables",
        "rows_total",
        "size_bytes",
        "committed_at_us",
    ),
    once=True,
)
_insert_file = Insertion(result_file, ("attempt", "name", "role", "size", "sha256", "rows", "details"), once=True)
_insert_check = Insertion(result_check, ("run", "attempt", "state", "reason", "level", "details", "at_us"))
_insert_export = Insertion(
    export,
    ("run", "attempt", "name", "format", "profile", "path", "sha256", "size_bytes", "rows", "options", "at_us"),
)
_seq = Statement(select(attempt.c.seq).where(attempt.c.id == bindparam("v_attempt"), attempt.c.run == bindparam("v_run")))
_FILE_COLUMNS = frozenset({"name", "role", "size", "sha256", "rows"})


def commit(session: Session, number: int, seq: int, row: ResultRow) -> None:
    """The reference to a published package; written once per run, with SUCCEEDED."""
    _insert.run(
        session.connection,
        session.mine,
        attempt=seq,
        id=uuid7(session.now_us),
        run=number,
        path=row.path,
        digest=row.digest,
        derived_digest=row.derived_digest,
        metrics=to_text([dict(metric) for metric in row.metrics]),
        tables=to_text([dict(table) for table in row.tables]),
        rows_total=row.rows_total,
        size_bytes=row.size_bytes,
        committed_at_us=session.now_us,
    )
    for file in row.files:
        _add_file(session, seq, file)


def add_check(session: Session, request: AddResultCheck) -> Persisted:
    """One look at a published package. Raises Refusal for an attempt that is not of this run."""
    _insert_check.run(
        session.connection,
        session.mine,
        run=request.run,
        attempt=_of(session, request.run, request.attempt),
        state=request.state,
        reason=request.reason,
        level=request.level,
        details=to_text(dict(request.details)),
        at_us=request.at_us,
    )
    return Persisted(Changes(frozenset({request.run})))


def add_export(session: Session, request: AddExport) -> Persisted:
    """One file given to the user, with its digest, and a journal row. Raises Refusal as `add_check`."""
    seq = _of(session, request.run, request.attempt)
    _insert_export.run(
        session.connection,
        session.mine,
        run=request.run,
        attempt=seq,
        name=request.name,
        format=request.format,
        profile=request.profile,
        path=request.path,
        sha256=request.sha256,
        size_bytes=request.size_bytes,
        rows=request.rows,
        options=to_text(dict(request.options)),
        at_us=request.at_us,
    )
    data = {"name": request.name, "format": request.format, "profile": request.profile, "path": request.path}
    journal.add_entry(session, request.run, seq, "exported", request.at_us, {**data, "sha256": request.sha256})
    return Persisted(Changes(frozenset({request.run})))


def _of(session: Session, number: int, attempt_id: str) -> int:
    row = _seq.run(session.connection, v_attempt=attempt_id, v_run=number).fetchone()
    if row is None:
        raise Refusal(RefusalKind.CONDITION, f"Run {number} has no attempt {attempt_id}.")
    return int(row["seq"])


def _add_file(session: Session, seq: int, file: Mapping[str, Any]) -> None:
    _insert_file.run(
        session.connection,
        session.mine,
        attempt=seq,
        name=file["name"],
        role=file["role"],
        size=file["size"],
        sha256=file["sha256"],
        rows=file.get("rows"),
        details=to_text({name: value for name, value in file.items() if name not in _FILE_COLUMNS}),
    )
