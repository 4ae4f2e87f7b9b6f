"""The real local server with real sockets: who may speak, what is refused, and what bounds hold (§7, R11)."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from actum import limits, runtime
from actum.errors import WorkspaceUnusable, WrongUse
from actum.host import channel as hostchannel
from actum.host import launch
from actum.ipc import framing
from actum.ipc.outbox import Outbox
from actum.ipc.session import Expected
from actum.processes import identity
from actum_desktop.controller import server as serving
from actum_desktop.controller.server import Channel, Greeting, Server, answer
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.ends import End
from tests.helpers.hosts import make_attempt, write_endpoint

SECRET = "5" * 32
HOST = {"run": 1, "attempt": "attempt-1", "session": "a" * 32}
GREETING = Greeting("instance-1", 7)


class Owner(QObject):
    """Keeps what the server hands over, in order; answers each command with itself."""

    def __init__(self) -> None:
        super().__init__()
        self.expects = {"attempt-1": Expected(1, "attempt-1", "a" * 32, hashlib.sha256(SECRET.encode()).hexdigest())}
        self.frames: list[Mapping[str, Any]] = []
        self.strangers: list[Mapping[str, Any]] = []
        self.violations: list[tuple[str, bool]] = []
        self.commands: list[Mapping[str, Any]] = []
        self.channels: list[Channel] = []  # proven ones
        self.closed = 0

    def expected(self, hello: Mapping[str, Any]) -> Expected | None:
        return self.expects.get(hello["attempt"])

    def on_host_frame(self, channel: Channel, frame: Mapping[str, Any]) -> None:
        self.frames.append(frame)
        if frame["type"] == "hello":
            self.channels.append(channel)
            channel.send("hello-ack", {"epoch": 7})

    def on_unknown_host(self, hello: Mapping[str, Any]) -> None:
        self.strangers.append(hello)

    def on_violation(self, channel: Channel, why: str, *, closed: bool) -> None:
        self.violations.append((why, closed))

    def on_client_command(self, channel: Channel, body: Mapping[str, Any]) -> None:
        self.commands.append(body)
        answer(channel, body, None)

    def on_closed(self, channel: Channel) -> None:
        self.closed += 1


class Place:
    """A listening server, its owner, and the ends that were connected to it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.owner = Owner()
        self.server = Server(self.owner, GREETING, self.owner)
        self.path = runtime.socket_path()
        self.server.listen(self.path)
        self.ends: list[End] = []
        self._qtbot = qtbot

    def end(self) -> End:
        self.ends.append(End(self.path))
        return self.ends[-1]

    def client(self) -> End:
        end = self.end()
        end.greet()
        self.until(lambda: end.heard("client-hello-ack"))
        return end

    def host(self) -> End:
        end = self.end()
        end.hello(HOST, SECRET)
        self.until(lambda: end.heard("hello-ack"))
        return end

    def until(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)

    def close(self) -> None:
        for end in self.ends:
            end.close()
        self.server.close()
        self.owner.deleteLater()


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot) -> Iterator[Place]:
    made = Place(qtbot)
    yield made
    made.close()


def test_a_client_is_greeted_and_answered_in_order(place: Place) -> None:
    client = place.client()
    greeted = client.heard("client-hello-ack")
    assert greeted is not None
    assert greeted["body"] == {"instance": "instance-1", "epoch": 7}
    for number in range(200):
        client.command(verb="echo", number=number)
    place.until(lambda: len(client.hear()) == 201)
    assert [frame["body"]["ok"]["number"] for frame in client.received[1:]] == list(range(200))
    assert [frame["seq"] for frame in client.received] == list(range(1, 202))


def test_a_command_before_the_hello_is_not_carried_out(place: Place) -> None:
    end = place.end()
    end.command(verb="stop", run=1)
    place.until(end.ended)
    assert place.owner.commands == []
    assert place.owner.violations == [("A client commands before its hello.", True)]


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n\r\n" * 10, b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x05hello", b"\x00" * 64]
)
def test_garbage_closes_a_channel_nobody_has_proven(place: Place, data: bytes) -> None:
    end = place.end()
    end.raw(data)
    place.until(end.ended)
    assert [closed for _, closed in place.owner.violations] == [True]
    assert (place.owner.frames, place.owner.commands) == ([], [])


