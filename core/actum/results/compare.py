"""The content check: what each authority means, read again, against what its Parquet says (§8, R14).

Compared are fields, order, types, nullability, metadata, number of rows and every value (`bits`). Both sides are read as
streams of batches of at most BATCH_ROWS, in step, the Parquet ahead in a thread of its own, so that memory does not grow with
the table. A Parquet handed over is its own authority: it is decoded whole, and held against the columns of its contract.

It is done chunk by chunk. Of each chunk the chunk list is held against what was read: the logical digest against the rows of
the authority, the bytes against the Parquet. A look at some chunks (`chunks.Extent`) begins at the first of them; a look that
was interrupted goes on behind those that `resume` has noted.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.contracts import tables as contract_tables
from actum.errors import ActumError, memory_ran_out
from actum.results import authority, chunks, columns, logical
from actum.results import manifest as names
from actum.results.ahead import ahead
from actum.results.bits import first_difference
from actum.results.chunks import Chunk, Extent
from actum.results.derive import derived_schema
from actum.results.report import Difference, Findings
from actum.results.resume import Resume
from actum.results.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Comparison", "Covered", "compare_batches", "compare_tables", "first_difference", "schema_difference"]

Advance = Callable[[int], None]
_SHOWN_CHARS = 200


@dataclass(slots=True)
class Covered:
    """What a content check looked at. `resumed`: chunks noted by an earlier look; `numbers`: the chunks of a partial one."""

    extent: str = "whole"
    rows: int = 0
    chunks: int = 0
    resumed: int = 0
    numbers: list[int] = field(default_factory=list)
    tables: int = 0


@dataclass(frozen=True, slots=True)
class _Look:
    """What is the same for every table of one look."""

    package: Path
    manifest: Mapping[str, Any]
    manifest_sha256: str
    copies: Mapping[str, Mapping[str, Any]]
    findings: Findings
    advance: Advance
    resume: Resume
    covered: Covered
    whole: bool
    listed_rows: Mapping[str, int]  # by its chunk list; of tables that have one


def compare_tables(
    package: Path,
    manifest: Mapping[str, Any],
    manifest_sha256: str | None,
    derived: Mapping[str, Any] | None,
    findings: Findings,
    advance: Advance,
    extent: Extent = chunks.WHOLE,
    resume: Resume | None = None,
) -> Covered:
    """Check the chunks of `extent`. Raises OSError where the disk does not answer, WrongUse for chunks that are not there."""
    entries = {entry["table"]: entry for entry in chunks.tables(manifest)}
    if {name: entry["name"] for name, entry in entries.items()} != manifest["authority"]:
        findings.add("content", "The manifest does not name exactly one authority for each table.")
    copies = {entry["table"]: entry for entry in (derived["files"] if derived else ())}
    if derived and len(copies) < len(derived["files"]):
        findings.add("content", "derived.json does not name exactly one Parquet for each table.")
    listed = chunks.listed(manifest, derived)
    chosen = extent.choose(listed)
    covered = Covered(extent.words(len(chosen), len(listed)), chunks=len(chosen))
    covered.numbers = [] if extent.whole else [chunk.number for chunk in chosen]
    digest, notes = manifest_sha256 or "", resume or Resume(None)
    sums = chunks.rows_by_table(listed)
    look = _Look(package, manifest, digest, copies, findings, advance, notes, covered, extent.whole, sums)
    for name, entry in entries.items():
        of_table = [chunk for chunk in chosen if chunk.table == name]
        if of_table:
            covered.tables += 1
            _check_table(look, name, entry, of_table)
    for name in copies.keys() - entries.keys():
        findings.add("content", f"The derived table “{name}” has no authority.")
    return covered


def _check_table(look: _Look, name: str, entry: Mapping[str, Any], chosen: Sequence[Chunk]) -> None:
    findings = look.findings
    try:
        if not _all_regular(look, name, entry):
            return
        if entry["rule"] == "parquet.v1":
            _check_parquet(look, entry, chosen)
        elif name not in look.copies:
            findings.add("content", f"The table “{name}” has no derived Parquet.")
        else:
            _check_derived(look, entry, look.copies[name], chosen)
    except (FileNotFoundError, NotADirectoryError):
        findings.add("content", f"The authority or the Parquet of the table “{name}” is missing.")
    except ActumError as error:
        if memory_ran_out(error):  # that says nothing of the table
            raise
        findings.add("content", f"{error.what} {error.why}".strip())


def _all_regular(look: _Look, name: str, entry: Mapping[str, Any]) -> bool:
    """Whether what is read of a table are files: a pipe would wait for a writer, a link leads to what is not sealed."""
    places = [str(entry["name"])]
    if entry["rule"] != "parquet.v1" and name in look.copies:
        places.append(f"{names.DERIVED}/{look.copies[name]['name']}")
    for place in places:
        if not stat.S_ISREG((look.package / place).lstat().st_mode):
            look.findings.add("content", f"“{place}” of the table “{name}” is not a regular file.")
            return False
    return True


def _check_derived(look: _Look, entry: Mapping[str, Any], copy: Mapping[str, Any], chosen: Sequence[Chunk]) -> None:
    import pyarrow.parquet as pq

    table, path = entry["table"], look.package / names.DERIVED / copy["name"]
    own = authority.own_schema(look.package, entry) if entry["rule"] == "arrow.v1" else None
    wanted = derived_schema(entry, look.manifest_sha256, own)
    found = _read_schema(path, pq.read_schema, table)
    difference = schema_difference(table, wanted, found)
    if difference is not None:
        look.findings.add("content", f"{difference}.", difference)
        return
    never_null = _check_declared(look, table, found) if own is not None else []
    _check_origin(look, entry, copy)
    _check_list(look, table, path)
    paths = (look.package / entry["name"], path)

    def pair(skip: int) -> _Sides:
        expected = authority.batches(look.package, entry, look.advance, skip)
        if never_null:
            expected = _without_nulls(look, table, expected, never_null)
        return _Sides(Stream(expected), Stream(ahead(authority.parquet_batches(path, table, skip=skip))))

    rows = _check_chunks(look, table, chosen, paths, pair)
    for stated, says in ((entry.get("rows"), "The manifest"), (copy.get("rows"), "derived.json")):
        if look.whole and rows is not None and stated is not None and rows != stated:
            look.findings.add("content", f"{says} states {stated:,} rows of the table “{table}”; it has {rows:,}.")


def _check_parquet(look: _Look, entry: Mapping[str, Any], chosen: Sequence[Chunk]) -> None:
    import pyarrow.parquet as pq

    table, path = entry["table"], look.package / entry["name"]
    schema = _read_schema(path, pq.read_schema, table)
    never_null = _check_declared(look, table, schema)
    _check_list(look, table, path)

    def single(skip: int) -> _Sides:
        batches = authority.parquet_batches(path, table, look.advance, skip)
        return _Sides(Stream(_without_nulls(look, table, _validated(table, ahead(batches)), never_null)), None)

    rows = _check_chunks(look, table, chosen, (path, path), single)
    if look.whole and rows is not None and entry.get("rows") is not None and rows != entry["rows"]:
        says = f"The manifest states {entry['rows']:,} rows of the table “{table}”; it has {rows:,}."
        look.findings.add("content", says)


def _check_origin(look: _Look, entry: Mapping[str, Any], copy: Mapping[str, Any]) -> None:
    """What derived.json says a Parquet was derived from, against the authority that it was held against."""
    for said, have in (("authority", entry["name"]), ("authority_sha256", entry["sha256"]), ("rule", entry["rule"])):
        if copy.get(said, have) != have:
            what = f"derived.json says that the table “{entry['table']}” was derived from another authority or by another rule."
            look.findings.add("content", what)
            return


def _check_list(look: _Look, table: str, path: Path) -> None:
    """The chunk list reaches to the end of the Parquet: “chunks 1–2 of 2” would say too much of a longer one."""
    import pyarrow.parquet as pq

    listed, there = look.listed_rows.get(table), _read_schema(path, pq.read_metadata, table).num_rows
    if listed is not None and listed != there:
        look.findings.add("content", f"The chunk list holds {listed:,} rows of the table “{table}”; its Parquet has {there:,}.")


def _check_declared(look: _Look, table: str, schema: pa.Schema) -> list[str]:
    """A table that says its columns itself, against its contract. Returns the columns that may not be empty."""
    found = columns.describe(schema)
    declared = next(
        (item.get("columns") for item in look.manifest["contract"].get("tables", ()) if item["name"] == table), None
    )
    wanted = contract_tables.schema_to_json(contract_tables.schema_from_json(declared or ()))
    if wanted and _comparable(wanted) != _comparable(found):
        difference = Difference(table, None, None, _shown(_comparable(wanted)), _shown(_comparable(found)))
        look.findings.add("content", f"The table “{table}” is not the one the contract declares.", difference)
    return [column["name"] for column in wanted if not column["nullable"]]


def _without_nulls(
    look: _Look, table: str, batches: Iterator[pa.RecordBatch], never_null: list[str]
) -> Iterator[pa.RecordBatch]:
    """The same batches; a null where the contract allows none is a finding, once a column."""
    try:
        for batch in batches:
            for name in never_null:
                if name in batch.schema.names and batch.column(name).null_count:
                    look.findings.add("content", f"The column “{name}” of the table “{table}” may not be empty.")
                    never_null = [other for other in never_null if other != name]
            yield batch
    finally:
        batches.close()  # type: ignore[attr-defined]


def _validated(table: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Every value of batches that others wrote: offsets, UTF-8, decimal ranges."""
    import pyarrow as pa

    try:
        for batch in batches:
            batch.validate(full=True)
            yield batch
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ActumError("contract_invalid", f"The Parquet of the table “{table}” is damaged.", f"{error}.") from error
    finally:
        batches.close()  # type: ignore[attr-defined]


