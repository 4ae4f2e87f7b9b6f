"""Two small files beside the database: `generation` (which database, which epoch, which folder) and `endpoint`.

`generation` is written after the epoch's commit and fsync'ed. A database behind it was restored from an older backup; a
folder with another inode or file-system id than it names is a copy (FORMATS "Tokens, folders, files"). st_dev is no part
of that identity: it changes across reboots. `endpoint` tells hosts and clients where the supervisor listens; it is
replaced atomically and read before each try. It names its folder too: the endpoint in a copy leads to the supervisor of
the original, which must not be given the copy's commands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import faults, limits
from actum.errors import StorageFailed
from actum.ipc import regular

if TYPE_CHECKING:
    from actum.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FolderIdentity:
    """What tells a workspace folder from its copy: inode and file-system id."""

    inode: int
    filesystem: int


@dataclass(frozen=True, slots=True)
class Generation:
    database_uuid: str
    epoch: int
    folder: FolderIdentity


def folder_identity(path: Path) -> FolderIdentity:
    """The identity of the folder as it is now. Raises OSError."""
    status = os.stat(path)
    filesystem = os.statvfs(path).f_fsid if hasattr(os, "statvfs") else status.st_dev
    return FolderIdentity(status.st_ino, filesystem)


def read_generation(ws: Workspace) -> Generation | None:
    """What the file says, or None when there is none or it is not readable as one."""
    document = _read(ws.generation)
    if document is None:
        return None
    try:
        folder = FolderIdentity(int(document["inode"]), int(document["filesystem"]))
        return Generation(str(document["database_uuid"]), int(document["epoch"]), folder)
    except (KeyError, TypeError, ValueError):
        return None


def write_generation(ws: Workspace, database_uuid: str, epoch: int, folder: FolderIdentity) -> None:
    """Replace the file atomically and durably. Raises StorageFailed."""
    document = {
        "v": 1,
        "database_uuid": database_uuid,
        "epoch": epoch,
        "inode": folder.inode,
        "filesystem": folder.filesystem,
    }
    _replace(ws.generation, document, point="generation", durable=True)


def read_endpoint(ws: Workspace) -> dict[str, Any] | None:
    """Where the supervisor of this folder listens: {"v", "socket", "instance", "epoch", "pid"}, or None."""
    document = _read(ws.endpoint)
    if document is None:
        return None
    written_in = (document.pop("inode", None), document.pop("filesystem", None))
    try:
        here = folder_identity(ws.path)
    except OSError:
        return None
    return document if written_in == (here.inode, here.filesystem) else None


def write_endpoint(ws: Workspace, document: Mapping[str, Any]) -> None:
    """Replace the file atomically. Raises StorageFailed."""
    try:
        here = folder_identity(ws.path)
    except OSError as error:
        raise StorageFailed("looking at the workspace", error, "Look whether it was moved or unmounted.") from error
    named = {"v": 1, **document, "inode": here.inode, "filesystem": here.filesystem}
    _replace(ws.endpoint, named, point="endpoint", durable=False)


def remove_endpoint(ws: Workspace, instance: str) -> None:
    """Remove the file if it still names `instance`; the next supervisor's stays."""
    document = _read(ws.endpoint)
    if document is not None and document.get("instance") == instance:
        ws.endpoint.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(regular.content(path, limits.FRAME_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _replace(path: Path, document: Mapping[str, Any], *, point: str, durable: bool) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        descriptor = regular.descriptor(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(descriptor, json.dumps(document).encode())
            if durable:
                faults.point(f"{point}.fsync.before")
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        faults.point(f"{point}.rename.before")
        os.replace(temporary, path)
        faults.point(f"{point}.rename.after")
        if durable:
            sync_folder(path.parent)
            faults.point(f"{point}.fsync.after")
    except OSError as error:
        raise StorageFailed(f"writing {path.name}", error, "Make room or check the disk, then try again.") from error


def sync_folder(path: Path) -> None:
    """fsync a directory, so that names made or removed in it survive a power cut. Raises OSError."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
