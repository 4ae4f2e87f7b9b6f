"""What every request of the store shares: the connection, my epoch, and the way a request is refused.

A request that cannot be carried out raises `Refusal`; the writer then rolls back its savepoint and answers `Refused`.
Nothing of it remains (R02).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.model.changes import RefusalKind
from actum.model.run import AttemptRow


@dataclass(frozen=True, slots=True)
class Session:
    """One transaction's means. `key_lookup` False leaves R05 to the unique index alone (for its test)."""

    connection: sqlite3.Connection
    mine: int
    now_us: int
    key_lookup: bool = True


class Refusal(Exception):
    """The condition of a request did not hold."""

    def __init__(
        self, kind: RefusalKind, message: str, row: AttemptRow | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.row = row
        self.details = dict(details or {})
