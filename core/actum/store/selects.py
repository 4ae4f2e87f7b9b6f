"""The queries behind `Reader`, one function a question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, bindparam, func, literal, or_, select, union_all

from actum.limits import PAGE_ROWS_MAX
from actum.model.facts import POSITION, FactName
from actum.model.status import RunStatus
from actum.store.loading import contract_of
from actum.store.rows import (
    AlertRow,
    AttemptDetail,
    CheckRow,
    ExportRow,
    FactRow,
    InstanceRow,
    JournalRow,
    RecordView,
    ResultView,
    RunRow,
    TaskRow,
)
from actum.store.schema import (
    alert,
    attempt,
    export,
    fact,
    record,
    result_check,
    result_file,
    service_instance,
    setting,
    task_version,
)
from actum.store.schema import (
    journal as journal_table,
)
from actum.store.schema import (
    result as result_table,
)
from actum.store.schema import (
    run as run_table,
)
from actum.store.schema import (
    task as task_table,
)
from actum.store.sql import Statement, constant, from_text

_number = Statement(select(run_table.c.number).where(run_table.c.number == bindparam("v_number")))
_number_of_id = Statement(select(run_table.c.number).where(run_table.c.id == bindparam("v_id")))
_number_of_key = Statement(select(run_table.c.number).where(run_table.c.key == bindparam("v_key")))
_run = Statement(
    select(run_table, task_version.c.version, task_version.c.contract_digest, task_version.c.contract)
    .join(task_version, task_version.c.seq == run_table.c.task_version)
    .where(run_table.c.number == bindparam("v_number"))
)
_attempts = Statement(
    select(attempt, service_instance.c.id.label("service_instance"))
    .join(service_instance, service_instance.c.epoch == attempt.c.epoch, isouter=True)
    .where(attempt.c.run == bindparam("v_run"))
    .order_by(attempt.c.n)
)
_facts = Statement(
    select(
        attempt.c.id.label("attempt"),
        attempt.c.n,
        fact.c.fact,
        fact.c.at_us,
        fact.c.evidence,
        fact.c.epoch,
        service_instance.c.id.label("observer"),
    )
    .join(attempt, attempt.c.seq == fact.c.attempt)
    .join(service_instance, service_instance.c.epoch == fact.c.epoch, isouter=True)
    .where(attempt.c.run == bindparam("v_run"))
)
_journal_rows = select(
    journal_table.c.seq,
    journal_table.c.run,
    attempt.c.n,
    journal_table.c.at_us,
    journal_table.c.kind,
    journal_table.c.data,
    journal_table.c.epoch,
).join(attempt, attempt.c.seq == journal_table.c.attempt, isouter=True)
_journal = {
    of_run: Statement(
        _journal_rows.where(
            journal_table.c.run == bindparam("v_run") if of_run else journal_table.c.run.is_(None),
            journal_table.c.seq > bindparam("v_after"),
        )
        .order_by(journal_table.c.seq)
        .limit(bindparam("v_limit"))
    )
    for of_run in (True, False)
}
_journal_tail = Statement(_journal_rows.order_by(journal_table.c.seq.desc()).limit(bindparam("v_limit")))
_records = Statement(
    select(attempt.c.n, record.c.seq, record.c.at_us, record.c.kind, record.c.data)
    .join(attempt, attempt.c.seq == record.c.attempt)
    .where(
        attempt.c.run == bindparam("v_run"),
        or_(
            attempt.c.n > bindparam("v_n"),
            and_(attempt.c.n == bindparam("v_n"), record.c.seq > bindparam("v_seq")),
        ),
    )
    .order_by(attempt.c.n, record.c.seq)
    .limit(bindparam("v_limit"))
)
_alert_rows = (
    select(
        alert.c.seq,
        alert.c.key,
        alert.c.code,
        alert.c.severity,
        alert.c.run,
        alert.c.data,
        alert.c.opened_at_us,
        alert.c.raised_at_us,
        alert.c.cleared_at_us,
    )
    .order_by(alert.c.seq.desc())
    .limit(PAGE_ROWS_MAX)
)
_alerts = {
    (open_only, of_run): Statement(
        _alert_rows.where(
            *([constant("alert.cleared_at_us IS NULL")] if open_only else []),
            *([alert.c.run == bindparam("v_run")] if of_run else []),
        )
    )
    for open_only in (True, False)
    for of_run in (True, False)
}
_task_rows = select(
    task_table.c.name,
    task_version.c.version,
    task_version.c.contract_digest,
    task_version.c.contract,
    task_table.c.built_in,
    task_table.c.disabled,
    task_version.c.created_at_us,
).join(task_version, task_version.c.task == task_table.c.name)
_tasks = Statement(
    _task_rows.where(
        task_version.c.seq.in_(
            select(func.max(task_version.c.seq))
            .join(task_table, and_(task_table.c.name == task_version.c.task, task_table.c.version == task_version.c.version))
            .group_by(task_version.c.task)
        )
    ).order_by(task_table.c.name)
)
_task = {
    newest: Statement(
        _task_rows.where(
            task_table.c.name == bindparam("v_name"),
            task_version.c.version == (task_table.c.version if newest else bindparam("v_version")),
        )
        .order_by(task_version.c.seq.desc())
        .limit(1)
    )
    for newest in (True, False)
}
_result = Statement(
    select(result_table, attempt.c.id.label("attempt_id"), attempt.c.n)
    .join(attempt, attempt.c.seq == result_table.c.attempt)
    .where(result_table.c.run == bindparam("v_run"))
)
_files = Statement(select(result_file).where(result_file.c.attempt == bindparam("v_attempt")).order_by(result_file.c.name))
_check = Statement(
    select(result_check.c.state, result_check.c.reason, result_check.c.level, result_check.c.details, result_check.c.at_us)
    .where(result_check.c.run == bindparam("v_run"))
    .order_by(result_check.c.seq.desc())
    .limit(1)
)
_exports = Statement(
    select(export, attempt.c.n)
    .join(attempt, attempt.c.seq == export.c.attempt)
    .where(export.c.run == bindparam("v_run"))
    .order_by(export.c.seq)
)
_instances = Statement(select(service_instance).order_by(service_instance.c.epoch.desc()).limit(bindparam("v_limit")))
# SUCCEEDED is what is left: nearly all of 1,000,000 runs have succeeded, and counting all of a table reads far less than
# counting those of a status. One statement, so all counts are of the same moment.
_SUCCEEDED = RunStatus.SUCCEEDED.value
_OTHERS = [status.value for status in RunStatus if status is not RunStatus.SUCCEEDED]
_all, _deleted = (
    select(func.count()).select_from(run_table).where(*conditions).scalar_subquery()
    for conditions in ([], [constant("run.deletion <> 'none'")])
)
_counts = Statement(
    union_all(
        select(run_table.c.status, func.count())
        .where(constant("run.deletion = 'none'"), run_table.c.status.in_(_OTHERS))
        .group_by(run_table.c.status),
        select(literal(_SUCCEEDED), _all - _deleted),
    )
)
_settings = Statement(select(setting.c.name, setting.c.value))


def run_number(connection: sqlite3.Connection, number_or_id: int | str) -> int | None:
    text = str(number_or_id)
    if text.isascii() and text.isdigit():
        number = int(text)
        row = _number.run(connection, v_number=number).fetchone() if number < 1 << 63 else None
    else:
        row = _number_of_id.run(connection, v_id=text.lower()).fetchone()
    return None if row is None else int(row[0])


def number_of_key(connection: sqlite3.Connection, key: str) -> int | None:
    row = _number_of_key.run(connection, v_key=key).fetchone()
    return None if row is None else int(row[0])


def run(connection: sqlite3.Connection, number: int) -> RunRow:
    row = dict(_run.run(connection, v_number=number).fetchone())
    for name in ("epoch", "adopted_attempt"):
        row.pop(name)
    row["task_version"] = row.pop("version")
    row["contract"] = contract_of(row["contract_digest"], row["contract"])
    row["parameters"] = json.loads(row["parameters"])
    row["labels"] = tuple(json.loads(row["labels"]))
    return RunRow(**row)


def attempts(connection: sqlite3.Connection, number: int) -> list[AttemptDetail]:
    return [_attempt(row) for row in _attempts.run(connection, v_run=number).fetchall()]


def facts(connection: sqlite3.Connection, number: int) -> list[FactRow]:
    found = [FactRow(**_json(row, "evidence")) for row in _facts.run(connection, v_run=number).fetchall()]
    return sorted(found, key=lambda row: (row.n, POSITION[FactName(row.fact)]))


def journal(connection: sqlite3.Connection, number: int | None, after: int, limit: int) -> list[JournalRow]:
    values = {"v_after": after, "v_limit": limit} | ({} if number is None else {"v_run": number})
    cursor = _journal[number is not None].run(connection, **values)
    return [JournalRow(**_json(row, "data")) for row in cursor.fetchall()]


def journal_tail(connection: sqlite3.Connection, limit: int) -> list[JournalRow]:
    found = _journal_tail.run(connection, v_limit=limit).fetchall()
    return [JournalRow(**_json(row, "data")) for row in reversed(found)]


def records(connection: sqlite3.Connection, number: int, after: tuple[int, int], limit: int) -> list[RecordView]:
    cursor = _records.run(connection, v_run=number, v_n=after[0], v_seq=after[1], v_limit=limit)
    return [RecordView(**_json(row, "data")) for row in cursor.fetchall()]


def alerts(connection: sqlite3.Connection, open_only: bool, number: int | None) -> list[AlertRow]:
    values = {} if number is None else {"v_run": number}
    cursor = _alerts[open_only, number is not None].run(connection, **values)
    return [AlertRow(**_json(row, "data")) for row in cursor.fetchall()]


def tasks(connection: sqlite3.Connection) -> list[TaskRow]:
    return [_task_row(row) for row in _tasks.run(connection).fetchall()]


def task(connection: sqlite3.Connection, name: str, version: str | None) -> TaskRow | None:
    values = {"v_name": name} | ({} if version is None else {"v_version": version})
    row = _task[version is None].run(connection, **values).fetchone()
    return None if row is None else _task_row(row)


def result(connection: sqlite3.Connection, number: int) -> ResultView | None:
    row = _result.run(connection, v_run=number).fetchone()
    if row is None:
        return None
    files = [
        {name: file[name] for name in ("name", "role", "size", "sha256", "rows")} | json.loads(file["details"])
        for file in _files.run(connection, v_attempt=row["attempt"]).fetchall()
    ]
    check = _check.run(connection, v_run=number).fetchone()
    return ResultView(
        id=row["id"],
        run=number,
        attempt=row["attempt_id"],
        n=row["n"],
        path=row["path"],
        digest=row["digest"],
        derived_digest=row["derived_digest"],
        metrics=json.loads(row["metrics"]),
        tables=json.loads(row["tables"]),
        rows_total=row["rows_total"],
        size_bytes=row["size_bytes"],
        committed_at_us=row["committed_at_us"],
        files=files,
        check=None if check is None else CheckRow(**_json(check, "details")),
    )


def exports(connection: sqlite3.Connection, number: int) -> list[ExportRow]:
    found = []
    for row in _exports.run(connection, v_run=number).fetchall():
        values = _json(row, "options")
        del values["attempt"], values["epoch"]
        found.append(ExportRow(**values))
    return found


def instances(connection: sqlite3.Connection, limit: int) -> list[InstanceRow]:
    return [InstanceRow(**_json(row, "identity")) for row in _instances.run(connection, v_limit=limit).fetchall()]


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Runs that are not deleted, by status; the row of SUCCEEDED comes last and counts the others too."""
    found = {row[0]: row[1] for row in _counts.run(connection).fetchall()}
    found[_SUCCEEDED] -= sum(count for status, count in found.items() if status != _SUCCEEDED)
    return {status: count for status, count in found.items() if count}


def settings(connection: sqlite3.Connection) -> dict[str, Any]:
    return {row["name"]: from_text(row["value"]) for row in _settings.run(connection).fetchall()}


def _json(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    values = dict(row)
    for name in names:
        values[name] = from_text(values[name])
    return values


def _attempt(row: Mapping[str, Any]) -> AttemptDetail:
    values = _json(row, "host_identity", "failure_details", "progress", "activity", "environment", "code", "stop_stage")
    for name in ("cookie", "secret_sha256", "epoch"):
        values.pop(name)
    values["released"] = bool(values["released"])
    return AttemptDetail(**values)


def _task_row(row: Mapping[str, Any]) -> TaskRow:
    values = dict(row)
    values["contract"] = contract_of(values["contract_digest"], values["contract"])
    values["built_in"], values["disabled"] = bool(values["built_in"]), bool(values["disabled"])
    return TaskRow(**values)
