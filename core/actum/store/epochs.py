"""Service instances: each holder of the lock opens an epoch greater than every one before it (PROTOCOL "Lock", P23).

The epoch is committed first, the generation file follows. So a database whose newest epoch is *behind* the generation
file was restored from an older backup, and that is remembered in the setting `recovery` until a person ends it.

A writer that was killed leaves a write-ahead log. Where there is none (`openlog`), somebody took it away with what was in
it, or the last commit met a failing disk: that is said (`log_lost`), and nothing is started by itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from actum import __version__, clock, faults
from actum.errors import WorkspaceUnusable
from actum.generation import Generation, folder_identity, read_generation, write_generation
from actum.store import numbers, selects
from actum.store.database import Checked
from actum.store.jsontext import from_text, to_text
from actum.store.schema import service_instance, setting
from actum.store.sql import MINE, Insertion, Statement
from actum.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Opened:
    """An epoch just opened. `recovery` = the database is older than the workspace: no launch, no tick, no quarantine.

    `previous_clean` is False when an earlier instance did not close in order; `checked` is what quick_check then found;
    `log_lost` = it left no write-ahead log, so that what it had answered may be missing; `generation_lost` = there are runs,
    and no generation file: whether this is a copy, or an older backup, cannot be told.
    """

    epoch: int
    database_uuid: str
    instance: str
    recovery: bool
    previous_clean: bool
    checked: Checked | None
    log_lost: bool = False
    generation_lost: bool = False


_last = Statement(
    select(service_instance.c.epoch, service_instance.c.closed_at_us).order_by(service_instance.c.epoch.desc()).limit(1)
)
_open = Statement(
    insert(service_instance).values(
        epoch=bindparam("v_epoch"),
        id=bindparam("v_id"),
        pid=bindparam("v_pid"),
        identity=bindparam("v_identity"),
        program_version=bindparam("v_program_version"),
        opened_at_us=bindparam("v_opened_at_us"),
    )
)
_close = Statement(
    update(service_instance)
    .where(service_instance.c.epoch == bindparam("mine"), MINE)
    .values(closed_at_us=bindparam("v_at_us"))
)
_rename = Statement(
    update(setting)
    .where(setting.c.name == "database_uuid", MINE)
    .values(value=bindparam("v_value"), at_us=bindparam("v_at_us"), epoch=bindparam("mine"))
)
_remember = Insertion(setting, ("name", "value", "at_us"), once=True)


def previous_clean(connection: sqlite3.Connection) -> bool:
    row = _last.run(connection).fetchone()
    return row is None or row["closed_at_us"] is not None


def rename(connection: sqlite3.Connection, mine: int, fresh: str) -> None:
    """Give the database a new id, in the open transaction (a copy that is accepted)."""
    _rename.run(connection, v_value=to_text(fresh), v_at_us=clock.utc_us(), mine=mine)


def refuse_copy(ws: Workspace) -> None:
    """Raises WorkspaceUnusable(workspace_copied) when the folder is not the one the generation file names."""
    recorded = read_generation(ws)
    if recorded is not None and recorded.folder != folder_identity(ws.path):
        raise WorkspaceUnusable(
            "workspace_copied",
            f"The workspace {ws.path} is a copy of another one.",
            "Its folder is not the one its records were made in, so its open runs may still be computing elsewhere.",
            "Run `actum doctor --accept-copy` to go on with the copy, or use the original.",
        )


def open_epoch(
    connection: sqlite3.Connection,
    ws: Workspace,
    instance: str,
    identity: Mapping[str, Any],
    *,
    clean: bool,
    checked: Checked | None,
    log_lost: bool = False,
) -> Opened:
    """Commit a new service instance, then write the generation file."""
    # The first run is admitted after the first generation file was written, so who has runs had one.
    generation_lost = read_generation(ws) is None and bool(selects.counts(connection))
    connection.execute("BEGIN IMMEDIATE")
    epoch = begin(connection, ws, instance, identity)
    recovery = from_text(selects.setting(connection, "recovery")) is not None
    if recovery or log_lost or generation_lost:
        numbers.keep_back(connection, ws)  # a run may be admitted while nothing is launched, and must not share a folder
    faults.point("store.epoch.before")
    connection.execute("COMMIT")
    faults.point("store.epoch.after")
    uuid = selects.database_uuid(connection)
    write_generation(ws, uuid, epoch, folder_identity(ws.path))
    return Opened(epoch, uuid, instance, recovery, clean, checked, log_lost, generation_lost)


def begin(connection: sqlite3.Connection, ws: Workspace, instance: str, identity: Mapping[str, Any]) -> int:
    """Insert a service instance with an epoch above all before it, in the open transaction."""
    recorded = read_generation(ws)
    in_database = selects.epoch(connection)
    behind = recorded is not None and (
        recorded.epoch > in_database or recorded.database_uuid != selects.database_uuid(connection)
    )
    epoch = max(in_database, recorded.epoch if recorded else 0) + 1
    now = clock.utc_us()
    _open.run(
        connection,
        v_epoch=epoch,
        v_id=instance,
        v_pid=os.getpid(),
        v_identity=to_text(dict(identity)),
        v_program_version=__version__,
        v_opened_at_us=now,
    )
    if behind and recorded is not None:
        _remember.run(connection, epoch, name="recovery", value=_reason(recorded, in_database, now), at_us=now)
    return epoch


def close_epoch(connection: sqlite3.Connection, mine: int) -> bool:
    """Record that this instance ended in order; False when a newer one exists."""
    return _close.run(connection, mine=mine, v_at_us=clock.utc_us()).rowcount == 1


def _reason(recorded: Generation, in_database: int, now: int) -> str:
    return to_text({"since_us": now, "database_epoch": in_database, "generation_epoch": recorded.epoch})
