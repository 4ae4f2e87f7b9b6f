"""What a seed decided, step by step, so that it can be lived through again, and shortened while it still fails.

A step names what somebody did, how long that took, and the salt of every smaller choice in it. Steps depend on nothing but
the world they meet: one that cannot be taken there is passed over. So a chunk can be cut out and the rest still has a
meaning; `shrink` does that until no single step can go.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TRIES_MAX = 4_000
ROUNDS_MAX = 40


@dataclass(frozen=True, slots=True)
class Step:
    """Attributes: after_us (time that passes before it), action (its name, as the world offers it), salt."""

    after_us: int
    action: str
    salt: int

    def __str__(self) -> str:
        return f"+{self.after_us / 1e6:7.3f} s  {self.action}  #{self.salt:08x}"


def shrink(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool], seconds_max: float = 60.0) -> list[Step]:
    """The shortest list found by deleting chunks, halves first, single steps last, that still fails in the same way."""
    kept, tries, until = list(steps), 0, time.monotonic() + seconds_max
    for _ in range(ROUNDS_MAX):
        before, size = len(kept), max(1, len(kept) // 2)
        while size >= 1:
            at = 0
            while at < len(kept):
                if tries >= TRIES_MAX or time.monotonic() > until:
                    return kept
                tries += 1
                shorter = kept[:at] + kept[at + size :]
                if fails(shorter):
                    kept = shorter
                else:
                    at += size
            size //= 2
        if len(kept) == before:
            break
    return kept
