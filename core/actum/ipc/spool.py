"""The spool of one attempt: the files by which a host and its supervisor know of each other whatever the channel does.

Theory. Every function takes the attempt's folder. A file that is replaced (state.json, tree.json, stop) is written beside
and renamed; a file that may come into being only once (claim, outcome.json) is written beside, fsync'ed and *linked*, so
that of two writers exactly one wins and a half-written one is never seen. Reading yields three distinct answers: the
document, `Absent` (the spool folder was listed and does not hold it), or `Unreadable` with the reason; a missing folder,
an I/O error, garbage, or what is no regular file is never taken for absence (§6), and nothing of it can make a reader wait
(ipc/regular.py). `alive` is only ever locked, never written. Keeps R09, R11, R18.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from itertools import count
from typing import Any, Literal, NamedTuple

from actum import canonical, faults, limits
from actum.ipc import regular, strictjson

Folder = str | os.PathLike[str]
Document = dict[str, Any]


class Absent:
    """The spool folder was listed and does not hold the file. One Absent is as good as another."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent)

    def __hash__(self) -> int:
        return hash(Absent)

    def __repr__(self) -> str:
        return "Absent()"


class Unreadable(NamedTuple):
    """Whether the file exists, or what it says, cannot be told."""

    why: str


Found = Document | Absent | Unreadable


def spool_path(folder: Folder, name: str = "") -> str:
    return os.path.join(os.fspath(folder), "spool", name)


# What may come into being only once.


def create_claim(folder: Folder, document: Document) -> bool:
    """Make spool/claim; False when it is there already (then read it and give way). Raises OSError."""
    made = _make_once(folder, "claim", document, "claim")
    if made:
        _fsync_folder(folder)
    return made


def link_outcome(folder: Folder, document: Document) -> bool:
    """Make spool/outcome.json durable; False when there is one already, which then stands. Raises OSError."""
    made = _make_once(folder, "outcome.json", document, "outcome")
    _fsync_folder(folder)
    faults.point("spool.folder.fsync.after")
    return made


def outcome_digest(document: Document) -> str:
    """What tells one outcome from another in `sealed`, `failed`, `stopped` and `ack`: sha256 of outcome.json."""
    return canonical.digest(document)


# What is replaced.


def write_state(folder: Folder, document: Document) -> None:
    faults.point("spool.state.rename.before")
    _replace(folder, "state.json", json.dumps(document, separators=(",", ":")))
    faults.point("spool.state.rename.after")


def write_tree(folder: Folder, document: Document) -> None:
    faults.point("spool.tree.rename.before")
    _replace(folder, "tree.json", json.dumps(document, separators=(",", ":")))
    faults.point("spool.tree.rename.after")


def write_stop(folder: Folder, *, level: str, cause: str, at_us: int) -> None:
    """Ask the host to stop, durably. `level`: ask, insist or dismiss. Raises OSError."""
    document = {"v": 1, "level": level, "cause": cause, "at": at_us}
    faults.point("spool.stop.fsync.before")
    temporary = _write_beside(folder, "stop", canonical.dumps(document))
    try:
        faults.point("spool.stop.rename.before")
        os.replace(temporary, spool_path(folder, "stop"))
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # it is tried again, under another name
        raise
    faults.point("spool.stop.rename.after")
    _fsync_folder(folder)
    faults.point("spool.stop.fsync.after")


# Reading.


def read_claim(folder: Folder) -> Found:
    return _read(folder, "claim")


def read_outcome(folder: Folder) -> Found:
    """The outcome, checked member by member: one that is not an outcome is unreadable."""
    from actum.ipc import messages

    found = _read(folder, "outcome.json")
    if isinstance(found, dict) and not messages.is_outcome(found):
        return Unreadable("outcome.json does not hold an outcome")
    return found


def read_state(folder: Folder) -> Found:
    """The newest state; one that cannot be understood member by member is unreadable."""
    from actum.ipc import messages

    found = _read(folder, "state.json")
    if isinstance(found, dict) and not messages.is_state(found):
        return Unreadable("state.json does not hold a state")
    return found


