"""Opening what must be a regular file: never a wait for whoever may stand behind a FIFO, a device, a socket or a link.

Theory. Whatever the work can write to, it can replace: by a FIFO, whose opening waits for a partner that never comes, by a
device, whose reading never ends, or by a link to either. So every file that the work, or any program of the same user, may
have put in the place of ours is opened here: without waiting, without following a link, and looked at before a byte of it
is used. What is not a regular file is an error that says so, which a reader takes for "cannot tell", never for absence
(§6). None of our own files is ever a link; a file that the user names may be reached by one (`follow`). Standard library
only, and quick to import: every host does. Keeps R09, R18.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import IO

AnyPath = str | os.PathLike[str]

WORDS = "is not a regular file"

# What opening says of a link, a socket or a FIFO without a reader, and a folder that is to be written.
_SAY_SO = (errno.ELOOP, errno.ENXIO, errno.EISDIR)


class NotRegular(OSError):
    """Something else stands in the place of the file. `errno` is EINVAL: neither absent nor full."""

    def __init__(self, path: AnyPath) -> None:
        super().__init__(errno.EINVAL, WORDS, os.fspath(path))


def descriptor(path: AnyPath, flags: int = os.O_RDONLY, mode: int = 0o600, *, follow: bool = False) -> int:
    """A descriptor of a regular file, opened with `flags`. Raises NotRegular, OSError."""
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        opened = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in _SAY_SO:
            raise NotRegular(path) from error
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise NotRegular(path)
    return opened


def reading(path: AnyPath, *, follow: bool = False, buffering: int = -1) -> IO[bytes]:
    """The file, open for reading bytes. Raises NotRegular, OSError."""
    return open(descriptor(path, follow=follow), "rb", buffering=buffering)


def content(path: AnyPath, bytes_max: int, *, follow: bool = False) -> bytes:
    """At most its first `bytes_max` bytes, whatever its length. Raises NotRegular, OSError."""
    with reading(path, follow=follow) as file:
        return file.read(bytes_max)
