"""The commands' end of the local server, joined to a real socket: R04 (an answer means a commit), exit 7 for a lost one."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from actum import limits
from actum.errors import Busy, Conflict, WrongUse
from actum.generation import write_endpoint
from actum.workspace import Workspace
from actum_desktop.commands.connection import ChannelLost, Client, reach

from tests.helpers.small_supervisor import EPOCH, HANG_UP, INSTANCE, supervising


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "w")
    workspace.path.mkdir()
    return workspace


def reached(ws: Workspace) -> Client:
    client = reach(ws)
    assert client is not None
    return client


def test_a_greeted_client_knows_whom_it_speaks_to(ws: Workspace) -> None:
    with supervising(ws, lambda body: [{"ok": {"run": 17}}]) as server, reached(ws) as client:
        assert (client.instance, client.epoch) == (INSTANCE, EPOCH)
        assert client.ask({"verb": "run", "task": "t"}) == {"run": 17}
    hello, command = server.received
    assert hello["body"] == {"protocol": 1}
    assert command["body"] == {"verb": "run", "task": "t"}
    assert hello["channel"] == command["channel"]
    assert (hello["seq"], command["seq"]) == (1, 2)


def test_an_error_that_is_answered_is_raised_as_its_own_kind(ws: Workspace) -> None:
    error = Conflict("key_conflict", "The key names another request.", "a ≠ b", "Use another key.", ours="a").to_json()
    with supervising(ws, lambda body: [error]), reached(ws) as client, pytest.raises(Conflict) as caught:
        client.ask({"verb": "run"})
    assert (caught.value.code, caught.value.details) == ("key_conflict", {"ours": "a"})


def test_r04_a_channel_that_ends_before_the_answer_leaves_the_question_open(ws: Workspace) -> None:
    with supervising(ws, lambda body: [HANG_UP]), reached(ws) as client, pytest.raises(ChannelLost) as caught:
        client.ask({"verb": "run"})
    assert caught.value.exit_code == 7
    assert caught.value.code == "cannot_tell"


def test_changes_may_come_before_the_answer(ws: Workspace) -> None:
    change = {"run": 17, "live": None, "changes": True}
    heard: list[object] = []
    with supervising(ws, lambda body: [change, {"ok": {}}, change]), reached(ws) as client:
        assert client.ask({"verb": "follow", "runs": [17]}, on_change=heard.append) == {}
        assert heard == [change]
        frame = client.receive(5)
        assert frame is not None
        assert (frame["type"], frame["body"]) == ("change", change)
        assert client.receive(0.01) is None


@pytest.mark.parametrize("body", [{}, {"ok": {}, "error": {}}])
def test_what_is_no_answer_is_not_believed(ws: Workspace, body: dict[str, object]) -> None:
    with supervising(ws, lambda asked: [body]), reached(ws) as client:
        if body:
            with pytest.raises(ChannelLost):
                client.ask({"verb": "status"})
        else:  # neither: it is a change frame of nothing, and the answer is still to come
            client.send("command", {"verb": "status"})
            frame = client.receive(5)
            assert frame is not None
            assert frame["type"] == "change"


def test_nobody_is_reached_without_an_endpoint_or_behind_a_dead_one(ws: Workspace, tmp_path: Path) -> None:
    assert reach(ws) is None
    write_endpoint(ws, {"socket": str(tmp_path / "gone.sock"), "instance": INSTANCE, "epoch": 1, "pid": 1})
    assert reach(ws) is None
    ws.endpoint.write_text("not json")
    assert reach(ws) is None


def test_r11_who_does_not_greet_back_in_time_is_nobody(ws: Workspace) -> None:
    """limits.CLIENT_HELLO_WAIT_S: a connect to the socket of a just-killed program can succeed."""
    assert limits.CLIENT_HELLO_WAIT_S < limits.LOCK_WAIT_S, "a dead endpoint must not use up the whole wait"
    with supervising(ws, lambda body: [], greeting=None) as server:
        assert reach(ws, wait_s=0.3) is None
    assert server.channels == 1


def test_a_refused_greeting_is_raised(ws: Workspace) -> None:
    refusal = Busy("take_over", "A take-over is in progress.", "", "Try again in a moment.").to_json()

    with supervising(ws, lambda body: [], greeting=refusal), pytest.raises(Busy):
        reach(ws)


def test_r11_a_frame_the_other_end_never_takes_does_not_hang_the_command(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits.CLIENT_SEND_WAIT_S < limits.LOCK_WAIT_S, "a stuck channel must not use up the whole wait"
    monkeypatch.setattr(limits, "CLIENT_SEND_WAIT_S", 0.2)
    ours, theirs = socket.socketpair()
    with ours, theirs, Client(ours, {}) as client, pytest.raises(ChannelLost):
        _send_without_end(client)


def _send_without_end(client: Client) -> None:
    for _ in range(1_000):
        client.send("command", {"text": "x" * 60_000})


def test_r11_a_command_that_fits_no_frame_is_refused_before_it_is_sent(ws: Workspace) -> None:
    """At limits.FRAME_BYTES_MAX a frame still goes; a command above it is wrong use, not a broken channel."""
    with supervising(ws, lambda body: [{"ok": {}}]) as server, reached(ws) as client:
        with pytest.raises(WrongUse) as caught:
            client.ask({"verb": "task_add", "contract": "x" * limits.FRAME_BYTES_MAX})
        assert caught.value.remedy == "Use a file input."
        assert client.ask({"verb": "task_add", "contract": "x" * (limits.FRAME_BYTES_MAX - 512)}) == {}
    assert len(server.received) == 2