def test_r11_a_frame_over_the_bound_closes_an_unproven_channel(place: Place) -> None:
    end = place.end()
    end.raw((limits.FRAME_BYTES_MAX + 1).to_bytes(4, "big") + b"x" * 1024)
    place.until(end.ended)
    assert place.owner.violations[0][1] is True


def test_r11_a_command_at_the_bound_of_a_frame_is_carried_out(place: Place) -> None:
    client = place.client()
    overhead = len(
        framing.encode({"v": 1, "type": "command", "channel": client.channel, "seq": 2, "at": 10**15, "body": {"text": ""}})
    )
    longest = "x" * (limits.FRAME_BYTES_MAX + limits.FRAME_HEADER_BYTES - overhead - 1)
    client.command(text=longest)
    place.until(lambda: place.owner.commands)
    assert place.owner.commands[0]["text"] == longest


def test_a_hello_of_nobody_known_gets_no_answer(place: Place) -> None:
    """Left to finish; the owner is told, which raises an alert (§6)."""
    end = place.end()
    end.hello({**HOST, "attempt": "attempt-9"}, SECRET)
    place.until(end.ended)
    assert end.received == []
    assert [hello["attempt"] for hello in place.owner.strangers] == ["attempt-9"]
    assert place.owner.violations == []


def test_a_wrong_secret_closes_and_proves_nothing(place: Place) -> None:
    end = place.end()
    end.hello(HOST, "6" * 32)
    place.until(end.ended)
    assert (end.received, place.owner.frames) == ([], [])
    assert "secret" in place.owner.violations[0][0].lower()


def test_a_proven_channel_survives_two_violations_and_is_closed_at_the_third(place: Place) -> None:
    host = place.host()
    for count in range(1, limits.VIOLATIONS_PROVEN_MAX + 1):
        host.say("progress", **{**HOST, "run": 2})
        place.until(lambda count=count: len(place.owner.violations) == count)
        if count < limits.VIOLATIONS_PROVEN_MAX:
            host.say("notice", **HOST, code="still", text="here", data={"count": count})
            place.until(lambda count=count: len(place.owner.frames) == 1 + count)
    place.until(host.ended)
    assert [closed for _, closed in place.owner.violations] == [False, False, True]


def test_what_was_read_with_the_hello_is_heard(place: Place) -> None:
    """One write with a hello and what follows it: nothing waits for the next readiness."""
    host = place.end()
    host.hello(HOST, SECRET)
    for count in range(50):
        host.say("notice", **HOST, code="c", text="t", data={"count": count})
    place.until(lambda: len(place.owner.frames) == 51)
    assert [frame["data"]["count"] for frame in place.owner.frames[1:]] == list(range(50))


