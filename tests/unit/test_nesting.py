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


def taken(folder: Path, *lines: bytes) -> tuple[Collected, list[str]]:
    """What was made of the lines, and the codes of the notices."""
    told: list[str] = []
    into = Collected(str(folder), lambda code, text, data: told.append(code))
    list(into.take(list(lines)))
    return into, told


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
    assert into.contradictions == [f"A record message {nesting.WORDS}."]
    assert not into.waits
    assert into.records == 0
    assert not told


@pytest.mark.parametrize("levels", [MESSAGE_LEVELS_MAX, 978, 100_000])
@pytest.mark.parametrize("kind", ["metric", "unavailable", "table", "file", "done"])
def test_what_the_result_would_lack_contradicts_the_contract(tmp_path: Path, kind: str, levels: int) -> None:
    into, told = taken(tmp_path, f'{{"more": {"[" * levels + "]" * levels}, "{kind}": "x"}}'.encode())
    assert into.contradictions == [f"A {kind} message {nesting.WORDS}."]
    assert told == []


@pytest.mark.parametrize("levels", [MESSAGE_LEVELS_MAX, 978, 100_000])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"progress": [1, 2], "stage": %s}', "message_malformed"),
        ('{"stage": %s}', "message_malformed"),
        ('{"checkpoint": %s}', "message_malformed"),
        ('{"note": %s}', "message_malformed"),
        ('{"wonder": %s, "of": {"record": 1}, "x": "\\"record\\":"}', "message_unknown"),
        ("%s", "message_unreadable"),
        ('[{"record": "deep", "data": %s}]', "message_unreadable"),
    ],
)
def test_other_deep_nests_are_noticed_and_passed_over(tmp_path: Path, line: str, code: str, levels: int) -> None:
    deep = line % ("[" * levels + "]" * levels)
    into, told = taken(tmp_path, deep.encode(), b'{"progress": [3, 4]}')
    assert told == [code]
    assert into.contradictions == []
    assert into.progress is not None
    assert into.progress["done"] == 3


def test_half_a_record_is_none_however_deep_it_begins(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    halves = (deep, b'{"record": "r", "data": ' + deep, b'{"record": "r", "data": ' + deep + b"}", b"{" + deep + b'"}')
    into, told = taken(tmp_path, *halves)
    assert told == ["message_unreadable"] * 4
    assert into.contradictions == []


@pytest.mark.parametrize("key", ['"record"', '"\\u0072ecord"'])
def test_outer_keys_are_those_of_the_message_itself(key: str) -> None:
    inner = '{"a\\"b" : {"inner": ["}", {"in": 1}]}, ' + key + ':"]", "\\x": "text:"}'
    assert nesting.outer_keys(inner.encode()) == {'a"b', "record", ""}


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b"}", b"{]", b"{}{}", b'{"a": 1} x', b'x{"a": 1}', b'{"a', b'{"a\\'])
def test_what_is_no_object_has_no_keys(line: bytes) -> None:
    assert nesting.outer_keys(line) is None


def test_r11_a_text_without_an_end_is_looked_at_once() -> None:
    """Were each of its quotes tried anew, this line of one MiB would hold the host for hours."""
    assert nesting.outer_keys(b'{"a": "' + b'\\"' * (1 << 19)) is None
