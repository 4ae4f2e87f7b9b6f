"""Going on with a database that was restored from an older backup (PROTOCOL "Lock", recovery).

Until a person says so nothing is launched. Then the numbers of the runs that this database no longer knows are never used
again: their attempts, results and quarantined packages stand in the workspace under these numbers. Nothing is moved and no
process is signalled; what those runs left is named, and what this database believes open is reconciled as after any crash.
"""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass

from sqlalchemy import bindparam, update

from actum import clock, faults
from actum.errors import Conflict
from actum.generation import folder_identity, write_generation
from actum.model.changes import JournalEntry
from actum.store import epochs, journal, numbers, selects
from actum.store.alone import alone
from actum.store.jsontext import from_text
from actum.store.schema import setting
from actum.store.sql import MINE, Statement
from actum.store.writing import Session
from actum.workspace import Workspace

_end = Statement(
    update(setting)
    .where(setting.c.name == "recovery", MINE)
    .values(value="null", at_us=bindparam("v_at_us"), epoch=bindparam("mine"))
)


@dataclass(frozen=True, slots=True)
class Settled:
    """The highest run number that was ever used, and the runs that the database does not know but the folders show."""

    highest: int
    unknown: tuple[int, ...]


def accept_restored(ws: Workspace) -> Settled:
    """End recovery mode. Raises Conflict(not_restored) and Busy. One transaction; the generation file follows."""
    with alone(ws) as connection:
        return _accept(connection, ws)


def _accept(connection: sqlite3.Connection, ws: Workspace) -> Settled:
    connection.execute("BEGIN IMMEDIATE")
    mine = epochs.begin(connection, ws, str(uuid.uuid4()), {})
    if from_text(selects.setting(connection, "recovery")) is None:
        connection.execute("ROLLBACK")
        why = "Its database is the newest that was written here."
        remedy = "Nothing needs to be accepted: go on as before."
        raise Conflict("not_restored", f"{ws.path} was not restored from an older backup.", why, remedy)
    now = clock.utc_us()
    unknown = numbers.keep_back(connection, ws)
    highest = max(unknown, default=0)
    _end.run(connection, v_at_us=now, mine=mine)
    data = {"unknown_runs": list(unknown[:100]), "unknown_count": len(unknown), "highest_run": highest}
    journal.add_entries(Session(connection, mine, now), None, None, (JournalEntry("recovery_ended", now, data),))
    epochs.close_epoch(connection, mine)
    faults.point("store.restored.before")
    connection.execute("COMMIT")
    faults.point("store.restored.after")
    write_generation(ws, selects.database_uuid(connection), mine, folder_identity(ws.path))
    return Settled(highest, unknown)
