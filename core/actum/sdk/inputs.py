"""Input files and folders as a function gets them: a path to read, and what was frozen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Mapping, Optional, Union


class InputFile:
    """A file to read. It is a path (`open(prices)`, `Path(prices)`, `pandas.read_csv(prices)` work).

    Attributes: path (what to read: the frozen copy, or the file itself when it is pinned), original (where it came from),
    sha256 and size (bytes) as frozen, policy ("copy" or "pin"); the last three are None outside Actum.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], described: Optional[Mapping[str, Any]] = None) -> None:
        known = described or {}
        self.path = Path(path)
        self.original = Path(known.get("original") or path)
        self.sha256: Optional[str] = known.get("sha256")
        self.size: Optional[int] = known.get("size")
        self.policy: Optional[str] = known.get("policy")

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.original)!r})"

    @property
    def name(self) -> str:
        """The name it had where it came from, `prices.csv`."""
        return self.original.name

    def open(self, mode: str = "r", **options: Any) -> IO[Any]:
        """The file, opened for reading; text is UTF-8 unless `encoding` says otherwise."""
        if "r" not in mode or "+" in mode:
            raise ValueError("an input is only read")
        if "b" not in mode:
            options.setdefault("encoding", "utf-8")
        return self.path.open(mode, **options)


class InputFolder(InputFile):
    """A folder to read; `path` is its frozen copy, or the folder itself when it is pinned."""
