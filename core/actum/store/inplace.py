"""Whether the files that the writing connection has open are still the workspace's (R04).

Theory. SQLite goes on writing into a file that was moved or removed under it, and says that all is well: what it commits then
is on record nowhere that anybody looks. So before each group commit, and once more before its answers are given, device and
inode of the database's path are compared with those of the file that was opened, and those of its write-ahead log likewise.
Where they differ nothing is acknowledged, and the instance retires: another start opens what is there. The opened files
themselves are never looked at: closing any descriptor of theirs would drop SQLite's locks.

A database that was moved is left as it is, with its log: nothing is written into it any more, not even an orderly end. A log
that was removed still has what was acknowledged; it is folded into the database, which is in its place, before it is let go of.
"""

from __future__ import annotations

import os
from pathlib import Path

from actum.errors import WorkspaceUnusable
from actum.workspace import Workspace

Identity = tuple[int, int]


class InPlace:
    """The files of one writing connection, and of those that follow it in the same instance."""

    def __init__(self, ws: Workspace) -> None:
        self._path = ws.database
        self._log_path = ws.database.with_name(ws.database.name + "-wal")
        self._database: Identity | None = None
        self._log: Identity | None = None

    def hold(self) -> None:
        """A connection was opened and has read: these are its files, the database that of the first one. Raises as `check`."""
        if self._database is None:
            self._database = _identity(self._path)
        self.check_database()
        self._log = _identity(self._log_path)  # where SQLite keeps none, none is looked for

    def check(self) -> None:
        """Raises WorkspaceUnusable (database_moved, log_gone), and OSError where that cannot be told."""
        self.check_database()
        if self._log is not None and _identity(self._log_path) != self._log:
            raise WorkspaceUnusable(
                "log_gone",
                "The write-ahead log of the workspace's database was removed or replaced while Actum was using it.",
                f"{self._log_path} is not the file that was opened. This request was not recorded; all before it is kept.",
                "Ask again: the next supervisor begins with a log of its own. Leave that file alone while Actum runs.",
            )

    def check_database(self) -> None:
        """The same, of the database alone: also where there is no connection, so that none is opened to another file."""
        if self._database is not None and _identity(self._path) != self._database:
            raise WorkspaceUnusable(
                "database_moved",
                "The workspace's database was moved, replaced or removed while Actum was using it.",
                f"{self._path} is not the file that was opened. This request was not recorded.",
                "Put the database back with its -wal file, or say by `actum doctor` what is there now; then ask again.",
            )


def _identity(path: Path) -> Identity | None:
    """Device and inode of the file of this name; None where there is none. Raises OSError."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
