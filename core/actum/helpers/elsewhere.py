"""Verb `elsewhere`: a result that came from elsewhere, a folder or a pack, opened for looking at; nothing is verified by it.

`{"path", "into"}` → `{"package", "digest", "task", "task_version", "run", "sealed_at", "size_bytes", "metrics", "tables",
"readings", "files", "notes"}`. A pack is unpacked into `into/package`. Errors: no_package, bad_pack, result_damaged, disk_full,
io_error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actum.errors import CheckFailed, NotFound
from actum.helpers.arguments import Arguments
from actum.results import browse, digests, durable, pack
from actum.results import manifest as names
from actum.results import tables as stored


def run(args: Mapping[str, Any], progress: digests.Progress) -> dict[str, Any]:
    given = Arguments(args, "path", "into")
    path, into = given.path("path"), given.path("into")
    if pack.is_pack(path):
        with durable.action("unpacking the result"):
            pack.unpack(path, into / "package")
        path = into / "package"
    elif path.name == names.MANIFEST:
        path = path.parent
    try:
        return _described(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        what = f"There is no result at {path}."
        raise NotFound("no_package", what, "It holds no manifest.json, or lacks a file.", "Choose a pack.") from error
    except names.NotAPackage as error:
        raise CheckFailed("result_damaged", "The package cannot be read.", f"{error}.") from error


def _described(package: Path) -> dict[str, Any]:
    document, digest = names.read_manifest(package)
    result = names.read_result(package)
    tables = browse.tables(package)
    roles = ("output", "link")
    return {
        "package": str(package),
        "digest": digest,
        **{name: document.get(name) for name in ("task", "task_version", "run", "sealed_at")},
        "size_bytes": sum(int(entry.get("size", 0)) for entry in document["files"]),
        "metrics": list(result["metrics"]),
        "tables": tables,
        "readings": {str(table["name"]): stored.readable(package, str(table["name"])).to_json() for table in tables},
        "files": [entry["name"] for entry in document["files"] if entry["role"] in roles],
        "notes": [str(note) for note in result["notes"]],
    }
