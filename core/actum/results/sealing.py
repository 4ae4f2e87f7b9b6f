"""Sealing: what the work wrote becomes a closed package, durable before its manifest exists. Standard library only.

In order: list the outputs and refuse what no result may hold; check what the contract requires; settle tables and metrics;
set aside what no declared output names; write result.json, records and log; then file by file read-only, fsync, digest;
every folder fsync'ed; manifest.json last. A crash before the last rename leaves no package (R18). The tree of the work is
empty by then (§5.7), so nothing writes any more. Keeps R13, R14, R15, R19.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actum import canonical, faults, limits
from actum.errors import ActumError
from actum.ipc import regular
from actum.results import digests, durable, handover, walk
from actum.results import manifest as names
from actum.results.durable import action
from actum.results.listed import Listed
from actum.results.manifest import Messages, Sealed


class _Planned(NamedTuple):
    """One file to be listed: its name in the package, its role, and the table it is the authority of."""

    name: str
    role: str
    table: handover.Table | None = None


def seal_package(
    staging: Path,
    launch: Mapping[str, Any],
    messages: Messages,
    log_folder: Path | None,
    records: Path | None,
    at_us: int,
) -> Sealed:
    """See `manifest.seal`."""
    folder = staging / names.FILES
    contract = launch["contract"]
    with action("reading the outputs"):
        outputs = walk.scan(folder)
    _refuse(outputs.refused)
    _require(outputs, launch.get("required", ()), messages)
    with action("reading the tables handed over"):
        tables = handover.tables(messages.tables, contract, folder)
    metrics = handover.metrics(messages.metrics, contract)
    taken = {table.source for table in tables}
    kept, left_out = _select([path for path in outputs.files if path not in taken], launch.get("outputs", ("*",)), messages)
    with action("arranging the package"):
        _set_aside(staging, left_out)
        _move_tables(staging, tables)
        links = _link_entries(folder, outputs.links)
        planned = [_Planned(f"{names.FILES}/{path}", "output") for path in kept]
        planned += [_Planned(table.path, "table", table) for table in tables]
        planned += _take_records(staging, records) + _take_log(staging, log_folder)
        planned += _write_result(staging, launch, messages, metrics, tables)
    with action("digesting the package"):
        _settle_all(staging, planned)
        listed = Listed()
        for plan in sorted(planned, key=lambda plan: plan.name):
            listed.add(_described(staging, plan))
        for link in links:
            listed.add(link)
        faults.point("seal.folders.fsync.before")
        _fsync_folders(staging)
        faults.point("seal.folders.fsync.after")
    content = listed.inside(_document(launch, tables, at_us))
    with action("sealing the manifest"):
        durable.write_file(staging / names.MANIFEST, *content, fault="seal.manifest")
    size = listed.size_bytes + sum(map(len, content))
    return Sealed(digests.of_bytes(*content), listed.count, size, tuple(left_out))


def _refuse(refused: Mapping[str, str]) -> None:
    if not refused:
        return
    told = [f"“{name}” is {why}" for name, why in list(refused.items())[: limits.NAMES_TOLD_MAX]]
    more = f"; and {len(refused) - len(told)} more" if len(refused) > len(told) else ""
    raise ActumError(
        "result_rejected",
        "The output folder holds what no result may hold.",
        f"{'; '.join(told)}{more}.",
        "Leave these out and verify again.",
        refused=dict(list(refused.items())[: limits.NAMES_TOLD_MAX]),
    )


def _require(outputs: walk.Outputs, required: Sequence[str], messages: Messages) -> None:
    """The required outputs, and the files that the work itself names, are there."""
    paths = outputs.files + outputs.links
    absent = [f"“{pattern}”" for pattern in walk.missing(required, paths)]
    present = set(paths)
    absent += [f"“{path}”" for path in _named(messages) if path not in present]
    if absent:
        raise handover.incomplete(absent)


def _named(messages: Messages) -> list[str]:
    return [path for message in messages.files if isinstance(path := message.get("file"), str)]


def _select(files: Sequence[str], patterns: Sequence[str], messages: Messages) -> tuple[list[str], list[str]]:
    """The files that are published and those that are not: declared by a pattern, or named by the work, or neither."""
    named = set(_named(messages))
    kept = [path for path in files if path in named or walk.matches(path, patterns)]
    published = set(kept)
    return kept, [path for path in files if path not in published]


def _set_aside(staging: Path, left_out: Sequence[str]) -> None:
    for path in left_out:
        target = staging.parent / names.LEFT_OUT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(staging / names.FILES / path, target)


def _move_tables(staging: Path, tables: Sequence[handover.Table]) -> None:
    if tables:
        (staging / names.TABLES).mkdir(mode=durable.PRIVATE_FOLDER, exist_ok=True)
    for table in tables:
        os.rename(staging / names.FILES / table.source, staging / table.path)


def _link_entries(folder: Path, links: Sequence[str]) -> list[dict[str, Any]]:
    """Contained links stay links, with relative targets: an absolute one would not survive publication."""
    entries = []
    for name in links:
        path = folder / name
        target = os.readlink(path)
        if os.path.isabs(target):
            target = os.path.relpath(os.path.realpath(path), os.path.realpath(path.parent))
            path.unlink()
            path.symlink_to(target)
        entries.append({"name": f"{names.FILES}/{name}", "role": "link", "target": target})
    return entries


def _take_records(staging: Path, records: Path | None) -> list[_Planned]:
    if records is None or not os.path.lexists(records):
        return []
    with regular.reading(records) as file:  # what stands in their place instead is no record of what the work did
        if not os.fstat(file.fileno()).st_size:
            return []
    _link_or_copy(records, staging / names.RECORDS)
    return [_Planned(names.RECORDS, "records")]


def _take_log(staging: Path, log_folder: Path | None) -> list[_Planned]:
    """The log's segments, closed by now. A silent work has none, and the package then has no log folder."""
    if log_folder is None or not log_folder.is_dir():
        return []
    segments = sorted(path for path in log_folder.iterdir() if _holds_bytes(path.lstat()))
    if segments:
        (staging / names.LOG).mkdir(mode=durable.PRIVATE_FOLDER, exist_ok=True)
    for path in segments:
        _link_or_copy(path, staging / names.LOG / path.name)
    return [_Planned(f"{names.LOG}/{path.name}", "log") for path in segments]


