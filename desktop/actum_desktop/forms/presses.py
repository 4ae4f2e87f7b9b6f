"""One press of Run is one run: the key that goes with a command, and whether it may be sent. Pure; no Qt (R05).

Theory. A key is made when Run is pressed. While the answer is awaited a further press sends nothing. A press that follows
within AGAIN_S with the same values (the second half of a double click), or after an answer that could not be told, sends
the same key again: the supervisor answers with the same run.
"""

from __future__ import annotations

from collections.abc import Callable

from actum.model.identity import new_token

AGAIN_S = 0.8


class Presses:
    """The presses on one form. `now_s` is any clock that only grows."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._key, self._values, self._until_s = "", "", 0.0
        self.pending = False

    def press(self, values: str) -> str | None:
        """The key to send with `values` (any text that stands for them), or None while an answer is awaited."""
        if self.pending:
            return None
        if not (self._key and values == self._values and self._now_s() < self._until_s):
            self._key, self._values = new_token(), values
        self.pending = True
        return self._key

    def answered(self, *, cannot_tell: bool = False) -> None:
        """The answer is there. One that could not be told keeps the key for as long as the values stay."""
        self.pending = False
        self._until_s = float("inf") if cannot_tell else self._now_s() + AGAIN_S

    def refused(self) -> None:
        """Nothing was made under the key."""
        self.pending = False
        self._until_s = 0.0
