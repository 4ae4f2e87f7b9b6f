"""The local server: channels of hosts and of clients, with bounded buffers (§7, R11).

A connection says who it is by its first frame: a host's `hello` is proven by `actum.ipc.session.Guard`, a client's
`client-hello` needs only the same user. Nothing here decides anything: what comes in is handed to the owner as it is.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from actum import clock, faults
from actum.errors import ActumError, WorkspaceUnusable
from actum.ipc import framing, messages
from actum.ipc.session import Accepted, Expected, Guard, Unknown
from actum.limits import (
    CHANNEL_READ_BYTES_MAX,
    CHANNEL_WRITE_BYTES_MAX,
    CHANNELS_MAX,
    FRAME_BYTES_MAX,
    HELLO_WAIT_S,
    VERDICTS_BYTES_MAX,
)
from actum.model.identity import new_token
from PySide6.QtCore import QObject, QTimer
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_FIRST_WORDS_MS = 100  # between a connect and the hello that follows it at once


class Owner(Protocol):
    """Who hears what comes in; all called in the server's thread."""

    def expected(self, hello: Mapping[str, Any]) -> Expected | None: ...
    def on_host_frame(self, channel: Channel, frame: Mapping[str, Any]) -> None: ...
    def on_unknown_host(self, hello: Mapping[str, Any]) -> None: ...
    def on_violation(self, channel: Channel, why: str, *, closed: bool) -> None: ...
    def on_client_command(self, channel: Channel, body: Mapping[str, Any]) -> None: ...
    def on_closed(self, channel: Channel) -> None: ...


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a client hears first."""

    instance: str
    epoch: int


class Channel(QObject):
    """One connection. Attributes: kind (None until its first frame, then host or client), expected (a proven host's), id."""

    def __init__(self, connection: QLocalSocket, server: Server) -> None:
        super().__init__(server)
        self.kind: str | None = None
        self.id = new_token()
        self.following: set[int] = set()
        self.admitting: set[int] = set()  # commands of a client whose inputs are being digested
        self._socket = connection
        self._server = server
        self._decoder = framing.Decoder()
        self._guard: Guard | None = None
        self._sent = 0
        self._received = -1
        self._closed = False
        connection.setParent(self)
        connection.setReadBufferSize(CHANNEL_READ_BYTES_MAX)
        connection.readyRead.connect(self._on_ready_read)
        connection.disconnected.connect(self._on_disconnected)
        self._overdue = QTimer(self)
        self._overdue.setSingleShot(True)
        self._overdue.timeout.connect(self._on_hello_overdue)
        self._overdue.start(int(HELLO_WAIT_S * 1000))

    @property
    def name(self) -> str:
        """The channel's name in its frames: a host names its own."""
        return self._guard.channel if self._guard is not None else self.id

    @property
    def expected(self) -> Expected | None:
        return self._guard.expected if self._guard is not None and self._guard.proven else None

    def send(self, type_: str, fields: Mapping[str, Any]) -> bool:
        """One frame; False (and a closed channel) when its reader has fallen too far behind."""
        if self._closed or self._socket.bytesToWrite() > CHANNEL_WRITE_BYTES_MAX:
            self.close()
            return False
        self._sent += 1
        frame: dict[str, Any] = {"v": messages.VERSION, "type": type_}
        expected = self.expected
        if expected is not None:
            frame |= {"run": expected.run, "attempt": expected.attempt, "session": expected.session}
        frame |= {"channel": self.name, "seq": self._sent, "at": clock.utc_us()}
        data = framing.encode({**frame, **fields})
        try:
            faults.point("controller.send.before")
            self._socket.write(data)
            self._socket.flush()
            faults.point("controller.send.after")
        except OSError:
            self.close()
            return False
        return True

    def drain(self) -> None:
        """Take what has already arrived, before the end of its sender is told."""
        while not self._closed and self._socket.bytesAvailable():
            self._receive(bytes(self._socket.read(CHANNEL_READ_BYTES_MAX).data()))

    def hear_out(self) -> None:
        """Take what the system has received; of one that has only just connected, its first words."""
        if not self._closed:
            self._socket.waitForReadyRead(_FIRST_WORDS_MS if self.kind is None else 0)
        self.drain()

    def close(self) -> None:
        if not self._closed:
            self._socket.disconnectFromServer()
            self._on_disconnected()

    def _on_hello_overdue(self) -> None:
        if self.kind is None:
            self.close()

    def _on_ready_read(self) -> None:
        data = bytes(self._socket.read(CHANNEL_READ_BYTES_MAX).data())
        if data:
            self._receive(data)
        if not self._closed and self._socket.bytesAvailable():
            QTimer.singleShot(0, self, self._on_ready_read)  # others first: no channel holds up the loop

    def _receive(self, data: bytes) -> None:
        if self._guard is not None:
            self._hear(self._guard.receive(data))
            return
        try:
            frames = self._decoder.feed(data)
        except framing.Violation as violation:
            self._violated(str(violation))
            return
        for position, frame in enumerate(frames):
            if self.kind is None and frame.get("type") == "hello":
                self.kind = "host"
                self._overdue.stop()
                self._guard = Guard(self._server.owner.expected, self._decoder)
                self._hear([self._guard.feed(each) for each in frames[position:]])
                self._hear(self._guard.receive(b""))
                return
            if not self._client(frame):
                return

    def _hear(self, seen: list[Any]) -> None:
        owner = self._server.owner
        for each in seen:
            if self._closed:
                return
            if isinstance(each, Accepted):
                owner.on_host_frame(self, each.frame)
            elif isinstance(each, Unknown):
                owner.on_unknown_host(each.hello)
            else:
                assert self._guard is not None
                owner.on_violation(self, str(each), closed=self._guard.closed)
        if self._guard is not None and self._guard.closed:
            self.close()

    def _client(self, frame: Mapping[str, Any]) -> bool:
        """One frame of a client; anything out of order ends the channel."""
        try:
            document = messages.check(dict(frame), messages.FROM_CLIENT)
        except framing.Violation as violation:
            return self._violated(str(violation))
        if document["seq"] <= self._received:
            return self._violated("The seq of a client does not rise.")
        self._received = document["seq"]
        if document["type"] == "client-hello":
            if self.kind is not None or document["body"].get("protocol") != messages.PROTOCOL:
                return self._violated("A client speaks another protocol, or says hello twice.")
            self.kind, self.id = "client", document["channel"]
            self._overdue.stop()
            greeting = self._server.greeting
            self.send("client-hello-ack", {"body": {"instance": greeting.instance, "epoch": greeting.epoch}})
        elif self.kind == "client" and document["channel"] == self.id:
            self._server.owner.on_client_command(self, document["body"])
        else:
            return self._violated("A client commands before its hello.")
        return True

    def _violated(self, why: str) -> bool:
        self._server.owner.on_violation(self, why, closed=True)
        self.close()
        return False

    def _on_disconnected(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._overdue.stop()
        self._server.drop(self)
        self._server.owner.on_closed(self)
        self.deleteLater()


class Server(QObject):
    """Listens at one path for hosts and clients of this user."""

    def __init__(self, owner: Owner, greeting: Greeting, parent: QObject) -> None:
        super().__init__(parent)
        self.owner = owner
        self.greeting = greeting
        self.channels: set[Channel] = set()
        self._server: QLocalServer | None = None
        self._file: tuple[str, int, int] | None = None  # where it listens: path, device, inode

    def listen(self, path: str) -> None:
        """Listen at `path`, and no longer where it listened before; channels stay open.

        Raises WorkspaceUnusable with the system's reason.
        """
        self._stop_listening()
        server = self._server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.setMaxPendingConnections(CHANNELS_MAX)
        server.setListenBacklogSize(CHANNELS_MAX)  # hundreds of hosts find a new supervisor in the same moment
        server.newConnection.connect(self._on_new_connection)
        if not server.listen(path):
            why = server.errorString()
            remedy = "Check the runtime folder (XDG_RUNTIME_DIR) and its permissions."
            raise WorkspaceUnusable("no_server", "The local server cannot listen.", f"{why} ({path})", remedy)
        self._file = _socket_at(path)

    def stands(self) -> bool:
        """Whether the socket it listens at still has its name."""
        return self._file is not None and _socket_at(self._file[0]) == self._file

    def hush(self) -> None:
        """Take nobody new, and hear what those who are here have said: a host whose channel ends before its hello is answered
        ends itself, with nothing done (P03)."""
        self._stop_listening()
        for channel in list(self.channels):
            channel.hear_out()

    def close(self) -> None:
        self._stop_listening()
        for channel in list(self.channels):
            channel.close()

    def drop(self, channel: Channel) -> None:
        self.channels.discard(channel)

    def _stop_listening(self) -> None:
        """What has connected already becomes a channel first: it knows nothing of another path."""
        server = self._server
        if server is not None:
            self._on_new_connection()
            server.close()
            server.deleteLater()
        self._server = self._file = None

    def _on_new_connection(self) -> None:
        server = self._server
        while server is not None and (connection := server.nextPendingConnection()) is not None:
            if len(self.channels) >= CHANNELS_MAX or not _same_user(connection):
                connection.abort()
                connection.deleteLater()
                continue
            channel = Channel(connection, self)
            self.channels.add(channel)
            channel._on_ready_read()


def _socket_at(path: str) -> tuple[str, int, int] | None:
    """The socket of this name, or None where there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (path, found.st_dev, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None


def answer(channel: Channel, ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
    """The answer frame. Of verdicts it holds as many as fit, and their number; any other answer too long says so."""
    body: dict[str, Any] = error.to_json() if error is not None else {"ok": _fitting(dict(ok or {}))}
    try:
        channel.send("answer", {"body": body})
    except framing.FrameTooLong:
        short = ActumError("answer_too_long", "The answer is too long for one message.", f"Over {FRAME_BYTES_MAX} bytes.")
        channel.send("answer", {"body": short.to_json()})


def _fitting(ok: dict[str, Any]) -> dict[str, Any]:
    """With `verdicts`: the first ones, up to VERDICTS_BYTES_MAX as they are sent, and `total`."""
    if "verdicts" not in ok:
        return ok
    verdicts: list[Any] = list(ok["verdicts"])
    room, count = VERDICTS_BYTES_MAX, 0
    for verdict in verdicts:
        room -= 1 + len(json.dumps(verdict, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        if room < 0:
            break
        count += 1
    return {**ok, "verdicts": verdicts[:count], "total": len(verdicts)}


def _same_user(connection: QLocalSocket) -> bool:
    """Whether the peer runs as this user (SO_PEERCRED); where the system has no such thing, the 0700 folder has to do."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    try:
        with socket.socket(fileno=os.dup(connection.socketDescriptor())) as peer:
            credentials = peer.getsockopt(socket.SOL_SOCKET, option, 12)
    except OSError:  # it is gone already
        return False
    return int.from_bytes(credentials[4:8], "little") == os.getuid()