def read_tree(folder: Folder) -> Found:
    return _read(folder, "tree.json")


def read_stop(folder: Folder) -> Found:
    """The stop that was asked. Looked for many times a second, so a missing file costs one look at it."""
    return _read(folder, "stop") if os.path.lexists(spool_path(folder, "stop")) else Absent()


# The alive lock.


def hold_alive(folder: Folder, wait_s: float) -> int | None:
    """Take the lock that says "somebody lives"; the descriptor, or None when another process keeps it. Raises OSError."""
    descriptor = regular.descriptor(spool_path(folder, "alive"), os.O_RDWR)
    end = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:  # a probe holds it for an instant, or another host for long
            if time.monotonic() > end:
                os.close(descriptor)
                return None
            time.sleep(0.005)


def probe_alive(folder: Folder) -> Literal["held", "free", "unknown"]:
    """Whether some process holds the alive lock. What is missing, or no file, is unknown."""
    try:
        descriptor = regular.descriptor(spool_path(folder, "alive"))
    except OSError:
        return "unknown"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return "free"
    except BlockingIOError:
        return "held"
    except OSError:
        return "unknown"
    finally:
        os.close(descriptor)


# Small steps, each with its fault points.


_serial = count()
_NEW = os.O_CREAT | os.O_TRUNC | os.O_WRONLY


def _beside(folder: Folder, name: str) -> str:
    """A name nobody else uses, for what is not yet finished."""
    return spool_path(folder, f".{name}.{os.getpid()}-{next(_serial)}")


def _write_beside(folder: Folder, name: str, text: str) -> str:
    temporary = _beside(folder, name)
    descriptor = regular.descriptor(temporary, _NEW)
    try:
        _write_all(descriptor, text.encode("utf-8", "replace"))
        if name == "outcome.json":
            faults.point("spool.outcome.fsync.before")
        os.fsync(descriptor)
        if name == "outcome.json":
            faults.point("spool.outcome.fsync.after")
    except OSError:
        os.unlink(temporary)  # the disk may be full: leave nothing of what will be tried again
        raise
    finally:
        os.close(descriptor)
    return temporary


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _make_once(folder: Folder, name: str, document: Document, point: str) -> bool:
    temporary = _write_beside(folder, name, canonical.dumps(document))
    try:
        faults.point(f"spool.{point}.link.before")
        os.link(temporary, spool_path(folder, name))
        faults.point(f"spool.{point}.link.after")
        return True
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)


def _replace(folder: Folder, name: str, text: str) -> None:
    """Replace news by newer news; not fsync'ed, since after a power cut nobody lives whom they were about."""
    temporary = _beside(folder, name)
    try:
        with open(regular.descriptor(temporary, _NEW), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(temporary, spool_path(folder, name))
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # a full disk must not fill with tries
        raise


def _fsync_folder(folder: Folder) -> None:
    descriptor = os.open(spool_path(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(folder: Folder, name: str) -> Found:
    for _ in range(2):  # once more when it came into being between the look and the list
        try:
            return _parse(name, regular.content(spool_path(folder, name), limits.SPOOL_FILE_BYTES_MAX + 1))
        except FileNotFoundError:
            pass
        except regular.NotRegular:
            return Unreadable(f"{name} {regular.WORDS}")
        except OSError as error:
            return Unreadable(f"{name} cannot be read: {error.strerror}")
        try:
            if name not in os.listdir(spool_path(folder)):
                return Absent()
        except FileNotFoundError:
            return Unreadable(f"the folder {spool_path(folder).rstrip('/')} is missing")
        except OSError as error:
            return Unreadable(f"the spool folder cannot be listed: {error.strerror}")
    return Unreadable(f"{name} is listed and cannot be opened")


def _parse(name: str, data: bytes) -> Document | Unreadable:
    if len(data) > limits.SPOOL_FILE_BYTES_MAX:
        return Unreadable(f"{name} is longer than {limits.SPOOL_FILE_BYTES_MAX} bytes")
    try:
        document = strictjson.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return Unreadable(f"{name} does not hold JSON")
    return document if type(document) is dict else Unreadable(f"{name} does not hold an object")
