"""Helper processes of the controller: attached, long-lived, one for each kind of step, spoken to in JSON lines.

A helper ends with the app (QProcess kills attached children at an orderly exit; PDEATHSIG covers the rest). It is spawned by
the controller thread only, since PDEATHSIG follows the spawning thread, and in a session of its own, so that the Ctrl-C of a
terminal is the command's alone. A helper that dies, that says nothing of its call for HELPER_SECONDS_MAX (then it is ended),
or that meets a defect or too little memory (then it begins anew), answers that call with `crashed`: that is no rejection of
anything. One that cannot even be killed, since the disk it reads from does not answer, is let go: nobody waits for it.

Where calls may stand beside each other they have a `Pool`. Keeps R11, R18.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from actum import faults
from actum.errors import ActumError, Busy, from_json
from actum.limits import (
    HELPER_CALLS_MAX,
    HELPER_END_MS_MAX,
    HELPER_LINE_BYTES_MAX,
    HELPER_SECONDS_MAX,
    HELPERS_AT_ONCE_MAX,
)
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

Document = Mapping[str, Any]
CRASHES = frozenset({"bug", "out_of_memory"})  # errors of a helper that say something of the helper alone
_let_go: list[QProcess] = []  # killed, and not gone yet; the end of a QProcess waits for that of its process


@dataclass(frozen=True, slots=True)
class HelperAnswer:
    """What came of one call: `ok`, or `error` in words, or `crashed` (with its words, if any) when the helper died of it."""

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


class _Line:
    """Calls that wait for their turn, each under a number of its own."""

    def __init__(self) -> None:
        self._waiting: deque[_Call] = deque()
        self._number = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(
        self,
        verb: str,
        args: Document,
        done: Callable[[HelperAnswer], None],
        progress: Callable[[int, int, str], None] | None,
    ) -> int:
        """Its number; 0 where HELPER_CALLS_MAX wait already, which is its answer."""
        if len(self._waiting) >= HELPER_CALLS_MAX:
            done(HelperAnswer(error=Busy("busy", "Too much waits for this helper already.", remedy="Try again later.")))
            return 0
        self._number += 1
        self._waiting.append(_Call(self._number, verb, args, done, progress))
        return self._number

    def take(self) -> _Call:
        """The one whose turn it is. Raises IndexError where nobody waits."""
        return self._waiting.popleft()

    def cancel(self, number: int) -> None:
        """One that still waits is answered `cancelled`."""
        for waiting in list(self._waiting):
            if waiting.number == number:
                self._waiting.remove(waiting)
                waiting.done(HelperAnswer(error=_cancelled()))

    def clear(self) -> None:
        self._waiting.clear()


class Helper(QObject):
    """One helper process, started at its first call and again after it died. Calls are answered in order.

    Signal: `free`, when a process that was to end is gone.
    """

    free = Signal()

    def __init__(self, name: str, parent: QObject, defect: Callable[[], None] | None = None) -> None:
        """`defect` is called where the receiver of an answer raises, inside the handler of that exception."""
        super().__init__(parent)
        self.setObjectName(f"helper-{name}")
        self._defect = defect
        self._process: QProcess | None = None
        self._waiting = _Line()
        self._running: _Call | None = None
        self._buffer = bytearray()
        self._closing = False
        self._ending = False
        self._killed = False
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.timeout.connect(self._on_silence)

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def takes_a_call(self) -> bool:
        """Whether a call would begin at once."""
        return not (self._running or self._waiting or self._ending or self._closing)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else int(self._process.processId())

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
        number = self._waiting.add(verb, args, done, progress)
        self._next()
        return number

    def cancel(self, number: int) -> None:
        """Give up one call: it is answered `cancelled`. If it is under way, the helper ends, and begins anew for the next."""
        call = self._running
        if call is not None and call.number == number:
            call.cancelled = True
            self._begin_anew()
            return
        self._waiting.cancel(number)

    def _begin_anew(self) -> None:
        """End the process: it may still answer, but takes no further call."""
        if self._process is not None and not self._ending:
            self._ending = True
            self._process.terminate()  # it takes away what it has not finished
            self._silence.start(HELPER_END_MS_MAX)

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
        call = self._running = self._waiting.take()
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
        if "ok" in document:
            self._answer(HelperAnswer(ok=document["ok"]))
            return
        error = from_json(document)
        crashed = error.code in CRASHES
        if crashed:
            self._begin_anew()  # whatever is wrong with it, the next call has a process without it
        self._answer(HelperAnswer(error=error, crashed=crashed))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._on_finished()

    def _on_finished(self, *_: object) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.deleteLater()
        self._is_gone()

    def _is_gone(self) -> None:
        self._ending = self._killed = False
        self._answer(HelperAnswer(crashed=True))
        self.free.emit()

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
        """It did not speak, or did not end: it is killed, and let go where even that does not end it."""
        process = self._process
        if process is None:
            return
        if not self._killed:
            self._killed = self._ending = True
            process.kill()
            self._silence.start(HELPER_END_MS_MAX)
            return
        process.blockSignals(True)
        process.setParent(None)
        _let_go[:] = [each for each in _let_go if each.state() is not QProcess.ProcessState.NotRunning] + [process]
        self._process = None
        self._is_gone()


class Pool(QObject):
    """Helpers of one kind, asked beside each other: no call stands behind another while fewer than HELPERS_AT_ONCE_MAX work.

    The first one stays, with what it remembers. Another (15 MB) is started when all are at work, and ends when nothing waits.
    """

    def __init__(self, name: str, parent: QObject, defect: Callable[[], None] | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"helpers-{name}")
        self._defect = defect
        self._waiting = _Line()
        self._at_work: dict[int, tuple[Helper, int]] = {}  # number of a call → who does it, under which number
        self._closing = False
        self._helpers = [self._helper()]

    @property
    def busy(self) -> bool:
        return bool(self._at_work)

    @property
    def pid(self) -> int | None:
        """That of the first."""
        return self._helpers[0].pid

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in self._helpers if each.pid is not None]

    def call(
        self,
        verb: str,
        args: Document,
        done: Callable[[HelperAnswer], None],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> int:
        """As `Helper.call`."""
        number = self._waiting.add(verb, args, done, progress)
        self._next()
        return number

    def cancel(self, number: int) -> None:
        """As `Helper.cancel`."""
        if number in self._at_work:
            helper, its_number = self._at_work[number]
            helper.cancel(its_number)
            return
        self._waiting.cancel(number)

    def warm(self) -> None:
        self._helpers[0].warm()

    def close(self) -> None:
        """End the processes; open calls are not answered any more."""
        self._closing = True
        self._waiting.clear()
        self._at_work.clear()
        for helper in self._helpers:
            helper.close()

    def _next(self) -> None:
        while self._waiting and (helper := self._free()) is not None:
            self._begin(helper, self._waiting.take())
        for helper in self._helpers[1:] if not self._waiting else ():
            if helper.takes_a_call:
                self._helpers.remove(helper)
                helper.close()
                helper.deleteLater()

    def _free(self) -> Helper | None:
        """One that takes a call now; another one, while there may be more."""
        for helper in self._helpers:
            if helper.takes_a_call:
                return helper
        if self._closing or len(self._helpers) >= HELPERS_AT_ONCE_MAX:
            return None
        self._helpers.append(self._helper())
        return self._helpers[-1]

    def _helper(self) -> Helper:
        helper = Helper(self.objectName(), self, self._defect)
        helper.free.connect(self._soon)
        return helper

    def _begin(self, helper: Helper, call: _Call) -> None:
        def answered(answer: HelperAnswer) -> None:
            self._at_work.pop(call.number)
            self._soon()
            call.done(answer)

        self._at_work[call.number] = (helper, 0)
        number = helper.call(call.verb, call.args, answered, call.progress)
        if call.number in self._at_work:  # it could be started
            self._at_work[call.number] = (helper, number)

    def _soon(self) -> None:
        QTimer.singleShot(0, self, self._next)


Asked = Helper | Pool


class Helpers(QObject):
    """The helpers by name. One derives and another verifies (§5.11); looks at what is published have one of their own.

    What clients ask to be admitted is digested beside each other, and so is what is frozen and what is looked at again: none
    of it stands behind another's big input, or behind a disk that does not answer.
    """

    POOLS = ("admit", "freeze")
    NAMES = (*POOLS, "derive", "verify", "export", "check", "awake")

    def __init__(self, parent: QObject, defect: Callable[[], None] | None = None) -> None:
        super().__init__(parent)
        self._helpers = {name: (Pool if name in self.POOLS else Helper)(name, self, defect) for name in self.NAMES}

    def __getitem__(self, name: str) -> Asked:
        return self._helpers[name]

    def close(self) -> None:
        for helper in self._helpers.values():
            helper.close()
