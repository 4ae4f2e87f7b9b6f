"""Reads pages of one Parquet file away from the GUI thread: a pool of one thread, the newest wish first.

At most one read is under way and READS_WAITING_MAX wait; when more are asked for, the oldest gives way, and whoever still
wants it asks again. A read of a file that was closed meanwhile is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from actum.errors import ActumError
from actum.limits import (
    PAGE_ROWS_MAX,
    READS_WAITING_MAX,
    TABLE_COPY_CHARS_MAX,
    TABLE_COPY_ROWS_MAX,
    TABLE_PAGE_ROWS,
)
from PySide6.QtCore import QObject, QThreadPool, Signal, Slot

Cells = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that can be paged now, or why it cannot."""

    token: int
    path: Path
    total: int = 0
    columns: Sequence[Mapping[str, Any]] = ()
    reason_of: Mapping[str, str] = field(default_factory=dict)
    error: ActumError | None = None


@dataclass(frozen=True, slots=True)
class Paged:
    """The cells of the page `page` (TABLE_PAGE_ROWS rows from its start), or why there are none."""

    token: int
    page: int
    cells: Cells = field(default_factory=dict)
    error: ActumError | None = None


@dataclass(frozen=True, slots=True)
class Copied:
    """Rows as text for the clipboard. `left_out` = rows beyond TABLE_COPY_ROWS_MAX or TABLE_COPY_CHARS_MAX."""

    token: int
    text: str
    rows: int
    left_out: int


class TableReader(QObject):
    """Signals: `opened` (Opened), `paged` (Paged), `copied` (Copied), in the thread of its owner."""

    opened = Signal(object)
    paged = Signal(object)
    copied = Signal(object)
    _read = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._token = 0
        self._pages: Any = None  # these two belong to the one thread of the pool
        self._open_token = 0
        self._copy_round = 0
        self._waiting: deque[tuple[int, tuple[str, ...]]] = deque()
        self._under_way: int | None = None
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(-1)
        self._read.connect(self._on_read)

    def open(self, path: Path) -> int:
        """Close what is open and open `path`; `opened` tells how it went. Returns the token of this opening."""
        self._token += 1
        self._waiting.clear()
        self._under_way = None
        self._pool.start(partial(self._open, self._token, path))
        return self._token

    def ask(self, token: int, page: int, names: Sequence[str]) -> None:
        """Read a page of the opening `token` soon; asking again while it waits, or of another opening, changes nothing."""
        if token != self._token or page == self._under_way or any(page == waiting for waiting, _names in self._waiting):
            return
        self._waiting.append((page, tuple(names)))
        if len(self._waiting) > READS_WAITING_MAX:
            self._waiting.popleft()
        self._next()

    def copy(self, ranges: Sequence[tuple[int, int]], names: Sequence[str], kinds: Sequence[str] | None = None) -> None:
        """Rows of the ranges (first, last) as TSV with heads, exact, or by the types of the columns safe for a spreadsheet.

        `copied` brings them; a newer wish takes the place of one under way.
        """
        self._copy_round += 1
        self._pool.start(partial(self._copy, self._token, self._copy_round, tuple(ranges), tuple(names), kinds))

    def close(self) -> None:
        """Waits for the read under way, and closes the file where it was used."""
        self._token += 1
        self._waiting.clear()
        self._pool.start(self._let_go)
        self._pool.waitForDone()

    def _next(self) -> None:
        if self._under_way is None and self._waiting:
            page, names = self._waiting.pop()
            self._under_way = page
            self._pool.start(partial(self._page, self._token, page, names))

    @Slot(object)
    def _on_read(self, read: Paged) -> None:
        if read.token != self._token:
            return
        self._under_way = None
        self.paged.emit(read)
        self._next()

    # ---- in the pool's thread

    def _open(self, token: int, path: Path) -> None:
        self._let_go()
        try:
            from actum.results.pages import TablePages

            pages = self._pages = TablePages(path)
            self._open_token = token
        except ActumError as error:
            self.opened.emit(Opened(token, path, error=error))
            return
        self.opened.emit(Opened(token, path, pages.total, pages.columns, pages.reason_of))

    def _page(self, token: int, page: int, names: tuple[str, ...]) -> None:
        if self._pages is None or token != self._open_token:
            return
        try:
            self._read.emit(Paged(token, page, self._pages.page(page * TABLE_PAGE_ROWS, TABLE_PAGE_ROWS, names)))
        except ActumError as error:
            self._read.emit(Paged(token, page, error=error))

    def _copy(
        self, token: int, round_: int, ranges: tuple[tuple[int, int], ...], names: tuple[str, ...], kinds: Sequence[str] | None
    ) -> None:
        if self._pages is None or token != self._open_token:
            return
        from actum.results import clipboard

        lines = [clipboard.line(names, None if kinds is None else ["text"] * len(names))]
        asked, size = sum(last - first + 1 for first, last in ranges), 0
        try:
            for first, last in ranges:
                while first <= last and len(lines) <= TABLE_COPY_ROWS_MAX and size <= TABLE_COPY_CHARS_MAX:
                    if round_ != self._copy_round or token != self._token:
                        return
                    count = min(last - first + 1, PAGE_ROWS_MAX, TABLE_COPY_ROWS_MAX + 1 - len(lines))
                    cells = self._pages.page(first, count, names)
                    for row in zip(*(cells[name] for name in names), strict=True):
                        if size <= TABLE_COPY_CHARS_MAX:
                            lines.append(clipboard.line(row, kinds))
                            size += len(lines[-1])
                    first += count
        except ActumError:
            return  # the grid, which reads the same file, says so
        self.copied.emit(Copied(token, "\n".join(lines), len(lines) - 1, asked - (len(lines) - 1)))

    def _let_go(self) -> None:
        if self._pages is not None:
            self._pages.close()
            self._pages = None
