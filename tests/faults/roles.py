"""What the app of the fault matrix knows of its host and work: found in /proc by their workspace, killed without asking.

The program itself needs none of this: a fault point in a host knows how to kill app and work, one in a helper the app.
`find` serves the checks too: when all is closed, nothing of the workspace may live.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

HOST, WORK = "host", "work"


def find(workspace: Path) -> dict[int, str]:
    """pid → HOST or WORK of every living process of an attempt of this workspace."""
    host, output = f"{workspace}/attempts/".encode(), f"\0ACTUM_OUTPUT={workspace}/".encode()
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            command = Path(f"/proc/{entry}/cmdline").read_bytes()
            environment = Path(f"/proc/{entry}/environ").read_bytes()
        except OSError:
            continue
        if b"host_main.py\0" in command and host in command:
            found[int(entry)] = HOST
        elif output in b"\0" + environment:
            found[int(entry)] = WORK
    return found


def kill(workspace: Path, role: str) -> bool:
    """Kill every process of that role; whether there was one."""
    pids = [pid for pid, found in find(workspace).items() if found == role]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return bool(pids)


def tell() -> None:
    """Called in the app before anything else: its fault points find the host and the work of its workspace."""
    from actum import faults

    workspace = Path(sys.argv[sys.argv.index("--workspace") + 1])
    faults.roles[HOST] = lambda: kill(workspace, HOST)
    faults.roles[WORK] = lambda: kill(workspace, WORK)
