"""Frames and guard over any content, any borders of reads and any garbage (R11, §7)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from actum import limits
from actum.ipc.framing import Decoder, Violation, encode
from actum.ipc.session import Accepted
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_session import guard, hello, stage

UNHURRIED = settings(deadline=None, max_examples=60)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(st.dictionaries(TEXT, JSON, max_size=4), max_size=8)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    borders = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(borders)]


@UNHURRIED
@given(DOCUMENTS, st.lists(st.integers(0, 10_000), max_size=12))
def test_what_is_sent_arrives_whatever_the_borders(documents: list[dict[str, Any]], places: list[int]) -> None:
    decoder = Decoder()
    arrived = [frame for part in cut(b"".join(map(encode, documents)), places) for frame in decoder.feed(part)]
    assert arrived == documents


@UNHURRIED
@given(st.lists(st.binary(max_size=200), max_size=8))
def test_garbage_is_a_violation_or_nothing_and_memory_stays_bounded(parts: list[bytes]) -> None:
    decoder = Decoder()
    for part in parts:
        data = part
        while True:
            try:
                decoder.feed(data)
                break
            except Violation:
                data = b""
        assert len(decoder._buffer) <= limits.FRAME_BYTES_MAX + limits.FRAME_HEADER_BYTES


@UNHURRIED
@given(st.lists(st.integers(-3, 6), max_size=20))
def test_only_rising_seq_passes(numbers: list[int]) -> None:
    door = guard()
    assert isinstance(door.feed(hello(0)), Accepted)
    last = 0
    for seq in numbers:
        if door.closed:
            break
        seen = door.feed(stage(seq))
        assert isinstance(seen, Accepted) == (seq > last)
        last = max(last, seq)
    assert door.closed == (door.violations >= limits.VIOLATIONS_PROVEN_MAX)


@UNHURRIED
@given(st.lists(st.dictionaries(st.sampled_from(sorted(stage(1))), JSON, max_size=9), max_size=6))
def test_no_document_makes_the_guard_raise_or_prove(documents: list[dict[str, Any]]) -> None:
    door = guard()
    for document in documents:
        door.feed(document)
    assert not door.proven
