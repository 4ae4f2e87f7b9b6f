"""Wait for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(predicate: Callable[[], T], timeout_s: float = 20.0, what: str = "the condition") -> T:
    """The first true answer of `predicate`, asked again and again; fails the test when `timeout_s` has passed."""
    end = time.monotonic() + timeout_s
    while True:
        answer = predicate()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come about within {timeout_s} s (last answer: {answer!r})")
        time.sleep(0.01)
