"""Hosts as the controller starts and watches them: detached, in a kernel session of their own, known by identity (§3, R07).

Fresh and re-adopted hosts are treated alike: a host is watched through a pidfd opened for its proven identity, or by polling
that identity where the kernel has none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from actum import faults
from actum.limits import HOST_POLL_MS
from actum.model.identity import ProcessIdentity
from actum.processes import identity as identities
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QSocketNotifier, QTimer


class Hosts(QObject):
    """Spawns hosts and tells of their exits. `gone(attempt, method)` is called in this thread, once a watch."""

    def __init__(self, gone: Callable[[str, str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._gone = gone
        self._watched: dict[str, tuple[ProcessIdentity, int | None, QSocketNotifier | None]] = {}
        self._poll = QTimer(self)
        self._poll.setInterval(HOST_POLL_MS)
        self._poll.timeout.connect(self._on_poll)

    def spawn(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> str | None:
        """Start a host; None when it was started, else why no process came into being."""
        process = QProcess()
        process.setProgram(command[0])
        process.setArguments(command[1:])
        process.setWorkingDirectory(str(folder))
        variables = QProcessEnvironment()
        for name, value in environment.items():
            variables.insert(name, value)
        process.setProcessEnvironment(variables)
        process.setStandardInputFile(QProcess.nullDevice())
        process.setStandardOutputFile(str(folder / "host.log"), QProcess.OpenModeFlag.Append)
        process.setStandardErrorFile(str(folder / "host.log"), QProcess.OpenModeFlag.Append)
        parameters = QProcess.UnixProcessParameters()
        parameters.flags = QProcess.UnixProcessFlag.CreateNewSession | QProcess.UnixProcessFlag.CloseFileDescriptors
        parameters.lowestFileDescriptorToClose = 3
        process.setUnixProcessParameters(parameters)
        faults.point("controller.spawn.before")
        started = bool(process.startDetached())
        faults.point("controller.spawn.after")
        return None if started else (process.errorString() or "the system refused to start a process")

    def watch(self, attempt: str, identity: ProcessIdentity) -> None:
        """Tell once when this process ends; watching the same identity again changes nothing."""
        known = self._watched.get(attempt)
        if known is not None and known[0] == identity:
            return
        self.forget(attempt)
        descriptor = _pidfd(identity)
        notifier = None
        if descriptor is not None:
            notifier = QSocketNotifier(descriptor, QSocketNotifier.Type.Read, self)
            notifier.setProperty("attempt", attempt)
            notifier.activated.connect(self._on_exit)
        self._watched[attempt] = (identity, descriptor, notifier)
        if descriptor is None and not self._poll.isActive():
            self._poll.start()

    def forget(self, attempt: str) -> None:
        """No more word of this attempt's host."""
        known = self._watched.pop(attempt, None)
        if known is None:
            return
        _, descriptor, notifier = known
        if notifier is not None:
            notifier.setEnabled(False)
            notifier.deleteLater()
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        self._poll.stop()
        for attempt in list(self._watched):
            self.forget(attempt)

    def _on_exit(self, *_: object) -> None:
        notifier = self.sender()
        attempt = str(notifier.property("attempt")) if notifier is not None else ""
        if attempt in self._watched:
            self.forget(attempt)
            self._gone(attempt, "pidfd")

    def _on_poll(self) -> None:
        polled = [attempt for attempt, (_, descriptor, _n) in self._watched.items() if descriptor is None]
        for attempt in polled:
            if identities.state(self._watched[attempt][0]) == "gone":
                self.forget(attempt)
                self._gone(attempt, "identity")
        if not any(descriptor is None for _, descriptor, _n in self._watched.values()):
            self._poll.stop()


def _pidfd(identity: ProcessIdentity) -> int | None:
    """A pidfd of exactly this process; None where there are none, or the process is not provably it any more."""
    if not hasattr(os, "pidfd_open") or not identities.same_place(identity):
        return None
    try:
        descriptor = os.pidfd_open(identity.pid)
    except OSError:
        return None
    if identities.state(identity) == "alive":
        return descriptor
    os.close(descriptor)
    return None
