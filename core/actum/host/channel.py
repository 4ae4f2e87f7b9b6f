"""The host's end of the channel: connect, say hello, send what the outbox holds, hear what the supervisor says (§7).

Theory. Never blocks: the socket is non-blocking, one frame at most is half sent, and every send has a time limit, after
which the channel is closed and tried anew. `endpoint` is read again before each try, since another supervisor may have
another runtime directory; tries back off to RECONNECT_S_MAX. A connection is a supervisor only when it has answered the
hello: a connect to the socket of one that was just killed can succeed. Whatever the peer says wrong closes the channel,
changes nothing else, and is noted. An endpoint without a socket means that the spool alone serves.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from actum import clock, faults, limits
from actum.host.launch import Launch
from actum.host.place import note
from actum.ipc import framing, messages, regular
from actum.ipc.framing import Violation
from actum.ipc.outbox import Outbox
from actum.model.identity import ProcessIdentity

Document = dict[str, Any]


class Channel:
    """Attributes: established (the hello was answered), was_closed (a channel that was open is gone), spool_only."""

    def __init__(self, launch: Launch, identity: ProcessIdentity, outbox: Outbox) -> None:
        self._launch = launch
        self._identity = identity
        self._outbox = outbox
        self._socket: socket.socket | None = None
        self._decoder = framing.Decoder()
        self._pending = b""  # what is unsent of the frame on its way
        self._sending = ""  # its type
        self._seq = self._heard_seq = 0
        self._id = ""
        self._wait_s = limits.RECONNECT_FIRST_S
        self._due = 0.0  # of the next try, or when an open channel must have moved on
        self.established = False
        self.was_closed = False
        self.spool_only = False
        self.supervisor_pid = 0

    def fileno(self) -> int:
        """The descriptor to wait for, or -1."""
        return -1 if self._socket is None else self._socket.fileno()

    @property
    def wants_write(self) -> bool:
        return bool(self._pending)

    def step(self, now: float, *, claimed: bool) -> list[Document]:
        """Do what can be done now; the supervisor's messages, in order."""
        if self._socket is None:
            if now >= self._due:
                self._connect(now, claimed)
            return []
        heard = self._receive(now)
        self.send(now)
        if self._socket is not None and now >= self._due and (self._pending or not self.established):
            self._close(now, "it does not answer" if not self.established else "it takes nothing")
        return heard

    def send(self, now: float) -> None:
        """Send what the outbox holds, as far as the channel takes it."""
        if self._socket is not None:
            self._send(now)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self, now: float, claimed: bool) -> None:
        endpoint = _read_endpoint(self._launch.workspace)
        self.spool_only = endpoint is not None and endpoint.get("socket") is None
        path = endpoint.get("socket") if endpoint else None
        self._due = now + self._wait_s
        self._wait_s = min(2 * self._wait_s, limits.RECONNECT_S_MAX)
        if not isinstance(path, str):
            return
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            made.connect(path)
        except (OSError, ValueError):
            made.close()
            return
        pid = endpoint.get("pid") if endpoint else None
        self.supervisor_pid = pid if isinstance(pid, int) else 0
        self._socket, self._decoder, self._id = made, framing.Decoder(), os.urandom(16).hex()
        self._seq = self._heard_seq = 0
        self._due = now + (limits.HELLO_ACK_WAIT_S if claimed else self._launch.start_s)
        faults.point("host.hello.before")
        self._pending = self._frame(
            "hello",
            {
                "secret": self._launch.secret,
                "protocol": messages.PROTOCOL,
                "identity": self._identity.to_json(),
                "claimed": claimed,
            },
        )
        self._send(now)
        faults.point("host.hello.after")

    def _send(self, now: float) -> None:
        assert self._socket is not None
        while True:
            if not self._pending and not self._fill(now):
                return
            try:
                sent = self._socket.send(self._pending)
            except BlockingIOError:
                return
            except OSError as error:
                self._close(now, error.strerror or "it broke")
                return
            self._pending = self._pending[sent:]
            if not self._pending and self._sending in messages.TERMINAL_TYPES:
                faults.point("host.terminal.after")

    def _fill(self, now: float) -> bool:
        """Put the next message of the outbox on its way; whether there was one."""
        message = self._outbox.take() if self.established else None
        if message is None:
            return False
        kind, fields = message
        if kind in messages.TERMINAL_TYPES:
            faults.point("host.terminal.before")
        try:
            self._pending = self._frame(kind, dict(fields))
        except framing.FrameTooLong as error:
            note(f"{kind}: {error}")
            return self._fill(now)
        self._due = now + limits.SEND_WAIT_S
        return True

    def _frame(self, kind: str, fields: Document) -> bytes:
        self._seq += 1
        self._sending = kind
        launch = self._launch
        return framing.encode(
            {
                "v": messages.VERSION,
                "type": kind,
                "run": launch.run,
                "attempt": launch.attempt,
                "session": launch.session,
                "channel": self._id,
                "seq": self._seq,
                "at": clock.utc_us(),
                **fields,
            }
        )

    def _receive(self, now: float) -> list[Document]:
        assert self._socket is not None
        try:
            data = self._socket.recv(limits.CHANNEL_READ_BYTES_MAX)
        except BlockingIOError:
            return []
        except OSError as error:
            self._close(now, error.strerror or "it broke")
            return []
        if not data:
            self._close(now, "the supervisor closed it")
            return []
        heard: list[Document] = []
        try:
            try:
                frames, broken = self._decoder.feed(data), None
            except Violation as violation:
                frames, broken = violation.frames, violation
            heard.extend(map(self._checked, frames))  # what stood before a violation counts
            if broken is not None:
                raise broken
        except Violation as violation:
            self._close(now, f"the supervisor broke the protocol: {violation.why}")
        return heard

    def _checked(self, frame: Document) -> Document:
        messages.check(frame, messages.FROM_SUPERVISOR)
        launch = self._launch
        if (frame["run"], frame["attempt"], frame["session"]) != (launch.run, launch.attempt, launch.session):
            raise Violation("other_attempt", "A frame is for another attempt.")
        if frame["channel"] != self._id:
            raise Violation("channel", "A frame names another channel.")
        if frame["seq"] <= self._heard_seq:
            raise Violation("seq", f"seq {frame['seq']} comes after {self._heard_seq}.")
        self._heard_seq = frame["seq"]
        if frame["type"] in ("hello-ack", "stop"):
            if not self.established:
                self._outbox.again()
            self.established = True
            self._wait_s = limits.RECONNECT_FIRST_S
        return frame

    def _close(self, now: float, why: str) -> None:
        self.close()
        note(f"channel closed: {why}")
        self.was_closed = True
        self.established, self._pending = False, b""
        self._due = now + self._wait_s


def _read_endpoint(workspace: str) -> Document | None:
    """The endpoint file, or None while there is none that can be read."""
    try:
        document = json.loads(regular.content(os.path.join(workspace, "endpoint"), limits.FRAME_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return None
    return document if type(document) is dict else None
