"""Fault points: armed by words, struck at the passage that was named, told in a trace (§5)."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import faults
from actum.store import failures

from tests.helpers.waiting import wait_until

POINT = "store.commit.before"


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    before = dict(faults.roles)
    yield
    faults.arm("")
    faults.roles.clear()
    faults.roles.update(before)


@pytest.mark.parametrize("words", ["store.commit.before", "store.commit.before:explode", ":"])
def test_words_it_does_not_know_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="ACTUM_FAULT"):
        faults.arm(words)


def test_the_named_passage_is_struck_and_no_other() -> None:
    faults.arm(f"{POINT}#2:error=ENOSPC")
    faults.point(POINT)
    with pytest.raises(OSError) as struck:
        faults.point(POINT)
    assert struck.value.errno == errno.ENOSPC
    faults.point(POINT)


def test_whoever_waits_for_a_file_goes_on_when_it_is_there(tmp_path: Path) -> None:
    gate, passed = tmp_path / "gate", tmp_path / "passed"
    faults.arm(f"trace={passed},{POINT}:until={gate}")
    waiting = threading.Thread(target=faults.point, args=(POINT,))
    waiting.start()
    wait_until(lambda: passed.exists() and f"until={gate}" in passed.read_text(), what="the passage")
    assert waiting.is_alive()
    gate.touch()
    waiting.join(20)
    assert not waiting.is_alive()
    faults.point(POINT)


def test_an_error_of_the_database_is_one_as_sqlite_raises_it() -> None:
    faults.arm(f"{POINT}:error=SQLITE_FULL")
    with pytest.raises(sqlite3.OperationalError) as struck:
        faults.point(POINT)
    assert failures.primary(struck.value) == "SQLITE_FULL"
    assert struck.value.sqlite_errorcode == sqlite3.SQLITE_FULL


def test_a_trace_has_every_passage_and_what_was_done_there(tmp_path: Path) -> None:
    """A role that is told of and had somebody to kill is named; one that nobody told of is not."""
    trace, pid = tmp_path / "passed", os.getpid()
    faults.arm(f"trace={trace},{POINT}#2:kill-all")
    faults.roles.clear()
    faults.roles.update(host=lambda: True, work=lambda: False)
    faults.point("store.commit.after")
    faults.point(POINT)
    faults.point(POINT)
    said = [
        f"store.commit.after {pid}",
        f"{POINT} {pid}",
        f"{POINT} {pid}",
        f"{POINT} {pid} kill-all",
        f"{POINT} {pid} killed host",
    ]
    assert trace.read_text().splitlines() == said
