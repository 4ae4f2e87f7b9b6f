"""The work's streams into the log, and what in them counts as progress or as the reason for a failure.

Read without waiting, a bounded piece a turn. While the disk takes nothing, nothing is read: the work's own write waits.
"""

from __future__ import annotations

import os

from actum import clock, limits
from actum.host import progress
from actum.host.logs import LogWriter
from actum.host.work import Work
from actum.ipc.logfile import STDERR

Printed = tuple[float, float, str]


class Pump:
    """Attributes: log, stderr_tail (the last bytes of standard error)."""

    def __init__(self, work: Work, log: LogWriter) -> None:
        self._work = work
        self.log = log
        self.stderr_tail = b""

    def descriptors(self) -> list[int]:
        """Which to wait for: none while the log is blocked."""
        return [] if self.log.blocked else list(self._work.pipes.values())

    def turn(self) -> Printed | None:
        """Read once from each stream; progress if some was printed."""
        if self.log.blocked:
            self.log.retry()
        found = None
        for stream in list(self._work.pipes):
            if not self.log.blocked and (data := self._read(stream)):
                found = progress.find(data) or found
        return found

    def drain(self) -> bool:
        """Read what is left when nobody of the tree writes any more; False while the disk takes nothing."""
        while self._work.pipes:
            before = self.log.bytes_total
            self.turn()
            if self.log.blocked:
                return False
            if self.log.bytes_total == before:
                break  # held open by a process that is not of this tree
        return True

    def close(self) -> None:
        for stream in list(self._work.pipes):
            self._work.close_pipe(stream)

    def last_words(self) -> list[str]:
        """The last lines of standard error, for the failure's details."""
        lines = self.stderr_tail.decode("utf-8", "replace").replace("\r", "\n").splitlines()
        return [line[:300] for line in lines if line.strip()][-5:]

    def _read(self, stream: int) -> bytes:
        try:
            data = os.read(self._work.pipes[stream], limits.LOG_READ_BYTES_MAX)
        except BlockingIOError:
            return b""
        if not data:
            self._work.close_pipe(stream)
            return b""
        if stream == STDERR:
            self.stderr_tail = (self.stderr_tail + data)[-limits.ERROR_TEXT_CHARS_MAX :]
        self.log.write(stream, data, clock.utc_us())
        return data
