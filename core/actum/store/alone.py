"""The writing connection of a workspace that nobody supervises, for what a person settles by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from actum.errors import Busy
from actum.lock import Lock
from actum.store import database, failures
from actum.store.openlog import OpenLog
from actum.workspace import Workspace


@contextmanager
def alone(ws: Workspace) -> Iterator[sqlite3.Connection]:
    """Held by the workspace lock. Raises Busy, what opening raises, and StorageFailed where the disk refuses what is done."""
    held = Lock.try_acquire(ws)
    if held is None:
        why = "Another program supervises it."
        raise Busy("workspace_busy", "The workspace is in use.", why, "Close that, then try again.")
    with held:
        log = OpenLog(ws)
        connection: sqlite3.Connection | None = None
        try:
            connection = database.open_writer(ws)
            yield connection
        except sqlite3.Error as error:  # the transaction is undone with the connection
            raise failures.known(error, ws.database, "writing to the database") or error from error
        except OSError as error:
            raise failures.of_system(error, ws.database, "writing to the database") from error
        finally:
            if connection is not None:
                connection.close()
            log.closed()