def _holds_bytes(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _link_or_copy(source: Path, target: Path) -> None:
    """A hard link, since nobody writes to the source any more; a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        _copy(source, target)


def _write_result(
    staging: Path,
    launch: Mapping[str, Any],
    messages: Messages,
    metrics: Sequence[Mapping[str, Any]],
    tables: Sequence[handover.Table],
) -> list[_Planned]:
    document = {
        "schema": names.RESULT_SCHEMA,
        "task": launch["task"],
        "task_version": launch["task_version"],
        "run": launch["run"],
        "attempt": launch["attempt"],
        "metrics": list(metrics),
        "notes": list(messages.notes),
        "records": messages.records,
        "tables": [{"name": table.name, "path": table.path, "rule": table.rule, "columns": table.columns} for table in tables],
    }
    content = canonical.pretty(document).encode()
    durable.write_file(staging / names.RESULT, content, fault="seal.result", with_folder=False)  # with all folders, below
    return [_Planned(names.RESULT, "result")]


def _settle_all(staging: Path, planned: Sequence[_Planned]) -> None:
    """Every file read-only and durable. Of many files several are waited for at a time, for a disk serves those together."""
    if len(planned) <= limits.SETTLED_TOGETHER_FILES:
        _settle_each(staging, planned)
        return
    from concurrent.futures import ThreadPoolExecutor

    durable.begin_settling(staging / plan.name for plan in planned)
    together = 1 + len(planned) // (16 * limits.SETTLING_THREADS)  # what waits for a thread is few things, however many files
    batches = [planned[first : first + together] for first in range(0, len(planned), together)]
    pool = ThreadPoolExecutor(limits.SETTLING_THREADS)
    try:
        for _ in pool.map(lambda batch: _settle_each(staging, batch), batches):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _settle_each(staging: Path, planned: Sequence[_Planned]) -> None:
    for plan in planned:
        _settle(staging, plan)


def _settle(staging: Path, plan: _Planned) -> None:
    path = staging / plan.name
    if plan.role == "output" and path.lstat().st_nlink > 1:
        _own_inode(path)
    faults.point("seal.file.fsync.before")
    durable.settle_file(path)
    faults.point("seal.file.fsync.after")


def _described(staging: Path, plan: _Planned) -> dict[str, Any]:
    """Digest one file, and describe it."""
    with regular.reading(staging / plan.name, buffering=0) as file:
        digest = digests.of_stream(file, detail=plan.table is not None)
    entry: dict[str, Any] = {"name": plan.name, "role": plan.role, "size": digest.size, "sha256": digest.sha256}
    if plan.table is not None:
        entry |= _table_entry(plan.table, digest)
    return entry


def _own_inode(path: Path) -> None:
    """Break a hard link: the other name of the file must not be able to change the package."""
    copy = path.with_name(f".{path.name}.own")
    _copy(path, copy)
    os.replace(copy, path)


def _copy(source: Path, target: Path) -> None:
    import shutil  # late: most results need no copy

    shutil.copyfile(source, target)


def _table_entry(table: handover.Table, digest: digests.FileDigest) -> dict[str, Any]:
    rows = table.rows
    if table.rule == "jsonl.v1":
        if rows is not None and rows != digest.lines:
            raise handover.invalid(f"The table “{table.name}” states {rows:,} rows and has {digest.lines:,}.")
        rows = digest.lines
    entry: dict[str, Any] = {"table": table.name, "rule": table.rule, "source": table.source, "rows": rows}
    entry |= {"schema": table.columns, "chunks": list(digest.chunks)}
    entry["form"] = {
        "why": table.form,
        "json_lines_rows_max": limits.JSON_LINES_ROWS_MAX,
        "json_lines_bytes_max": limits.JSON_LINES_BYTES_MAX,
    }
    if table.delimiter is not None:
        entry["dialect"] = {"delimiter": table.delimiter, "quote": '"', "null": "empty, without quotes", "encoding": "utf-8"}
    return entry


def _fsync_folders(staging: Path) -> None:
    """Every folder of the package, the deepest first, itself last."""
    folders = [name for kind, name in digests.names(staging) if kind == "folder"]
    for folder in sorted(folders, key=lambda name: name.count("/"), reverse=True):
        durable.fsync_folder(staging / folder)
    durable.fsync_folder(staging)


def _document(launch: Mapping[str, Any], tables: Sequence[handover.Table], at_us: int) -> dict[str, Any]:
    """The manifest without its list of files."""
    inputs = [{key: given[key] for key in ("name", "path", "policy", "sha256", "size")} for given in launch["inputs"]]
    return {
        "schema": names.MANIFEST_SCHEMA,
        "format_version": names.FORMAT_VERSION,
        "workspace": launch["workspace_id"],
        "task": launch["task"],
        "task_version": launch["task_version"],
        "run": launch["run"],
        "attempt": launch["attempt"],
        "n": launch["n"],
        "session": launch["session"],
        "request_digest": launch["request_digest"],
        "contract_digest": launch["contract_digest"],
        "contract": launch["contract"],
        "parameters": launch.get("parameters", {}),
        "inputs": inputs,
        "code": launch.get("code"),
        "environment": launch.get("environment"),
        "authority": {table.name: table.path for table in tables},
        "files": [],
        "sealed_at": at_us,
    }