class _Sides:
    """The two readings of a table from some row on. `found` is None where there is but one."""

    def __init__(self, expected: Stream, found: Stream | None) -> None:
        self.expected, self.found = expected, found

    def close(self) -> None:
        self.expected.close()
        if self.found is not None:
            self.found.close()


def _check_chunks(
    look: _Look, table: str, chosen: Sequence[Chunk], paths: tuple[Path, Path], open_at: Callable[[int], _Sides]
) -> int | None:
    """Look at chunks of one table; returns the rows of all of them, None after a difference."""
    sides: _Sides | None = None
    at = rows = 0
    try:
        for chunk in chosen:
            if look.resume.has_chunk(chunk, paths):
                look.covered.resumed += 1
                look.covered.rows += chunk.rows
                rows += chunk.rows
                continue
            if sides is None or at != chunk.first:
                if sides is not None:
                    sides.close()
                sides, at = open_at(chunk.first), chunk.first
            outcome = _check_chunk(look, table, chunk, sides, paths[1])
            look.covered.rows += outcome.rows
            if outcome.difference is not None:
                look.findings.add("content", f"{outcome.difference}.", outcome.difference)
                return None
            at += outcome.rows
            rows += outcome.rows
            if not look.findings.count:  # what was found would be lost to the look that goes on behind it
                look.resume.note_chunk(chunk, paths)
        if look.whole:
            if sides is not None and at != rows:
                sides.close()
                sides = None
            sides = sides or open_at(rows)
            ended = _ended(table, rows, sides)
            if ended is not None:
                look.findings.add("content", f"{ended}.", ended)
                return None
    finally:
        if sides is not None:
            sides.close()
    return rows


