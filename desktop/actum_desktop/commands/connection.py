"""The commands' end of the supervisor's local server: one socket, one command, one answer after its commit (§3, §7).

Theory. The supervisor writes `<workspace>/endpoint`; a client connects to the socket named there, checks that the other
end belongs to the same user, says client-hello and waits for client-hello-ack: only that says somebody supervises (a
connect to the socket of a just-killed program can succeed). Then one command frame goes out and one answer comes back,
*after the commit*. A channel that ends before the answer leaves the question open: `ChannelLost`, which is "cannot
tell" (exit 7), and the same command with the same key may be sent again. After `follow`, change frames come too.

Standard library only; nothing here waits without watching the channel. Keeps R04 (an answer means a commit) and R11.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.clock import utc_us
from actum.errors import ActumError, CannotTell, WrongUse, from_json
from actum.ipc import framing, messages
from actum.model.identity import new_token

if TYPE_CHECKING:
    from actum.workspace import Workspace

_WATCH_S = 0.1  # how often a waiting client looks up from its channel
_READ_BYTES = 65_536


class ChannelLost(CannotTell):
    """The channel ended before the answer: what was sent may or may not have been recorded."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "cannot_tell",
            "The answer of the supervisor was lost.",
            f"{why} Whether the command was recorded cannot be told from here.",
            "Send the same command again; `actum runs` shows what is recorded.",
        )


class Client:
    """One channel to the living supervisor.

    Attributes: instance, epoch (whose they are), supervisor (what the endpoint file says).
    """

    def __init__(self, connection: socket.socket, endpoint: Mapping[str, Any]) -> None:
        self.supervisor = dict(endpoint)
        self.instance = ""
        self.epoch = 0
        self._socket = connection
        self._decoder = framing.Decoder()
        self._channel = new_token()
        self._seq = 0
        self._received: deque[dict[str, Any]] = deque()

    def greet(self, wait_s: float) -> None:
        """Say client-hello and wait for its answer. Raises ChannelLost, or the error the supervisor answers."""
        self.send("client-hello", {"protocol": messages.PROTOCOL})
        end = time.monotonic() + wait_s
        while time.monotonic() < end:
            frame = self.receive(_WATCH_S)
            if frame is None:
                continue
            if frame["type"] == "client-hello-ack":
                self.instance = str(frame["body"].get("instance", ""))
                self.epoch = int(frame["body"].get("epoch", 0))
                return
            if frame["type"] == "answer" and "error" in frame["body"]:
                raise from_json(frame["body"])
            raise ChannelLost(f"It answered a greeting with “{frame['type']}”.")
        raise ChannelLost(f"It did not answer a greeting within {wait_s:g} s.")

    def ask(
        self,
        body: Mapping[str, Any],
        *,
        on_change: Callable[[Mapping[str, Any]], None] | None = None,
        waiting: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
        """Send one command and return the `ok` of its answer; change frames that come first go to `on_change`.

        `waiting` is called about ten times a second and may raise. Raises the error that was answered, ChannelLost.
        """
        self.send("command", body)
        while True:
            frame = self.receive(_WATCH_S)
            if frame is None:
                if waiting is not None:
                    waiting()
            elif frame["type"] == "change":
                if on_change is not None:
                    on_change(frame["body"])
            elif frame["type"] == "answer":
                if "error" in frame["body"]:
                    raise from_json(frame["body"])
                return dict(frame["body"]["ok"])

    def send(self, kind: str, body: Mapping[str, Any]) -> None:
        self._seq += 1
        document = {
            "v": messages.VERSION,
            "type": kind,
            "channel": self._channel,
            "seq": self._seq,
            "at": utc_us(),
            "body": dict(body),
        }
        try:
            frame = framing.encode(document)
        except framing.FrameTooLong as error:
            raise WrongUse("command_too_long", "The command is too long to be sent.", error.why, "Use a file input.") from error
        try:
            self._socket.settimeout(limits.CLIENT_SEND_WAIT_S)
            self._socket.sendall(frame)
        except OSError as error:
            raise ChannelLost(f"The channel did not take the frame ({error}).") from error

    def receive(self, wait_s: float) -> dict[str, Any] | None:
        """The next frame, or None when none came within `wait_s`. Raises ChannelLost when the channel has ended."""
        if self._received:
            return self._received.popleft()
        try:
            self._socket.settimeout(wait_s)
            data = self._socket.recv(_READ_BYTES)
        except (TimeoutError, InterruptedError):
            return None
        except OSError as error:
            raise ChannelLost(f"The channel broke ({error}).") from error
        if not data:
            raise ChannelLost("The supervisor closed the channel.")
        try:
            self._received.extend(_checked(frame) for frame in self._decoder.feed(data))
        except framing.Violation as error:
            raise ChannelLost(f"What came over the channel breaks the protocol. {error.why}") from error
        return self._received.popleft() if self._received else None

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def reach(ws: Workspace, *, wait_s: float = limits.CLIENT_HELLO_WAIT_S) -> Client | None:
    """A greeted channel to the supervisor of `ws`, or None where nobody answers.

    Raises CannotTell when the socket belongs to somebody else, and what the supervisor answers instead of a greeting
    (Busy during a take-over or migration).
    """
    from actum.generation import read_endpoint

    endpoint = read_endpoint(ws)
    if endpoint is None or endpoint.get("socket") is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(wait_s)
        connection.connect(str(endpoint["socket"]))
    except (OSError, KeyError):
        connection.close()
        return None
    client = Client(connection, endpoint)
    try:
        _check_peer(connection)
        client.greet(wait_s)
    except ChannelLost:
        client.close()
        return None
    except ActumError:
        client.close()
        raise
    return client


def _check_peer(connection: socket.socket) -> None:
    """Only a supervisor of the same user may be believed."""
    if not hasattr(socket, "SO_PEERCRED"):
        return
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if uid != os.geteuid():
        raise CannotTell(
            "foreign_supervisor",
            "The socket of this workspace belongs to another user.",
            f"Its owner has the user id {uid}, you have {os.geteuid()}.",
            "Use a workspace of your own (--workspace DIR).",
        )


def _checked(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame as the server may send it. Raises Violation."""
    messages.check(frame, messages.FROM_SERVER)
    if frame["type"] == "answer" and ("ok" in frame["body"]) == ("error" in frame["body"]):
        raise framing.Violation("answer", "An answer holds either ok or error.")
    return frame
