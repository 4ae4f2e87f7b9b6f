"""Proof of who a process is: machine, boot, pid namespace, pid and start ticks (R07, §7).

Theory. A pid alone names nothing: it is used again. The ticks since boot at which a process started (field 22 of
/proc/PID/stat) do not move with the wall clock, and a pid is not used twice within one tick, so the five together name
one life of one process. Of an identity one can tell: it is *alive*; it is *gone*; or one *cannot tell*, because it is of
another machine or another pid namespace, or this system hides it. Another boot of the same machine is gone. Nothing here
signals anything: see terminate.py.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Literal

from actum.model.identity import ProcessIdentity

State = Literal["alive", "gone", "cannot_tell"]
Place = Literal["same", "other_machine", "other_boot", "other_namespace"]

# Positions in /proc/PID/stat after the name, which is in brackets and may hold anything.
STATE, PPID, SESSION, UTIME, STIME, CUTIME, CSTIME, THREADS, START_TICKS, RSS_PAGES = 0, 1, 3, 11, 12, 13, 14, 17, 19, 21


@lru_cache(maxsize=1)
def machine_id() -> str:
    """/etc/machine-id, else a random id kept in the user's state folder."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except (OSError, ValueError):
            continue
        if text and text != "uninitialized":
            return text
    return _own_machine_id()


@lru_cache(maxsize=1)
def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


_FIRST_TIME_NAMESPACE = "time:[4026531834]"  # fixed in Linux (PROC_TIME_INIT_INO)


@lru_cache(maxsize=1)
def pid_namespace() -> str:
    """Within which pids and start ticks mean what they mean here.

    A time namespace is part of it where this process is not in the system's first one: start ticks are counted from its own
    boot time in there, so that a living process would be taken for another one with its pid (R07).
    """
    pids = os.readlink("/proc/self/ns/pid")
    try:
        times = os.readlink("/proc/self/ns/time")
    except OSError:
        return pids
    return pids if times == _FIRST_TIME_NAMESPACE else f"{pids}+{times}"


def own() -> ProcessIdentity:
    identity = of(os.getpid())
    assert identity is not None, "a process can read its own stat"
    return identity


def of(pid: int) -> ProcessIdentity | None:
    """The identity of the process that has this pid now; None where there is none, or a zombie."""
    fields = stat_fields(pid)
    return None if fields is None or is_dead(fields) else here(pid, int(fields[START_TICKS]))


def here(pid: int, ticks: int) -> ProcessIdentity:
    return ProcessIdentity(machine_id(), boot_id(), pid_namespace(), pid, ticks)


def start_ticks(pid: int) -> int | None:
    """World-readable, so it tells a foreign process from the one meant before anything else of it is read."""
    fields = stat_fields(pid)
    return None if fields is None else int(fields[START_TICKS])


def stat_fields(pid: int) -> list[bytes] | None:
    """The members of /proc/PID/stat after the name; None where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            data = file.read(4096)
    except OSError:
        return None
    return data[data.rfind(b")") + 2 :].split() or None


def is_dead(fields: list[bytes]) -> bool:
    """A zombie is gone, unless only its first thread has ended and others still run."""
    return fields[STATE] in (b"X", b"x") or (fields[STATE] == b"Z" and int(fields[THREADS]) <= 1)


def place(identity: ProcessIdentity) -> Place:
    """Where an identity is from, seen from here."""
    if identity.machine != machine_id():
        return "other_machine"
    if identity.boot != boot_id():
        return "other_boot"
    return "same" if identity.pid_namespace == pid_namespace() else "other_namespace"


def same_place(identity: ProcessIdentity) -> bool:
    """Whether pids of this process's world mean what they meant when `identity` was taken."""
    return place(identity) == "same"


def state(identity: ProcessIdentity) -> State:
    """What holds of this life of a process now."""
    where = place(identity)
    if where != "same":
        return "gone" if where == "other_boot" else "cannot_tell"
    fields = stat_fields(identity.pid)
    if fields is None:
        return "cannot_tell" if _exists_unseen(identity.pid) else "gone"
    return "gone" if int(fields[START_TICKS]) != identity.start_ticks or is_dead(fields) else "alive"


def _exists_unseen(pid: int) -> bool:
    """Whether a process exists whose stat cannot be read: hidden (mount option hidepid), or no descriptor is left for it."""
    try:
        os.getsid(pid)  # takes no descriptor and needs no right
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return stat_fields(pid) is None


def _own_machine_id() -> str:
    import secrets

    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = os.path.join(base, "actum")
    path = os.path.join(folder, "machine-id")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(16))
    try:
        os.link(temporary, path)  # the first one stands
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
    with open(path, encoding="ascii") as file:
        return file.read().strip()
