"""The workspace of a soak: work of many kinds that tells an outside file what it does, and the processes that may be hit."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import roles
from tests.faults.scenarios import Stage

APP, HELPER = "app", "helper"

# Tells its start, its end, and any other start of the same run that lives beside it. What it then does is its second word.
WORK = r"""
import json, os, subprocess, sys, time
trace, kind, data = sys.argv[1:4]
key, attempt = os.environ["ACTUM_KEY"], os.environ["ACTUM_ATTEMPT"]

def begun(pid):
    try:
        fields = open(f"/proc/{pid}/stat", "rb").read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()

def say(word, more=""):
    file = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{key} {attempt} {word} {os.getpid()} {begun(os.getpid())} {more}\n".encode())
    os.close(file)

say("start")
starts = [line.split() for line in open(trace) if line.startswith(key + " ") and " start " in line]
for _, other, _, pid, ticks in starts:
    if int(pid) != os.getpid() and begun(pid) == ticks:
        say("beside", other)
messages = open(os.environ["ACTUM_MESSAGES"], "a", buffering=1)

def tell(**message):
    messages.write(json.dumps(message) + "\n")

steps = {"deadline": 10**6, "stopped": 10**6, "quick": 1}.get(kind, 12)
for step in range(steps):
    tell(progress=[step + 1, steps])
    tell(record="step", data={"step": step})
    print("step", step, flush=True)
    time.sleep(0.05)
output = os.environ["ACTUM_OUTPUT"]
if kind == "big":
    with open(os.path.join(output, "big.bin"), "wb") as file:
        for _ in range(200):
            file.write(os.urandom(100_000))
    for _ in range(20_000):
        print("x" * 100)
if kind == "family":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"], start_new_session=True)
if kind == "fails" or (kind == "again" and len(starts) < 3):
    say("end")
    sys.exit(3)
with open(data) as source, open(os.path.join(output, "table.csv"), "w") as table:
    source.readline()
    table.write(source.read())
tell(table="squares", path="table.csv")
tell(metric="rows", value="10", observations=10)
say("end")
"""

# kind of work → its task; how many in a hundred runs
KINDS = {
    "plain": ("plain", 30),
    "quick": ("plain", 15),
    "family": ("plain", 10),
    "big": ("plain", 7),
    "fails": ("plain", 8),
    "stopped": ("plain", 10),
    "again": ("again", 10),
    "deadline": ("timed", 10),
}
TASKS = {"plain": (), "again": ("--retries", "3"), "timed": ("--timeout", "2s")}


@dataclass(frozen=True, slots=True)
class Living:
    """A process that may be hit, and of what it is: (run, n) of a host, the attempt's id of work, () of others."""

    pid: int
    role: str
    of: tuple[str, ...]


@dataclass
class Spoken:
    """What the work of one attempt told."""

    words: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


class SoakStage(Stage):
    """One workspace of a soak, with its three tasks. Commands write into files: nobody reads their pipes."""

    def define_tasks(self) -> None:
        script = self.folder / "work.py"
        script.write_text(WORK)
        words = (str(script), str(self.trace), "{kind}", "{data}")
        arguments = [f"--arg={word}" for word in words]
        kinds = ",".join(KINDS)
        for name, more in TASKS.items():
            options = (*arguments, "--param", f"kind:choice[{kinds}]", "--param", "data:file", "--grace", "1s", *more)
            self.run("task", "add", name, "--program", sys.executable, *options)

    def launch(self, name: str, *args: str) -> subprocess.Popen[bytes]:
        """Start a command; what it says goes to `<name>.said`."""
        command = [sys.executable, "-c", self.entry, "--workspace", str(self.ws.path), *args]
        with (self.folder / f"{name}.said").open("ab") as said:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder)

    def living(self) -> list[Living]:
        """Everything of this workspace that lives now, but its clients that only read."""
        found = [Living(pid, role, _of(pid, role)) for pid, role in roles.find(self.ws.path).items()]
        apps = set(_with_argument(f"\0--workspace\0{self.ws.path}\0".encode()))
        found += [Living(pid, APP, ()) for pid in sorted(apps)]
        found += [Living(pid, HELPER, ()) for pid in _with_argument(b"\0actum.helpers\0") if _parent(pid) in apps]
        return found

    def spoken(self) -> dict[str, dict[str, Spoken]]:
        """key → attempt's id → what its work told, in order."""
        found: dict[str, dict[str, Spoken]] = {}
        for line in self.trace.read_text().splitlines() if self.trace.exists() else []:
            key, attempt, word, _pid, _ticks, *more = line.split()
            spoken = found.setdefault(key, {}).setdefault(attempt, Spoken())
            if word == "beside":
                spoken.beside += more
            else:
                spoken.words.append(word)
        return found


def _of(pid: int, role: str) -> tuple[str, ...]:
    """The attempt that a host or a process of the work belongs to; () when it has ended meanwhile."""
    name = "cmdline" if role == roles.HOST else "environ"
    try:
        parts = Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ()
    if role == roles.HOST:
        folder = next((Path(part) for part in parts if "/attempts/" in part), None)
        return (folder.parent.name, folder.name) if folder else ()
    return tuple(part.partition("=")[2] for part in parts if part.startswith("ACTUM_ATTEMPT="))


def _with_argument(wanted: bytes) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                command = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if wanted in command:
                found.append(int(entry))
    return found


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0
