"""Pages of a table by columns, for a grid that is scrolled: only what is seen is decoded, within bounded memory (R11).

The unit read is one column of one piece (`rows`): of a row group, or of a batch of an Arrow authority. Decoded columns are
kept up to TABLE_CACHE_BYTES_MAX; the one used longest ago goes, whatever the width of the table. Cells are the exact texts of
`texts`, those of the Data profile too, or None for a null.
"""

from __future__ import annotations

import bisect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.results import columns, texts
from actum.results.rows import open_rows

if TYPE_CHECKING:
    import pyarrow as pa

Column = list[str | None]


class TablePages:
    """One open table file. Attributes: total (rows), columns (as `columns.describe`), names.

    Raises StorageFailed, ActumError(result_damaged) when it cannot be read. Belongs to one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        self._rows = open_rows(path)
        self._kept: OrderedDict[tuple[int, int, str], pa.ChunkedArray] = OrderedDict()
        self._kept_bytes = 0
        schema = self._rows.schema
        self.names: list[str] = list(schema.names)
        self.columns: list[dict[str, Any]] = columns.describe(schema)
        self.total: int = self._rows.total

    @property
    def reason_of(self) -> dict[str, str]:
        """Columns with a companion column that says why a value is missing."""
        known = set(self.names)
        return {name: name + REASON_SUFFIX for name in self.names if name + REASON_SUFFIX in known}

    def page(self, start: int, count: int, names: Sequence[str]) -> Mapping[str, Column]:
        """The cells of rows `start` … `start + count` (at most PAGE_ROWS_MAX; fewer at the end), column by column."""
        start = min(max(start, 0), self.total)
        end = min(start + min(count, limits.PAGE_ROWS_MAX), self.total)
        found: dict[str, Column] = {name: [] for name in names}
        while start < end:
            group = bisect.bisect_right(self._rows.starts, start) - 1
            piece, offset = divmod(start - self._rows.starts[group], limits.ROW_GROUP_ROWS_MAX)
            length = min(end, self._rows.starts[group + 1]) - start
            length = min(length, limits.ROW_GROUP_ROWS_MAX - offset)
            self._load(group, piece, names)
            for name in names:
                found[name] += _cells(name, self._kept[group, piece, name].slice(offset, length))
            self._shrink(group, piece, names)
            start += length
        return found

    def close(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0
        self._rows.close()

    def __enter__(self) -> TablePages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def kept_bytes(self) -> int:
        return self._kept_bytes

    def _load(self, group: int, piece: int, names: Sequence[str]) -> None:
        absent = [name for name in dict.fromkeys(names) if (group, piece, name) not in self._kept]
        for name in names:
            if (group, piece, name) in self._kept:
                self._kept.move_to_end((group, piece, name))
        if not absent:
            return
        for name, column in self._rows.piece(group, piece, absent).items():
            self._kept[group, piece, name] = column
            self._kept_bytes += column.nbytes

    def _shrink(self, group: int, piece: int, names: Sequence[str]) -> None:
        """Down to the bound; what is being looked at stays."""
        wanted = {(group, piece, name) for name in names}
        for key in list(self._kept):
            if self._kept_bytes <= limits.TABLE_CACHE_BYTES_MAX:
                return
            if key not in wanted:
                self._kept_bytes -= self._kept.pop(key).nbytes


def _cells(name: str, column: pa.ChunkedArray) -> Column:
    cells: Column = []
    for chunk in column.chunks:
        cells += texts.of_array(chunk).to_pylist()
    return cells
