"""How deep a message may be: told alike by the host, which takes it, and by the supervisor, which reads its record (R12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from actum.host.messages import Collected
from actum.ipc import nesting, records
from actum.limits import MESSAGE_LEVELS_MAX


def nested(levels: int, inmost: Any = 1) -> Any:
    """A value of so many levels, lists and objects in turn."""
    value = inmost
    for level in range(levels):
        value = [value, "]"] if level % 2 else {"[": value}
    return value


@pytest.mark.parametrize("levels", [0, 1, MESSAGE_LEVELS_MAX - 1, MESSAGE_LEVELS_MAX])
def test_at_the_bound_it_is_not_too_deep(levels: int) -> None:
    value = nested(levels)
    assert not nesting.too_deep(json.dumps(value).encode(), value)


@pytest.mark.parametrize("inmost", [1, {}, [], "{"])
def test_one_level_above_the_bound_is_too_deep(inmost: Any) -> None:
    value = nested(MESSAGE_LEVELS_MAX + 1 - (inmost in ({}, [])), inmost)
    assert nesting.too_deep(json.dumps(value).encode(), value)


def test_broad_is_not_deep() -> None:
    value = {"rows": [[{"n": n}] for n in range(1_000)]}
    assert not nesting.too_deep(json.dumps(value).encode(), value)


def test_what_the_host_takes_at_the_bound_is_a_record_for_the_supervisor(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    into = Collected(str(tmp_path), lambda code, text, data: None)
    data = {"value": nested(MESSAGE_LEVELS_MAX - 2)}  # within the message and its data
    list(into.take([json.dumps({"record": "deep", "data": data}).encode()]))
    into.write_records()
    into.close()
    assert not into.contradictions
    assert records.read(tmp_path, 0).records[0]["data"] == data


@pytest.mark.parametrize("levels", [MESSAGE_LEVELS_MAX - 1, 978, 100_000])
def test_r12_a_deeper_record_contradicts_the_contract_and_is_never_half_taken(tmp_path: Path, levels: int) -> None:
    told: list[str] = []
    into = Collected(str(tmp_path), lambda code, text, data: told.append(code))
    line = b'{"record": "deep", "data": {"value": ' + b"[" * levels + b"]" * levels + b"}}"
    list(into.take([line, line]))
    assert into.contradictions == [f"A message {nesting.WORDS}."]
    assert not into.waits
    assert into.records == 0
    assert not told
