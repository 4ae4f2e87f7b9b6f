"""Ctrl-C as a count: the first detaches, the second stops the run, a third leaves at once (§16)."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Interrupts:
    """Counts the signals that ask a command to leave, while the block lasts, instead of raising in the middle of something.

    Attributes: heard_elsewhere (what an event loop that handles the signal itself has counted).
    """

    def __init__(self, *signals: signal.Signals) -> None:
        self.heard_elsewhere = 0
        self._heard_here = 0
        self._signals = signals or (signal.SIGINT,)
        self._before: dict[signal.Signals, Any] = {}

    @property
    def count(self) -> int:
        return self._heard_here + self.heard_elsewhere

    def __enter__(self) -> Interrupts:
        for number in self._signals:
            self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._heard_here += 1
