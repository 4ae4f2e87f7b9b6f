"""What the window needs of what stands behind it: someone who takes commands, someone who reads runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol


class Commands(Protocol):
    """The bridge as the window knows it."""

    def command(self, body: Mapping[str, Any]) -> int: ...


class Reads(Protocol):
    """The reader of one run as the window knows it."""

    def ask(self, run: int, n: int = 0) -> None: ...


class Asks(Protocol):
    """The table helper as the window knows it (`controller.tablehelper.TableHelper`)."""

    def ask(self, kind: str, args: Mapping[str, Any], done: Any, progress: Any = None) -> None: ...

    def cancel(self, kind: str) -> None: ...

    def new_view(self) -> Path: ...

    def drop_view(self, path: Path) -> None: ...
