"""Writes the work's messages: JSON lines appended to ACTUM_MESSAGES, one write a line.

The file is opened for appending and nothing is buffered, so lines of several processes do not mix and a line that was
written stays written if the work dies at the next instruction. Progress is bounded in rate: of a quick succession the
latest is written, and always the one that completes a stage.
"""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Callable, Dict, List, Optional

from actum.sdk import refusals

LINE_BYTES_MAX = 1 << 20  # the host takes no longer line
PROGRESS_EVERY_S = 0.1

Message = Dict[str, Any]


class FileSink:
    """Appends each message to a file."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, message: Message) -> None:
        line = encode_line(message)
        written = os.write(self._fd, line)
        if written != len(line):  # a full disk cut it; end the torn line so that the next one stands alone
            os.write(self._fd, b"\n")
            raise OSError(f"the message could not be written whole ({written} of {len(line)} bytes)")


class ListSink:
    """Keeps the messages, for a function that is called without Actum. Attributes: messages."""

    def __init__(self) -> None:
        self.messages: List[Message] = []

    def __call__(self, message: Message) -> None:
        self.messages.append(json.loads(encode_line(message)))


class Messages:
    """The work's end of the message file; may be used from several threads."""

    def __init__(self, sink: Callable[[Message], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._clock = clock
        self._lock = threading.Lock()
        self._held: Optional[Message] = None
        self._progress_at = float("-inf")

    def send(self, message: Message) -> None:
        """Write `message`, after any progress that is still held back."""
        with self._lock:
            self._release()
            self._sink(message)

    def progress(self, message: Message, last: bool) -> None:
        """Write the progress, or hold it back if the one before was written just now and this is not the last."""
        with self._lock:
            self._held = message
            now = self._clock()
            if last or now - self._progress_at >= PROGRESS_EVERY_S:
                self._progress_at = now
                self._release()

    def flush(self) -> None:
        with self._lock:
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._sink(held)


def encode_line(message: Message) -> bytes:
    """One line. Raises ValueError when it is too long or holds what JSON cannot, Refused for too long a number."""
    number = refusals.holds_too_long(message)
    if number is not None:
        raise refusals.too_long("A number in a message", number)
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)
    line = text.encode("utf-8") + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"A message has {len(line)} bytes; at most {LINE_BYTES_MAX} fit. Write a file or a table instead.")
    return line


def _plain(value: Any) -> Any:
    """Exact text for what JSON has no form for."""
    if isinstance(value, (Decimal, PurePath)):
        return str(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"a value of type {type(value).__name__} has no form in JSON")
