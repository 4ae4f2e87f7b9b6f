"""The host's end of the channel joined with a guard, its waits turned by hand (§7)."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.host.channel import Channel
from actum.ipc.framing import encode
from actum.ipc.outbox import Outbox
from actum.ipc.session import Accepted, Expected, Guard
from actum.processes import identity

from tests.helpers.hosts import write_endpoint
from tests.unit.test_host_deadlines import launch

SECRET = "7" * 32


class Peer:
    """A listening socket and, once it was connected to, a guard."""

    def __init__(self, workspace: Path) -> None:
        self.folder = tempfile.mkdtemp(prefix="actum-test-")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(f"{self.folder}/s")
        self.listener.listen()
        self.listener.setblocking(False)
        self.open: list[socket.socket] = []
        write_endpoint(workspace, f"{self.folder}/s", os.getpid())
        self.guard: Guard

    def accept(self) -> socket.socket:
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        self.open.append(connection)
        self.guard = Guard(lambda hello: Expected(1, "a", "s", sha256(SECRET.encode()).hexdigest()))
        return connection

    def frames(self, connection: socket.socket) -> list[dict[str, Any]]:
        try:
            data = connection.recv(1 << 20)
        except BlockingIOError:
            return []
        seen = self.guard.receive(data)
        assert all(isinstance(each, Accepted) for each in seen)
        return [each.frame for each in seen if isinstance(each, Accepted)]

    def send(self, connection: socket.socket, kind: str, seq: int, **fields: Any) -> None:
        envelope = {"v": 1, "type": kind, "run": 1, "attempt": "a", "session": "s", "channel": self.guard.channel}
        connection.sendall(encode({**envelope, "seq": seq, "at": 1, **fields}))

    def close(self) -> None:
        for each in (*self.open, self.listener):
            each.close()
        os.unlink(f"{self.folder}/s")
        os.rmdir(self.folder)


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[tuple[Channel, Outbox, Peer]]:
    peer = Peer(tmp_path)
    outbox = Outbox()
    told = launch(workspace=str(tmp_path), run=1, attempt="a", session="s", secret=SECRET)
    channel = Channel(told, identity.own(), outbox)
    yield channel, outbox, peer
    channel.close()
    peer.close()


def established(channel: Channel, peer: Peer) -> socket.socket:
    channel.step(0.0, claimed=True)
    connection = peer.accept()
    assert [frame["type"] for frame in peer.frames(connection)] == ["hello"]
    peer.send(connection, "hello-ack", 1, epoch=1)
    assert [frame["type"] for frame in channel.step(0.1, claimed=True)] == ["hello-ack"]
    return connection


def test_nothing_but_the_hello_goes_out_before_it_is_answered(ends: tuple[Channel, Outbox, Peer]) -> None:
    channel, outbox, peer = ends
    outbox.put("stage", {"name": "load", "total": None})
    connection = established(channel, peer)
    assert channel.established
    channel.step(0.2, claimed=True)
    assert [frame["type"] for frame in peer.frames(connection)] == ["stage"]


def test_a_hello_that_is_not_answered_is_given_up_at_the_bound(ends: tuple[Channel, Outbox, Peer]) -> None:
    channel, _, _ = ends
    channel.step(0.0, claimed=True)
    channel.step(limits.HELLO_ACK_WAIT_S - 0.01, claimed=True)
    assert channel.fileno() >= 0
    channel.step(limits.HELLO_ACK_WAIT_S, claimed=True)
    assert channel.fileno() < 0
    assert channel.was_closed


def test_a_channel_that_takes_nothing_is_closed_at_the_bound(ends: tuple[Channel, Outbox, Peer]) -> None:
    channel, outbox, peer = ends
    established(channel, peer)
    now = 1.0
    while not channel.wants_write:  # nobody reads at the other end
        outbox.put("notice", {"code": "c", "text": "x" * 10_000, "data": {}})
        channel.step(now, claimed=True)
    channel.step(now + limits.SEND_WAIT_S - 0.01, claimed=True)
    assert channel.fileno() >= 0
    channel.step(now + limits.SEND_WAIT_S, claimed=True)
    assert channel.fileno() < 0
    assert not channel.established


def test_tries_back_off_to_the_bound(tmp_path: Path) -> None:
    write_endpoint(tmp_path, "/nowhere/socket")
    channel = Channel(launch(workspace=str(tmp_path)), identity.own(), Outbox())
    times = []
    due = -1.0
    for millisecond in range(20_000):
        channel.step(millisecond / 1000, claimed=True)
        if channel._due != due:
            due = channel._due
            times.append(millisecond / 1000)
    apart = [after - before for before, after in pairwise(times)]
    assert apart[0] == pytest.approx(limits.RECONNECT_FIRST_S, abs=0.002)
    assert max(apart) == pytest.approx(limits.RECONNECT_S_MAX, abs=0.002)


def test_the_endpoint_is_read_before_each_try(ends: tuple[Channel, Outbox, Peer], tmp_path: Path) -> None:
    channel, _, peer = ends
    (tmp_path / "endpoint").write_text("{")
    channel.step(0.0, claimed=True)
    assert (channel.fileno(), channel.spool_only) == (-1, False)
    write_endpoint(tmp_path, None)
    channel.step(1.0, claimed=True)
    assert channel.spool_only
    write_endpoint(tmp_path, f"{peer.folder}/s")
    channel.step(2.0, claimed=True)
    assert channel.fileno() >= 0
    assert not channel.spool_only


@pytest.mark.parametrize(
    "change", [{"seq": 1}, {"channel": "other"}, {"session": "other"}, {"type": "hello"}, {"epoch": "x"}, {"more": 1}]
)
def test_a_supervisor_that_breaks_the_protocol_is_left_and_what_it_said_before_counts(
    ends: tuple[Channel, Outbox, Peer], change: dict[str, Any]
) -> None:
    channel, _, peer = ends
    connection = established(channel, peer)
    peer.send(connection, "ack", 2, digest="d")
    wrong = {"v": 1, "type": "hello-ack", "run": 1, "attempt": "a", "session": "s", "channel": peer.guard.channel, "seq": 3}
    connection.sendall(encode({**wrong, "at": 1, "epoch": 1, **change}))
    heard = channel.step(1.0, claimed=True)
    assert [frame["type"] for frame in heard] == ["ack"]
    assert channel.fileno() < 0
