"""Looking for text, or for errors, through a whole log of any size: in a thread of its own, in small pieces, cancellable.

Theory. A question has a number; a newer question makes older answers stale, and the thread gives up the old one at its next
piece, of LOG_SEARCH_LINES_MAX lines and LOG_SEARCH_BYTES_MAX bytes at most. News comes as `Found`: the lines found since the
last news, how many lines were looked through, and whether that was all. Where a piece holds neither control sequences nor
carriage returns, its bytes are searched at once; only where they may hide or split what is looked for is each line put into
its shown form first. LOG_HITS_MAX lines found end the search, and the count says so with a plus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from actum.ipc.logfile import Block, Line, LogReader
from actum.limits import LOG_HITS_MAX, LOG_SEARCH_BYTES_MAX, LOG_SEARCH_LINES_MAX
from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from actum_desktop.models import logtext

ERRORS = "\x00errors"  # in place of a text: lines whose level is error


@dataclass(frozen=True, slots=True)
class Found:
    """News of question `number`. `hits` are line numbers, rising, new since the last news; `looked` lines are done of `total`.
    `full` = there are more hits than are kept. `problem` = the log could not be read on."""

    number: int
    hits: tuple[int, ...]
    looked: int
    total: int
    done: bool
    full: bool = False
    problem: str = ""


class _Question(NamedTuple):
    number: int
    folder: Path
    text: str
    first: int
    room: int


class LogSearch(QObject):
    """Signals: `found` (Found), in the thread of its owner."""

    found = Signal(object)
    _told = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)

    def ask(self, folder: Path, text: str, first: int = 0, room: int = LOG_HITS_MAX) -> int:
        """Look from line `first` on; the number of the question. `room` = hits that may still be kept."""
        self._number += 1
        self._pool.clear()
        self._pool.start(partial(self._look, _Question(self._number, folder, text, first, room)))
        return self._number

    def forget(self) -> None:
        """Nobody waits for the answer any more."""
        self._number += 1
        self._pool.clear()

    def close(self) -> None:
        self.forget()
        self._pool.waitForDone()

    @Slot(object)
    def _on_told(self, found: Found) -> None:
        if found.number == self._number:
            self.found.emit(found)

    # ---- in the pool's thread

    def _look(self, asked: _Question) -> None:
        look(asked, self._told.emit, lambda: asked.number != self._number)


def look(asked: _Question, tell: Callable[[Found], None], stale: Callable[[], bool]) -> None:
    """Answer one question piece by piece, until it is `stale`."""
    reader, first, room = LogReader(asked.folder), asked.first, asked.room
    matches, may_match = _errors if asked.text == ERRORS else _text(asked.text)
    try:
        total = reader.count()
        while not stale():
            block = reader.block(first, LOG_SEARCH_LINES_MAX, LOG_SEARCH_BYTES_MAX)
            hits: list[int] = []
            if may_match(block):
                hits = [line.number for line in reader.lines(block.first, block.pieces) if matches(line)]
            first += block.pieces
            kept, done = tuple(hits[:room]), not block.pieces or first >= total
            full = len(hits) > room or (len(hits) == room and not done)
            room -= len(kept)
            tell(Found(asked.number, kept, first, max(total, first), done or full, full))
            if done or full:
                return
    except OSError as error:
        tell(Found(asked.number, (), first, first, True, False, error.strerror or str(error)))


_Tests = tuple[Callable[[Line], bool], Callable[[Block], bool]]


def _text(text: str) -> _Tests:
    """Two tests: whether a line holds the text, and whether a block may hold such a line."""
    needle = text.lower().encode()

    def may_match(block: Block) -> bool:
        raw = block.raw
        if not needle.isascii() or any(mark in raw for mark in (b"\x1b", b"\r", b"\t")):
            return True
        return needle in raw.lower()

    return partial(holds, text.lower()), may_match


def holds(wanted: str, line: Line) -> bool:
    """Whether the line as it is shown, whole, holds `wanted` (lower case)."""
    return wanted in logtext.plain(line.text).lower()


def is_error(line: Line) -> bool:
    return logtext.level(line, logtext.shown(line.text)) == "error"


_ERROR = re.compile(rb"error|critical|fatal|traceback", re.IGNORECASE)
_errors: _Tests = (is_error, lambda block: _ERROR.search(block.raw) is not None)
