"""The guard at a host's channel: proof, order, and what a violation does (§7)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from actum import limits
from actum.ipc.framing import Violation, encode
from actum.ipc.session import Accepted, Expected, Guard, Unknown

from tests.unit.test_messages import IDENTITY

SECRET = "5" * 32
EXPECTED = Expected(7, "attempt", "session", sha256(SECRET.encode()).hexdigest())


def guard() -> Guard:
    return Guard(lambda hello: EXPECTED if hello["session"] == "session" else None)


def frame(kind: str, seq: int, **fields: Any) -> dict[str, Any]:
    envelope = {"v": 1, "type": kind, "run": 7, "attempt": "attempt", "session": "session", "channel": "c", "seq": seq, "at": 1}
    return {**envelope, **fields}


def hello(seq: int = 1, **fields: Any) -> dict[str, Any]:
    own = {"secret": SECRET, "protocol": 1, "identity": IDENTITY, "claimed": True}
    return frame("hello", seq, **{**own, **fields})


def stage(seq: int, **fields: Any) -> dict[str, Any]:
    return frame("stage", seq, **{"name": "load", "total": None, **fields})


def test_a_hello_with_the_secret_proves_the_channel() -> None:
    door = guard()
    assert door.feed(hello()) == Accepted(hello())
    assert door.proven
    assert door.channel == "c"
    assert door.feed(stage(2)) == Accepted(stage(2))


@pytest.mark.parametrize(
    ("first", "rule"),
    [
        (hello(secret="6" * 32), "secret"),
        (hello(secret=""), "secret"),
        (hello(protocol=2), "protocol"),
        (hello(protocol=0), "protocol"),
        (hello(run=8), "other_attempt"),
        (hello(attempt="other"), "other_attempt"),
        (stage(1), "not_proven"),
        ({"type": "hello"}, "missing_field"),
        ({"type": "client-hello"}, "unknown_type"),
    ],
)
def test_the_first_violation_closes_an_unproven_channel(first: dict[str, Any], rule: str) -> None:
    door = guard()
    seen = door.feed(first)
    assert isinstance(seen, Violation)
    assert seen.rule == rule
    assert door.closed
    assert not door.proven
    assert door.receive(encode(hello())) == []  # nothing else follows


def test_a_hello_of_nobody_is_told_apart_from_a_violation() -> None:
    door = guard()
    assert isinstance(door.feed(hello(session="other")), Unknown)
    assert door.closed
    assert door.violations == 0


@pytest.mark.parametrize(
    ("second", "rule"),
    [
        (stage(1), "seq"),
        (stage(0), "seq"),
        (stage(2, channel="d"), "channel"),
        (stage(2, session="other"), "other_attempt"),
        (hello(2), "second_hello"),
        (stage(2, extra=1), "extra_field"),
    ],
)
def test_a_proven_channel_is_closed_at_the_third_violation(second: dict[str, Any], rule: str) -> None:
    door = guard()
    door.feed(hello())
    for count in range(1, limits.VIOLATIONS_PROVEN_MAX + 1):
        seen = door.feed(second)
        assert isinstance(seen, Violation)
        assert seen.rule == rule
        assert door.closed == (count == limits.VIOLATIONS_PROVEN_MAX)
    assert door.receive(encode(stage(9))) == []


def test_a_violation_does_not_hide_the_good_frames_around_it() -> None:
    door = guard()
    bad = b"\x00\x00\x00\x01["
    seen = door.receive(encode(hello()) + bad + encode(stage(2)))
    assert [type(each) for each in seen] == [Accepted, Violation, Accepted]
    assert not door.closed


def test_a_stream_of_garbage_ends() -> None:
    door = guard()
    door.feed(hello())
    seen = door.receive(b"\x00\x00\x00\x00" * 1000)
    assert len(seen) == limits.VIOLATIONS_PROVEN_MAX
    assert door.closed
