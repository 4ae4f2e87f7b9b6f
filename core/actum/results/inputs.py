"""The input store and the frozen copy: `inputs/<sha256>/content`, one hashing copy, durable before it is named (R17).

Theory. An input is read once: copied and hashed in the same pass, with inode, size, mtime and ctime equal before and after;
if they differ the pass is made again, FREEZE_TRIES_MAX times in all, and then the input counts as changed. The copy is
written under a name with the epoch (`inputs/.<epoch>-<n>/content`); the supervisor renames its folder to `inputs/<sha256>`.
A folder is copied as a tree; its digest is that of the sorted tree (`digests`). Stats are (inode, size, mtime ns, ctime ns);
of a folder: its inode, the size of all files, and the newest times of anything in it.
"""

from __future__ import annotations

import os
import shutil
import stat as stats
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from actum import faults, limits
from actum.errors import ActumError
from actum.results import digests, durable

CONTENT = "content"

Stat = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Frozen:
    """A frozen input: its digest, and the stats of the copy and of the source it was made from."""

    sha256: str
    size: int
    stat: Stat
    source_stat: Stat


def store_path(inputs: Path, sha256: str) -> Path:
    """Where the store keeps the content of a digest."""
    return inputs / sha256 / CONTENT


def temporary_folder(inputs: Path, epoch: int, number: int) -> Path:
    """Where a helper writes one copy."""
    return inputs / f".{epoch}-{number}"


def is_temporary(name: str) -> bool:
    """Whether an entry of the store is an unfinished copy."""
    return name.startswith(".")


def stat_of(path: Path) -> Stat:
    """Raises OSError."""
    status = path.stat()
    if not stats.S_ISDIR(status.st_mode):
        return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    size, mtime, ctime = 0, status.st_mtime_ns, status.st_ctime_ns
    for kind, entry in digests.entries(path):
        of_entry = entry.lstat()
        size += of_entry.st_size if kind == "file" else 0
        mtime, ctime = max(mtime, of_entry.st_mtime_ns), max(ctime, of_entry.st_ctime_ns)
    return (status.st_ino, size, mtime, ctime)


def digest_of(path: Path, advance: Callable[[int], None] | None = None) -> digests.FileDigest:
    """Digest of a file (through a link, as the work would read it) or of a folder. Raises OSError."""
    real = Path(os.path.realpath(path))
    return digests.of_folder(real, advance) if real.is_dir() else digests.of_file(real, advance)


def freeze(source: Path, target: Path, expected_sha256: str | None, advance: Callable[[int], None] | None = None) -> Frozen:
    """Copy `source` to `target/content`, durable and read-only. Of a copy that fails nothing stays: the disk may be full.

    Raises OSError, ActumError(input_changed) when it does not hold still or has another digest than expected.
    """
    try:
        return _freeze(source, target, expected_sha256, advance)
    except (OSError, ActumError):
        shutil.rmtree(target, ignore_errors=True)
        raise


def _freeze(source: Path, target: Path, expected_sha256: str | None, advance: Callable[[int], None] | None) -> Frozen:
    real = Path(os.path.realpath(source))
    for _ in range(limits.FREEZE_TRIES_MAX):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=durable.PRIVATE_FOLDER)
        before = stat_of(real)
        digest = _copy(real, target / CONTENT, advance)
        if stat_of(real) == before:
            break
    else:
        raise _changed(source, "It was written to while it was being copied.")
    if expected_sha256 is not None and digest.sha256 != expected_sha256:
        raise _changed(source, "Its digest is another than at admission.")
    faults.point("freeze.copy.fsync.before")
    _settle(target)
    faults.point("freeze.folders.fsync.after")
    return Frozen(digest.sha256, digest.size, stat_of(target / CONTENT), before)


def _copy(source: Path, target: Path, advance: Callable[[int], None] | None) -> digests.FileDigest:
    """One pass: what is hashed is what was read, and what was read is what is written."""
    if not source.is_dir():
        return _copy_file(source, target, advance)
    target.mkdir(mode=durable.PRIVATE_FOLDER)
    for kind, path in digests.entries(source):
        copy = target / path.relative_to(source)
        if kind == "folder":
            copy.mkdir(mode=durable.PRIVATE_FOLDER)
        elif kind == "link":
            copy.symlink_to(os.readlink(path))
        elif kind == "file":
            _copy_file(path, copy, advance)
        else:
            raise ActumError(
                "input_unreadable",
                f"“{path.name}” in the input folder is neither a file, a folder nor a link.",
                "Sockets, devices and FIFOs cannot be frozen.",
                "Take it out of the folder.",
            )
    return digests.of_folder(target)


def _copy_file(source: Path, target: Path, advance: Callable[[int], None] | None) -> digests.FileDigest:
    import hashlib

    whole, size = hashlib.sha256(), 0
    block = memoryview(bytearray(limits.HASH_BLOCK_BYTES))
    with open(digests.open_regular(source), "rb", buffering=0) as read, open(target, "xb", buffering=0) as written:
        while count := read.readinto(block):
            piece = block[:count]
            whole.update(piece)
            while piece:
                piece = piece[written.write(piece) :]
            size += count
            if advance is not None:
                advance(count)
    return digests.FileDigest(whole.hexdigest(), size)


def _settle(target: Path) -> None:
    """fsync of every file, then of every folder, the deepest first. Links follow their folder."""
    found = digests.entries(target)
    for kind, path in found:
        if kind == "file":
            durable.settle_file(path)
    faults.point("freeze.copy.fsync.after")
    for kind, path in reversed(found):
        if kind == "folder":
            durable.fsync_folder(path)
    durable.fsync_folder(target)
    durable.fsync_folder(target.parent)


def _changed(source: Path, why: str) -> ActumError:
    return ActumError(
        "input_changed", f"The input “{source.name}” changed.", why, "Run again when it holds still.", path=str(source)
    )