def _check_chunk(look: _Look, table: str, chunk: Chunk, sides: _Sides, parquet: Path) -> Comparison:
    digest = logical.Rows() if chunk.logical is not None else None
    outcome = _compare(table, sides, chunk.first, chunk.rows, digest)
    if outcome.difference is None and digest is not None and digest.hexdigest() != chunk.logical:
        look.findings.add("content", f"Chunk {chunk.number}: the chunk list names other rows of the table “{table}”.")
    if chunk.sha256 is not None and chunks.bytes_digest(parquet, chunk.offset, chunk.size) != chunk.sha256:
        look.findings.add("content", f"Chunk {chunk.number}: the chunk list names other bytes of the table “{table}”.")
    return outcome


def _comparable(described: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(column["name"], column["type"], column["precision"], column["scale"]) for column in described]


def _read_schema(path: Path, read: Callable[[Path], Any], table: str) -> Any:
    import pyarrow as pa

    try:
        return read(path)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:  # a name in it may be no text
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's; a footer that is none has no number
        why = f"{str(error).splitlines()[0].rstrip('.')}."
        raise ActumError("contract_invalid", f"The Parquet of the table “{table}” cannot be read.", why) from error


def schema_difference(table: str, wanted: pa.Schema, found: pa.Schema) -> Difference | None:
    """The first difference in fields, order, types, nullability or metadata.

    What Parquet calls the members of lists and maps is no part of their type: `item` and `element` are one.
    """
    if wanted.names != found.names:
        return Difference(table, None, None, f"columns {_shown(wanted.names)}", f"columns {_shown(found.names)}")
    for want, have in zip(wanted, found, strict=True):
        same = want.type.equals(have.type) and want.nullable == have.nullable
        if not same or (want.metadata or {}) != (have.metadata or {}):
            return Difference(table, None, want.name, _described(want), _described(have))
    if (wanted.metadata or {}) != (found.metadata or {}):
        return Difference(table, None, None, f"metadata {_shown(wanted.metadata)}", f"metadata {_shown(found.metadata)}")
    return None


