"""A read-only connection that tells the failures of the disk and the database in words, whoever reads over it.

Damage may show at any page, long after the connection was opened; so what `failures` knows is told from every statement and
every row fetched, and no reader needs to remember to. What it does not know is a defect, and stays the driver's exception.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actum.store import failures


@contextmanager
def told(database: Path | None) -> Iterator[None]:
    """Raises the ActumError behind a failure of SQLite, if one is known; with None the failure as it is."""
    try:
        yield
    except sqlite3.Error as error:
        known = None if database is None else failures.known(error, database, "reading the database")
        if known is None:
            raise
        raise known from error


class ReadCursor(sqlite3.Cursor):
    """Rows are read as they are fetched, so fetching fails like executing."""

    connection: ReadConnection

    def fetchone(self) -> Any:
        with told(self.connection.database):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with told(self.connection.database):
            return super().fetchall()

    def __next__(self) -> Any:
        with told(self.connection.database):
            return super().__next__()


class ReadConnection(sqlite3.Connection):
    """Attributes: database, set when it is open; until then failures stay the driver's."""

    database: Path | None = None

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        with told(self.database):
            return self.cursor(ReadCursor).execute(sql, parameters)
