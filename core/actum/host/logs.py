"""Writing the work's log: what its streams said, as raw bytes, in segments with an index (format: ipc/logfile.py).

At LOG_SEGMENT_BYTES a new segment begins, at the next line end or at twice that. No declared limit: nothing is dropped.
Where the disk takes nothing, the unwritten rest is kept, nothing more is read, and so the work's own write waits in its pipe.
"""

from __future__ import annotations

import os
from contextlib import suppress

from actum import limits
from actum.host import foreign
from actum.ipc.logfile import CONTINUES, ENTRY


class LogWriter:
    """Attributes: bytes_total (written so far, all segments), blocked (the disk took nothing; call `retry`)."""

    def __init__(self, folder: str) -> None:
        """Makes the folder and goes on after the segments that are there. Raises OSError."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder
        self._segment = sum(name.endswith(".log") for name in os.listdir(folder)) - 1
        self._log = self._index = -1
        self._size = 0
        self._in_line: dict[int, bool] = {}  # stream → its last piece did not end its line
        self._last_stream = 0
        self._piece_start = 0  # offset in the segment of the piece that is growing
        self._waiting: list[tuple[int, bytes, int]] = []
        self._entries = bytearray()  # of bytes that are written
        self.bytes_total = 0
        self._open_next()

    @property
    def blocked(self) -> bool:
        return bool(self._waiting or self._entries)

    def write(self, stream: int, data: bytes, at_us: int) -> OSError | None:
        """Append what was read from `stream`. An error of the disk is answered, never raised: the rest waits."""
        self._waiting.append((stream, data, at_us))
        return self.retry()

    def retry(self) -> OSError | None:
        """Write what waits; the error where the disk still takes nothing."""
        try:
            self._write_entries()
            while self._waiting:
                self._write_first()
                self._write_entries()
        except OSError as error:
            return error
        return None

    def close(self) -> None:
        """Make the log durable and close it; of silent work nothing needs to be. Raises OSError."""
        for descriptor in (self._log, self._index):
            if descriptor >= 0:
                if self._size:
                    os.fsync(descriptor)
                os.close(descriptor)
        self._log = self._index = -1

    def _write_first(self) -> None:
        stream, data, at_us = self._waiting[0]
        piece = data
        if self._size >= limits.LOG_SEGMENT_BYTES:
            end = data.find(b"\n") + 1 if self._in_line.get(self._last_stream, False) else 0
            if end and self._size < 2 * limits.LOG_SEGMENT_BYTES:
                piece = data[:end]  # a line is ended in the segment that it began in
            elif not self._in_line.get(self._last_stream, False) or self._size >= 2 * limits.LOG_SEGMENT_BYTES:
                self._open_next()
        written = os.write(self._log, piece)
        self._note_pieces(stream, data[:written], at_us)
        if written < len(data):
            self._waiting[0] = (stream, data[written:], at_us)
        else:
            del self._waiting[0]

    def _write_entries(self) -> None:
        while self._entries:
            del self._entries[: os.write(self._index, self._entries)]

    def _note_pieces(self, stream: int, data: bytes, at_us: int) -> None:
        start, self._size, self.bytes_total = self._size, self._size + len(data), self.bytes_total + len(data)
        position = 0
        while position < len(data):
            offset = start + position
            goes_on = self._in_line.get(stream, False)
            grown = offset - self._piece_start
            if not goes_on or stream != self._last_stream or offset == 0 or grown >= limits.LOG_LINE_BYTES_MAX:
                self._entries += ENTRY.pack(offset, at_us, stream | CONTINUES if goes_on else stream)
                self._piece_start, grown = offset, 0
            end = data.find(b"\n", position, position + limits.LOG_LINE_BYTES_MAX - grown) + 1
            self._in_line[stream] = not end
            self._last_stream = stream
            position = end or min(len(data), position + limits.LOG_LINE_BYTES_MAX - grown)

    def _open_next(self) -> None:
        path = os.path.join(self._folder, f"{self._segment + 1:06d}")
        if os.path.lexists(self._folder) and not os.path.isdir(self._folder):
            foreign.set_aside(self._folder)
        with suppress(FileExistsError):
            os.mkdir(self._folder, 0o700)  # the work may have deleted or replaced it, and must not wait for it for ever
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        log = os.open(path + ".log", flags, 0o600)
        try:
            index = os.open(path + ".idx", flags, 0o600)
        except OSError:
            os.close(log)
            os.unlink(path + ".log")
            raise
        self._segment += 1
        for descriptor in (self._log, self._index):
            if descriptor >= 0:
                os.close(descriptor)
        self._log, self._index, self._size, self._piece_start = log, index, 0, 0
