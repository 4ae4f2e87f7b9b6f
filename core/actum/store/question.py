"""Questions to the store: statements of the read side, with their text at hand before SQLAlchemy is.

They are written in SQLAlchemy Core (`clauses/`), like every statement. But its import takes longer than everything else a
reading command does, and longer than the window's first page of runs may take; so their compiled texts are kept in
`compiled.json`, which `python -m tests.house.generated` writes and a test compares. A shape that is not kept there is compiled
when it is first asked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


class Question:
    """One statement, by the name and the arguments of its clause. `run(connection, name=value, …)` gives the cursor."""

    __slots__ = ("_asked", "_fixed", "_text")

    def __init__(self, name: str, *arguments: int | bool | str) -> None:
        self._asked = (name, *arguments)
        self._text: str | None = None
        self._fixed: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        if self._text is None:
            self._text, self._fixed = texts().get(key(self._asked)) or _compiled(self._asked)
        return self._text

    def run(self, connection: sqlite3.Connection, **values: Any) -> sqlite3.Cursor:
        text = self.text
        return connection.execute(text, {**self._fixed, **values} if self._fixed else values)


@cache
def texts() -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """Text and constants of the questions that are kept, by key."""
    kept: Mapping[str, tuple[str, Mapping[str, Any]]] = json.loads((Path(__file__).with_name("compiled.json")).read_bytes())
    return kept


def key(asked: tuple[int | bool | str, ...]) -> str:
    """How a question is named among the kept ones."""
    return " ".join(str(part) for part in asked)


def _compiled(asked: tuple[int | bool | str, ...]) -> tuple[str, Mapping[str, Any]]:
    from actum.store import clauses, sql

    return sql.compiled(clauses.clause(asked))
