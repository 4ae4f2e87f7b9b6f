"""Frames and guard over any content, any borders of reads and any garbage (R11, §7)."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import Any

from actum import limits
from actum.ipc.framing import Decoder, Violation, encode
from actum.ipc.session import Accepted, Expected, Guard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_session import EXPECTED, SECRET, guard, hello, stage

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


OWN = {"run": EXPECTED.run, "attempt": EXPECTED.attempt, "session": EXPECTED.session, "channel": "c"}
OTHER = {"run": 8, "attempt": "another", "session": "another", "channel": "d"}
ONE_IS_OTHER = st.sampled_from([{**OWN, name: other} for name, other in OTHER.items()])
SPEAKERS = (
    st.just(OWN) | ONE_IS_OTHER | st.fixed_dictionaries({name: st.sampled_from([OWN[name], OTHER[name]]) for name in OWN})
)
SECRETS = st.just(SECRET) | st.sampled_from(["6" * 32, SECRET[:-1], ""])
ANOTHER = Expected(8, "another", "another", sha256(b"another secret").hexdigest())


@UNHURRIED
@given(st.just(OWN) | SPEAKERS, SECRETS, st.lists(SPEAKERS, max_size=6))
def test_r03_nothing_is_accepted_but_of_the_one_attempt_whose_secret_was_said(
    first: dict[str, Any], secret: str, others: list[dict[str, Any]]
) -> None:
    """No foreign identity: neither a hello nor any later frame that differs in run, attempt, session or channel; the other
    attempt is known here too, and its secret is another."""
    known = {each.session: each for each in (EXPECTED, ANOTHER)}
    door = Guard(lambda hello: known.get(hello["session"]))
    proves = secret == SECRET and first in (OWN, {**OWN, "channel": "d"})
    assert isinstance(door.feed(hello(1, secret=secret, **first)), Accepted) == door.proven == proves
    for seq, other in enumerate(others, 2):
        heard = proves and not door.closed
        said = door.receive(encode(stage(seq, **other)))
        accepted = [each.frame for each in said if isinstance(each, Accepted)]
        assert accepted == ([stage(seq, **other)] if heard and other == first else [])


@UNHURRIED
@given(st.lists(st.dictionaries(st.sampled_from(sorted(stage(1))), JSON, max_size=9), max_size=6))
def test_no_document_makes_the_guard_raise_or_prove(documents: list[dict[str, Any]]) -> None:
    door = guard()
    for document in documents:
        door.feed(document)
    assert not door.proven
