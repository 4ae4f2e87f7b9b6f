"""Statements: written in SQLAlchemy Core, compiled once, run on the driver's own connection.

A transition is about eight statements; executing each through Core costs 30–50 µs, which would eat the group commit.
So a `Statement` holds the compiled text and its constants, and the driver's statement cache does the rest. Every value
is a bound parameter (R19).

`MINE` is the epoch condition of P23. It stands in every write, inserts included.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Insert, Table, bindparam, func, literal_column, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.elements import ClauseElement

from actum.store.schema import service_instance

DIALECT = sqlite.dialect(paramstyle="named")

newest_epoch = select(func.max(service_instance.c.epoch)).scalar_subquery()
MINE: ColumnElement[bool] = newest_epoch == bindparam("mine")


def compiled(clause: ClauseElement) -> tuple[str, Mapping[str, Any]]:
    """Text and constants of a clause."""
    made = clause.compile(dialect=DIALECT, compile_kwargs={"render_postcompile": True})
    return str(made), {name: value for name, value in made.params.items() if value is not None}


class Statement:
    """One statement. `run(connection, name=value, …)` gives the cursor."""

    __slots__ = ("_clause", "_fixed", "_text")

    def __init__(self, clause: ClauseElement) -> None:
        self._clause = clause
        self._text: str | None = None
        self._fixed: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        if self._text is None:
            self._text, self._fixed = compiled(self._clause)
        return self._text

    def run(self, connection: sqlite3.Connection, **values: Any) -> sqlite3.Cursor:
        text = self.text
        return connection.execute(text, {**self._fixed, **values} if self._fixed else values)


class Insertion:
    """Inserts one row under the epoch condition. `once` = a row with the same key stays as it is and 0 rows are counted."""

    __slots__ = ("_statement", "names")

    def __init__(self, table: Table, names: Iterable[str], *, once: bool = False) -> None:
        self.names = (*names, "epoch")
        given: list[ColumnElement[Any]] = [bindparam(f"v_{name}") for name in self.names[:-1]]
        source = select(*given, bindparam("mine")).where(MINE)
        clause: Insert
        if once:
            clause = sqlite.insert(table).from_select(list(self.names), source).on_conflict_do_nothing()
        else:
            clause = sqlite.insert(table).from_select(list(self.names), source)
        self._statement = Statement(clause)

    @property
    def text(self) -> str:
        return self._statement.text

    def run(self, connection: sqlite3.Connection, mine: int, **values: Any) -> sqlite3.Cursor:
        """The cursor after the insert; `rowcount` is 0 when the epoch is not the newest, or, with `once`, on a double."""
        given = {f"v_{name}": value for name, value in values.items()}
        return self._statement.run(connection, mine=mine, **given)


def constant(text: str) -> ColumnElement[Any]:
    """A condition written out, so that a partial index with the same words serves the query. Never with data in it."""
    return literal_column(text)


def rows(cursor: sqlite3.Cursor) -> Sequence[Mapping[str, Any]]:
    """All rows as mappings (the connections use sqlite3.Row)."""
    return [dict(row) for row in cursor.fetchall()]
