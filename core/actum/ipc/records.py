"""The records of an attempt, read by offset from spool/records.jsonl as the host appends to it (R12).

Theory. The host writes whole lines, but the work runs as the same user and can write there too. A file that cannot be read
is waited for: its records are still there. A line that is no record stops the reading while anybody may still write; once
the tree is gone nobody will ever mend it, so it is passed over and told (`skipping`), and so is an unfinished line at the
end, or what stands in the place of the file and is none. So nothing the work can write keeps a run open. What is a record
here is one for the store as well: of bounded depth, and text that has an encoding.
"""

from __future__ import annotations

import errno
import json
import os
from typing import Any, NamedTuple

from actum import limits
from actum.ipc import messages, nesting, regular, strictjson
from actum.ipc.spool import Document, Folder, spool_path


class Skipped(NamedTuple):
    """Lines that are no records: how many, their bytes, where the first begins, and what is wrong with it."""

    lines: int
    bytes: int
    offset: int
    why: str


class Batch(NamedTuple):
    """`records` {seq, at, kind, data}, the offset after them and after what was `skipped`, and whether more waits."""

    records: list[Document]
    offset: int
    more: bool
    skipped: Skipped | None = None


def read(folder: Folder, offset: int, bytes_max: int = limits.FRAME_BYTES_MAX, *, skipping: bool = False) -> Batch:
    """The complete lines from `offset`: about `bytes_max` bytes, at least one line. A file that is not there holds none.

    Raises OSError; without `skipping` also where the line at `offset` is no record.
    """
    try:
        with regular.reading(spool_path(folder, "records.jsonl")) as file:
            file.seek(offset)
            data = file.read(bytes_max)
            if b"\n" not in data and len(data) == bytes_max:
                data += file.readline(limits.RECORD_LINE_BYTES_MAX)
            waits = os.fstat(file.fileno()).st_size > offset + len(data)
    except FileNotFoundError:
        return Batch([], offset, False)
    except regular.NotRegular:
        if not skipping:
            raise
        return Batch([], offset, False, Skipped(1, 0, offset, f"records.jsonl {regular.WORDS}"))
    end = data.rfind(b"\n") + 1
    if end == 0 and data and (skipping or waits):
        return _unfinished(data, offset, waits, skipping=skipping)
    records: list[Document] = []
    skipped: Skipped | None = None
    at = offset
    for line in data[:end].split(b"\n")[:-1]:
        record = _record(line) if line else None
        if isinstance(record, str) and skipping:
            skipped = _and(skipped, len(line), at, record)
        elif isinstance(record, str) and records:
            return Batch(records, at, True)
        elif isinstance(record, str):
            raise _no_record(record)
        elif record is not None:
            records.append(record)
        at += len(line) + 1
    return Batch(records, at, waits or (skipping and end < len(data)), skipped)


def _unfinished(data: bytes, offset: int, waits: bool, *, skipping: bool) -> Batch:
    """A piece of a line without its end: too long for a record, or never finished."""
    why = "it is too long" if waits else "it was never finished"
    if not skipping:
        raise _no_record(why)
    return Batch([], offset + len(data), waits, Skipped(1, len(data), offset, why))


def _and(skipped: Skipped | None, size: int, at: int, why: str) -> Skipped:
    if skipped is None:
        return Skipped(1, size, at, why)
    return skipped._replace(lines=skipped.lines + 1, bytes=skipped.bytes + size)


def _no_record(why: str) -> OSError:
    return OSError(errno.EIO, f"records.jsonl holds a line that is no record: {why}")


def _record(line: bytes) -> Document | str:
    """The record of a line, or why it is none."""
    try:
        value = strictjson.loads(line.decode())
    except RecursionError:
        return f"it {nesting.WORDS}"
    except ValueError:
        return "it is not JSON"
    if not messages.is_record(value):
        return "it has not the members of one"
    if nesting.too_deep(line, value):
        return f"it {nesting.WORDS}"
    if b"\\u" in line and not _has_encoding(value):
        return "a text in it has no encoding"
    record: Document = value
    return record


def _has_encoding(value: Any) -> bool:
    """Half of a surrogate pair is JSON, and no text that a database takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
