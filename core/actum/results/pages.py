"""Pages of a Parquet file by columns, for a grid that is scrolled: only what is seen is decoded, within bounded memory (R11).

The unit read is one column of one row group. Decoded columns are kept up to TABLE_CACHE_BYTES_MAX; the one used longest
ago goes, whatever the width of the table. Cells are the exact texts of `texts`, or None for a null; a nested value is shown
as JSON would write it.
"""

from __future__ import annotations

import bisect
import itertools
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.errors import ActumError, StorageFailed
from actum.results import columns, texts

if TYPE_CHECKING:
    import pyarrow as pa

Column = list[str | None]


class TablePages:
    """One open Parquet file. Attributes: total (rows), columns (as `columns.describe`), names.

    Raises StorageFailed, ActumError(result_damaged) when it cannot be read. Belongs to one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        try:
            self._file = pq.ParquetFile(path)
        except pa.ArrowException as error:
            raise _damaged(path, error) from error
        except OSError as error:
            raise StorageFailed("opening the table", error) from error
        metadata = self._file.metadata
        groups = [metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = [0, *itertools.accumulate(groups)]
        self._kept: OrderedDict[tuple[int, str], pa.ChunkedArray] = OrderedDict()
        self._kept_bytes = 0
        schema = self._file.schema_arrow
        self.names: list[str] = list(schema.names)
        self.columns: list[dict[str, Any]] = columns.describe(schema)
        self.total: int = self._starts[-1]

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
            group = bisect.bisect_right(self._starts, start) - 1
            offset = start - self._starts[group]
            length = min(end, self._starts[group + 1]) - start
            self._load(group, names)
            for name in names:
                found[name] += _cells(name, self._kept[group, name].slice(offset, length))
            self._shrink(group, names)
            start += length
        return found

    def close(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0
        self._file.close()

    def __enter__(self) -> TablePages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def kept_bytes(self) -> int:
        return self._kept_bytes

    def _load(self, group: int, names: Sequence[str]) -> None:
        import pyarrow as pa

        absent = [name for name in names if (group, name) not in self._kept]
        for name in names:
            if (group, name) in self._kept:
                self._kept.move_to_end((group, name))
        if not absent:
            return
        try:
            table = self._file.read_row_group(group, columns=absent, use_threads=False)
        except pa.ArrowException as error:
            raise _damaged(self._path, error) from error
        except OSError as error:
            raise StorageFailed("reading the table", error) from error
        for name in absent:
            column = table.column(name)
            self._kept[group, name] = column
            self._kept_bytes += column.nbytes

    def _shrink(self, group: int, names: Sequence[str]) -> None:
        """Down to the bound; what is being looked at stays."""
        wanted = {(group, name) for name in names}
        for key in list(self._kept):
            if self._kept_bytes <= limits.TABLE_CACHE_BYTES_MAX:
                return
            if key not in wanted:
                self._kept_bytes -= self._kept.pop(key).nbytes


def _cells(name: str, column: pa.ChunkedArray) -> Column:
    import pyarrow.types as is_

    if is_.is_nested(column.type):
        return [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in column.to_pylist()]
    cells: Column = []
    for chunk in column.chunks:
        cells += texts.of_array(name, chunk).to_pylist()
    return cells


def _damaged(path: Path, error: Exception) -> ActumError:
    why = f"{path.name}: {str(error).splitlines()[0]}."
    return ActumError("result_damaged", "The table cannot be read.", why, "Verify the result.")
