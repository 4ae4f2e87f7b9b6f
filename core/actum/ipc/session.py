"""The supervisor's guard at one channel of a host: who may speak, and in which order (PROTOCOL §7).

Theory. A channel is *unproven* until a hello carries the secret of the session it names; its first violation closes it.
Then it is *proven*: a violation is journalled, the third closes the channel, the spool goes on serving. Every frame of a
proven channel names the same run, attempt, session and channel as its hello, and its seq rises. No violation ends work,
and a frame with a violation changes nothing. Pure: bytes in, accepted frames and violations out.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from actum import limits
from actum.ipc import messages
from actum.ipc.framing import Decoder, Violation

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """The attempt whose session a hello names. `secret_sha256` is all that the store keeps of the secret."""

    run: int
    attempt: str
    session: str
    secret_sha256: str


Lookup = Callable[[Mapping[str, Any]], Expected | None]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A frame of a proven channel."""

    frame: Document


@dataclass(frozen=True, slots=True)
class Unknown:
    """A well-formed hello of an attempt nobody here knows: no answer, an alert, and it is left to finish."""

    hello: Document


Seen = Accepted | Unknown | Violation


class Guard:
    """One channel. Attributes: proven, closed (close it now; further input is ignored), violations, expected, channel."""

    def __init__(self, lookup: Lookup, decoder: Decoder | None = None) -> None:
        """`lookup` finds the attempt a hello claims to be of; `decoder` may hold what was read before this was a host."""
        self._lookup = lookup
        self._decoder = decoder or Decoder()
        self._seq = -1
        self.expected: Expected | None = None
        self.channel = ""
        self.proven = False
        self.closed = False
        self.violations = 0

    def receive(self, data: bytes) -> list[Seen]:
        """What `data` brings, in order. Never raises."""
        seen: list[Seen] = []
        while not self.closed:
            try:
                frames, violation = self._decoder.feed(data), None
            except Violation as error:
                frames, violation = error.frames, error
            for frame in frames:
                if not self.closed:
                    seen.append(self.feed(frame))
            if violation is None:
                break
            if not self.closed:
                seen.append(self.count(violation))
            data = b""  # the rest waits in the decoder
        return seen

    def feed(self, document: Document) -> Seen:
        """What one document is on this channel. Never raises."""
        try:
            frame = messages.check(document, messages.FROM_HOST)
            return self._proven(frame) if self.proven else self._hello(frame)
        except Violation as violation:
            return self.count(violation)

    def count(self, violation: Violation) -> Violation:
        """Count a violation and close the channel where it is one too many."""
        self.violations += 1
        if not self.proven or self.violations >= limits.VIOLATIONS_PROVEN_MAX:
            self.closed = True
        return violation

    def _hello(self, frame: Document) -> Seen:
        if frame["type"] != "hello":
            raise Violation("not_proven", f"A {frame['type']} comes before the hello.", type=frame["type"])
        if not 1 <= frame["protocol"] <= messages.PROTOCOL:
            raise Violation("protocol", f"The host speaks protocol {frame['protocol']}.", protocol=frame["protocol"])
        expected = self._lookup(frame)
        if expected is None:
            self.closed = True
            return Unknown(frame)
        given = hashlib.sha256(frame["secret"].encode("utf-8", "replace")).hexdigest()
        if not hmac.compare_digest(given.encode(), expected.secret_sha256.encode("utf-8", "replace")):
            raise Violation("secret", "The secret of a hello is not that of its session.", session=frame["session"][:32])
        self._same_attempt(frame, expected)
        self.expected, self.channel, self._seq, self.proven = expected, frame["channel"], frame["seq"], True
        return Accepted(frame)

    def _proven(self, frame: Document) -> Accepted:
        assert self.expected is not None
        if frame["type"] == "hello":
            raise Violation("second_hello", "A second hello comes on the same channel.")
        self._same_attempt(frame, self.expected)
        if frame["channel"] != self.channel:
            raise Violation("channel", "A frame names another channel.")
        if frame["seq"] <= self._seq:
            raise Violation("seq", f"seq {frame['seq']} comes after {self._seq}.", seq=frame["seq"], last=self._seq)
        self._seq = frame["seq"]
        return Accepted(frame)

    @staticmethod
    def _same_attempt(frame: Document, expected: Expected) -> None:
        if frame["session"] == expected.session and frame["attempt"] == expected.attempt and frame["run"] == expected.run:
            return
        name = next(name for name in ("run", "attempt", "session") if frame[name] != getattr(expected, name))
        raise Violation("other_attempt", f"A frame names another {name}.", field=name)
