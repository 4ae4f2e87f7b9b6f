"""The file-system steps of publication, in the order of §5.12–14, each a function with its fault points (R13, R18).

    place_derived          `.derive-<epoch>-<n>` → `derived/`, before verification
    prepare_target         `results/<run>` exists durably, *before* the rename
    make_files_readonly    files 0444 (sealing and deriving made them so; this proves it)
    rename_noreplace       staging → results/<run>/<n>: one system call, never onto anything, not even an empty folder (P24)
    make_durable           folders 0555, then fsync of package, results/<run> and the attempt's folder (P11)

After a crash at any point the steps are taken again from the start: each finds its work done and goes on. The rename is a
single call in the supervisor's own process. A 0555 folder cannot be moved to another parent by a normal user, so folders
become read-only after it. `where` says in which place a package is, in the words of §6.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from actum import canonical, faults
from actum.ipc import regular
from actum.model.evidence import PackageSeen
from actum.results import digests, durable
from actum.results import manifest as names
from actum.results.durable import action

if TYPE_CHECKING:
    from actum.workspace import Workspace

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1  # linux/fs.h
_RENAME_EXCL = 4  # macOS, sys/stdio.h


@dataclass(frozen=True, slots=True)
class Recorded:
    """The digests committed with PUBLISHING. `derived_sha256` is None before that: then only the manifest counts."""

    manifest_sha256: str
    derived_sha256: str | None = None


def place_derived(staging: Path, derived: Path) -> None:
    """Rename what the deriving helper wrote to `derived/`; an earlier `derived/` of this package goes. Raises StorageFailed."""
    target = staging / names.DERIVED
    with action("placing the derived tables"):
        if target.exists():
            shutil.rmtree(target)
        faults.point("publish.derived.rename.before")
        rename_noreplace(derived, target)
        faults.point("publish.derived.rename.after")
        durable.fsync_folder(staging)


def prepare_target(ws: Workspace, run: int) -> Path:
    """`results/<run>`, existing and durable. Raises StorageFailed."""
    folder = ws.results / str(run)
    with action("preparing the folder of the results"):
        folder.mkdir(mode=durable.PRIVATE_FOLDER, parents=True, exist_ok=True)
        faults.point("publish.target.fsync.before")
        durable.fsync_folder(ws.results)
        durable.fsync_folder(folder)
        faults.point("publish.target.fsync.after")
    return folder


def make_files_readonly(package: Path) -> None:
    """Every regular file of the package is 0444, durably. Raises StorageFailed."""
    with action("making the package read-only"):
        faults.point("publish.readonly.before")
        for kind, name in digests.names(package):
            if kind == "file" and stat.S_IMODE((package / name).lstat().st_mode) != durable.READ_ONLY_FILE:
                durable.settle_file(package / name)
        faults.point("publish.readonly.after")


def publish(staging: Path, target: Path) -> None:
    """The one rename that publishes. Raises OSError: FileExistsError if anything is at the target; nothing is moved then."""
    faults.point("publish.rename.before")
    rename_noreplace(staging, target)
    faults.point("publish.rename.after")


def make_durable(target: Path, attempt_folder: Path) -> None:
    """Folders 0555 and the rename on the disk, at both ends. Raises StorageFailed."""
    with action("making the publication durable"):
        folders = [target / name for kind, name in digests.names(target) if kind == "folder"]
        for folder in (*reversed(folders), target):
            folder.chmod(durable.READ_ONLY_FOLDER)
        faults.point("publish.durable.fsync.before")
        for folder in (target, target.parent, attempt_folder):
            durable.fsync_folder(folder)
        faults.point("publish.durable.fsync.after")


def where(ws: Workspace, staging: Path, target: Path, recorded: Recorded) -> PackageSeen:
    """In which place the package is, by its digests. `neither` only if both places could be listed; else `unknown`.

    One that this attempt has in quarantine was found to differ, whether or not that came on record before a crash.
    """
    try:
        os.listdir(ws.results)
        published = _digests_at(target)
        if published is not None:
            return PackageSeen.RESULTS if _same(published, recorded) else PackageSeen.DIFFERS
        os.listdir(staging.parent)
        staged = _digests_at(staging)
        if staged is not None:
            return PackageSeen.STAGING if _same(staged, recorded) else PackageSeen.DIFFERS
        if _in_quarantine(ws, target):
            return PackageSeen.DIFFERS
    except OSError:
        return PackageSeen.UNKNOWN
    return PackageSeen.NEITHER


def quarantine(ws: Workspace, package: Path, label: str, reason: str, at_us: int) -> Path:
    """Move a package that must not be read as a result to `quarantine/<label>[-k]`, its reason beside it.

    Raises StorageFailed.
    """
    with action("moving the package to quarantine"):
        ws.quarantine.mkdir(mode=durable.PRIVATE_FOLDER, parents=True, exist_ok=True)
        if not package.is_symlink():
            package.chmod(durable.PRIVATE_FOLDER)  # else a normal user cannot move it
        faults.point("publish.quarantine.rename.before")
        note = canonical.pretty({"schema": "actum.quarantine/1", "from": str(package), "reason": reason, "at": at_us})
        target = _move_with_note(package, ws.quarantine, label, note)
        faults.point("publish.quarantine.rename.after")
        durable.fsync_folder(ws.quarantine)
        durable.fsync_folder(package.parent)
    return target


def rename_noreplace(source: Path, target: Path) -> None:
    """Rename that refuses any existing target, an empty folder too. Raises OSError (FileExistsError)."""
    native = _native_rename()
    if native is not None:
        error = native(os.fsencode(source), os.fsencode(target))
        if error == 0:
            return
        if error not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise OSError(error, os.strerror(error), str(source), None, str(target))
    _rename_looking_first(source, target)


def _rename_looking_first(source: Path, target: Path) -> None:
    """Where the file system knows no such rename: look, then rename. The workspace's lock keeps others away meanwhile."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source, target)


