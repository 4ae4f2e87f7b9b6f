"""Deriving: each authority becomes one Parquet by its versioned rule; derived.json says from which package (R14, §5.10).

Writes into a folder of its own (`.derive-<epoch>-<n>` beside the manifest), which the supervisor renames to `derived/`.
What is already there under another such name was left by a helper that died, and is removed first. Row groups hold at most
ROW_GROUP_ROWS_MAX rows. derived.json also has the chunk list of every table (`chunks`), of a Parquet handed over too, and of
an Arrow table its columns and the types that the rule changed. A package without tables gets a derived.json with an empty
list, without any table library.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import canonical, faults, limits
from actum.errors import ActumError
from actum.results import arrowrule, authority, chunks, digests, durable, logical
from actum.results import columns as cells
from actum.results import manifest as names
from actum.results.durable import action
from actum.results.handover import invalid

if TYPE_CHECKING:
    import pyarrow as pa

STAGING_PREFIX = ".derive-"
CHUNKS_RULE = "logical.v1"


def derive(package: Path, out: Path, progress: digests.Progress = digests.no_progress) -> dict[str, Any]:
    """Derive the tables of `package` into the new folder `out`. Returns derived.json and its digest.

    `{"derived": document, "derived_sha256": hex}`. Progress counts authority bytes.
    Raises ActumError: contract_invalid, result_rejected (no readable manifest), disk_full, io_error.
    """
    with action("reading the manifest"):
        try:
            manifest, digest = names.read_manifest(package)
        except names.NotAPackage as error:
            raise ActumError("result_rejected", "The package has no readable manifest.", f"{error}.") from error
    entries = [entry for entry in manifest["files"] if entry.get("rule") in authority.DERIVED_RULES]
    advance = _counter(progress, sum(entry["size"] for entry in entries))
    lists: dict[str, list[dict[str, Any]]] = {}
    with action("deriving the tables"):
        _make_room(out)
        files = [_derive_table(package, entry, digest, out, advance, lists) for entry in entries]
        lists |= _lists_of_parquets(package, manifest)
        document = {
            "schema": names.DERIVED_SCHEMA,
            "manifest_sha256": digest,
            "rules": sorted({entry["rule"] for entry in entries}),
            "chunks": lists,
            "chunks_rule": CHUNKS_RULE,
            "files": files,
        }
        content = canonical.pretty(document).encode()
        durable.write_file(out / Path(names.DERIVED_MANIFEST).name, content, fault="derive.manifest")
        # The entry of `out` itself is made durable where it gets its name: publish.place_derived.
    return {"derived": document, "derived_sha256": digests.of_bytes(content)}


def _lists_of_parquets(package: Path, manifest: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The chunk lists of the Parquets handed over. One that cannot be read is the content check's to name."""
    lists = {}
    for entry in manifest["files"]:
        if entry.get("rule") == "parquet.v1":
            with contextlib.suppress(ActumError, _arrow_errors()):
                lists[entry["table"]] = chunks.describe(package / entry["name"], entry["table"])
    return lists


def _arrow_errors() -> type[Exception]:
    import pyarrow as pa

    found: type[Exception] = pa.ArrowException
    return found


def derived_schema(entry: Mapping[str, Any], manifest_sha256: str, own: Any = None) -> Any:
    """The exact Arrow schema of a table's derived Parquet, metadata included. `own`: what an Arrow authority says itself."""
    metadata = {"actum.table": entry["table"], "actum.rule": entry["rule"], "actum.manifest": manifest_sha256}
    if own is None:
        return cells.arrow_schema(authority.columns_of(entry), metadata)
    stored = arrowrule.stored_schema(entry["table"], own)
    theirs = {name: value for name, value in (own.metadata or {}).items() if not name.startswith(b"actum.")}
    return stored.with_metadata({**theirs, **{name.encode(): value.encode() for name, value in metadata.items()}})


def _make_room(out: Path) -> None:
    for stale in out.parent.glob(f"{STAGING_PREFIX}*"):
        shutil.rmtree(stale)
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(mode=durable.PRIVATE_FOLDER)


def _derive_table(
    package: Path,
    entry: Mapping[str, Any],
    manifest_sha256: str,
    out: Path,
    advance: Callable[[int], None],
    lists: dict[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    import pyarrow.parquet as pq

    own = authority.own_schema(package, entry) if entry["rule"] == "arrow.v1" else None
    schema = derived_schema(entry, manifest_sha256, own)
    digested = _Digested()
    path = out / f"{entry['table']}.parquet"
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, write_page_index=True) as writer:
        for group in _row_groups(authority.batches(package, entry, advance), schema):
            writer.write_table(group, row_group_size=limits.ROW_GROUP_ROWS_MAX)
            digested.add(group)
            rows += group.num_rows
    if entry["rows"] is not None and rows != entry["rows"]:
        raise invalid(f"The table “{entry['table']}” states {entry['rows']:,} rows and has {rows:,}.")
    faults.point("derive.file.fsync.before")
    durable.settle_file(path)
    faults.point("derive.file.fsync.after")
    digest = digests.of_file(path)
    lists[entry["table"]] = chunks.describe(path, entry["table"], digested.done())
    described: dict[str, Any] = {}
    if own is not None:
        described = {"columns": cells.describe(schema), "types": arrowrule.mapped(own, schema)}
    return described | {
        "table": entry["table"],
        "name": path.name,
        "rule": entry["rule"],
        "authority": entry["name"],
        "authority_sha256": entry["sha256"],
        "rows": rows,
        "size": digest.size,
        "sha256": digest.sha256,
        "row_group_rows_max": limits.ROW_GROUP_ROWS_MAX,
    }


class _Digested:
    """The logical digests of the chunks of a table, as its row groups are written."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._chunk = logical.Rows()

    def add(self, group: pa.Table) -> None:
        for batch in group.combine_chunks().to_batches():
            self._chunk.add(batch)
        if self._chunk.rows >= limits.CHUNK_ROWS:
            self._done.append(self._chunk.hexdigest())
            self._chunk = logical.Rows()

    def done(self) -> list[str]:
        if self._chunk.rows:
            self._done.append(self._chunk.hexdigest())
        return self._done


def _row_groups(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The batches put together to full row groups; the last may be shorter."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        rows += batch.num_rows
        while rows >= limits.ROW_GROUP_ROWS_MAX:
            table = pa.Table.from_batches(waiting, schema)
            yield table.slice(0, limits.ROW_GROUP_ROWS_MAX)
            rest = table.slice(limits.ROW_GROUP_ROWS_MAX)
            waiting, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield pa.Table.from_batches(waiting, schema)


def _counter(progress: digests.Progress, total: int) -> Callable[[int], None]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total, "bytes")

    return advance
