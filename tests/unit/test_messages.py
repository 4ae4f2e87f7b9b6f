"""The tables of messages: exact fields, exact kinds (§7)."""

from __future__ import annotations

from typing import Any

import pytest
from actum.ipc import messages
from actum.ipc.framing import Violation

ENVELOPE = {"v": 1, "run": 1, "attempt": "a", "session": "s", "channel": "c", "seq": 1, "at": 1}
IDENTITY = {"machine": "m", "boot": "b", "pid_namespace": "n", "pid": 1, "start_ticks": 2}
ENDED = {"exit_code": 0, "signal": None, "descendants_left": 0, "at": 5}
OUTCOME = {
    "v": 1, "run": 1, "attempt": "a", "session": "s", "kind": "sealed", "code": None, "cause": None, "message": "",
    "details": {}, "ended": ENDED, "tree": {"method": "subreaper"}, "manifest_sha256": "0", "at": 6,
}  # fmt: skip
ACTIVITY = {"cpu_s": 1.5, "rss_bytes": 1, "peak_rss_bytes": 1, "read_bytes": 1, "written_bytes": 1}

SAMPLES: dict[str, dict[str, dict[str, Any]]] = {
    messages.FROM_HOST: {
        "hello": {"secret": "x", "protocol": 1, "identity": IDENTITY, "claimed": False},
        "stage": {"name": "load", "total": None},
        "progress": {"done": 1, "total": 2.5, "unit": None, "stage": "load", "message": None},
        "heartbeat": {
            "activity": ACTIVITY, "active_s": 1, "processes": 2, "phase": "computing", "last_progress_active_s": 0.5,
        },
        "notice": {"code": "c", "text": "t", "data": {}},
        "ended": {"ended": ENDED},
        "sealed": {"outcome": OUTCOME, "digest": "d"},
        "failed": {"outcome": OUTCOME | {"kind": "failed", "code": "work_failed"}, "digest": "d"},
        "stopped": {"outcome": OUTCOME | {"kind": "stopped", "cause": "user"}, "digest": "d"},
    },
    messages.FROM_SUPERVISOR: {
        "hello-ack": {"epoch": 3},
        "stop": {"level": "ask", "cause": "user"},
        "dismiss": {"why": "released"},
        "ack": {"digest": "d"},
    },
    messages.FROM_CLIENT: {"client-hello": {"body": {"protocol": 1}}, "command": {"body": {"verb": "run"}}},
    messages.FROM_SERVER: {
        "client-hello-ack": {"body": {"instance": "i", "epoch": 1}},
        "answer": {"body": {"ok": {}}},
        "change": {"body": {"run": 1}},
    },
}  # fmt: skip


def message(direction: str, kind: str) -> dict[str, Any]:
    client = direction in (messages.FROM_CLIENT, messages.FROM_SERVER)
    envelope = {name: value for name, value in ENVELOPE.items() if not client or name not in ("run", "attempt", "session")}
    return {**envelope, "type": kind, **SAMPLES[direction][kind]}


EVERY = [(direction, kind) for direction, kinds in messages.TABLES.items() for kind in kinds]


def test_there_is_a_sample_of_every_message() -> None:
    assert {(direction, kind) for direction, kinds in SAMPLES.items() for kind in kinds} == set(EVERY)


@pytest.mark.parametrize(("direction", "kind"), EVERY)
def test_each_passes_one_way_and_with_every_field_only(direction: str, kind: str) -> None:
    whole = message(direction, kind)
    assert messages.check(whole, direction) is whole
    for field in whole:
        if field != "type":
            rule = refused({name: value for name, value in whole.items() if name != field}, direction)
            assert rule == "missing_field"
            wrong = refused({**whole, field: [object]}, direction)
            assert wrong == "wrong_value"
    assert refused({**whole, "more": 1}, direction) == "extra_field"
    for other in messages.TABLES:
        if other != direction:
            assert refused(whole, other) == "unknown_type"


def refused(document: dict[str, Any], direction: str) -> str:
    with pytest.raises(Violation) as caught:
        messages.check(document, direction)
    return caught.value.rule


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 1 << 63, -(1 << 63) - 1])
def test_an_integer_is_one_a_database_can_hold(value: object) -> None:
    assert refused({**message(messages.FROM_HOST, "stage"), "run": value}, messages.FROM_HOST) == "wrong_value"


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), 1 << 70, "1"])
def test_a_number_is_finite(value: object) -> None:
    assert refused({**message(messages.FROM_HOST, "progress"), "done": value}, messages.FROM_HOST) == "wrong_value"


def test_members_of_known_objects_are_exact() -> None:
    heartbeat = message(messages.FROM_HOST, "heartbeat")
    assert refused({**heartbeat, "activity": {**ACTIVITY, "more": 1}}, messages.FROM_HOST) == "wrong_value"
    sealed = message(messages.FROM_HOST, "sealed")
    assert refused({**sealed, "outcome": {**OUTCOME, "kind": "done"}}, messages.FROM_HOST) == "wrong_value"


def test_another_version_and_an_unspeakable_type_are_named_shortly() -> None:
    assert refused({**message(messages.FROM_HOST, "stage"), "v": 2}, messages.FROM_HOST) == "version"
    assert refused({"type": ["x"] * 1000}, messages.FROM_HOST) == "unknown_type"
    with pytest.raises(Violation) as caught:
        messages.check({"type": "x" * 1000}, messages.FROM_HOST)
    assert len(caught.value.why) < 200
