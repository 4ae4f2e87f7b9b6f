"""The queries behind `Reader`, one function a question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from actum.errors import WorkspaceUnusable
from actum.model.facts import POSITION, FactName
from actum.model.status import RunStatus
from actum.store.contractcache import contract_of
from actum.store.jsontext import from_text
from actum.store.question import Question
from actum.store.rows import (
    Adopter,
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

_number, _number_of_id, _number_of_key = (Question(f"single.{name}") for name in ("number", "number_of_id", "number_of_key"))
_adopted_from, _adopted_by = Question("single.adopted_from"), Question("single.adopted_by")
_run, _attempts, _facts, _records = (Question(f"single.{name}") for name in ("run", "attempts", "facts", "records"))
_journal = {of_run: Question("single.journal", of_run) for of_run in (False, True)}
_clock_set = Question("single.clock_set")
_journal_tail = Question("single.journal_tail")
_alerts = {
    (open_only, of_run): Question("single.alerts", open_only, of_run) for open_only in (False, True) for of_run in (False, True)
}
_tasks = Question("single.tasks")
_task = {newest: Question("single.task", newest) for newest in (False, True)}
_result, _files, _check, _exports = (Question(f"single.{name}") for name in ("result", "files", "check", "exports"))
_derived_digests = Question("single.derived_digests")
_instances, _counts, _settings, _setting, _epoch = (
    Question(f"single.{name}") for name in ("instances", "counts", "settings", "setting", "epoch")
)
_SUCCEEDED = RunStatus.SUCCEEDED.value


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
    row.pop("epoch")
    row["task_version"] = row.pop("version")
    row["contract"] = contract_of(row["contract_digest"], row["contract"])
    row["parameters"] = json.loads(row["parameters"])
    row["labels"] = tuple(json.loads(row["labels"]))
    return RunRow(**row)


def adopted_from(connection: sqlite3.Connection, attempt: str) -> tuple[int, int] | None:
    row = _adopted_from.run(connection, v_attempt=attempt).fetchone()
    return None if row is None else (int(row["run"]), int(row["n"]))


def adopted_by(connection: sqlite3.Connection, attempt: str) -> Adopter | None:
    row = _adopted_by.run(connection, v_attempt=attempt).fetchone()
    return None if row is None else Adopter(**row)


def attempts(connection: sqlite3.Connection, number: int) -> list[AttemptDetail]:
    return [_attempt(row) for row in _attempts.run(connection, v_run=number).fetchall()]


def facts(connection: sqlite3.Connection, number: int) -> list[FactRow]:
    found = [FactRow(**_json(row, "evidence")) for row in _facts.run(connection, v_run=number).fetchall()]
    return sorted(found, key=lambda row: (row.n, POSITION[FactName(row.fact)]))


def journal(connection: sqlite3.Connection, number: int | None, after: int, limit: int) -> list[JournalRow]:
    values = {"v_after": after, "v_limit": limit} | ({} if number is None else {"v_run": number})
    cursor = _journal[number is not None].run(connection, **values)
    return [JournalRow(**_json(row, "data")) for row in cursor.fetchall()]


def clock_set_us(connection: sqlite3.Connection, number: int) -> int:
    """By how much the wall clock was set while a run was under way: no time that passed (§12)."""
    rows = _clock_set.run(connection, v_run=number).fetchall()
    return sum(int(json.loads(row["data"]).get("by_us") or 0) for row in rows)


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
        derived_digests=_sound_copies(connection, number, row["derived_digest"]),
        metrics=json.loads(row["metrics"]),
        tables=json.loads(row["tables"]),
        rows_total=row["rows_total"],
        size_bytes=row["size_bytes"],
        committed_at_us=row["committed_at_us"],
        files=files,
        check=None if check is None else CheckRow(**_json(check, "details")),
    )


def _sound_copies(connection: sqlite3.Connection, number: int, published: str | None) -> tuple[str, ...]:
    found = [published, *(row["sha256"] for row in _derived_digests.run(connection, v_run=number).fetchall())]
    return tuple(sorted({digest for digest in found if digest is not None}))


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


def epoch(connection: sqlite3.Connection) -> int:
    """The newest epoch, 0 before the first."""
    return int(_epoch.run(connection).fetchone()[0] or 0)


def database_uuid(connection: sqlite3.Connection) -> str:
    value = setting(connection, "database_uuid")
    if value is None:
        raise WorkspaceUnusable("workspace_corrupt", "The database has no identity.", "The setting database_uuid is missing.")
    return str(json.loads(value))


def setting(connection: sqlite3.Connection, name: str) -> str | None:
    """A setting as stored, internal ones included."""
    row = _setting.run(connection, v_name=name).fetchone()
    return None if row is None else str(row["value"])


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
