"""The chunks of a package's tables: its smallest parts that are verified, resumed and named one by one (§8).

A chunk is CHUNK_ROWS rows of one table (of a Parquet that the work handed over: whole row groups, at least so many rows).
Its identity in derived.json: first row and number of rows, the logical digest of its rows (`logical`), and the sha256 of the
bytes that hold it in the Parquet. The chunks of a package are numbered from 1, through its tables in the order of their names.

Which of them a look covers is its *extent*: whole, chunks i–j, or a sample of n. The words of an extent never say more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from actum import canonical, limits
from actum.errors import WrongUse
from actum.ipc import regular
from actum.results import authority, logical
from actum.results.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa

_EXTENT = re.compile(r"(?:content:)?(?:chunks:([0-9]+)-([0-9]+)|sample:([0-9]+))")


class Chunk(NamedTuple):
    """`number` counts through the package from 1; `first` is the row before it (0 for the first chunk of a table).

    `logical` and `sha256` are None in a package that has no chunk list (it was made by an earlier version).
    """

    number: int
    table: str
    first: int
    rows: int
    logical: str | None = None
    offset: int = 0
    size: int = 0
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """What a content check covers. Both None: whole. `chunks`: from, to, both counted. `sample`: how many, chosen at random."""

    chunks: tuple[int, int] | None = None
    sample: int | None = None

    @property
    def whole(self) -> bool:
        return self.chunks is None and self.sample is None

    def choose(self, chunks: Sequence[Chunk], seed: int | None = None) -> list[Chunk]:
        """The chunks covered. Raises WrongUse where there are none of those named."""
        if self.chunks is not None:
            first, last = self.chunks
            if not 1 <= first <= last <= len(chunks):
                raise WrongUse("bad_extent", f"There are no chunks {first}–{last}.", f"The result has {len(chunks)}.")
            return list(chunks[first - 1 : last])
        if self.sample is not None:
            count = min(self.sample, len(chunks))
            return sorted(random.Random(seed).sample(list(chunks), count))
        return list(chunks)

    def words(self, chosen: int, total: int) -> str:
        """`whole` · `chunks 3–7 of 40` · `sample of 5 of 40 chunks`."""
        if self.chunks is not None:
            return f"chunks {self.chunks[0]}–{self.chunks[1]} of {total}"
        if self.sample is not None:
            return f"sample of {chosen} of {total} chunks"
        return "whole"


WHOLE = Extent()


def extent_of(level: str) -> Extent | None:
    """The extent that a level's word names (`chunks:3-7`, `sample:5`, also after `content:`), or None. Raises WrongUse."""
    found = _EXTENT.fullmatch(level)
    if found is None:
        return None
    if found[3] is not None:
        if int(found[3]) < 1:
            raise WrongUse("bad_level", "A sample has at least one chunk.")
        return Extent(sample=int(found[3]))
    return Extent(chunks=(int(found[1]), int(found[2])))


def listed(manifest: Mapping[str, Any], derived: Mapping[str, Any] | None) -> list[Chunk]:
    """The chunks that derived.json lists, numbered; of a table without a list one, which is all of it."""
    found: list[Chunk] = []
    lists = (derived or {}).get("chunks") or {}
    for entry in sorted(tables(manifest), key=lambda entry: str(entry["table"])):
        for part in lists.get(entry["table"]) or [{}]:
            found.append(
                Chunk(
                    len(found) + 1,
                    entry["table"],
                    int(part.get("first", 1)) - 1,
                    int(part.get("rows", -1)),
                    part.get("logical_sha256"),
                    int(part.get("offset", 0)),
                    int(part.get("size", 0)),
                    part.get("sha256"),
                )
            )
    return found


def rows_by_table(listed: Sequence[Chunk]) -> dict[str, int]:
    """How many rows the chunk list of each table names; a table without a list is not in it."""
    found: dict[str, int] = {}
    for chunk in listed:
        if chunk.rows >= 0:
            found[chunk.table] = found.get(chunk.table, 0) + chunk.rows
    return found


def tables(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [entry for entry in manifest["files"] if entry.get("role") == "table"]


def describe(path: Path, table: str, known: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The chunk list of a Parquet file; its rows are read for it unless the logical digests are `known`.

    Raises OSError, ActumError.
    """
    import pyarrow.parquet as pq

    groups = list(_groups(pq.read_metadata(path)))
    digests = known if known is not None else _logical(authority.parquet_batches(path, table), [rows for rows, _, _ in groups])
    first, described = 1, []
    for (rows, offset, size), digest in zip(groups, digests, strict=True):
        described.append(
            {
                "first": first,
                "rows": rows,
                "logical_sha256": digest,
                "offset": offset,
                "size": size,
                "sha256": bytes_digest(path, offset, size),
            }
        )
        first += rows
    return described


def _groups(metadata: Any) -> Iterator[tuple[int, int, int]]:
    """Rows, offset and size of each chunk of a Parquet: row groups until there are CHUNK_ROWS."""
    rows, start, end = 0, None, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for column in range(group.num_columns):
            part = group.column(column)
            begins = part.dictionary_page_offset if part.has_dictionary_page else part.data_page_offset
            start = begins if start is None else min(start, begins)
            end = max(end, begins + part.total_compressed_size)
        rows += group.num_rows
        if rows >= limits.CHUNK_ROWS:
            yield rows, start or 0, end - (start or 0)
            rows, start, end = 0, None, 0
    if rows:
        yield rows, start or 0, end - (start or 0)


def _logical(batches: Iterator[pa.RecordBatch], rows: Sequence[int]) -> Iterator[str]:
    stream = Stream(batches)
    try:
        for wanted in rows:
            digest = logical.Rows()
            while digest.rows < wanted and (there := stream.available()):
                digest.add(stream.take(min(there, wanted - digest.rows)))
            yield digest.hexdigest()
    finally:
        stream.close()


def bytes_digest(path: Path, offset: int, size: int) -> str:
    """sha256 of a part of a file. Raises OSError."""
    whole = canonical.hasher(size)
    with regular.reading(path, buffering=0) as file:
        file.seek(offset)
        while size and (block := file.read(min(size, limits.HASH_BLOCK_BYTES))):
            whole.update(block)
            size -= len(block)
    return whole.hexdigest()
