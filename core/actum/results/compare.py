"""The content check: what each authority means, read again, against what its Parquet says (§8, R14).

Compared are fields, order, types, nullability, metadata, number of rows and every value. Floats are compared by their bits,
so that -0.0 is not 0.0, while any NaN equals any NaN; a null equals only a null. Both sides are read as streams of batches
of at most BATCH_ROWS, in step, so memory does not grow with the table. A Parquet handed over is its own authority: it is
decoded whole, and held against the columns of its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.contracts import tables as contract_tables
from actum.errors import ActumError
from actum.results import authority, columns
from actum.results import manifest as names
from actum.results.derive import derived_schema
from actum.results.report import Difference, Findings

if TYPE_CHECKING:
    import pyarrow as pa

Advance = Callable[[int], None]
_SHOWN_CHARS = 200


def compare_tables(
    package: Path,
    manifest: Mapping[str, Any],
    manifest_sha256: str | None,
    derived: Mapping[str, Any] | None,
    findings: Findings,
    advance: Advance,
) -> int:
    """Check every table of the package; returns the rows looked at. Raises OSError where the disk does not answer."""
    entries = {entry["table"]: entry for entry in manifest["files"] if entry.get("role") == "table"}
    if {name: entry["name"] for name, entry in entries.items()} != manifest["authority"]:
        findings.add("content", "The manifest does not name exactly one authority for each table.")
    copies = {entry["table"]: entry for entry in (derived["files"] if derived else ())}
    rows = 0
    for name, entry in entries.items():
        try:
            if entry["rule"] == "parquet.v1":
                rows += _check_parquet(package, entry, manifest["contract"], findings, advance)
            elif name not in copies:
                findings.add("content", f"The table “{name}” has no derived Parquet.")
            else:
                rows += _check_derived(package, entry, copies[name], manifest_sha256 or "", findings, advance)
        except FileNotFoundError:
            findings.add("content", f"The authority or the Parquet of the table “{name}” is missing.")
        except ActumError as error:
            findings.add("content", f"{error.what} {error.why}".strip())
    for name in copies.keys() - entries.keys():
        findings.add("content", f"The derived table “{name}” has no authority.")
    return rows


def _check_derived(
    package: Path,
    entry: Mapping[str, Any],
    copy: Mapping[str, Any],
    manifest_sha256: str,
    findings: Findings,
    advance: Advance,
) -> int:
    import pyarrow.parquet as pq

    table, path = entry["table"], package / names.DERIVED / copy["name"]
    wanted = derived_schema(entry, manifest_sha256)
    found = _read_schema(path, pq.read_schema, table)
    difference = schema_difference(table, wanted, found)
    if difference is not None:
        findings.add("content", f"{difference}.", difference)
        return 0
    outcome = compare_batches(table, authority.batches(package, entry, advance), authority.parquet_batches(path, table))
    if outcome.difference is not None:
        findings.add("content", f"{outcome.difference}.", outcome.difference)
    for rows, says in ((entry.get("rows"), "The manifest"), (copy.get("rows"), "derived.json")):
        if outcome.difference is None and rows is not None and rows != outcome.rows:
            findings.add("content", f"{says} states {rows:,} rows of the table “{table}”; it has {outcome.rows:,}.")
    return outcome.rows


def _check_parquet(
    package: Path, entry: Mapping[str, Any], contract: Mapping[str, Any], findings: Findings, advance: Advance
) -> int:
    import pyarrow.parquet as pq

    table, path = entry["table"], package / entry["name"]
    found = columns.describe(_read_schema(path, pq.read_schema, table))
    declared = next((item.get("columns") for item in contract.get("tables", ()) if item["name"] == table), None)
    wanted = contract_tables.schema_to_json(contract_tables.schema_from_json(declared or ()))
    if wanted and _comparable(wanted) != _comparable(found):
        difference = Difference(table, None, None, _shown(_comparable(wanted)), _shown(_comparable(found)))
        findings.add("content", f"The table “{table}” is not the one the contract declares.", difference)
    never_null = [column["name"] for column in wanted if not column["nullable"]]
    rows = 0
    for batch in authority.parquet_batches(path, table, advance):
        _validate(batch, table)
        for name in never_null:
            if name in batch.schema.names and batch.column(name).null_count:
                findings.add("content", f"The column “{name}” of the table “{table}” may not be empty.")
                never_null = [other for other in never_null if other != name]
        rows += batch.num_rows
    if entry.get("rows") is not None and rows != entry["rows"]:
        findings.add("content", f"The manifest states {entry['rows']:,} rows of the table “{table}”; it has {rows:,}.")
    return rows


def _validate(batch: pa.RecordBatch, table: str) -> None:
    """Every value of a batch that others wrote: offsets, UTF-8, decimal ranges."""
    import pyarrow as pa

    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        raise ActumError("contract_invalid", f"The Parquet of the table “{table}” is damaged.", f"{error}.") from error


def _comparable(described: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(column["name"], column["type"], column["precision"], column["scale"]) for column in described]


def _read_schema(path: Path, read: Callable[[Path], Any], table: str) -> Any:
    import pyarrow as pa

    try:
        return read(path)
    except pa.ArrowException as error:
        raise ActumError("contract_invalid", f"The Parquet of the table “{table}” cannot be read.", f"{error}.") from error


def schema_difference(table: str, wanted: pa.Schema, found: pa.Schema) -> Difference | None:
    """The first difference in fields, order, types, nullability or metadata."""
    if wanted.names != found.names:
        return Difference(table, None, None, f"columns {_shown(wanted.names)}", f"columns {_shown(found.names)}")
    for want, have in zip(wanted, found, strict=True):
        if not want.equals(have, check_metadata=True):
            return Difference(table, None, want.name, _described(want), _described(have))
    if (wanted.metadata or {}) != (found.metadata or {}):
        return Difference(table, None, None, f"metadata {_shown(wanted.metadata)}", f"metadata {_shown(found.metadata)}")
    return None


def _described(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'} {_shown(field.metadata or {})}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`rows` are those found equal; with no difference, all of them."""

    rows: int
    difference: Difference | None


