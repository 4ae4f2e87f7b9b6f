"""Attempt rows as deciding needs them: one attempt with its run, contract, facts and inputs, from one connection.

Used by the writer (the fresh row in every answer) and by readers (the supervisor's start).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from actum.model.facts import FACTS, FactName
from actum.model.run import AdoptedRow, AttemptRow, Deletion, InputRow
from actum.model.status import Contact, Pair, Phase, RunStatus, Status
from actum.store.contractcache import contract_of
from actum.store.jsontext import from_text
from actum.store.question import Question

_one, _current, _of_run, _open = (Question(f"attempts.{name}") for name in ("one", "current", "of_run", "still_open"))
_lately_closed = Question("attempts.lately_closed")
_facts, _inputs = Question("attempts.facts"), Question("attempts.inputs")

_POSITION = {name.value: index for index, name in enumerate(FACTS)}


def one(connection: sqlite3.Connection, attempt_id: str) -> AttemptRow | None:
    """The attempt with this UUID, or None."""
    row = _one.run(connection, v_attempt=attempt_id).fetchone()
    return None if row is None else _load(connection, row)


def current(connection: sqlite3.Connection, number: int) -> AttemptRow | None:
    """The current attempt of a run, or None."""
    row = _current.run(connection, v_run=number).fetchone()
    return None if row is None else _load(connection, row)


def of_run(connection: sqlite3.Connection, number: int) -> list[AttemptRow]:
    return [_load(connection, row) for row in _of_run.run(connection, v_run=number).fetchall()]


def open_attempts(connection: sqlite3.Connection) -> list[AttemptRow]:
    """Every attempt that is not closed, and the newest attempt of every run in RETRYING."""
    return [_load(connection, row) for row in _open.run(connection).fetchall()]


def lately_closed(connection: sqlite3.Connection, limit: int) -> list[AttemptRow]:
    """The newest closed attempts that were launched, oldest first."""
    return [_load(connection, row) for row in _lately_closed.run(connection, v_limit=limit).fetchall()]


def facts_of(connection: sqlite3.Connection, seq: int) -> dict[FactName, Mapping[str, Any]]:
    """The facts of an attempt in the order of R01: name → evidence with at_us, epoch and observer in it."""
    found = sorted(_facts.run(connection, v_attempt=seq).fetchall(), key=lambda row: _POSITION[row["fact"]])
    return {
        FactName(row["fact"]): {
            **json.loads(row["evidence"]),
            "at_us": row["at_us"],
            "epoch": row["epoch"],
            "observer": row["observer"],
        }
        for row in found
    }


def inputs_of(connection: sqlite3.Connection, number: int) -> tuple[InputRow, ...]:
    return tuple(_input(row) for row in _inputs.run(connection, v_run=number).fetchall())


def _input(row: Mapping[str, Any]) -> InputRow:
    stat = from_text(row["stat"])
    return InputRow(
        row["name"],
        row["path"],
        row["policy"],
        row["sha256"],
        row["size"],
        row["store"],
        None if stat is None else _four(stat),
    )


def _four(numbers: Iterable[int]) -> tuple[int, int, int, int]:
    inode, size, mtime, ctime = numbers
    return (inode, size, mtime, ctime)


def _load(connection: sqlite3.Connection, row: Mapping[str, Any]) -> AttemptRow:
    return AttemptRow(
        run=row["number"],
        run_id=row["run_id"],
        run_status=RunStatus(row["run_status"]),
        attempt=row["id"],
        n=row["n"],
        current=row["current_attempt"] == row["id"],
        pair=Pair(Status(row["status"]), Phase(row["phase"])),
        released=bool(row["released"]),
        task=row["task"],
        task_version=row["version"],
        key=row["key"],
        request_digest=row["request_digest"],
        contract_digest=row["contract_digest"],
        contract=contract_of(row["contract_digest"], row["contract"]),
        parameters=json.loads(row["parameters"]),
        admitted_epoch=row["admitted_epoch"],
        created_at_us=row["created_at_us"],
        stop_requested_at_us=row["stop_requested_at_us"],
        retry_at_us=row["retry_at_us"],
        deletion=Deletion(row["deletion"]),
        session=row["session"],
        cookie=row["cookie"],
        secret_sha256=row["secret_sha256"],
        folder=row["folder"],
        contact=Contact(row["contact"]),
        failure_code=row["failure_code"],
        failure_message=row["failure_message"] or "",
        started_at_us=row["started_at_us"],
        host_identity=from_text(row["host_identity"]),
        records_offset=row["records_offset"],
        facts=facts_of(connection, row["seq"]),
        inputs=inputs_of(connection, row["number"]),
        adopts=None if row["adopted_attempt"] is None else _adopted(connection, row["adopted_attempt"]),
    )


def _adopted(connection: sqlite3.Connection, attempt_id: str) -> AdoptedRow | None:
    row = _one.run(connection, v_attempt=attempt_id).fetchone()
    if row is None:
        return None
    return AdoptedRow(
        run=row["number"],
        attempt=row["id"],
        n=row["n"],
        session=row["session"],
        cookie=row["cookie"],
        host_identity=from_text(row["host_identity"]),
        facts=facts_of(connection, row["seq"]),
    )