def test_r11_a_reader_that_falls_behind_is_cut_off_above_the_bound(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's buffer comes before ours; the bound is small here, so that few frames fill it."""
    host = place.host()
    channel = place.owner.channels[0]
    frame = {"why": "x" * 60_000}
    while not channel._socket.bytesToWrite():
        assert channel.send("dismiss", frame)
    monkeypatch.setattr(serving, "CHANNEL_WRITE_BYTES_MAX", channel._socket.bytesToWrite())
    assert channel.send("dismiss", frame), "at the bound it is still served"
    assert not channel.send("dismiss", frame), "above it, it is cut off"
    place.until(lambda: place.owner.closed == 1)
    place.until(host.ended)
    again = place.host()
    assert not again.closed, "the host connects anew; meanwhile the spool served"


def test_r11_further_connections_than_the_bound_are_closed_at_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is small here; that the real one can be reached is the next test."""
    monkeypatch.setattr(serving, "CHANNELS_MAX", 3)
    held = [place.client() for _ in range(3)]
    surplus = place.end()
    place.until(surplus.ended)
    assert len(place.server.channels) == 3
    held[0].close()
    place.until(lambda: len(place.server.channels) == 2)
    assert not place.client().closed


def test_r11_hundreds_of_connections_are_all_served(place: Place) -> None:
    """All in the same moment, as hosts do when a new supervisor appears; one more is turned away."""
    ends = [place.end() for _ in range(limits.CHANNELS_MAX)]
    for end in ends:
        end.greet()
    place.until(lambda: all(end.heard("client-hello-ack") for end in ends))
    assert len(place.server.channels) == limits.CHANNELS_MAX
    surplus = place.end()
    place.until(surplus.ended)
    for end in ends:
        end.command(verb="echo")
    place.until(lambda: all(end.heard("answer") for end in ends))
    for end in ends:
        end.close()
    place.until(lambda: not place.server.channels)


@pytest.mark.parametrize("greeted", [False, True])
def test_r11_who_says_nothing_is_closed_after_its_time(place: Place, monkeypatch: pytest.MonkeyPatch, greeted: bool) -> None:
    """The time is short here. Who has greeted may be silent for as long as it likes."""
    monkeypatch.setattr(serving, "HELLO_WAIT_S", 0.2)
    first, silent = place.end(), place.end()
    if greeted:
        first.greet()
        place.until(lambda: first.heard("client-hello-ack"))
    place.until(silent.ended)
    if greeted:
        assert not first.ended()
        first.command(verb="echo")
        place.until(lambda: first.heard("answer"))
    else:
        place.until(first.ended)


def test_an_answer_too_long_for_a_frame_says_so(place: Place) -> None:
    client = place.client()
    channel = next(iter(place.server.channels))
    answer(channel, {"text": "x" * limits.FRAME_BYTES_MAX}, None)
    place.until(lambda: client.heard("answer"))
    told = client.heard("answer")
    assert told is not None
    assert told["body"]["error"]["code"] == "answer_too_long"


def verdict(run: int, pad: int = 0) -> dict[str, Any]:
    return {"run": run, "n": 1, "evidence": {"pad": "x" * pad}}


def test_r11_verdicts_are_told_up_to_the_bound_and_counted_above_it(place: Place) -> None:
    client = place.client()
    channel = next(iter(place.server.channels))
    room = limits.VERDICTS_BYTES_MAX - len('{"run":1,"n":1,"evidence":{"pad":""}},')
    answer(channel, {"verdicts": [verdict(1, room)]}, None)
    answer(channel, {"verdicts": [verdict(1, room), verdict(2)]}, None)
    answer(channel, {"verdicts": [verdict(1, room + 1)]}, None)
    answer(channel, {"verdicts": [verdict(run, 200) for run in range(1_000)]}, None)
    place.until(lambda: len(client.hear()) == 5)
    told = [(len(frame["body"]["ok"]["verdicts"]), frame["body"]["ok"]["total"]) for frame in client.received[1:]]
    assert told[:3] == [(1, 1), (1, 2), (0, 1)]
    assert 150 < told[3][0] < told[3][1] == 1_000


def test_an_error_is_answered_with_its_words(place: Place) -> None:
    client = place.client()
    answer(next(iter(place.server.channels)), None, WrongUse("no", "It is not so.", "Because.", "Ask otherwise."))
    place.until(lambda: client.heard("answer"))
    told = client.heard("answer")
    assert told is not None
    assert told["body"]["error"]["what"] == "It is not so."


def test_the_hosts_own_end_says_hello_and_is_answered(place: Place, tmp_path: Path) -> None:
    """Two real ends: what the host's code sends is what the server accepts, and the other way round."""
    attempt = make_attempt(tmp_path, "pass")
    words = launch.read(str(attempt.folder))
    digest = hashlib.sha256(words.secret.encode()).hexdigest()
    place.owner.expects[words.attempt] = Expected(words.run, words.attempt, words.session, digest)
    write_endpoint(attempt.workspace, place.path)
    outbox = Outbox()
    host = hostchannel.Channel(words, identity.own(), outbox)
    outbox.put("notice", {"code": "c", "text": "t", "data": {}})
    now = 0.0

    def step() -> bool:
        nonlocal now
        now += 0.01
        host.step(now, claimed=True)
        return [frame["type"] for frame in place.owner.frames] == ["hello", "notice"]

    place.until(step)
    assert host.established
    place.owner.channels[0].close()
    place.until(lambda: step() or host.was_closed)
    assert place.owner.closed == 1
    host.close()


def test_closing_ends_every_channel_and_the_socket(place: Place) -> None:
    ends = [place.client(), place.host(), place.end()]
    place.server.close()
    place.until(lambda: all(end.ended() for end in ends))
    with pytest.raises(OSError), socket.socket(socket.AF_UNIX) as late:
        late.connect(place.path)


def test_a_path_that_cannot_be_listened_at_is_told_in_words(place: Place, tmp_path: Path) -> None:
    server = Server(place.owner, GREETING, place.owner)
    with pytest.raises(WorkspaceUnusable) as caught:
        server.listen(str(tmp_path / "absent" / "s.sock"))
    assert caught.value.code == "no_server"
    assert "absent" in caught.value.why
