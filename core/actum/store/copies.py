"""Accepting a copied workspace as one of its own (FORMATS "Tokens, folders, files").

The copy gets a new id and a new generation. Its open attempts belong to hosts of the original: they are closed by legal
arrows without any signal, released with evidence method *copied*, and nothing of the copy starts by itself.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from actum import clock, faults
from actum.errors import Conflict, WorkspaceUnusable
from actum.generation import folder_identity, write_generation
from actum.model.changes import Arrow, Change, JournalEntry, StopRun
from actum.model.facts import Fact, FactName
from actum.model.run import AttemptRow
from actum.model.status import RELEASING, AttemptEvent, FailureCode, Pair, Phase, RunStatus, Status, after
from actum.store import epochs, loading, runs
from actum.store.alone import alone
from actum.store.writing import Session
from actum.workspace import Workspace

_S, _P, _E = Status, Phase, AttemptEvent

# From each open pair the event that leads on to its closing. STARTING is closed as START_FAILED: nothing was seen of it.
CLOSING: Mapping[Pair, AttemptEvent] = {
    Pair(_S.CREATED, _P.QUEUED): _E.SLOT_GRANTED,
    Pair(_S.CREATED, _P.FREEZING): _E.FREEZE_FAILED,
    Pair(_S.STARTING, _P.LAUNCHING): _E.LAUNCH_LOST,
    Pair(_S.RUNNING, _P.COMPUTING): _E.OUTCOME_FAILED,
    Pair(_S.RUNNING, _P.SEALING): _E.OUTCOME_FAILED,
    Pair(_S.RUNNING, _P.CLEANING_UP): _E.TREE_CLEAR,
    Pair(_S.RUNNING, _P.VERIFYING): _E.REJECTED,
    Pair(_S.RUNNING, _P.PUBLISHING): _E.PACKAGE_LOST,
    Pair(_S.RUNNING, _P.PUBLISH_PENDING): _E.RETRY_DUE,
    Pair(_S.STOPPING, _P.CLEANING_UP): _E.TREE_CLEAR,
    Pair(_S.FAILED, _P.CLEANING_UP): _E.TREE_CLEAR,
    Pair(_S.START_FAILED, _P.CLEANING_UP): _E.TREE_CLEAR,
    Pair(_S.TIMEOUT, _P.CLEANING_UP): _E.TREE_CLEAR,
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The copy's new id, and how many attempts were closed."""

    database_uuid: str
    closed: int


def accept_copy(ws: Workspace) -> Accepted:
    """Make the copy a workspace of its own. Raises Conflict(not_a_copy) and Busy.

    All of it is one transaction, and the generation file follows: killed in between, the folder is still a copy.
    """
    try:
        epochs.refuse_copy(ws)
    except WorkspaceUnusable:
        pass
    else:
        why = "Its records were made in this folder."
        raise Conflict("not_a_copy", f"{ws.path} is not a copy.", why, "Nothing needs to be accepted: go on as before.")
    with alone(ws) as connection:
        return _accept(connection, ws)


def _accept(connection: sqlite3.Connection, ws: Workspace) -> Accepted:
    fresh = str(uuid.uuid4())
    connection.execute("BEGIN IMMEDIATE")
    mine = epochs.begin(connection, ws, str(uuid.uuid4()), {})
    epochs.rename(connection, mine, fresh)
    session = Session(connection, mine, clock.utc_us())
    rows = loading.open_attempts(connection)
    for row in rows:
        _close(session, row)
    epochs.close_epoch(connection, mine)
    faults.point("store.copy.before")
    connection.execute("COMMIT")
    faults.point("store.copy.after")
    write_generation(ws, fresh, mine, folder_identity(ws.path))
    return Accepted(fresh, len(rows))


def _close(session: Session, row: AttemptRow) -> None:
    if row.run_status is RunStatus.RETRYING:
        journal = (JournalEntry("workspace_copied", session.now_us, {}),)
        runs.stop_run(session, StopRun(row.run, session.now_us, journal))
    while row.pair in CLOSING:
        row = _known(runs.change(session, _step(row)).row)


def _step(row: AttemptRow) -> Change:
    """One arrow on the way to closed."""
    now = clock.utc_us()
    event = CLOSING[row.pair]
    target = after(row.pair, event)
    facts: tuple[Fact, ...] = ()
    if target in RELEASING and FactName.LAUNCHED in row.facts and FactName.RELEASED not in row.facts:
        facts = (Fact(FactName.RELEASED, now, {"method": "copied"}),)
    columns: dict[str, object] = {}
    if target.status in (Status.FAILED, Status.START_FAILED) and row.pair.status is not target.status:
        columns = {
            "failure_code": FailureCode.WORKSPACE_COPIED.value,
            "failure_message": "The workspace was copied while this run was open; the original goes on without this copy.",
            "finished_at_us": now,
        }
    journal = (JournalEntry("workspace_copied", now, {"from": list(row.pair), "to": list(target)}),)
    return Change(row.attempt, row.run, Arrow(row.pair, event), facts=facts, columns=columns, journal=journal)


def _known(row: AttemptRow | None) -> AttemptRow:
    """The row, which is there: it was just written."""
    assert row is not None
    return row
