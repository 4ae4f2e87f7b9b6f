"""The far ends of the supervisor's local server in tests: a socket of the standard library that says what it is told to."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from actum import clock
from actum.ipc import framing, messages
from actum.model.identity import ProcessIdentity, new_token
from actum.processes import identity as identities


class End:
    """One connection. Attributes: received (frames so far), channel (its id), closed (the server has ended it)."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._socket.setblocking(False)
        self._decoder = framing.Decoder()
        self._seq = 0
        self.channel = new_token()
        self.received: list[dict[str, Any]] = []
        self.closed = False

    def __enter__(self) -> End:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    # Say

    def raw(self, data: bytes) -> None:
        self._socket.setblocking(True)
        try:
            self._socket.sendall(data)
        finally:
            self._socket.setblocking(False)

    def say(self, type_: str, seq: int | None = None, **fields: Any) -> None:
        self._seq = self._seq + 1 if seq is None else seq
        envelope = {"v": messages.VERSION, "type": type_, "channel": self.channel, "seq": self._seq, "at": clock.utc_us()}
        self.raw(framing.encode(envelope | fields))

    def greet(self) -> None:
        self.say("client-hello", body={"protocol": messages.PROTOCOL})

    def command(self, **body: Any) -> None:
        self.say("command", body=body)

    def hello(self, of: Mapping[str, Any], secret: str, identity: ProcessIdentity | None = None, **changes: Any) -> None:
        """Say what a host of {run, attempt, session} says first."""
        who = (identity or identities.own()).to_json()
        words = {"secret": secret, "protocol": messages.PROTOCOL, "identity": who, "claimed": False}
        self.say("hello", **of, **(words | changes))

    # Hear

    def hear(self) -> list[dict[str, Any]]:
        """Every frame received so far; never waits."""
        while not self.closed:
            try:
                data = self._socket.recv(1 << 20)
            except BlockingIOError:
                break
            except (ConnectionResetError, BrokenPipeError):
                data = b""
            self.closed = not data
            self.received += self._decoder.feed(data)
        return self.received

    def ended(self) -> bool:
        """Whether the server has closed the channel."""
        self.hear()
        return self.closed

    def heard(self, type_: str) -> dict[str, Any] | None:
        """The newest frame of this type, if one came."""
        return next((frame for frame in reversed(self.hear()) if frame["type"] == type_), None)
