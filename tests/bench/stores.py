"""Stores filled for measuring: through the writer where that is the subject, by copying rows where a million is."""

from __future__ import annotations

import itertools
import sqlite3
from typing import Any

from actum import canonical, clock
from actum.model.changes import AddTask, Admit, Persisted
from actum.model.facts import Fact, FactName
from actum.model.identity import uuid7
from actum.model.run import AttemptRow
from actum.store.writer import Writer

TASK, VERSION = "bench", "1"
CONTRACT: dict[str, Any] = {
    "schema": "actum.contract/1",
    "name": TASK,
    "title": "Bench",
    "version": VERSION,
    "work": {"kind": "program", "program": "/bin/true", "arguments": [], "cwd": None},
    "parameters": [],
    "outputs": ["*"],
    "required": [],
}
DIGEST = canonical.digest(CONTRACT)

_numbers = itertools.count()


def add_task(writer: Writer) -> None:
    answer = writer.ask(AddTask(TASK, VERSION, DIGEST, CONTRACT, False, clock.utc_us()))
    assert isinstance(answer, Persisted), answer


def request(label: int) -> Admit:
    now = clock.utc_us()
    key = f"key-{next(_numbers)}"
    return Admit(
        run_id=uuid7(now),
        attempt=uuid7(now),
        task=TASK,
        task_version=VERSION,
        contract_digest=DIGEST,
        key=key,
        request_digest=canonical.digest(key),
        request="{}",
        parameters={},
        inputs=(),
        trigger="command",
        labels=(str(label),),
        at_us=now,
        fact=Fact(FactName.ADMITTED, now, {"method": "commit"}),
    )


def admit(writer: Writer, label: int) -> AttemptRow:
    answer = writer.ask(request(label))
    assert isinstance(answer, Persisted), answer
    assert answer.row is not None
    return answer.row


def multiply(connection: sqlite3.Connection, copies: int) -> None:
    """Copies run 1 and its attempt `copies` times, every other run closed, by one statement a table.

    The triggers that guard single changes are laid aside for it and come back afterwards.
    """
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER "{name}"')
    series = f"WITH RECURSIVE s(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM s WHERE i <= {copies})"
    status = "CASE WHEN i % 50 = 0 THEN 'FAILED' WHEN i % 1000 = 1 THEN 'CREATED' ELSE 'SUCCEEDED' END"
    changed = {
        "run": {"number": "i", "id": "'run-' || i", "key": "'copy-' || i", "current_attempt": "'attempt-' || i"},
        "attempt": {"seq": "i", "id": "'attempt-' || i", "run": "i", "phase": "'CLOSED'", "released": "1"},
    }
    for table, values in changed.items():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = {**values, "status": status}
        chosen = ", ".join(values.get(column, f'"{column}"') for column in columns)
        names = ", ".join(f'"{column}"' for column in columns)
        where = "number = 1" if table == "run" else "run = 1"
        connection.execute(f"INSERT INTO {table} ({names}) {series} SELECT {chosen} FROM s, {table} WHERE {where}")
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("ANALYZE")
