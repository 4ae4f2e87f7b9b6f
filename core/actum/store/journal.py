"""Journal rows, alerts and records: what happened, what needs a person, what the work declared (R12)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, select, update

from actum.model.changes import Changes, ClearAlert, JournalEntry, Note, RaiseAlert, RecordRow
from actum.store.jsontext import to_text
from actum.store.schema import alert, attempt, journal, record
from actum.store.sql import MINE, Insertion, Statement
from actum.store.writing import Session

_entry = Insertion(journal, ("run", "attempt", "at_us", "kind", "data"))
_record = Insertion(record, ("attempt", "seq", "at_us", "kind", "data"), once=True)
_open = Insertion(alert, ("key", "code", "severity", "run", "data", "opened_at_us", "raised_at_us"))
_again = Statement(
    update(alert)
    .where(alert.c.key == bindparam("v_key"), alert.c.cleared_at_us.is_(None), MINE)
    .values(
        code=bindparam("v_code"),
        severity=bindparam("v_severity"),
        run=bindparam("v_run"),
        data=bindparam("v_data"),
        raised_at_us=bindparam("v_at_us"),
        epoch=bindparam("mine"),
    )
)
_clear = Statement(
    update(alert)
    .where(alert.c.key == bindparam("v_key"), alert.c.cleared_at_us.is_(None), MINE)
    .values(cleared_at_us=bindparam("v_at_us"), epoch=bindparam("mine"))
)
_seq = Statement(select(attempt.c.seq, attempt.c.run).where(attempt.c.id == bindparam("v_attempt")))


def add_entries(session: Session, run: int | None, attempt_seq: int | None, entries: Iterable[JournalEntry]) -> None:
    """Append journal rows in order."""
    for entry in entries:
        add_entry(session, run, attempt_seq, entry.kind, entry.at_us, dict(entry.data))


def add_entry(session: Session, run: int | None, attempt_seq: int | None, kind: str, at_us: int, data: dict[str, Any]) -> None:
    _entry.run(session.connection, session.mine, run=run, attempt=attempt_seq, at_us=at_us, kind=kind, data=to_text(data))


def add_records(session: Session, attempt_seq: int, records: Iterable[RecordRow]) -> None:
    """Insert records; one that is already there stays (ingestion begins again at a known offset after a crash)."""
    for row in records:
        _record.run(
            session.connection,
            session.mine,
            attempt=attempt_seq,
            seq=row.seq,
            at_us=row.at_us,
            kind=row.kind,
            data=to_text(dict(row.data)),
        )


def set_alerts(session: Session, run: int | None, alerts: Iterable[RaiseAlert | ClearAlert]) -> bool:
    """Open, renew or clear alerts: one open alert a key. Whether any row changed."""
    changed = False
    for wanted in alerts:
        if isinstance(wanted, ClearAlert):
            cursor = _clear.run(session.connection, mine=session.mine, v_key=wanted.key, v_at_us=wanted.at_us)
            changed |= cursor.rowcount > 0
        else:
            changed |= _raise(session, run, wanted)
    return changed


def _raise(session: Session, run: int | None, wanted: RaiseAlert) -> bool:
    number = wanted.run if wanted.run is not None else run
    data = to_text(dict(wanted.data))
    renewed = _again.run(
        session.connection,
        mine=session.mine,
        v_key=wanted.key,
        v_code=wanted.code,
        v_severity=wanted.severity,
        v_run=number,
        v_data=data,
        v_at_us=wanted.at_us,
    )
    if renewed.rowcount:
        return True
    opened = _open.run(
        session.connection,
        session.mine,
        key=wanted.key,
        code=wanted.code,
        severity=wanted.severity,
        run=number,
        data=data,
        opened_at_us=wanted.at_us,
        raised_at_us=wanted.at_us,
    )
    return opened.rowcount > 0


def note(session: Session, request: Note) -> Changes:
    """Journal rows and alerts that belong to no arrow. An attempt nobody knows is kept as a word in the data."""
    run, seq = request.run, None
    entries = request.journal
    if request.attempt is not None:
        found = _seq.run(session.connection, v_attempt=request.attempt).fetchone()
        if found is not None:
            seq, run = found["seq"], found["run"]
        else:
            entries = tuple(
                JournalEntry(entry.kind, entry.at_us, {**entry.data, "unknown_attempt": request.attempt}) for entry in entries
            )
    add_entries(session, run, seq, entries)
    alerts = set_alerts(session, run, request.alerts)
    return Changes(frozenset() if run is None else frozenset({run}), alerts=alerts)
