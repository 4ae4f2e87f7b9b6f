"""The server's end of a client channel, as small as it can be: a real socket, real frames, answers given by the test."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.clock import utc_us
from actum.generation import write_endpoint
from actum.ipc import framing, messages
from actum.runtime import socket_path
from actum.workspace import Workspace

INSTANCE, EPOCH = "0190b7d2-0000-7000-8000-000000000001", 7
GREETING = {"instance": INSTANCE, "epoch": EPOCH}
HANG_UP = object()  # an answer that closes the channel instead

Reply = dict[str, Any] | object


@dataclass
class SmallSupervisor:
    """Answers each command with what `answer` returns: bodies of frames in order, or HANG_UP. Keeps what it received.

    `deaf`: so many channels are closed before it hears anything.
    """

    path: str
    answer: Callable[[dict[str, Any]], list[Reply]]
    greeting: dict[str, Any] | None = field(default_factory=lambda: dict(GREETING))  # None: silence
    received: list[dict[str, Any]] = field(default_factory=list)
    channels: int = 0
    deaf: int = 0

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.channels += 1
            with connection:
                if self.channels > self.deaf:
                    self._serve_one(connection)

    def _serve_one(self, connection: socket.socket) -> None:
        decoder, seq = framing.Decoder(), 0
        while True:
            try:
                data = connection.recv(65_536)
            except OSError:
                return
            if not data:
                return
            for frame in decoder.feed(data):
                messages.check(frame, messages.FROM_CLIENT)
                self.received.append(frame)
                if frame["type"] == "client-hello":
                    replies: list[Reply] = [self.greeting] if self.greeting is not None else []
                else:
                    replies = self.answer(frame["body"])
                for body in replies:
                    if body is HANG_UP:
                        return
                    seq += 1
                    connection.sendall(self._frame(frame, body, seq))

    def _frame(self, asked: dict[str, Any], body: Any, seq: int) -> bytes:
        is_answer = "ok" in body or "error" in body
        kind = "answer" if is_answer else "client-hello-ack" if body.keys() == GREETING.keys() else "change"
        envelope = {"v": messages.VERSION, "type": kind, "channel": asked["channel"], "seq": seq, "at": utc_us()}
        return framing.encode({**envelope, "body": body})


@contextmanager
def supervising(
    ws: Workspace,
    answer: Callable[[dict[str, Any]], list[Reply]],
    *,
    greeting: dict[str, Any] | None = GREETING,
    deaf: int = 0,
) -> Iterator[SmallSupervisor]:
    """A small supervisor that listens where the workspace's endpoint file says."""
    ws.path.mkdir(parents=True, exist_ok=True)
    server = SmallSupervisor(socket_path(), answer, greeting, deaf=deaf)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(server.path)
    listener.listen()
    write_endpoint(ws, {"socket": server.path, "instance": INSTANCE, "epoch": EPOCH, "pid": os.getpid()})
    thread = threading.Thread(target=server.serve, args=(listener,))
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
        Path(server.path).unlink(missing_ok=True)
