"""What a run really asked of the kernel: one command under strace, its fault points standing between the system calls.

A passage is a line written to the trace file, so the kernel's order of calls shows where each point stands. `gaps` finds
calls that change what a crash leaves behind and have no fault point on one of their sides; `Order` answers what came
before what. A run of fsyncs counts as one call: a kill between two of them leaves what a kill before the first one does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.scenarios import Stage

SYNCS = ("fsync", "fdatasync")
MOVES = ("rename", "renameat", "renameat2", "link", "linkat")
SIGNALS = ("kill", "tkill", "tgkill", "pidfd_send_signal")
TRACED = (*SYNCS, *MOVES, *SIGNALS, "execve", "write", "openat")

_LINE = re.compile(r"^(\d+) +(?:(\w+)\((.*)|<\.\.\. (\w+) resumed>(.*))$")
_DONE = re.compile(r"\) += (-?\d+)")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FILE = re.compile(r"^\d+<(.*?)>")
_HELD = re.compile(r"O_PATH.*\) += (\d+)<(.*?)>")
_BY_HOLD = re.compile(r"^/proc/self/fd/(\d+)(?=/)")


@dataclass(frozen=True, slots=True)
class Call:
    """One call, or one passage of a fault point (name `passage`). `place` is its order; paths as the kernel got them."""

    thread: int
    name: str
    paths: tuple[str, ...]
    place: int

    def __str__(self) -> str:
        return f"{self.thread} {self.name} {' → '.join(self.paths)}"


def record(stage: Stage, folder: Path, *args: str, name: str = "", code: int = 0) -> list[Call]:
    """Run a command under strace to its end; raises AssertionError if it does not end with `code`."""
    log, passed = folder / f"{name}calls.txt", folder / f"{name}passed.txt"
    trace = ["strace", "-f", "--seccomp-bpf", "-y", "-s", "400", "-e", "trace=" + ",".join(TRACED), "-e", "signal=none"]
    command = [*trace, "-o", str(log), sys.executable, "-c", stage.entry, "--workspace", str(stage.ws.path), *args]
    env = {**os.environ, "ACTUM_FAULT": f"trace={passed}"}
    done = subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return list(parse(log.read_text(errors="replace").splitlines(), str(passed)))


def parse(lines: Iterable[str], passed: str) -> Iterator[Call]:
    """The calls that succeeded, each at the place where it was over, and the passages written to the file `passed`.

    The host reaches the folder of its attempt by a descriptor that it holds, wherever it is by now: such a path is told as the
    one the descriptor was opened at. One host a trace.
    """
    begun: dict[int, str] = {}
    held: dict[str, str] = {}
    for place, line in enumerate(lines):
        match = _LINE.match(line)
        if match is None:
            continue
        thread, text = int(match[1]), match[3] or ""
        name = match[2] or match[4]
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
            continue
        if match[4]:
            text = begun.pop(thread, "") + (match[5] or "")
        result = _DONE.search(text)
        if result is None or int(result[1]) < 0:
            continue
        if name == "openat":
            held.update(_HELD.findall(text))
            continue
        call = _call(thread, name, text, place, passed)
        if call is not None:
            yield replace(call, paths=tuple(_BY_HOLD.sub(lambda by: held.get(by[1], by[0]), path) for path in call.paths))


def _call(thread: int, name: str, text: str, place: int, passed: str) -> Call | None:
    file = _FILE.match(text)
    if name == "write":
        written = _TEXT.search(text)
        if file is None or file[1] != passed or written is None:
            return None
        return Call(thread, "passage", (written[1].split(" ")[0],), place)
    if name in SYNCS:
        return Call(thread, name, (file[1],), place) if file else None
    if name in SIGNALS:
        return Call(thread, name, (text.split(")")[0],), place)
    if name == "execve":
        return Call(thread, name, tuple(_TEXT.findall(text.split("]")[0])), place)
    return Call(thread, name, tuple(_TEXT.findall(text)), place)


def gaps(calls: Iterable[Call], inside: str) -> list[tuple[str, Call]]:
    """("before" | "after", call) for each move, sync or signal that has no fault point directly on that side of it.

    Calls on files below `inside` count, and signals, of every thread of the app, of its helpers, of the host and the work: one
    that passes no point at all has none on either side.
    """
    threads: dict[int, list[Call]] = {}
    for call in calls:
        threads.setdefault(call.thread, []).append(call)
    found = []
    for steps in threads.values():
        found += _gaps([step for step in steps if _counts(step, inside)])
    return found


def _counts(call: Call, inside: str) -> bool:
    if call.name in (*SYNCS, *MOVES):
        return call.paths[0].startswith(inside)
    return call.name == "passage" or call.name in SIGNALS


def _gaps(steps: list[Call]) -> list[tuple[str, Call]]:
    found: list[tuple[str, Call]] = []
    for index, step in enumerate(steps):
        if step.name == "passage":
            continue
        previous, following = steps[index - 1] if index else None, steps[index + 1] if index + 1 < len(steps) else None
        for side, neighbour in (("before", previous), ("after", following)):
            together = neighbour is not None and neighbour.name in SYNCS and step.name in SYNCS
            if neighbour is None or (neighbour.name != "passage" and not together):
                found.append((side, step))
    return found


class Order:
    """What came before what, in one list of calls."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.calls = list(calls)

    def place(self, name: str, path: str, *, after: int = -1) -> int:
        """Where the first such call after a place stands. `name` sync = fsync or fdatasync. Raises AssertionError."""
        names = SYNCS if name == "sync" else MOVES if name == "move" else (name,)
        for call in self.calls:
            if call.place > after and call.name in names and call.paths and call.paths[-1] == path:
                return call.place
        raise AssertionError(f"no {name} of {path} after place {after}")

    def chain(self, *steps: tuple[str, str]) -> int:
        """Every (name, path) comes after the one before it; the place of the last. Raises AssertionError."""
        place = -1
        for name, path in steps:
            place = self.place(name, path, after=place)
        return place
