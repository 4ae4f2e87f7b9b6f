"""A Job Object: the Windows end of the container port. Written to the documented calls; **not yet run on Windows**.

Theory. The work is created suspended, assigned to the job, and resumed: so nothing of it ever runs outside, and whatever it
starts is inside, for breaking away is not allowed. `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE` ends the tree when the last handle
goes, which is the host's: a tree never outlives its host there, where nobody could find it again. The tree is proven gone
when the job counts no active process; method "job". Memory may be bounded by the job itself (R08).

The job's handle is its identity: it cannot come to mean another one, so ending by it keeps R07. All calls go through
`Kernel`, which tests record; `ctypes` and the libraries are loaded late, so this module can be imported on any system.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, Protocol

KILL_ON_JOB_CLOSE = 0x2000
JOB_MEMORY = 0x0200
BASIC_ACCOUNTING, PROCESS_ID_LIST, EXTENDED_LIMIT = 1, 3, 9  # JOBOBJECTINFOCLASS
ENDED_BY_ACTUM = 0xAC7  # the exit code of what was ended through the job
MORE_DATA = 234  # ERROR_MORE_DATA: more members than there was room for
MEMBERS_FIRST = 64


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; `io` are the six counters of IO_COUNTERS."""

    _fields_ = (
        ("basic", BasicLimits),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class Accounting(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("user_time", ctypes.c_int64),
        ("kernel_time", ctypes.c_int64),
        ("period_user_time", ctypes.c_int64),
        ("period_kernel_time", ctypes.c_int64),
        ("page_faults", ctypes.c_uint32),
        ("processes", ctypes.c_uint32),
        ("active_processes", ctypes.c_uint32),
        ("terminated_processes", ctypes.c_uint32),
    )


class JobError(OSError):
    """A call of the system failed; `winerror` is its code."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(code, f"{call} failed with {code}")
        self.call, self.code = call, code


class Kernel(Protocol):
    """The calls, as Windows documents them. Each answers as the call does: 0 or None is failure, then `last_error` says why."""

    def create_job(self) -> int: ...
    def set_information(self, job: int, kind: int, information: ctypes.Structure) -> int: ...
    def query_information(self, job: int, kind: int, information: Any) -> int: ...
    def assign(self, job: int, process: int) -> int: ...
    def resume(self, process: int) -> int: ...
    def end_job(self, job: int, exit_code: int) -> int: ...
    def close(self, handle: int) -> int: ...
    def last_error(self) -> int: ...


class Job:
    """One job, for one tree. Attributes: method ("job"), name ("": nobody else can find it). Raises JobError."""

    method = "job"
    name = ""

    def __init__(self, kernel: Kernel, memory_bytes: int | None = None) -> None:
        self._kernel = kernel
        self._job = self._did("CreateJobObject", kernel.create_job())
        limits = ExtendedLimits()
        limits.basic.flags = KILL_ON_JOB_CLOSE
        if memory_bytes is not None:
            limits.basic.flags |= JOB_MEMORY
            limits.job_memory = memory_bytes
        try:
            self._did("SetInformationJobObject", kernel.set_information(self._job, EXTENDED_LIMIT, limits))
        except JobError:
            self.close()
            raise

    def start(self, create_suspended: Callable[[], int]) -> int:
        """Start the work inside: `create_suspended` makes the process and answers its handle, which is answered on.

        Where it cannot be taken in, it is not let run: the caller ends the suspended process by its handle.
        """
        process = create_suspended()
        self._did("AssignProcessToJobObject", self._kernel.assign(self._job, process))
        self._did("NtResumeProcess", self._kernel.resume(process))
        return process

    def active(self) -> int:
        """How many processes are in the job; 0 proves the tree gone."""
        counted = Accounting()
        answer = self._kernel.query_information(self._job, BASIC_ACCOUNTING, counted)
        self._did("QueryInformationJobObject", answer)
        return int(counted.active_processes)

    def members(self) -> frozenset[int]:
        """The pids in the job now."""
        room = MEMBERS_FIRST
        while True:
            listed = _id_list(room)()
            if self._kernel.query_information(self._job, PROCESS_ID_LIST, listed):
                return frozenset(int(pid) for pid in listed.ids[: listed.count])
            if (code := self._kernel.last_error()) != MORE_DATA:
                raise JobError("QueryInformationJobObject", code)
            room = max(2 * room, int(listed.assigned))

    def end(self) -> None:
        """End all that is in the job, at once; there is no gentle way by the job."""
        self._did("TerminateJobObject", self._kernel.end_job(self._job, ENDED_BY_ACTUM))

    def close(self) -> None:
        """Let go of the job: what is still in it ends. Twice is once."""
        job, self._job = self._job, 0
        if job:
            self._kernel.close(job)

    def _did(self, call: str, answer: int) -> int:
        if not answer:
            raise JobError(call, self._kernel.last_error())
        return answer


def _id_list(room: int) -> type[Any]:
    """JOBOBJECT_BASIC_PROCESS_ID_LIST with room for so many."""

    class IdList(ctypes.Structure):
        _fields_ = (("assigned", ctypes.c_uint32), ("count", ctypes.c_uint32), ("ids", ctypes.c_size_t * room))

    return IdList


class SystemKernel:
    """The calls themselves. Only on Windows."""

    def __init__(self) -> None:
        if "WinDLL" not in vars(ctypes):
            raise OSError(f"{sys.platform} has no Job Objects")
        load: Any = vars(ctypes)["WinDLL"]  # this name and `get_last_error` are there on Windows alone
        self._kernel32: Any = load("kernel32", use_last_error=True)
        self._ntdll: Any = load("ntdll")
        for call in (self._kernel32.CreateJobObjectW, self._kernel32.OpenProcess):
            call.restype = ctypes.c_void_p

    def create_job(self) -> int:
        return int(self._kernel32.CreateJobObjectW(None, None) or 0)

    def set_information(self, job: int, kind: int, information: ctypes.Structure) -> int:
        size = ctypes.sizeof(information)
        return int(self._kernel32.SetInformationJobObject(ctypes.c_void_p(job), kind, ctypes.byref(information), size))

    def query_information(self, job: int, kind: int, information: Any) -> int:
        size = ctypes.sizeof(information)
        return int(self._kernel32.QueryInformationJobObject(ctypes.c_void_p(job), kind, ctypes.byref(information), size, None))

    def assign(self, job: int, process: int) -> int:
        return int(self._kernel32.AssignProcessToJobObject(ctypes.c_void_p(job), ctypes.c_void_p(process)))

    def resume(self, process: int) -> int:
        return int(self._ntdll.NtResumeProcess(ctypes.c_void_p(process)) == 0)  # an NTSTATUS: 0 is success

    def end_job(self, job: int, exit_code: int) -> int:
        return int(self._kernel32.TerminateJobObject(ctypes.c_void_p(job), exit_code))

    def close(self, handle: int) -> int:
        return int(self._kernel32.CloseHandle(ctypes.c_void_p(handle)))

    def last_error(self) -> int:
        return int(vars(ctypes)["get_last_error"]())
