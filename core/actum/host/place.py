"""Becoming a host: alone in its kernel session, parent of every orphan of its tree, with no descriptor it was not given."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from typing import Any

from actum import limits

_PR_SET_CHILD_SUBREAPER = 36
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def close_descriptors() -> None:
    """Close everything above 2: nothing that a spawner left open may keep a file, lock or socket of it alive."""
    try:
        top = max(int(name) for name in os.listdir("/proc/self/fd"))
    except (OSError, ValueError):
        top = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, top + 1)


def fill_standard_descriptors() -> None:
    """Make 0, 1 and 2 exist, so that no file of ours is ever opened under their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def lead_session() -> None:
    """A kernel session of its own, unless the spawner gave one: no terminal's signal reaches host or work."""
    if os.getsid(0) != os.getpid():
        if os.getpgid(0) == os.getpid():
            return  # a group leader cannot found a session; its group is its own, which is what matters
        os.setsid()


def become_subreaper() -> None:
    """From now on every orphan below is a child of this process, so waitpid can say when none is left. Raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Signals:
    """Signals as bytes in a pipe: they end a wait and do nothing by themselves. Attribute: descriptor (readable end)."""

    def __init__(self) -> None:
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (*_ENDING_SIGNALS, signal.SIGCHLD):
            signal.signal(number, _nothing)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a spawner's thread may have blocked some

    def take(self) -> set[int]:
        """The signals that came since the last call."""
        numbers: set[int] = set()
        try:
            while data := os.read(self.descriptor, 512):
                numbers.update(data)
        except BlockingIOError:
            pass
        return numbers

    @staticmethod
    def ends_host(numbers: set[int]) -> bool:
        return any(number in numbers for number in _ENDING_SIGNALS)

    def wake(self) -> None:
        """End the wait from another thread."""
        try:
            os.write(self._write, b"\0")
        except BlockingIOError:
            pass


_notes = count()


def note(text: str) -> None:
    """A line in host.log (standard error, which the spawner gave), HOST_LOG_LINES_MAX in one life; a full disk is no matter."""
    number = next(_notes)
    if number > limits.HOST_LOG_LINES_MAX:
        return
    try:
        sys.stderr.write((text if number < limits.HOST_LOG_LINES_MAX else "… and so on") + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


def _nothing(number: int, frame: Any) -> None:
    """The wake-up pipe has it."""
