"""A stream of record batches as rows that are taken in any number, however the batches are cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Stream:
    """Batches, one at a time, from which rows are taken."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._current: pa.RecordBatch | None = None

    def available(self) -> int:
        """Rows that can be taken now; 0 at the end. Raises what reading raises."""
        while self._current is None or self._current.num_rows == 0:
            self._current = next(self._batches, None)
            if self._current is None:
                return 0
        return int(self._current.num_rows)

    def close(self) -> None:
        """A stream that was not read to its end keeps no file open."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()

    def take(self, count: int) -> pa.RecordBatch:
        assert self._current is not None, "take() follows available()"
        if count == self._current.num_rows:
            taken, self._current = self._current, None
            return taken
        taken, self._current = self._current.slice(0, count), self._current.slice(count)
        return taken
