"""Deriving: each authority becomes one Parquet by its versioned rule; derived.json says from which package (R14, §5.10).

Writes into a folder of its own (`.derive-<epoch>-<n>` beside the manifest), which the supervisor renames to `derived/`.
What is already there under another such name was left by a helper that died, and is removed first. Row groups hold at most
ROW_GROUP_ROWS_MAX rows. A package without tables gets a derived.json with an empty list, without any table library.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import canonical, faults, limits
from actum.errors import ActumError
from actum.results import authority, digests, durable
from actum.results import columns as cells
from actum.results import manifest as names
from actum.results.durable import action
from actum.results.handover import invalid

if TYPE_CHECKING:
    import pyarrow as pa

STAGING_PREFIX = ".derive-"


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
    with action("deriving the tables"):
        _make_room(out)
        files = [_derive_table(package, entry, digest, out, advance) for entry in entries]
        document = {
            "schema": names.DERIVED_SCHEMA,
            "manifest_sha256": digest,
            "rules": sorted({entry["rule"] for entry in entries}),
            "files": files,
        }
        content = canonical.pretty(document).encode()
        durable.write_file(out / Path(names.DERIVED_MANIFEST).name, content, fault="derive.manifest")
        # The entry of `out` itself is made durable where it gets its name: publish.place_derived.
    return {"derived": document, "derived_sha256": digests.of_bytes(content)}


def derived_schema(entry: Mapping[str, Any], manifest_sha256: str) -> Any:
    """The exact Arrow schema of a table's derived Parquet, metadata included."""
    metadata = {"actum.table": entry["table"], "actum.rule": entry["rule"], "actum.manifest": manifest_sha256}
    return cells.arrow_schema(authority.columns_of(entry), metadata)


def _make_room(out: Path) -> None:
    for stale in out.parent.glob(f"{STAGING_PREFIX}*"):
        shutil.rmtree(stale)
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(mode=durable.PRIVATE_FOLDER)


def _derive_table(
    package: Path, entry: Mapping[str, Any], manifest_sha256: str, out: Path, advance: Callable[[int], None]
) -> dict[str, Any]:
    import pyarrow.parquet as pq

    schema = derived_schema(entry, manifest_sha256)
    path = out / f"{entry['table']}.parquet"
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, write_page_index=True) as writer:
        for group in _row_groups(authority.batches(package, entry, advance), schema):
            writer.write_table(group, row_group_size=limits.ROW_GROUP_ROWS_MAX)
            rows += group.num_rows
    if entry["rows"] is not None and rows != entry["rows"]:
        raise invalid(f"The table “{entry['table']}” states {entry['rows']:,} rows and has {rows:,}.")
    faults.point("derive.file.fsync.before")
    durable.settle_file(path)
    faults.point("derive.file.fsync.after")
    digest = digests.of_file(path)
    return {
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
