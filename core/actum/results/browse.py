"""Metrics and pages of tables, as the screens and commands show them: bounded, without loading a table (R11, R15).

A page reads the row groups it touches and keeps the last ROW_GROUPS_CACHED_MAX of them. Cells are texts (`texts`) or None; a
column's companion `<name>__reason` is handed out with it, so that a missing value is never shown without its reason.
"""

from __future__ import annotations

import bisect
import itertools
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.results import columns, texts
from actum.results import manifest as names
from actum.results.tables import locate

if TYPE_CHECKING:
    import pyarrow as pa

NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True)
class Page:
    """Rows `start` … `start + len(rows)` of `total`. `reasons` maps (row in page, column) to why that cell is missing."""

    columns: tuple[Mapping[str, Any], ...]
    start: int
    total: int
    rows: tuple[tuple[str | None, ...], ...]
    reasons: Mapping[tuple[int, int], str]


def metrics(package: Path) -> list[dict[str, Any]]:
    """The metrics of result.json, in their order. Raises OSError, NotAPackage."""
    return list(names.read_result(package)["metrics"])


def tables(package: Path) -> list[dict[str, Any]]:
    """`{name, rows, columns, rule, authority, size_bytes}` of each table, without opening one. Raises OSError, NotAPackage.

    Rows are those that were verified (derived.json), and so are the columns of an Arrow table; of a Parquet handed over, rows
    are those the work stated.
    """
    manifest, _ = names.read_manifest(package)
    entries = [entry for entry in manifest["files"] if entry.get("role") == "table"]
    copies: dict[str, Mapping[str, Any]] = {}
    if any(entry["rule"] != "parquet.v1" for entry in entries):
        copies = {copy["table"]: copy for copy in names.read_derived(package)[0]["files"]}
    return [
        {
            "name": entry["table"],
            "rows": copies.get(entry["table"], entry).get("rows"),
            "columns": entry.get("schema") or copies.get(entry["table"], {}).get("columns"),
            "rule": entry["rule"],
            "authority": entry["name"],
            "size_bytes": entry["size"],
        }
        for entry in entries
    ]


class TableBrowser:
    """One open table of a package, read by pages. Use it in a `with` statement, or close it."""

    def __init__(self, package: Path, name: str) -> None:
        """Raises NotFound, CheckFailed, OSError."""
        import pyarrow.parquet as pq

        stored = locate(package, name)
        self._file = pq.ParquetFile(stored.path, pre_buffer=False)
        groups = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = [0, *itertools.accumulate(groups)]
        self._cached: OrderedDict[int, pa.Table] = OrderedDict()
        schema = self._file.schema_arrow
        self._columns = tuple(columns.describe(schema))
        self._reason_of = {
            position: schema.names.index(title + REASON_SUFFIX)
            for position, title in enumerate(schema.names)
            if title + REASON_SUFFIX in schema.names
        }
        self.total: int = self._starts[-1]

    def page(self, start: int, count: int) -> Page:
        """At most PAGE_ROWS_MAX rows from `start`; fewer at the end, none beyond it."""
        start = min(max(start, 0), self.total)
        end = min(start + min(count, limits.PAGE_ROWS_MAX), self.total)
        rows: list[tuple[str | None, ...]] = []
        while start + len(rows) < end:
            at = start + len(rows)
            group = bisect.bisect_right(self._starts, at) - 1
            offset = at - self._starts[group]
            piece = self._row_group(group).slice(offset, end - at).combine_chunks()
            for batch in piece.to_batches():
                texts_of_rows = (column.to_pylist() for column in texts.of_batch(batch).columns)
                rows.extend(zip(*texts_of_rows, strict=True))
        return Page(self._columns, start, self.total, tuple(rows), self._reasons(rows))

    def close(self) -> None:
        self._cached.clear()
        self._file.close()

    def __enter__(self) -> TableBrowser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _row_group(self, group: int) -> pa.Table:
        if group not in self._cached:
            self._cached[group] = self._file.read_row_group(group, use_threads=False)
            if len(self._cached) > limits.ROW_GROUPS_CACHED_MAX:
                self._cached.popitem(last=False)
        self._cached.move_to_end(group)
        return self._cached[group]

    def _reasons(self, rows: list[tuple[str | None, ...]]) -> dict[tuple[int, int], str]:
        return {
            (number, position): row[reason] or NO_REASON
            for number, row in enumerate(rows)
            for position, reason in self._reason_of.items()
            if row[position] is None
        }
