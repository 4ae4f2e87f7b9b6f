"""Helper processes of the controller: attached, long-lived, one for each kind of step, spoken to in JSON lines.

A helper ends with the app (QProcess kills attached children at an orderly exit; PDEATHSIG covers the rest). It is spawned by
the controller thread only, since PDEATHSIG follows the spawning thread, and in a session of its own, so that the Ctrl-C of a
terminal is the command's alone. A helper that dies, or that says nothing of its call for HELPER_SECONDS_MAX (then it is
ended), answers that call with `crashed`: that is no rejection of anything. Keeps R11, R18.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from actum import faults
from actum.errors import ActumError, from_json
from actum.limits import HELPER_CALLS_MAX, HELPER_END_MS_MAX, HELPER_LINE_BYTES_MAX, HELPER_SECONDS_MAX
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HelperAnswer:
    """What came of one call: `ok`, or `error` in words, or `crashed` when the helper died of it."""

    ok: Document | None = None
    error: ActumError | None = None
    crashed: bool = False


@dataclass(slots=True)
class _Call:
    number: int
    verb: str
    args: Document
    done: Callable[[HelperAnswer], None]
    progress: Callable[[int, int, str], None] | None
    cancelled: bool = False


def _cancelled() -> ActumError:
    return ActumError("cancelled", "It was cancelled.", "Nothing was left behind.")


class Helper(QObject):
    """One helper process, started at its first call and again after it died. Calls are answered in order."""

    def __init__(self, name: str, parent: QObject, defect: Callable[[], None] | None = None) -> None:
        """`defect` is called where the receiver of an answer raises, inside the handler of that exception."""
        super().__init__(parent)
        self.setObjectName(f"helper-{name}")
        self._defect = defect
        self._process: QProcess | None = None
        self._waiting: deque[_Call] = deque()
        self._running: _Call | None = None
        self._buffer = bytearray()
        self._number = 0
        self._closing = False
        self._ending = False
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.timeout.connect(self._on_silence)

    @property
    def busy(self) -> bool:
        return self._running is not None

    def call(
        self,
        verb: str,
        args: Document,
        done: Callable[[HelperAnswer], None],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> int:
        """Queue one call; `done` is called later in this thread, exactly once. A full queue answers with an error.

        Returns the call's number, for `cancel`; 0 = refused.
        """
        if len(self._waiting) >= HELPER_CALLS_MAX:
            done(HelperAnswer(error=ActumError("busy", "Too much waits for this helper already.", remedy="Try again later.")))
            return 0
        self._number += 1
        number = self._number
        self._waiting.append(_Call(number, verb, args, done, progress))
        self._next()
        return number

    def cancel(self, number: int) -> None:
        """Give up one call: it is answered `cancelled`. If it is under way, the helper ends, and begins anew for the next."""
        call = self._running
        if call is not None and call.number == number:
            call.cancelled = True
            process = self._process
            if process is not None:
                self._ending = True  # it may still answer, but takes no further call
                process.terminate()  # it takes away what it has not finished
                self._silence.start(HELPER_END_MS_MAX)
            return
        for waiting in list(self._waiting):
            if waiting.number == number:
                self._waiting.remove(waiting)
                waiting.done(HelperAnswer(error=_cancelled()))

    def warm(self) -> None:
        """Start the process before its first call, so that nobody waits for it then."""
        if self._process is None and not self._closing:
            self._start()

    def close(self) -> None:
        """End the process; open calls are not answered any more."""
        self._closing = True
        self._silence.stop()
        self._waiting.clear()
        running, self._running = self._running, None
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)
            if running is not None:  # it may want to take away what it has not finished
                process.terminate()
                process.waitForFinished(HELPER_END_MS_MAX)
            process.kill()  # an idle one holds nothing
            process.waitForFinished(HELPER_END_MS_MAX)
            process.deleteLater()

    def _next(self) -> None:
        if self._running is not None or not self._waiting or self._closing or self._ending:
            return
        call = self._running = self._waiting.popleft()
        process = self._process or self._start()
        if self._running is not call:  # it could not be started: the call is answered
            return
        self._silence.start(int(HELPER_SECONDS_MAX * 1000))
        faults.point("controller.helper.before")
        line = json.dumps({"id": call.number, "verb": call.verb, "args": call.args}, ensure_ascii=False)
        process.write(line.encode("utf-8", "surrogateescape") + b"\n")

    def _start(self) -> QProcess:
        process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("PYTHONUNBUFFERED", "1")
        process.setProcessEnvironment(environment)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
        parameters = QProcess.UnixProcessParameters()
        parameters.flags = QProcess.UnixProcessFlag.CreateNewSession
        process.setUnixProcessParameters(parameters)
        process.readyReadStandardOutput.connect(self._on_ready_read)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._buffer.clear()
        self._process = process
        process.start(sys.executable, ["-m", "actum.helpers"])
        return process

    def _on_ready_read(self) -> None:
        if self._process is None:
            return
        self._buffer += bytes(self._process.readAllStandardOutput().data())
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._on_line(line)
        if len(self._buffer) > HELPER_LINE_BYTES_MAX and self._process is not None:
            self._process.kill()

    def _on_line(self, line: bytes) -> None:
        call = self._running
        try:
            document = json.loads(line)
        except ValueError:
            return
        if call is None or document.get("id") != call.number:
            return
        if "progress" in document:
            if not self._ending:
                self._silence.start()
            if call.progress is not None:
                done, total, unit = document["progress"]
                call.progress(int(done), int(total), str(unit))
            return
        faults.point("controller.helper.after")
        answered = "ok" in document
        self._answer(HelperAnswer(ok=document["ok"]) if answered else HelperAnswer(error=from_json(document)))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._on_finished()

    def _on_finished(self, *_: object) -> None:
        process, self._process = self._process, None
        self._ending = False
        if process is not None:
            process.deleteLater()
        self._answer(HelperAnswer(crashed=True))

    def _answer(self, answer: HelperAnswer) -> None:
        """Answer the call that runs, if one does; whatever its receiver does, the next call gets its turn."""
        if not self._ending:
            self._silence.stop()
        call, self._running = self._running, None
        try:
            if call is not None:
                call.done(HelperAnswer(error=_cancelled()) if call.cancelled and answer.ok is None else answer)
        except Exception:
            if self._defect is None:
                raise
            self._defect()
        finally:
            QTimer.singleShot(0, self, self._next)

    def _on_silence(self) -> None:
        if self._process is not None:
            self._process.kill()


class Helpers(QObject):
    """The helpers by name. One derives and another verifies (§5.11); looks at what is published have one of their own."""

    NAMES = ("freeze", "derive", "verify", "export", "check", "awake")

    def __init__(self, parent: QObject, defect: Callable[[], None] | None = None) -> None:
        super().__init__(parent)
        self._helpers = {name: Helper(name, self, defect) for name in self.NAMES}

    def __getitem__(self, name: str) -> Helper:
        return self._helpers[name]

    def close(self) -> None:
        for helper in self._helpers.values():
            helper.close()
