"""Frames on a byte stream: four bytes of big-endian length, then one UTF-8 JSON object.

Theory. A frame is at most FRAME_BYTES_MAX bytes of JSON. The decoder keeps at most one unfinished frame, so its memory is
bounded by one frame and one read. Whatever the peer sends ends as a frame or as a `Violation`; a frame that is too long
is skipped by counting and costs no memory. Nothing here knows what a frame means: see messages.py. Keeps R11.
"""

from __future__ import annotations

import json
from typing import Any

from actum import limits
from actum.errors import ActumError
from actum.ipc import strictjson

_HEADER = limits.FRAME_HEADER_BYTES


class FrameTooLong(ActumError):
    """A document of ours does not fit in one frame: a mistake of the sender, never of the peer."""

    def __init__(self, length: int) -> None:
        super().__init__(
            "frame_too_long",
            f"A frame of {length} bytes cannot be sent.",
            f"A frame holds at most {limits.FRAME_BYTES_MAX} bytes.",
            length=length,
        )


class Violation(ActumError):
    """The peer broke the protocol. `rule` is a word for the journal; `frames` are the good frames that stood before it."""

    def __init__(self, rule: str, why: str, **details: Any) -> None:
        super().__init__("violation", "A message on the channel breaks the protocol.", why, rule=rule, **details)
        self.rule = rule
        self.frames: list[dict[str, Any]] = []


def encode(document: dict[str, Any]) -> bytes:
    """One frame. Text that is not valid Unicode is sent with replacement marks. Raises FrameTooLong."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    body = text.encode("utf-8", "replace")
    if len(body) > limits.FRAME_BYTES_MAX:
        raise FrameTooLong(len(body))
    return len(body).to_bytes(_HEADER, "big") + body


class Decoder:
    """Turns what arrives into documents, whatever the borders of the reads."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0  # where the next frame starts in the buffer
        self._skip = 0  # bytes of an over-long frame that are still to pass

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The frames that `data` completes, in order.

        Raises Violation for a frame that cannot be read; its `frames` are those before it, and what follows it is kept:
        `feed(b"")` goes on with the rest.
        """
        self._buffer += data
        frames: list[dict[str, Any]] = []
        try:
            while (body := self._next()) is not None:
                frames.append(_document(body))
        except Violation as violation:
            violation.frames = frames
            raise
        finally:
            del self._buffer[: self._at]
            self._at = 0
        return frames

    def _next(self) -> bytearray | None:
        """The body of the next complete frame, or None until more arrives."""
        if self._skip:
            passed = min(self._skip, len(self._buffer) - self._at)
            self._at += passed
            self._skip -= passed
        start = self._at + _HEADER
        if len(self._buffer) < start or self._skip:
            return None
        length = int.from_bytes(self._buffer[self._at : start], "big")
        if length > limits.FRAME_BYTES_MAX:
            self._at, self._skip = start, length
            raise Violation("frame_too_long", f"A frame of {length} bytes is announced.", length=length)
        if len(self._buffer) < start + length:
            return None
        self._at = start + length
        return self._buffer[start : self._at]


def _document(body: bytearray) -> dict[str, Any]:
    try:
        text = body.decode("utf-8")
        document = strictjson.loads(text)
        if "\\ud" in text or "\\uD" in text:  # an escaped half of a surrogate pair is no text
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Violation("not_json", f"A frame does not hold JSON: {type(error).__name__}.") from None
    if type(document) is not dict:
        raise Violation("not_an_object", "A frame holds JSON that is not an object.")
    return document
