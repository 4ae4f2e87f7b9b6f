"""What /proc says of one process beyond its stat: cookie, alive files, command. Read, never decided upon here."""

from __future__ import annotations

import os
import time
from itertools import pairwise

from actum import limits

FileId = tuple[int, int]  # device, inode

_TICKS = os.sysconf("SC_CLK_TCK")
_COOKIE = b"ACTUM_COOKIE="
_ALIVE = "/spool/alive"
_LOCK = "/lock"


def runs_host_of(pid: int, folder: str | os.PathLike[str]) -> bool:
    """Whether this process was started as the host of the attempt in `folder`, by its command line."""
    return os.fsencode(folder) in _hosted(pid)


def becomes_host(pid: int, start_ticks: int) -> bool:
    """Whether this process was lately started as the host of some attempt whose alive file it may not have locked yet."""
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / _TICKS
    return age_s < limits.HOST_ARRIVES_S and any(os.path.exists(folder + _ALIVE.encode()) for folder in _hosted(pid))


def _hosted(pid: int) -> list[bytes]:
    """The folders that follow the host's program on a command line."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            words = file.read(65_536).split(b"\0")
    except OSError:
        return []
    return [given for script, given in pairwise(words) if script.endswith(b"/host_main.py")]


def command_of(pid: int) -> str:
    """The command line, short, for people; the name in brackets where it is empty. Never used to decide anything."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            words = file.read(4096).replace(b"\0", b" ").strip()
        if not words:
            with open(f"/proc/{pid}/comm", "rb", buffering=0) as file:
                words = b"[" + file.read(64).strip() + b"]"
    except OSError:
        return ""
    return words.decode("utf-8", "replace")[: limits.COMMAND_CHARS_MAX]


def cookie_of(pid: int) -> str:
    """ACTUM_COOKIE in the environment a process was started with, or "". Raises OSError where it is not ours to read."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            data = b""
            while part := file.read(1 << 16):
                data += part
    except (FileNotFoundError, ProcessLookupError):
        return ""
    start = 0 if data.startswith(_COOKIE) else data.find(b"\0" + _COOKIE) + 1
    if not start and not data.startswith(_COOKIE):
        return ""
    return data[start + len(_COOKIE) :].split(b"\0", 1)[0].decode("utf-8", "replace")


def alive_files_of(pid: int) -> dict[FileId, bool]:
    """Every alive file a process has open for writing, and whether by a descriptor that locks it; a probe opens it for reading.

    Raises OSError where its descriptors cannot be listed although it lives.
    """
    folder = f"/proc/{pid}/fd"
    found: dict[FileId, bool] = {}
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return found
    for name in names:
        path = f"{folder}/{name}"
        try:
            if os.readlink(path).removesuffix(" (deleted)").endswith(_ALIVE) and os.lstat(path).st_mode & 0o200:
                status = os.stat(path)
                place = (status.st_dev, status.st_ino)
                found[place] = found.get(place, False) or _holds(pid, name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # this descriptor has been closed meanwhile
    return found


def supervises(pid: int, session: int) -> bool:
    """Whether this is a supervisor that stands apart: it leads a kernel session of its own and holds a workspace's lock.

    The kernel's account of the lock counts, not the open file: one that merely waits for it is no supervisor yet.
    """
    if session != pid:
        return False
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            path = os.readlink(f"{folder}/{name}")
            if path.endswith(_LOCK) and os.path.exists(f"{path.removesuffix(_LOCK)}/generation") and _holds(pid, name):
                return True
    except OSError:
        pass  # it has ended meanwhile, or it is not ours to look at
    return False


def _holds(pid: int, descriptor: str) -> bool:
    """Whether a descriptor locks its file against everybody else, by the kernel's account."""
    with open(f"/proc/{pid}/fdinfo/{descriptor}", "rb", buffering=0) as file:
        lines = file.read(4096).splitlines()
    return any(line.startswith(b"lock:") and b" FLOCK " in line and b" WRITE " in line for line in lines)


def file_id(path: str | os.PathLike[str] | None) -> FileId | None:
    try:
        status = os.stat(path) if path is not None else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None
