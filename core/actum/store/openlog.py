"""Whether the write-ahead log has to be there: a small file that stands while a writing connection is open.

Theory. A writer that is killed leaves its log, which the next one folds in; where it is gone, somebody took it away with what
was in it. But whoever closes the connection in order leaves none either, and may not be able to record that end: on a full
disk nothing more is written, and a start that fails ends before it has begun. To *remove* a file works there. So `writing` is
made, durably, before the connection, and removed after it was closed: only where it stands, and no log does, is one missing.
"""

from __future__ import annotations

from contextlib import suppress

from actum.generation import sync_folder
from actum.store import database
from actum.workspace import Workspace, unusable


class OpenLog:
    """Attributes: logged (a log with something in it lay there), lost (it had to, and there was none)."""

    def __init__(self, ws: Workspace) -> None:
        """Before the connection is opened, by the lock holder. Raises WorkspaceUnusable, StorageFailed."""
        self._ws = ws
        self.logged = database.has_log(ws)
        stood = ws.writing.exists()
        self.lost = stood and not self.logged
        if not stood:
            self._make()

    def _make(self) -> None:
        try:
            self._ws.writing.touch(mode=0o600)
            sync_folder(self._ws.path)
        except OSError as error:
            raise unusable("opening the database", error, self._ws.path) from error

    def settled(self) -> None:
        """The missing log was said, and an epoch of its own is on record: from now on the log is this connection's."""
        self.lost = False

    def closed(self) -> None:
        """After the connection was closed in order. A missing log that nobody was told of stays missing."""
        if not self.lost:
            with suppress(OSError):  # it stands, and a log that is not there is said to be missing: the cautious reading
                self._ws.writing.unlink()
