"""Writes that are on the disk when they return: temp file, fsync, rename, fsync of the folder. Standard library only.

Every I/O error leaves here as `StorageFailed`, named by a phrase ("sealing the manifest"). Fault points stand before and
after each step, under the prefix the caller gives.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from actum import faults
from actum.errors import StorageFailed
from actum.ipc import regular

READ_ONLY_FILE = 0o444
READ_ONLY_FOLDER = 0o555
PRIVATE_FOLDER = 0o700

_SYNC_FILE_RANGE_WRITE = 2


@contextlib.contextmanager
def action(phrase: str) -> Iterator[None]:
    """Turns an OSError inside into StorageFailed, named by `phrase`."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(phrase, error) from error


def fsync_folder(folder: Path) -> None:
    """Make the entries of `folder` durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(
    path: Path, *content: bytes | bytearray, fault: str, mode: int = READ_ONLY_FILE, with_folder: bool = True
) -> None:
    """Create or replace `path` with `content`, its parts one after another, and make it durable, its folder included unless
    the caller does that later.

    Raises OSError.
    """
    temporary = path.with_name(f".{path.name}.writing")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.writelines(content)
        file.flush()
        os.fchmod(descriptor, mode)
        faults.point(f"{fault}.fsync.before")
        os.fsync(descriptor)
    faults.point(f"{fault}.fsync.after")
    faults.point(f"{fault}.rename.before")
    os.replace(temporary, path)
    faults.point(f"{fault}.rename.after")
    if with_folder:
        fsync_folder(path.parent)


def settle_file(path: Path) -> None:
    """Make the bytes of a finished file durable and the file read-only. Raises OSError."""
    descriptor = regular.descriptor(path)
    try:
        _forbid_writing(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def begin_settling(paths: Iterable[Path]) -> None:
    """Let the disk begin with many finished files at once: `settle_file` of each then finds little left to wait for.

    Makes those read-only that have one name. Promises nothing; where the system has no such call, only that is done.
    """
    import ctypes

    begin = getattr(ctypes.CDLL(None), "sync_file_range", None)
    for path in paths:
        descriptor = regular.descriptor(path)
        try:
            if os.fstat(descriptor).st_nlink == 1:
                _forbid_writing(descriptor)
            if begin is not None:
                begin(descriptor, ctypes.c_int64(0), ctypes.c_int64(0), _SYNC_FILE_RANGE_WRITE)
        finally:
            os.close(descriptor)


def _forbid_writing(descriptor: int) -> None:
    """A mode that is right already is not set again: that alone would have to be written to the disk."""
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != READ_ONLY_FILE:
        os.fchmod(descriptor, READ_ONLY_FILE)