def compare_batches(table: str, expected: Iterator[pa.RecordBatch], found: Iterator[pa.RecordBatch]) -> Comparison:
    """Compare two streams of batches of one schema, however each is cut. Both are closed at the end."""
    left, right = _Stream(expected), _Stream(found)
    try:
        return _compare(table, left, right)
    finally:
        left.close()
        right.close()


def _compare(table: str, left: _Stream, right: _Stream) -> Comparison:
    rows = 0
    while count := min(left.available(), right.available()):
        want, have = left.take(count), right.take(count)
        for position, name in enumerate(want.schema.names):
            row = first_difference(want.column(position), have.column(position))
            if row is not None:
                texts = (_shown(want.column(position)[row].as_py()), _shown(have.column(position)[row].as_py()))
                return Comparison(rows + row, Difference(table, rows + row + 1, name, *texts))
        rows += count
    if left.available() or right.available():
        texts = ("a row", "no row") if left.available() else ("no row", "a row")
        return Comparison(rows, Difference(table, rows + 1, None, *texts))
    return Comparison(rows, None)


class _Stream:
    """Batches of a stream, handed out in pieces of any size up to what is at hand."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._current: pa.RecordBatch | None = None

    def available(self) -> int:
        """Rows at hand; 0 at the end of the stream."""
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
        taken, self._current = self._current.slice(0, count), self._current.slice(count)
        return taken


def first_difference(expected: pa.Array, found: pa.Array) -> int | None:
    """The first position at which two arrays of one type differ: floats by their bits, but any NaN like any other."""
    expected, found = _by_bits(expected), _by_bits(found)
    if expected.equals(found):
        return None
    low, high = 0, len(expected)  # the first `low` are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if expected.slice(low, middle - low).equals(found.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def _by_bits(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_float64(array.type):
        return array
    return pc.if_else(pc.is_nan(array), pa.scalar(float("nan")), array).view(pa.int64())


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