def _native_rename() -> Callable[[bytes, bytes], int] | None:
    """The system's own exclusive rename as a function that returns an errno, or None where there is none."""
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if function is None:
        return None

    def rename(source: bytes, target: bytes) -> int:
        if name == "renameat2":
            failed = function(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_NOREPLACE)
        else:
            failed = function(source, target, _RENAME_EXCL)
        return ctypes.get_errno() if failed else 0

    return rename


def _in_quarantine(ws: Workspace, target: Path) -> bool:
    """Whether quarantine holds a package of the attempt whose place in results is `target`. Raises OSError."""
    if not ws.quarantine.exists():
        return False
    label = f"{target.parent.name}-{target.name}"
    return any(name == label or name.startswith(f"{label}-") for name in os.listdir(ws.quarantine))


def _move_with_note(source: Path, folder: Path, label: str, note: str) -> Path:
    """Move `source` to the first free name; its note is durable before it, so that no crash leaves it without a reason."""
    number = 1
    while True:
        target = folder / (label if number == 1 else f"{label}-{number}")
        number += 1
        if os.path.lexists(target):
            continue
        beside = regular.descriptor(target.with_name(f"{target.name}.json"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
        with open(beside, "w", encoding="utf-8") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())
        try:
            rename_noreplace(source, target)
        except FileExistsError:
            continue
        return target


def _digests_at(place: Path) -> Recorded | None:
    """The digests of the package at `place`; None if no package is there. Raises OSError where that cannot be told.

    What is a link has none, whatever it leads to: a package is the folder itself, and the rename would move the link alone.
    """
    try:
        found = place.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return Recorded("")
    return Recorded(_sha256(place / names.MANIFEST) or "", _sha256(place / names.DERIVED_MANIFEST))


def _sha256(path: Path) -> str | None:
    try:
        return digests.of_file(path).sha256
    except (FileNotFoundError, NotADirectoryError):
        return None


def _same(found: Recorded, recorded: Recorded) -> bool:
    if found.manifest_sha256 != recorded.manifest_sha256:
        return False
    return recorded.derived_sha256 is None or found.derived_sha256 == recorded.derived_sha256