def _described(column: pa.Field) -> str:
    return f"{column.type}{'' if column.nullable else ' not null'} {_shown(column.metadata or {})}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`rows` are those found equal; with no difference, all of them."""

    rows: int
    difference: Difference | None


def compare_batches(table: str, expected: Iterator[pa.RecordBatch], found: Iterator[pa.RecordBatch]) -> Comparison:
    """Compare two streams of batches of one schema, however each is cut. Both are closed at the end."""
    sides = _Sides(Stream(expected), Stream(found))
    try:
        outcome = _compare(table, sides, 0, -1, None)
        if outcome.difference is None:
            return Comparison(outcome.rows, _ended(table, outcome.rows, sides))
        return outcome
    finally:
        sides.close()


def _compare(table: str, sides: _Sides, first: int, wanted: int, digest: logical.Rows | None) -> Comparison:
    """Compare the next `wanted` rows (negative: all there are on both sides), counted from row `first` on."""
    rows = 0
    while rows != wanted:
        there = sides.expected.available()
        if sides.found is not None:
            there = min(there, sides.found.available())
        count = min(there, wanted - rows) if wanted >= 0 else there
        if not count:
            break
        want = sides.expected.take(count)
        if sides.found is not None:
            difference = _batch_difference(table, first + rows, want, sides.found.take(count))
            if difference is not None and difference.row is not None:
                return Comparison(difference.row - first - 1, difference)
        if digest is not None:
            digest.add(want)
        rows += count
    if wanted >= 0 and rows < wanted:
        ended = _ended(table, first + rows, sides)
        if ended is None:
            ended = Difference(table, first + rows + 1, None, f"{wanted - rows:,} more rows", "no row")
        return Comparison(rows, ended)
    return Comparison(rows, None)


def _batch_difference(table: str, before: int, want: pa.RecordBatch, have: pa.RecordBatch) -> Difference | None:
    for position, name in enumerate(want.schema.names):
        row = first_difference(want.column(position), have.column(position))
        if row is not None:
            texts = (_cell(want.column(position)[row]), _cell(have.column(position)[row]))
            return Difference(table, before + row + 1, name, *texts)
    return None


def _ended(table: str, rows: int, sides: _Sides) -> Difference | None:
    """A row that one side has and the other has not, behind the last one compared."""
    more = sides.expected.available()
    if sides.found is None:
        return Difference(table, rows + 1, None, "no row", "a row") if more else None
    if more or sides.found.available():
        texts = ("a row", "no row") if more else ("no row", "a row")
        return Difference(table, rows + 1, None, *texts)
    return None


def _cell(value: pa.Scalar) -> str:
    """What a cell holds. What is damaged may hold what no value of Python can: a day in the year 20,000, text that is none."""
    try:
        return _shown(value.as_py())
    except (ArithmeticError, ValueError):
        return f"a value that is no {value.type}"


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
