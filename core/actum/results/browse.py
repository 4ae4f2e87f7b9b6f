"""Metrics and pages of tables, as the screens and commands show them: bounded, without loading a table (R11, R15).

A page reads the pieces it touches (`rows`) and keeps the last ROW_GROUPS_CACHED_MAX of them; where the derived Parquet is not
there or damaged, those of the authority. Cells are texts (`texts`) or None; a
column's companion `<name>__reason` is handed out with it, so that a missing value is never shown without its reason.
"""

from __future__ import annotations

import bisect
import contextlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.contracts.tables import REASON_SUFFIX
from actum.errors import ActumError
from actum.results import columns, texts
from actum.results import manifest as names
from actum.results.rows import open_rows
from actum.results.tables import Published, Readable, as_published, read_derived, readable

if TYPE_CHECKING:
    import pyarrow as pa

NO_REASON = "no reason given"
_NO_COPY = (FileNotFoundError, NotADirectoryError, PermissionError)


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


def tables(package: Path, published: Published | None = None) -> list[dict[str, Any]]:
    """`{name, rows, columns, rule, authority, size_bytes}` of each table, without opening one. Raises OSError, NotAPackage.

    Rows are those that were verified (derived.json), and so are the columns of an Arrow table; of a Parquet handed over, rows
    are those the work stated. Where derived.json cannot be read, an Arrow file says its rows and columns itself; of others
    they are those that the work stated.
    """
    manifest, digest = names.read_manifest(package)
    entries = [entry for entry in manifest["files"] if entry.get("role") == "table"]
    copies: dict[str, Mapping[str, Any]] = {}
    if any(entry["rule"] != "parquet.v1" for entry in entries):
        with contextlib.suppress(names.NotAPackage, *_NO_COPY, KeyError, TypeError):
            derived = read_derived(package, published)
            if derived["manifest_sha256"] == digest:
                copies = {copy["table"]: copy for copy in derived["files"]}
    for entry in entries:
        if entry["rule"] == "arrow.v1" and entry["table"] not in copies:
            copies[entry["table"]] = _of_itself(package / str(entry["name"]))
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


def _of_itself(path: Path) -> dict[str, Any]:
    """What an Arrow authority says of itself; nothing where it cannot be read."""
    try:
        with open_rows(path) as rows:
            return {"rows": rows.total, "columns": columns.describe(rows.schema)}
    except ActumError:
        return {}


class TableBrowser:
    """One open table of a package, read by pages. Use it in a `with` statement, or close it."""

    def __init__(self, package: Path, name: str, published: Published | None = None, *, check: bool = False) -> None:
        """`check` = no row before its bytes were compared with their digest. Raises NotFound, CheckFailed, OSError."""
        found = as_published if check else readable
        self.read: Readable = found(package, name, published)  # which file, and why
        self._rows = open_rows(self.read.path)
        self._cached: OrderedDict[tuple[int, int], pa.RecordBatch] = OrderedDict()
        schema = self._rows.schema
        self._columns = tuple(columns.describe(schema))
        self._reason_of = {
            position: schema.names.index(title + REASON_SUFFIX)
            for position, title in enumerate(schema.names)
            if title + REASON_SUFFIX in schema.names
        }
        self.total: int = self._rows.total

    def page(self, start: int, count: int) -> Page:
        """At most PAGE_ROWS_MAX rows from `start`; fewer at the end, none beyond it."""
        start = min(max(start, 0), self.total)
        end = min(start + min(count, limits.PAGE_ROWS_MAX), self.total)
        rows: list[tuple[str | None, ...]] = []
        while start + len(rows) < end:
            at = start + len(rows)
            group = bisect.bisect_right(self._rows.starts, at) - 1
            number, offset = divmod(at - self._rows.starts[group], limits.ROW_GROUP_ROWS_MAX)
            piece = self._piece(group, number).slice(offset, end - at)
            rows.extend(zip(*(column.to_pylist() for column in texts.of_batch(piece).columns), strict=True))
        return Page(self._columns, start, self.total, tuple(rows), self._reasons(rows))

    def close(self) -> None:
        self._cached.clear()
        self._rows.close()

    def __enter__(self) -> TableBrowser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _piece(self, group: int, number: int) -> pa.RecordBatch:
        import pyarrow as pa

        key = (group, number)
        if key not in self._cached:
            found = self._rows.piece(group, number, self._rows.schema.names)
            whole = [column.combine_chunks() for column in found.values()]
            self._cached[key] = pa.RecordBatch.from_arrays(whole, names=list(found))
            if len(self._cached) > limits.ROW_GROUPS_CACHED_MAX:
                self._cached.popitem(last=False)
        self._cached.move_to_end(key)
        return self._cached[key]

    def _reasons(self, rows: list[tuple[str | None, ...]]) -> dict[tuple[int, int], str]:
        return {
            (number, position): row[reason] or NO_REASON
            for number, row in enumerate(rows)
            for position, reason in self._reason_of.items()
            if row[position] is None
        }
