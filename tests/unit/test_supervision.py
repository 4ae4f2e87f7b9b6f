"""How a command finds whoever supervises: socket, lock, both again; the same key through every loss (R05, P22)."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.errors import CannotTell
from actum.lock import Lock
from actum.workspace import Workspace, create_folders
from actum_desktop.commands.connection import ChannelLost
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session, left_to_do, news_of

from tests.helpers.small_supervisor import HANG_UP, supervising
from tests.helpers.small_workspace import fill


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "w")
    create_folders(workspace)
    return workspace


def session(ws: Workspace) -> Session:
    return Session(ws, Interrupts())


class Answers:
    """Hangs up `losses` times, then answers."""

    def __init__(self, losses: int) -> None:
        self.left = losses
        self.heard: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> list[Any]:
        self.heard.append(body)
        self.left -= 1
        return [HANG_UP] if self.left >= 0 else [{"ok": {"run": 5}}]


def test_r05_a_lost_answer_is_asked_for_again_with_the_same_key(ws: Workspace) -> None:
    answers, told = Answers(losses=limits.COMMAND_TRIES_MAX - 1), {}
    with supervising(ws, answers), session(ws) as ours, suppress(ChannelLost):
        told = ours.submit({"verb": "run", "key": "k"})
    assert told == {"run": 5}
    assert [body["key"] for body in answers.heard] == ["k"] * limits.COMMAND_TRIES_MAX


def test_r11_after_so_many_lost_answers_the_command_cannot_tell(ws: Workspace) -> None:
    answers = Answers(losses=limits.COMMAND_TRIES_MAX)
    with supervising(ws, answers), session(ws) as ours, pytest.raises(ChannelLost) as caught:
        ours.submit({"verb": "run", "key": "k"})
    assert caught.value.exit_code == 7
    assert len(answers.heard) == limits.COMMAND_TRIES_MAX


def test_what_may_not_be_repeated_is_sent_once(ws: Workspace) -> None:
    answers = Answers(losses=1)
    with supervising(ws, answers), session(ws) as ours, pytest.raises(ChannelLost):
        ours.submit({"verb": "export"}, repeatable=False)
    assert len(answers.heard) == 1


def test_p22_without_socket_and_lock_the_command_cannot_tell(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11: not before LOCK_WAIT_S, which is short here."""
    monkeypatch.setattr(limits, "LOCK_WAIT_S", 0.3)
    lock = Lock.try_acquire(ws)
    assert lock is not None
    begun = time.monotonic()
    with lock, session(ws) as ours, pytest.raises(CannotTell) as caught:
        ours.submit({"verb": "status"})
    assert (caught.value.code, caught.value.exit_code) == ("no_supervisor", 7)
    assert time.monotonic() - begun > limits.LOCK_WAIT_S


def test_p22_while_somebody_holds_the_lock_the_socket_is_tried_again(ws: Workspace) -> None:
    """A supervisor that is just beginning, or about to leave, closes the first channels before it greets."""
    lock = Lock.try_acquire(ws)
    assert lock is not None
    told: dict[str, Any] = {}
    with lock, supervising(ws, lambda body: [{"ok": {"run": 5}}], deaf=3) as server, session(ws) as ours:
        with suppress(CannotTell):
            told = ours.submit({"verb": "run", "key": "k"})
        assert (told, server.channels) == ({"run": 5}, 4)


def test_ctrl_c_ends_the_wait_for_an_answer(ws: Workspace) -> None:
    interrupts = Interrupts()

    def silent(body: dict[str, Any]) -> list[Any]:
        interrupts.heard_elsewhere += 1
        return []

    with supervising(ws, silent), Session(ws, interrupts) as ours, pytest.raises(KeyboardInterrupt):
        ours.submit({"verb": "verify"})


def test_following_hears_changes_and_ends_when_done(ws: Workspace) -> None:
    change = {"run": 5, "live": {"cpu_percent": 12.0}, "changed": True}
    heard: list[Any] = []

    def answer(body: dict[str, Any]) -> list[Any]:
        assert body == {"verb": "follow", "runs": [5]}
        return [change, {"ok": {"following": [5]}}, {**change, "live": None}]

    with supervising(ws, answer), session(ws) as ours:
        ours.follow([5], lambda: len(heard) == 2, heard.append)
    assert heard == [{5: {"cpu_percent": 12.0}}, {5: None}]


def test_a_follower_that_loses_its_supervisor_finds_the_next_one(ws: Workspace) -> None:
    channels: list[int] = []

    def answer(body: dict[str, Any]) -> list[Any]:
        channels.append(1)
        return [{"ok": {}}, HANG_UP] if len(channels) == 1 else [{"ok": {}}, {"run": 5, "live": None}]

    heard: list[Any] = []
    with supervising(ws, answer), session(ws) as ours:
        ours.follow([5], lambda: bool(heard), heard.append)
    assert len(channels) == 2


def test_what_is_left_to_do_decides_whether_a_supervisor_stays(ws: Workspace) -> None:
    fill(ws, 0)
    assert left_to_do(ws, epoch=1) is None
    fill(ws, 2)  # admitted by epoch 2
    assert left_to_do(ws, epoch=2) is True, "what this instance queued goes on"
    assert left_to_do(ws, epoch=3) is None, "what an earlier one queued waits for a person"


def test_updates_have_the_form_of_change_frames() -> None:
    from actum.model.changes import Changes
    from actum_desktop.controller.events import Live, Update

    update = Update(Changes(runs=frozenset({4, 5})), (Live(run=5, attempt="a", n=1, cpu_percent=3.0),))
    news = news_of(update)
    assert news[4] is None
    assert news[5] is not None
    assert news[5]["cpu_percent"] == 3.0
