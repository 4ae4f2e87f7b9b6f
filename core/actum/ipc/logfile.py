"""Reading the work's log: raw bytes in segments, and an index that finds every line without reading them.

Theory. log/NNNNNN.log holds the bytes of stdout and stderr in the order in which they were read; log/NNNNNN.idx holds one
ENTRY for each *piece*: eight bytes offset in the segment, eight bytes UTC µs, one byte stream (1 stdout, 2 stderr; bit 7
= goes on with the line that the stream's last piece began). A piece ends where the next begins, or where the segment
ends. A piece begins after a line feed, where the stream changes, where a line is longer than LOG_LINE_BYTES_MAX, and at
the start of a segment. Bytes are written before their entry, so an entry never points beyond the bytes; after a power cut
entries beyond the end are ignored. Lines are numbered from 0 over all segments.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import IO, NamedTuple

from actum.ipc import regular
from actum.limits import LOG_LINE_BYTES_MAX

ENTRY = struct.Struct("<QQB")
STDOUT, STDERR, CONTINUES = 1, 2, 0x80


class Line(NamedTuple):
    """One piece of the log. `number` counts pieces from 0; `stream` 1 or 2; `continues` = no new line begins here."""

    number: int
    at_us: int
    stream: int
    continues: bool
    raw: bytes

    @property
    def text(self) -> str:
        """As a terminal would leave it: without the line end, what follows the last carriage return, bad bytes marked."""
        shown = self.raw.rstrip(b"\r\n")
        return shown[shown.rfind(b"\r") + 1 :].decode("utf-8", "replace")


class Block(NamedTuple):
    """`pieces` of them from number `first` as they lie in the file, for a look that need not know where each begins."""

    first: int
    pieces: int
    raw: bytes


class LogReader:
    """The log of one attempt; look again at any time, it may have grown."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """`folder` is the attempt's log folder; one that is missing holds no lines."""
        self._folder = os.fspath(folder)
        self._full: list[tuple[str, int]] = []  # segments that have a successor: they never change

    def count(self) -> int:
        """How many lines there are now. Raises OSError but for a missing folder."""
        return sum(size for _, size in self.segments())

    def mark(self) -> tuple[int, int]:
        """(lines, bytes of the last segment): changes whenever anything was written, a line that only grows too."""
        segments = self.segments()
        if not segments:
            return 0, 0
        return sum(size for _, size in segments), os.stat(self.path(segments[-1][0], ".log")).st_size

    def lines(self, first: int, count: int) -> list[Line]:
        """Up to `count` lines from number `first`. Raises OSError."""
        return list(self._iterate(first, first + count))

    def tail(self, count: int) -> list[Line]:
        """The last `count` lines."""
        total = self.count()
        return self.lines(max(0, total - count), count)

    def block(self, first: int, count: int, bytes_max: int) -> Block:
        """The bytes of up to `count` pieces of one segment from number `first`, about `bytes_max` of them, at least one piece.

        Empty where there is no such piece. Raises OSError.
        """
        base = 0
        for name, size in self.segments():
            if first < base + size:
                return self._block(name, first, first - base, min(count, base + size - first), bytes_max)
            base += size
        return Block(first, 0, b"")

    def _block(self, name: str, first: int, start: int, count: int, bytes_max: int) -> Block:
        with regular.reading(self.path(name, ".idx")) as index, regular.reading(self.path(name, ".log")) as log:
            bytes_total = os.fstat(log.fileno()).st_size

            def offset(piece: int) -> int:
                index.seek(piece * ENTRY.size)
                entry = index.read(ENTRY.size)
                return min(ENTRY.unpack(entry)[0], bytes_total) if len(entry) == ENTRY.size else bytes_total

            begin = offset(start)
            while count > 1 and offset(start + count) - begin > bytes_max:
                count //= 2
            log.seek(begin)
            return Block(first, count, _piece(log, offset(start + count) - begin, max(bytes_max, LOG_LINE_BYTES_MAX)))

    def segments(self) -> list[tuple[str, int]]:
        """(name without suffix, number of pieces) of every segment, in order; only the last two are looked at again."""
        while True:
            name = f"{len(self._full):06d}"
            newest = self._pieces_of(name)
            if newest is None:
                return list(self._full)
            if self._pieces_of(f"{len(self._full) + 1:06d}") is None:
                return [*self._full, (name, newest)]
            self._full.append((name, self._pieces_of(name) or newest))

    def _pieces_of(self, name: str) -> int | None:
        try:
            return os.stat(self.path(name, ".idx")).st_size // ENTRY.size
        except FileNotFoundError:
            return None

    def path(self, name: str, suffix: str) -> str:
        """A file of a segment; `suffix` .log or .idx."""
        return os.path.join(self._folder, name + suffix)

    def _iterate(self, first: int, end: int) -> Iterator[Line]:
        base = 0
        for name, size in self.segments():
            if base < end and base + size > first:
                yield from self._pieces(name, base, max(first - base, 0), min(end - base, size))
            base += size

    def _pieces(self, name: str, base: int, start: int, end: int) -> Iterator[Line]:
        with regular.reading(self.path(name, ".idx")) as index:
            index.seek(start * ENTRY.size)
            read = index.read((end - start + 1) * ENTRY.size)
            whole = len(read) // ENTRY.size * ENTRY.size  # the last one may be half written
            entries = list(ENTRY.iter_unpack(read[:whole]))
        with regular.reading(self.path(name, ".log")) as log:
            bytes_total = os.fstat(log.fileno()).st_size
            if not entries:
                return
            log.seek(entries[0][0])
            for position, (offset, at_us, stream) in enumerate(entries[: end - start]):
                following = entries[position + 1][0] if position + 1 < len(entries) else bytes_total
                if offset >= bytes_total:
                    return
                raw = _piece(log, following - offset, LOG_LINE_BYTES_MAX)
                yield Line(base + start + position, at_us, stream & 0x7F, bool(stream & CONTINUES), raw)


def _piece(log: IO[bytes], size: int, bytes_max: int) -> bytes:
    """So many bytes; an index that others wrote may say less than nothing, or more than any piece has."""
    return log.read(min(max(size, 0), bytes_max))
