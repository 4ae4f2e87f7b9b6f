"""What an export says of itself beside its file, and how one that was killed in between is found again and finished (R18).

Before a file gets its name, what will be said of it is durable in the export's hidden folder: the names of its parts and their
digests. An export that was killed has left that folder. Whoever exports into the same place next reads it: where the file has
its name and is, byte for byte, what was said, the word is put beside it; where only some parts have theirs, the others follow,
or all go; where none has, everything goes. A file that is not what was said is not ours, and is left alone. Likewise an export
that is to be made *once* is known again by its word, whatever number stands in its name.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum import faults, limits
from actum.results import digests, durable
from actum.results.publish import rename_noreplace

SIDECAR_ENDING = ".actum.json"
_SAID = "said.json"


def write(scratch: Path, content: bytes) -> Path:
    """What will be said, durable in the export's own folder. Raises OSError."""
    path = scratch / _SAID
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        faults.point("export.sidecar.fsync.before")
        os.fsync(file.fileno())
    durable.fsync_folder(scratch)
    faults.point("export.sidecar.fsync.after")
    return path


def finish(scratch: Path) -> None:
    """What an export that was killed has left in `scratch`, brought to an end; the folder itself stays. Raises OSError."""
    said = read(scratch / _SAID)
    if said is None:
        return
    folder, parts = scratch.parent, _parts(said)
    there = [is_part(folder, part) for part in parts]
    if not any(there):
        return
    for number, part in enumerate(parts):
        if there[number]:
            continue
        try:
            rename_noreplace(scratch / f"{number + 1}.part", folder / part["file"])
        except OSError:
            for each, ours in zip(parts, there, strict=True):
                if ours:
                    (folder / each["file"]).unlink()  # of no use alone
            return
        there[number] = True
    with contextlib.suppress(FileExistsError):
        rename_noreplace(scratch / _SAID, folder / (str(said["file"]) + SIDECAR_ENDING))
    durable.fsync_folder(folder)


def made_before(candidates: Sequence[Path], whose: Mapping[str, Any]) -> tuple[Path, dict[str, Any]] | None:
    """The first of `candidates` whose word is `whose` and whose files are still what it says, with that word."""
    for path in candidates:
        sidecar = path.with_name(path.name + SIDECAR_ENDING)
        if not os.path.lexists(sidecar):
            continue
        said = read(sidecar)
        if said is not None and _identity(said) == whose and all(is_part(path.parent, part) for part in _parts(said)):
            return path, said
    return None


def is_about(scratch: Path, whose: Mapping[str, Any]) -> bool:
    """Whether the export that works in `scratch` is this one, and has come so far that its file may have its name."""
    said = read(scratch / _SAID)
    return said is not None and _identity(said) == whose


def identity(manifest_sha256: str, table: str, format: str, profile: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """By what an export is known again: of which result, which table, in which form, and what was asked of it."""
    return {
        "manifest_sha256": manifest_sha256,
        "table": table,
        "format": format,
        "profile": profile,
        "options": dict(options),
    }


def _identity(said: Mapping[str, Any]) -> dict[str, Any]:
    return identity(said["result"]["manifest_sha256"], said["source"]["name"], said["format"], said["profile"], said["options"])


def read(path: Path) -> dict[str, Any] | None:
    """What stands in a sidecar, up to SIDECAR_BYTES_MAX; None for what is no word of an export."""
    try:
        with open(digests.open_regular(path), "rb") as file:
            content = file.read(limits.SIDECAR_BYTES_MAX + 1)
        if len(content) > limits.SIDECAR_BYTES_MAX:
            return None
        said = json.loads(content)
        _identity(said)
        sound = _is_name(said["file"]) and bool(said["parts"]) and all(_is_sound(part) for part in said["parts"])
        return dict(said) if sound else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_sound(part: Mapping[str, Any]) -> bool:
    return _is_name(part["file"]) and type(part["size_bytes"]) is int and type(part["sha256"]) is str


def _is_name(name: Any) -> bool:
    return type(name) is str and name == os.path.basename(name) and name not in ("", ".", "..")


def _parts(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(said["parts"])


def is_part(folder: Path, part: Mapping[str, Any]) -> bool:
    """Whether a file of this name stands there, byte for byte."""
    path = folder / part["file"]
    try:
        if path.lstat().st_size != part["size_bytes"]:
            return False
        os.close(digests.open_regular(path))
        return bool(digests.of_file(path).sha256 == part["sha256"])
    except OSError:
        return False
