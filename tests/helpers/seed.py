"""History in bulk: a workspace with up to a million runs, written past the writer, for benches and list tests.

The rows are what the writer would have left: each tenth run FAILED, each hundredth RUNNING, the others SUCCEEDED, of two
tasks in turn. The guards of the database are taken away meanwhile and put back; `facts` adds the fourteen facts of each
success, which `audit` wants and lists do not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from actum.model.facts import FACTS
from actum.store import database, ddl_sqlite
from actum.workspace import Workspace

from tests.helpers import workspaces as w

_GUARDS = ("attempt_first", "run_first")
BEGUN_US = 1_700_000_000_000_000


def fill(ws: Workspace, runs: int, *, facts: bool = False) -> None:
    """Add `runs` runs to the workspace; the first call makes the tasks. About 20 s for a million."""
    with w.writing(ws) as writer:
        w.add_task(writer, "sample")
        w.add_task(writer, "other")
        epoch = writer.opened.epoch
    connection = database.open_writer(ws)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        for name in _GUARDS:
            connection.execute(f"DROP TRIGGER {name}")
        _rows(connection, runs, epoch, facts)
        for name in _GUARDS:
            connection.execute(ddl_sqlite.TRIGGERS[name].strip())
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, runs: int, epoch: int, facts: bool) -> None:
    first = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM run").fetchone()[0]
    seq = connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM attempt").fetchone()[0]
    numbers = range(first, first + runs)
    versions = dict(connection.execute("SELECT task, max(seq) FROM task_version GROUP BY task").fetchall())
    connection.executemany(
        "INSERT INTO run (number, id, task, task_version, key, request_digest, request, parameters, trigger, status,"
        " current_attempt, created_at_us, started_at_us, finished_at_us, admitted_epoch, epoch)"
        " VALUES (?, ?, ?, ?, ?, ?, '{}', '{}', 'command', ?, ?, ?, ?, ?, ?, ?)",
        _run_rows(numbers, versions, epoch),
    )
    connection.executemany(
        "INSERT INTO attempt (seq, id, run, n, status, phase, released, created_at_us, started_at_us, finished_at_us, epoch)"
        " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)",
        ((seq + number - first, f"attempt-{number}", number, *_state(number), *_times(number), epoch) for number in numbers),
    )
    if facts:
        connection.executemany(
            "INSERT INTO fact (attempt, fact, at_us, evidence, epoch) VALUES (?, ?, ?, ?, ?)",
            (
                (seq + number - first, name.value, _times(number)[0], '{"method":"seeded"}', epoch)
                for number in numbers
                for name in (FACTS if _state(number)[0] == "SUCCEEDED" else FACTS[:4])
            ),
        )


def _run_rows(numbers: range, versions: dict[str, int], epoch: int) -> Iterator[tuple[object, ...]]:
    for number in numbers:
        task = "sample" if number % 2 else "other"
        status = _state(number)[0]
        key = f"key-{number}"
        ids = (f"run-{number}", task, versions[task], key, "0" * 64)
        yield (number, *ids, status, f"attempt-{number}", *_times(number), epoch, epoch)


def _state(number: int) -> tuple[str, str, int]:
    if number % 100 == 0:
        return ("RUNNING", "COMPUTING", 0)
    return ("FAILED" if number % 10 == 0 else "SUCCEEDED", "CLOSED", 1)


def _times(number: int) -> tuple[int, int, int | None]:
    created = BEGUN_US + number * 1_000_000
    return (created, created + 10_000, None if number % 100 == 0 else created + 500_000)
