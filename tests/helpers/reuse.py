"""Programs for tests/process/test_pid_reuse.py, run as the first process of a pid namespace of their own.

There the kernel can be told which pid comes next (/proc/sys/kernel/ns_last_pid of the namespace; the machine's own is not
touched), so a pid is really used again, by a real other process. `python -m tests.helpers.reuse NAME FOLDER` prints JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actum import faults
from actum.ipc import spool
from actum.model.identity import ProcessIdentity
from actum.processes import evidence, identity, terminate
from actum.processes.tree import Snapshot

from tests.helpers.waiting import wait_until

SLEEPER = ["sleep", "600"]
Process = subprocess.Popen[bytes]


def begin() -> tuple[Process, ProcessIdentity]:
    process = subprocess.Popen(SLEEPER)
    found = identity.of(process.pid)
    assert found is not None
    return process, found


def stranger_at(pid: int, ticks: int) -> Process:
    """A process that has nothing to do with anything, under a pid that was another's; started in a later tick than `ticks`."""
    per_second = os.sysconf("SC_CLK_TCK")
    wait_until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * per_second > ticks + 2, what="the clock to tick")
    for _ in range(200):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
        process = subprocess.Popen(SLEEPER)
        if process.pid == pid:
            return process
        process.kill()  # another thread's child came between
        process.wait()
    raise AssertionError(f"pid {pid} did not come again")


def end(process: Process) -> None:
    process.kill()
    process.wait()


def identities(folder: Path) -> dict[str, Any]:
    """A pid that is another's now: seen as gone, and not signalled."""
    first, found = begin()
    end(first)
    second = stranger_at(found.pid, found.start_ticks)
    said = {
        "same pid": second.pid == found.pid,
        "state": identity.state(found),
        "signal": terminate.signal(found, signal.SIGKILL),
        "stranger": second.poll() is None,
    }
    end(second)
    return said


def between(folder: Path) -> dict[str, Any]:
    """The pid passes to another after the identity was checked and before the signal is sent: nobody gets it."""
    first, found = begin()
    others: list[Process] = []

    def pidfd_is_open() -> bool:
        infos = Path("/proc/self/fdinfo")
        return any(f"Pid:\t{found.pid}\n" in _text(infos / name) for name in os.listdir(infos))

    def replace() -> None:
        wait_until(pidfd_is_open, what="the pidfd")
        end(first)
        others.append(stranger_at(found.pid, found.start_ticks))

    thread = threading.Thread(target=replace)
    faults.arm("processes.signal.before:delay=1500")
    thread.start()
    answer = terminate.signal(found, signal.SIGKILL)
    in_time = bool(others)
    thread.join()
    said = {"in time": in_time, "same pid": others[0].pid == found.pid, "signal": answer, "stranger": others[0].poll() is None}
    end(others[0])
    return said


def recorded(folder: Path) -> dict[str, Any]:
    """tree.json and the claim name pids that are strangers' now: host gone, tree clear, nobody to be ended."""
    (folder / "spool").mkdir(parents=True)
    host, host_identity = begin()
    member, member_identity = begin()
    claim = {"v": 1, "by": "host", "session": "s", "identity": host_identity.to_json(), "at": 1}
    spool.create_claim(folder, claim)
    spool.write_tree(folder, {"v": 1, "session": "s", "at": 1, "members": [{**member_identity.to_json(), "command": "sleep"}]})
    before = evidence.gather(attempt_folder=folder, session="s", cookie="c", host_identity=host_identity)
    for process in (host, member):
        end(process)
    strangers = [stranger_at(each.pid, each.start_ticks) for each in (host_identity, member_identity)]
    after = evidence.gather(
        attempt_folder=folder, session="s", cookie="c", host_identity=host_identity, snapshot=Snapshot.take()
    )
    said = {
        "before": [before.host.value, before.tree.value],
        "after": [after.host.value, after.tree.value],
        "members": len(after.members),
        "strangers": [each.poll() is None for each in strangers],
    }
    for each in strangers:
        end(each)
    return said


def whole_run(folder: Path) -> dict[str, Any]:
    """Host and work killed while nobody supervises, their pids strangers' now: reconciliation ends the run, and no more."""
    from actum.store.queries import Reader
    from actum.workspace import Workspace

    from tests.helpers.program import made

    place = made(folder)
    ws = Workspace(place.home)
    place.define("idle", "exec sleep 600")
    place.actum("run", "idle", "--detach")
    wait_until(lambda: place.show().get("phase") == "COMPUTING" and _members(ws, 1), what="the work")
    claim = spool.read_claim(ws.attempt_folder(1, 1))
    assert isinstance(claim, dict)
    host = ProcessIdentity.from_json(claim["identity"])
    work = _members(ws, 1)[0]
    supervisor = place.supervisor()
    assert supervisor is not None
    for pid in (supervisor, host.pid, work.pid):
        os.kill(pid, signal.SIGKILL)
    for each in (host, work):
        wait_until(lambda each=each: _reaped(each.pid), what="the end")  # type: ignore[misc]
    strangers = [stranger_at(each.pid, each.start_ticks) for each in (host, work)]
    told = place.actum("reconcile", "--wait")
    shown = place.show()
    with Reader(ws) as reader:
        signalled = [row.data for row in reader.journal(1) if row.kind == "signalled"]
    said = {
        "code": told.code,
        "status": shown["status"],
        "failure": (shown["failure"] or {}).get("code"),
        "released": shown["released"],
        "signalled": len(signalled),
        "strangers": [each.poll() is None for each in strangers],
    }
    for each in strangers:
        end(each)
    return said


def _members(ws: Any, run: int) -> list[ProcessIdentity]:
    found = spool.read_tree(ws.attempt_folder(run, 1))
    return [ProcessIdentity.from_json(each) for each in found["members"]] if isinstance(found, dict) else []


def _reaped(pid: int) -> bool:
    """Whether the pid is free; orphans of this namespace are its first process's to take leave of."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    return not Path(f"/proc/{pid}").exists()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


PROGRAMS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "identities": identities,
    "between": between,
    "recorded": recorded,
    "whole_run": whole_run,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(PROGRAMS[sys.argv[1]](Path(sys.argv[2]))) + "\n")
