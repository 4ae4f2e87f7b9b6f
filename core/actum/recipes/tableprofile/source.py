"""A table to profile, whatever its file was: where its columns can be read from, and what had to be said about reading it.

Text formats are read once, strictly, into scratch Parquet files of texts, so that each column can then be read alone; a
Parquet is read where it is. Nothing is typed here: a number of a CSV or of JSON lines stays the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from actum import limits
from actum.sdk import TaskFailed

if TYPE_CHECKING:
    import pyarrow as pa

OnBytes = Callable[[int], None]

# How a cell of JSON lines was written; the two kinds of nothing are told apart.
NUMBER, TEXT, BOOLEAN, NESTED, NULL = "number", "text", "boolean", "nested", "null"


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """One column. `value` and `kind` are SQL expressions over the source's relation; `declared` is the file's own type for
    it in DuckDB's words, None where the type has to be inferred from texts."""

    name: str
    value: str
    kind: str = "NULL"
    declared: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The table. `relation` is what stands after FROM; `nothing` says what a null of it is: an empty field, an absent name
    or a null."""

    format: str
    rows: int
    relation: str
    columns: tuple[SourceColumn, ...]
    nothing: str
    notes: tuple[str, ...] = ()


class Scratch:
    """Texts on their way to the columns' measuring, in Parquet files of one folder. Attributes: rows (written so far)."""

    def __init__(self, folder: Path) -> None:
        self.rows = 0
        self._folder = folder
        self._files = 0
        self._writer: pa.parquet.ParquetWriter | None = None
        self._names: list[str] = []

    def write(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Append rows. Columns that were not there before begin a new file: its earlier rows have nothing in them."""
        import pyarrow.parquet as pq

        if self._writer is None or batch.schema.names != self._names:
            self.close()
            path = self._folder / f"texts-{self._files:05}.parquet"
            self._writer = pq.ParquetWriter(path, batch.schema, compression="snappy", write_statistics=False)
            self._names = batch.schema.names
            self._files += 1
        self._writer.write(batch, row_group_size=limits.ROW_GROUP_ROWS_MAX)
        self.rows += batch.num_rows

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def relation(self) -> str:
        files = quoted(as_pattern(self._folder) + "/texts-*.parquet")
        return f"read_parquet({files}, union_by_name=true, hive_partitioning=false)"


def quoted(text: str) -> str:
    """A text as an SQL literal (R19)."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as an SQL identifier (R19)."""
    return '"' + name.replace('"', '""') + '"'


def as_pattern(path: Path) -> str:
    """The path as a pattern that matches it alone."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names to show, each once and none empty, and a sentence for each kind of change."""
    if len(names) > limits.TABLE_COLUMNS_MAX:
        raise TaskFailed(f"The table has {len(names)} columns; at most {limits.TABLE_COLUMNS_MAX} can be profiled.")
    shown: list[str] = []
    taken = set(names)
    seen: set[str] = set()
    doubled: list[str] = []
    unnamed = 0
    for position, name in enumerate(names, start=1):
        candidate, number = name or f"(column {position})", 1
        unnamed += not name
        if candidate in seen:
            doubled.append(name)
            while candidate in taken or candidate in seen:
                number += 1
                candidate = f"{name} ({number})"
        seen.add(candidate)
        shown.append(candidate)
    notes = []
    if doubled:
        notes.append(f"Column names that stand more than once are told apart by a number: {listed(doubled)}.")
    if unnamed:
        notes.append(f"Columns without a name, called after their position: {unnamed}.")
    return shown, notes


def listed(names: Sequence[str]) -> str:
    """Names for a sentence, the first of them in full and the rest counted."""
    told = list(dict.fromkeys(names))
    most = limits.NAMES_TOLD_MAX
    return ", ".join(f"“{name}”" for name in told[:most]) + (f" and {len(told) - most} more" if len(told) > most else "")
