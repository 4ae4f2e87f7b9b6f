"""What an interrupted verification had found by then, so that the next one goes on behind it (R18).

A file of JSON lines beside the attempt, not in the package: first which manifest and which derived.json it speaks of, then a
line for each file digested and each chunk found equal, with inode, size and times of the files that were read. A note counts
only while those are the same, to the nanosecond: whatever was touched is looked at again. It is removed at the end of a
verification. A note that cannot be read or written only costs time.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from actum import faults, limits
from actum.ipc import regular
from actum.results import digests
from actum.results.chunks import Chunk

VERSION = 1


class Resume:
    """Notes of one verification. `path` None: none are kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: set[str] = set()
        self._digests: dict[str, dict[str, Any]] = {}
        self._file: IO[str] | None = None
        self._one_at_a_time = threading.Lock()
        self.taken_over = 0

    def begin(self, manifest_sha256: str | None, derived_sha256: str | None) -> None:
        """Read what an earlier verification of these very documents noted; forget what was noted of others."""
        if self._path is None:
            return
        head = json.dumps({"v": VERSION, "manifest_sha256": manifest_sha256, "derived_sha256": derived_sha256})
        with contextlib.suppress(OSError, ValueError, RecursionError):
            self._read(head)
        with contextlib.suppress(OSError):
            fresh = not self._known and not self._digests
            flags = os.O_CREAT | os.O_WRONLY | (os.O_TRUNC if fresh else os.O_APPEND)
            descriptor = regular.descriptor(self._path, flags, 0o644)
            self._file = open(descriptor, "w" if fresh else "a", encoding="utf-8")  # noqa: SIM115 - until end()
            if fresh:
                self._write(head)

    def _read(self, head: str) -> None:
        assert self._path is not None
        with open(digests.open_regular(self._path), encoding="utf-8") as file:
            content = file.read(limits.MANIFEST_BYTES_MAX + 1)  # names and digests, as a manifest has them
        lines = content.splitlines()
        if len(content) > limits.MANIFEST_BYTES_MAX or not lines or lines[0] != head:
            return
        for line in lines[1:]:
            with contextlib.suppress(ValueError, RecursionError):  # the last one may be half written
                note = json.loads(line)
                if _is_digest(note):
                    self._digests[note["file"]] = note
                elif isinstance(note, dict) and "chunk" in note:
                    self._known.add(line)

    def end(self) -> None:
        """The verification came to its end: nothing is left to go on with."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def close(self) -> None:
        """The verification was broken off: what is noted stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def digest(self, name: str, path: Path) -> tuple[int, str] | None:
        """Size and sha256 of a file as noted, if it was not touched since."""
        note = self._digests.get(name)
        if note is None or note["stat"] != state(path):
            return None
        self.taken_over += 1
        return note["size"], note["sha256"]

    def note_digest(self, name: str, seen: list[int], size: int, sha256: str) -> None:
        """`seen`: the state of the file before it was read and after it, one and the same."""
        self._write(json.dumps({"file": name, "stat": seen, "size": size, "sha256": sha256}))

    def has_chunk(self, chunk: Chunk, paths: Sequence[Path]) -> bool:
        return bool(self._known) and chunk.rows >= 0 and _chunk_note(chunk, paths) in self._known

    def note_chunk(self, chunk: Chunk, paths: Sequence[Path]) -> None:
        if self._file is not None:
            self._write(_chunk_note(chunk, paths))
            faults.point("verify.chunk.noted")

    def _write(self, line: str) -> None:
        if self._file is not None:
            with self._one_at_a_time, contextlib.suppress(OSError):
                self._file.write(line + "\n")
                self._file.flush()


def _chunk_note(chunk: Chunk, paths: Sequence[Path]) -> str:
    return json.dumps({"chunk": [chunk.table, chunk.first, chunk.rows], "stat": [state(path) for path in paths]})


def _is_digest(note: object) -> bool:
    if not isinstance(note, dict) or not isinstance(note.get("file"), str):
        return False
    return isinstance(note.get("stat"), list) and type(note.get("size")) is int and isinstance(note.get("sha256"), str)


def state(path: Path) -> list[int]:
    """What changes when a file is touched: inode, size, the times of its bytes and of its entry."""
    found = os.stat(path)
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
