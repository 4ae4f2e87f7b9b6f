"""What the work used and how far it came over time, kept beside its log so that charts outlive every window.

Theory. spool/history.jsonl holds one line each HISTORY_EVERY_S (format: ipc/historyfile.py), and one when the work is over.
At HISTORY_LINES_MAX every second line goes and the distance doubles, so the file stays small and the whole time stays
visible. Nothing depends on it: a disk that does not take a line costs that line and nothing else, and it is never fsync'ed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from actum import clock, limits
from actum.ipc import historyfile, regular, spool


class History:
    """The file of one attempt."""

    def __init__(self, folder: str) -> None:
        self._path = spool.spool_path(folder, historyfile.NAME)
        self._every_s: float = limits.HISTORY_EVERY_S
        self._due = 0.0
        self._lines = 0
        self._closed = False

    def keep(self, sample: dict[str, Any], now: float, *, last: bool = False) -> None:
        """Keep `sample`; call it when it is `due`. After the last one nothing is kept."""
        self._closed = last
        try:
            self._append(historyfile.line(clock.utc_us(), sample))
            if self._lines >= limits.HISTORY_LINES_MAX:
                self._thin()
        except OSError:
            pass  # a chart with a gap; the next line may fit again
        self._due = now + self._every_s

    def due(self, now: float, *, last: bool = False) -> bool:
        """Whether a line's time has come; `last` = the work is over, which is a line at any time, once."""
        return not self._closed and (last or now >= self._due)

    def _append(self, line: bytes) -> None:
        descriptor = regular.descriptor(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        self._lines += 1

    def _thin(self) -> None:
        """Every second line goes; the newest stays."""
        lines = regular.content(self._path, limits.HISTORY_FILE_BYTES_MAX).splitlines(keepends=True)
        kept = lines[::-1][::2][::-1]
        beside = f"{self._path}.thin"
        try:
            with open(regular.descriptor(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), "wb") as file:
                file.writelines(kept)
            os.replace(beside, self._path)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise
        self._lines = len(kept)
        self._every_s *= 2
