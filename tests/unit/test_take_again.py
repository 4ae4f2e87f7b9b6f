"""Whoever gave way to a successor watches the lock: it leaves once the successor is in, and else takes the lock again (P21)."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from actum import limits
from actum.lock import Lock
from actum.workspace import Workspace
from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output
from actum_desktop.commands.supervise import take_again

from tests.helpers import workspaces
from tests.helpers.small_workspace import fill

ROUNDS_MAX = 40


class Rounds(Interrupts):
    """No interrupts; at each look of the leaver's, `each` is told how many there were."""

    def __init__(self, each: Callable[[int], None] = lambda number: None) -> None:
        super().__init__()
        self._each = each
        self.looks = 0

    @property
    def count(self) -> int:
        self.looks += 1
        assert self.looks < ROUNDS_MAX, "the leaver watches on"
        self._each(self.looks)
        return 0


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(limits, "TAKE_OVER_FREE_S", 0.3)
    monkeypatch.setattr(limits, "LOCK_WAIT_S", 3_600)
    return workspaces.make(tmp_path / "ws")


def context(ws: Workspace) -> Context:
    return Context(Output(as_json=False, out=io.StringIO(), err=io.StringIO()), str(ws.path))


def epoch(ws: Workspace) -> int:
    """Open the next epoch, and end it."""
    with workspaces.writing(ws) as writer:
        return writer.opened.epoch


def held(ws: Workspace) -> Lock:
    lock = Lock.try_acquire(ws)
    assert lock is not None
    return lock


def taken(lock: Lock | None) -> Lock:
    assert lock is not None
    return lock


def test_p21_it_leaves_as_soon_as_its_successor_has_opened_its_epoch(ws: Workspace) -> None:
    mine = epoch(ws)
    rounds = Rounds()
    with held(ws):
        epoch(ws)
        assert take_again(context(ws), rounds, mine) is None
    assert rounds.looks == 1


def test_p21_it_takes_the_lock_again_when_nobody_came(ws: Workspace) -> None:
    """R11: not before TAKE_OVER_FREE_S."""
    mine, begun = epoch(ws), time.monotonic()
    with taken(take_again(context(ws), Rounds(), mine)):
        assert time.monotonic() - begun >= limits.TAKE_OVER_FREE_S


def test_p21_the_time_counts_from_when_the_lock_is_free(ws: Workspace) -> None:
    """A successor that holds the lock and dies before its epoch: nobody is let in beside it, and somebody is after it."""
    mine, theirs = epoch(ws), held(ws)
    freed = 8  # later than TAKE_OVER_FREE_S

    def let_go(number: int) -> None:
        if number == freed:
            theirs.release()

    rounds = Rounds(let_go)
    with taken(take_again(context(ws), rounds, mine)):
        assert rounds.looks > freed + 1


@pytest.mark.parametrize("left", [False, True])
def test_p21_a_successor_that_came_and_went_is_followed_if_it_left_work(ws: Workspace, left: bool) -> None:
    mine = epoch(ws)
    if left:
        fill(ws, 1)
    epoch(ws)
    lock = take_again(context(ws), Rounds(), mine)
    assert (lock is not None) is left
    if lock is not None:
        lock.release()
