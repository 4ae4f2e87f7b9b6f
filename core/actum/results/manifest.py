"""The manifest of a result package, and the entrance to sealing one. Standard library only: the host imports this module, and
all that sealing needs with it: hence named tuples, for dataclasses would cost each run the import of half a compiler.

Theory (§8). A package is a folder that `manifest.json` describes completely: it lists every file but itself and `derived/`,
each with role, size and sha256, and says whose result this is and on what it stands. sha256 of manifest.json is therefore
the digest of the whole result. It is written last; a folder without one is no package. `derived/derived.json` lists
`derived/` and names the digest of the manifest it was derived from. Keeps R13, R14.

Names below the package: `files/…` (what the work wrote), `tables/<name>.<ext>` (authorities), `result.json` (metrics, notes,
table descriptors), `records.jsonl`, `log/…`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actum import canonical, limits
from actum.ipc import regular

MANIFEST = "manifest.json"
RESULT = "result.json"
RECORDS = "records.jsonl"
FILES = "files"
TABLES = "tables"
LOG = "log"
DERIVED = "derived"
DERIVED_MANIFEST = "derived/derived.json"
LEFT_OUT = "left_out"  # beside staging: outputs that no declared pattern names

FORMAT_VERSION = 1
MANIFEST_SCHEMA = "actum.manifest/1"
RESULT_SCHEMA = "actum.result/1"
DERIVED_SCHEMA = "actum.derived/1"

ROLES = ("output", "link", "table", "result", "records", "log")


class NotAPackage(ValueError):
    """manifest.json (or derived.json) is there, but cannot be understood. The message says why."""


class Messages(NamedTuple):
    """What the work said in its message file, collected by the host; documents as they came, in order.

    metrics: `{"metric"|"unavailable": name, …}`; tables: `{"table": name, "path", "schema"?, "rows"?}`;
    files: `{"file": path, …}`; notes: texts; done: whether `{"done": true}` came; records: how many.
    """

    metrics: Sequence[Mapping[str, Any]] = ()
    tables: Sequence[Mapping[str, Any]] = ()
    files: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    done: bool = False
    records: int = 0


class Sealed(NamedTuple):
    """A package that is closed and durable. `files` = how many its manifest lists; `left_out` names outputs that no declared
    pattern matched (a notice)."""

    manifest_sha256: str
    files: int
    size_bytes: int
    left_out: tuple[str, ...] = ()


def seal(
    staging: Path,
    *,
    launch: Mapping[str, Any],
    messages: Messages,
    log_folder: Path | None,
    at_us: int,
    records: Path | None = None,
) -> Sealed:
    """Close the package in `staging`: everything durable, manifest.json last.

    `launch` is the document of launch.json; `log_folder` the attempt's log, `records` its records file (both may be absent).
    Raises ActumError with the failure code of the attempt: result_incomplete, contract_invalid, result_rejected, disk_full,
    io_error.
    """
    from actum.results.sealing import seal_package  # imported at the end of the work's life, not at the host's start

    return seal_package(staging, launch, messages, log_folder, records, at_us)


def read_manifest(package: Path) -> tuple[dict[str, Any], str]:
    """manifest.json and its sha256. Raises OSError, NotAPackage."""
    document, digest = _read(package / MANIFEST, MANIFEST_SCHEMA, ("files", "authority", "contract"))
    if not isinstance(document["authority"], dict) or not _is_contract(document["contract"]):
        raise NotAPackage("manifest.json has an authority or a contract that cannot be understood")
    _require_entries(document, ROLES)
    return document, digest


def read_derived(package: Path) -> tuple[dict[str, Any], str]:
    """derived/derived.json and its sha256. Raises OSError, NotAPackage."""
    document, digest = _read(package / DERIVED_MANIFEST, DERIVED_SCHEMA, ("files", "manifest_sha256"))
    _require_entries(document, None)
    _require_chunk_lists(document.get("chunks"))
    return document, digest


def read_result(package: Path) -> dict[str, Any]:
    """result.json. Raises OSError, NotAPackage."""
    document = _read(package / RESULT, RESULT_SCHEMA, ("metrics", "tables", "notes"))[0]
    lists = [document[member] for member in ("metrics", "tables", "notes")]
    if not all(isinstance(each, list) for each in lists) or not all(map(_is_metric, document["metrics"])):
        raise NotAPackage("result.json holds metrics, tables or notes that cannot be understood")
    return document


def is_safe_name(name: object) -> bool:
    """Whether `name` may be the path of a file below a package: relative, `/`, no `.`, no `..`, no empty part."""
    if not isinstance(name, str) or not name or os.path.isabs(name) or "\0" in name or ("\\" in name and os.sep == "\\"):
        return False
    return not any(part in ("", ".", "..") for part in name.split("/"))


def _is_contract(contract: object) -> bool:
    """Whether what verification asks of a contract can be asked of this one, its digest included."""
    if not isinstance(contract, dict):
        return False
    required, tables = contract.get("required", []), contract.get("tables", [])
    named = isinstance(tables, list) and all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in tables)
    if not named or not isinstance(required, list) or not all(isinstance(pattern, str) for pattern in required):
        return False
    try:
        canonical.dumps(contract).encode()
    except (TypeError, ValueError, RecursionError):  # a number with a fraction, half a character, a bottomless nest
        return False
    return True


def _is_metric(metric: object) -> bool:
    if not isinstance(metric, dict) or not {"name", "value", "status", "reason", "unit"} <= metric.keys():
        return False
    texts = isinstance(metric["name"], str) and isinstance(metric["status"], str)
    maybe = all(metric[member] is None or isinstance(metric[member], str) for member in ("reason", "unit"))
    return texts and maybe and (metric["value"] is None or _is_decimal(metric["value"]))


def _is_decimal(value: object) -> bool:
    from decimal import Decimal, InvalidOperation  # late: a host never needs it

    try:
        return type(value) in (int, str) and Decimal(value).is_finite()  # type: ignore[arg-type]
    except InvalidOperation:
        return False


def _require_entries(document: Mapping[str, Any], roles: tuple[str, ...] | None) -> None:
    """Names in a document are data (R19): one that leads out of the package is refused before any file is opened."""
    entries = document["files"]
    if not isinstance(entries, list):
        raise NotAPackage("its list of files cannot be understood")
    for entry in entries:
        if not isinstance(entry, dict) or not is_safe_name(entry.get("name")):
            raise NotAPackage(f"the name of an entry cannot be understood: {str(entry)[:80]}")
        role = entry.get("role") if roles else "derived"
        link = role == "link" and isinstance(entry.get("target"), str)
        file = role != "link" and type(entry.get("size")) is int and isinstance(entry.get("sha256"), str)
        known = roles is None or role in roles
        if not known or not (link or file) or not _is_table_entry(entry, role):
            raise NotAPackage(f"the entry of “{entry['name']}” cannot be understood")


def _require_chunk_lists(lists: object) -> None:
    """Each list runs through its table without a gap and without a row twice: else a look at all chunks were no whole one."""
    if lists is None:
        return  # made by an earlier version: the whole table is looked at
    if not isinstance(lists, dict) or not all(isinstance(parts, list) for parts in lists.values()):
        raise NotAPackage("its chunk lists cannot be understood")
    for table, parts in lists.items():
        first = 1
        for part in parts:
            if not isinstance(part, dict) or not all(_is_count(part.get(name)) for name in ("first", "rows", "offset", "size")):
                raise NotAPackage(f"the chunk list of the table “{str(table)[:80]}” cannot be understood")
            digests = (part.get("logical_sha256"), part.get("sha256"))
            if not all(isinstance(digest, str) for digest in digests) or part["first"] != first or not part["rows"]:
                raise NotAPackage(
                    f"the chunk list of the table “{str(table)[:80]}” does not run from its first row to its last"
                )
            first += part["rows"]


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_table_entry(entry: Mapping[str, Any], role: Any) -> bool:
    """Whether an entry that has to describe a table does so; others have nothing to describe."""
    if role not in ("table", "derived"):
        return True
    named = all(isinstance(entry.get(member), str) for member in ("table", "rule"))
    counted = entry.get("rows") is None or type(entry["rows"]) is int
    if role == "derived" or entry.get("rule") in ("arrow.v1", "parquet.v1"):
        return named and counted
    dialect = entry.get("dialect")
    delimited = isinstance(dialect, dict) and isinstance(dialect.get("delimiter"), str) and len(dialect["delimiter"]) == 1
    return named and counted and isinstance(entry.get("schema"), list) and (delimited or entry["rule"] != "csv.v1")


def _read(path: Path, schema: str, members: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    content = _content(path)
    if len(content) > limits.MANIFEST_BYTES_MAX:
        raise NotAPackage(f"{path.name} is longer than {limits.MANIFEST_BYTES_MAX:,} bytes")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotAPackage(f"{path.name} is not JSON: {type(error).__name__}") from error
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise NotAPackage(f"{path.name} is not of the schema {schema}")
    missing = [member for member in members if member not in document]
    if missing:
        raise NotAPackage(f"{path.name} lacks {', '.join(missing)}")
    return document, canonical.sha256(content)


def _content(path: Path) -> bytes:
    """A document of at most MANIFEST_BYTES_MAX and one more. A pipe or a link in its place is no document."""
    try:
        return regular.content(path, limits.MANIFEST_BYTES_MAX + 1)
    except regular.NotRegular as error:
        raise NotAPackage(f"{path.name} {regular.WORDS}") from error
