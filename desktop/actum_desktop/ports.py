"""What the window needs of what stands behind it: someone who takes commands, someone who reads runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Commands(Protocol):
    """The bridge as the window knows it."""

    def command(self, body: Mapping[str, Any]) -> int: ...


class Reads(Protocol):
    """The reader of one run as the window knows it."""

    def ask(self, run: int, n: int = 0) -> None: ...
