"""Frames: bounded, whatever arrives (R11)."""

from __future__ import annotations

import pytest
from actum import limits
from actum.ipc import framing
from actum.ipc.framing import Decoder, FrameTooLong, Violation, encode


def raw(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def test_a_frame_at_the_bound_passes_and_one_above_does_not() -> None:
    text = "x" * (limits.FRAME_BYTES_MAX - len(b'{"a":""}'))
    assert Decoder().feed(encode({"a": text})) == [{"a": text}]
    with pytest.raises(FrameTooLong):
        encode({"a": text + "x"})
    with pytest.raises(Violation) as caught:
        Decoder().feed(raw(b"x" * (limits.FRAME_BYTES_MAX + 1)))
    assert caught.value.rule == "frame_too_long"


def test_frames_around_a_violation_are_not_lost() -> None:
    decoder = Decoder()
    too_long = raw(b" " * (limits.FRAME_BYTES_MAX + 1))
    with pytest.raises(Violation) as caught:
        decoder.feed(encode({"n": 1}) + too_long + encode({"n": 2}))
    assert caught.value.frames == [{"n": 1}]
    assert decoder.feed(b"") == [{"n": 2}]


def test_an_over_long_frame_is_skipped_without_keeping_it() -> None:
    decoder = Decoder()
    with pytest.raises(Violation):
        decoder.feed((1 << 20).to_bytes(4, "big") + b"x" * 1024)
    for _ in range(1023):
        assert decoder.feed(b"y" * 1024) == []
        assert len(decoder._buffer) <= 1024
    assert decoder.feed(encode({"n": 1})) == [{"n": 1}]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": -Infinity}', "not_json"),
        (b'{"a": "\\ud800"}', "not_json"),
        (b'{"a": "\\uD800"}', "not_json"),
        (b"[" * 60_000, "not_json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not_json"),
        (b'{"a": 1}{"b": 2}', "not_json"),
        (b'{"a": 1} x', "not_json"),
        (b"[1]", "not_an_object"),
        (b"null", "not_an_object"),
    ],
)
def test_what_is_no_json_object_is_a_violation(body: bytes, rule: str) -> None:
    with pytest.raises(Violation) as caught:
        Decoder().feed(raw(body))
    assert caught.value.rule == rule


@pytest.mark.parametrize("body", [b' {"a": 1}', b'{"a": 1}\r\n', b'\t{"a": 1} '])
def test_white_space_around_the_object_is_no_violation(body: bytes) -> None:
    assert Decoder().feed(raw(body)) == [{"a": 1}]


def test_a_whole_surrogate_pair_is_text() -> None:
    assert Decoder().feed(raw(b'{"a": "\\ud83d\\ude00"}')) == [{"a": "\U0001f600"}]


def test_text_that_is_no_unicode_is_sent_with_marks() -> None:
    assert Decoder().feed(encode({"a": "x\udcff"})) == [{"a": "x?"}]


def test_the_header_is_as_long_as_said() -> None:
    assert framing.encode({})[: limits.FRAME_HEADER_BYTES] == b"\0\0\0\2"
