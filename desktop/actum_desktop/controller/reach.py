"""Where hosts and clients reach this instance: its local server, and the endpoint file that names it (§7, R09).

Theory. A login manager or a cleaner may take the socket's file, or its whole runtime folder, from under a living supervisor.
Channels that are open stay, but nobody new would find it: commands give up, and a host that has not claimed its attempt waits
for an answer to its hello. So each tick looks, by two lstats, whether the socket and the endpoint file still stand. A fresh one
is made of what is gone. Where nothing can listen the endpoint names no socket: hosts are then served by the spool alone, no
client can be, an alert says so, and it is tried again from time to time.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

from actum import clock, runtime
from actum.errors import StorageFailed, WorkspaceUnusable
from actum.generation import read_endpoint, remove_endpoint, write_endpoint
from actum.model.changes import ClearAlert, Note, RaiseAlert
from actum.workspace import Workspace
from PySide6.QtCore import QObject

from actum_desktop.controller.server import Greeting, Owner, Server

log = logging.getLogger(__name__)


class Reach:
    """Attributes: server."""

    def __init__(
        self, ws: Workspace, greeting: Greeting, owner: Owner, parent: QObject, record: Callable[[Note], None]
    ) -> None:
        self.server = Server(owner, greeting, parent)
        self._ws = ws
        self._record = record
        self._written: tuple[int, ...] | None = None  # the identity of the endpoint file as this instance left it
        self._endpoint: dict[str, Any] = {"socket": None, "instance": greeting.instance, "epoch": greeting.epoch}

    def begin(self, *, window: bool) -> None:
        """Listen, and say where. Raises StorageFailed where the endpoint file cannot be written."""
        self._endpoint |= {"pid": os.getpid(), "window": window}
        self._tell(self._listen())
        self._write()

    def disturbed(self) -> bool:
        """Whether the socket or the endpoint file is gone, or another one stands there. Asked each tick."""
        deaf = self._endpoint["socket"] is not None and not self.server.stands()
        return deaf or self._written is None or _identity(self._ws) != self._written

    def mend(self) -> None:
        """Listen again where nobody listens, and write the endpoint file where it is not this one's.

        Only for who holds the workspace's lock: the file may be a successor's.
        """
        if self._endpoint["socket"] is None:
            if not self._listen():
                self._tell("")
        elif not self.server.stands():
            log.info("the socket %s is gone", self._endpoint["socket"])
            self._tell(self._listen())
        if self._written is None or _identity(self._ws) != self._written:
            self._write_again()

    def hush(self) -> None:
        """Take nobody new, and hear those who are here; the next instance's endpoint file stays."""
        remove_endpoint(self._ws, self._endpoint["instance"])
        self.server.hush()

    def close(self) -> None:
        """End every channel."""
        self.server.close()

    def _listen(self) -> str:
        """Listen at a fresh path; "", or why that is not possible."""
        before, why = self._endpoint["socket"], ""
        try:
            self._endpoint["socket"] = path = runtime.socket_path()
            self.server.listen(path)
        except WorkspaceUnusable as error:
            self._endpoint["socket"], why = None, " ".join((error.what, error.why))
        if self._endpoint["socket"] != before:
            self._written = None
        return why

    def _tell(self, why: str) -> None:
        now_us = clock.utc_us()
        alert: RaiseAlert | ClearAlert = ClearAlert("no_socket", now_us)
        if why:
            log.warning("without a local socket: %s", why)
            alert = RaiseAlert("no_socket", "no_socket", "warning", now_us, {"why": why})
        self._record(Note(alerts=(alert,)))

    def _write(self) -> None:
        write_endpoint(self._ws, self._endpoint)
        self._written = _identity(self._ws)

    def _write_again(self) -> None:
        """An endpoint file that was removed, spoilt or names an old socket: without it nobody finds who holds the lock."""
        found = read_endpoint(self._ws) or {}
        if all(found.get(name) == value for name, value in self._endpoint.items()):
            self._written = _identity(self._ws)
            return
        try:
            self._write()
        except StorageFailed as error:  # a full disk: at the next look
            log.info("the endpoint file is not written yet: %s", error)


def _identity(ws: Workspace) -> tuple[int, ...] | None:
    try:
        found = os.lstat(ws.endpoint)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
