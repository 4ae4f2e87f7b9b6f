"""What a test leaves behind: threads, processes, open files, Qt threads and timers, and log records nobody expected.

`Traces.take()` before, `left(before)` after: a list of sentences, empty when nothing was left. Processes are found by
descent *and* by a variable that everything started by the tests inherits, so that a detached host is found as well.
What ends by itself gets a moment to do so. A supervisor that several tests share starts its helpers when it needs them, and
keeps them: within `supervised_by` they are its own. One whose supervisor is gone is left behind, like anything else.
"""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.waiting import wait_until

MARK = "STARTED_BY_TESTS"
SETTLE_S = 20.0  # a supervisor left behind comes up, lingers IDLE_LINGER_S, and ends by itself

PROC = Path("/proc")
HELPER = b"-m actum.helpers"
_supervisors: set[int] = set()  # pids of those that several tests share


@dataclass(frozen=True, slots=True)
class Traces:
    threads: frozenset[int]
    processes: frozenset[int]
    files: frozenset[tuple[int, str]]
    qt: frozenset[int]

    @classmethod
    def take(cls, *, qt: bool = False) -> Traces:
        return cls(
            frozenset(thread.ident or 0 for thread in _threads()),
            _pids(),
            frozenset(_open_files()),
            frozenset(id(found) for found, _ in _qt_objects()) if qt else frozenset(),
        )


def mark_environment() -> None:
    """Give this process's children, and theirs, the variable by which they are found."""
    os.environ[MARK] = f"{os.getpid()}"


def marked(owner: int) -> list[int]:
    """The pids of what the tests of another process left: all that carries its mark."""
    word = f"{MARK}={owner}".encode()
    found = []
    for pid in sorted(_pids()):
        try:
            if word in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                found.append(pid)
        except OSError:
            continue
    return found


@contextmanager
def supervised_by(pid: int) -> Iterator[None]:
    """Meanwhile the helpers of this supervisor are nothing that a test left behind."""
    _supervisors.add(pid)
    try:
        yield
    finally:
        _supervisors.discard(pid)


def helpers_of(supervisor: int) -> list[int]:
    """The pids of its helper processes."""
    found = []
    for pid in sorted(_pids()):
        try:
            _, parent, command = _seen(pid)
        except OSError:
            continue
        if parent == supervisor and command.endswith(HELPER):
            found.append(pid)
    return found


def left(before: Traces, *, qt: bool = False, settle_s: float = SETTLE_S) -> list[str]:
    """What is there now and was not before; asked again until nothing is left or `settle_s` has passed."""
    found = _left(before, qt=qt)
    if not found or not settle_s:
        return found

    def settled() -> bool:
        gc.collect()
        _process_qt_events(qt)
        return not _left(before, qt=qt)

    try:
        wait_until(settled, settle_s)
    except AssertionError:
        return _left(before, qt=qt)
    return []


def _left(before: Traces, *, qt: bool) -> list[str]:
    found = [f"the thread “{t.name}” still runs" for t in _threads() if (t.ident or 0) not in before.threads]
    found += [words for pid in sorted(_pids() - before.processes) if (words := _ours(pid))]
    found += [f"the file {path} is still open (descriptor {fd})" for fd, path in sorted(_open_files() - before.files)]
    if qt:
        found += [words for thing, words in _qt_objects() if id(thing) not in before.qt]
    return found


def _threads() -> list[threading.Thread]:
    """Python's own threads; those Qt made are seen as QThread objects."""
    dummy = getattr(threading, "_DummyThread")  # noqa: B009 - not in the type stubs
    return [thread for thread in threading.enumerate() if not isinstance(thread, dummy)]


def _pids() -> frozenset[int]:
    return frozenset(int(name) for name in os.listdir(PROC) if name.isdigit()) if PROC.exists() else frozenset()


def _ours(pid: int) -> str:
    """A sentence about the process when it is a child of this one or carries the mark; "" otherwise."""
    try:
        state, parent, command = _seen(pid)
        environment = (PROC / str(pid) / "environ").read_bytes() if state != "Z" else b""
    except OSError:
        return ""
    if parent in _supervisors and command.endswith(HELPER):
        return ""
    marked = f"{MARK}={os.getpid()}".encode() in environment.split(b"\0")
    if parent != os.getpid() and not marked:
        return ""
    if state == "Z":
        return f"the ended child {pid} was never waited for" if parent == os.getpid() else ""
    return f"the process {pid} still runs: {command.decode('utf-8', 'replace')[:160]}"


def _seen(pid: int) -> tuple[str, int, bytes]:
    """State, parent and command line. Raises OSError where it has gone."""
    stat = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    return stat[0].decode(), int(stat[1]), (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").strip()


def _open_files() -> set[tuple[int, str]]:
    """Descriptors of files below the temporary directory: what tests open lies there."""
    found = set()
    folder = PROC / "self" / "fd"
    for name in os.listdir(folder) if folder.exists() else ():
        try:
            target = os.readlink(folder / name)
        except OSError:
            continue
        if target.startswith(tempfile.gettempdir() + "/") and int(name) > 2:
            found.add((int(name), target))
    return found


def _qt_objects() -> list[tuple[object, str]]:
    """Running QThreads and active QTimers that Python knows of."""
    core = sys.modules.get("PySide6.QtCore")
    shiboken = sys.modules.get("shiboken6")
    if core is None or shiboken is None:
        return []
    found: list[tuple[object, str]] = []
    for thing in gc.get_objects():
        if isinstance(thing, (core.QThread, core.QTimer)) and shiboken.isValid(thing):
            if isinstance(thing, core.QThread) and thing.isRunning() and thing is not core.QThread.currentThread():
                found.append((thing, f"the QThread “{thing.objectName()}” still runs"))
            elif isinstance(thing, core.QTimer) and thing.isActive():
                found.append((thing, f"the QTimer “{thing.objectName()}” ({thing.interval()} ms) is still active"))
    return found


def _process_qt_events(qt: bool) -> None:
    core = sys.modules.get("PySide6.QtCore")
    if qt and core is not None and (application := core.QCoreApplication.instance()) is not None:
        application.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
        application.processEvents()


@dataclass(slots=True)
class Records:
    """Log records of level WARNING and above while it is attached, but those that match `expected`."""

    expected: tuple[str, ...] = ()
    unexpected: list[str] = field(default_factory=list)

    def attach(self) -> logging.Handler:
        handler = logging.Handler(logging.WARNING)
        handler.emit = self._note  # type: ignore[method-assign]
        logging.getLogger().addHandler(handler)
        return handler

    def _note(self, record: logging.LogRecord) -> None:
        words = f"{record.levelname} {record.name}: {record.getMessage()}"
        if not any(re.search(pattern, words) for pattern in self.expected):
            self.unexpected.append(words)
