"""Run numbers that are taken although this database does not know their runs: the folders of the workspace show them (§11).

A database that is behind its workspace (restored from an older backup, or without its write-ahead log) would give these
numbers to new runs, whose attempts, results and processes are there under them already. So they are kept back when that is
found out, and again when a person goes on with such a database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from actum.store import ddl_sqlite, selects
from actum.workspace import Workspace


def keep_back(connection: sqlite3.Connection, ws: Workspace) -> tuple[int, ...]:
    """In the open transaction; the numbers in the folders that no run of this database has, in order."""
    unknown = tuple(number for number in sorted(set(_numbers(ws))) if selects.run_number(connection, number) is None)
    highest = max(unknown, default=0)
    connection.execute(ddl_sqlite.FIRST_RUN_NUMBER)
    connection.execute(ddl_sqlite.RAISE_RUN_NUMBER, (highest, highest))
    return unknown


def _numbers(ws: Workspace) -> Iterator[int]:
    """Run numbers that the folders of the workspace show; of a quarantined package the number before its attempt's."""
    for folder in (ws.attempts, ws.results, ws.quarantine):
        if folder.is_dir():
            for entry in folder.iterdir():
                name = entry.name.partition("-")[0]
                if name.isascii() and name.isdigit() and len(name) < 19:
                    yield int(name)
