"""The Job Object by its calls: in which order they come, and what follows each answer. No Windows is here to run it on."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import pytest
from actum.processes import windows_job
from actum.processes.windows_job import Accounting, BasicLimits, ExtendedLimits, Job, JobError

JOB, PROCESS = 70, 80


class Recorded:
    """The port, as a list of the calls that came. `refuse` = calls that fail, with their code; `pids` = who is in the job."""

    def __init__(self, **refuse: int) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.refuse = refuse
        self.pids: list[int] = []
        self._error = 0

    def _call(self, name: str, *words: Any, good: int = 1) -> int:
        self.calls.append((name, *words))
        self._error = self.refuse.get(name, 0)
        return 0 if self._error else good

    def create_job(self) -> int:
        return self._call("create_job", good=JOB)

    def set_information(self, job: int, kind: int, information: Any) -> int:
        return self._call("set_information", job, kind, information.basic.flags, information.job_memory)

    def query_information(self, job: int, kind: int, information: Any) -> int:
        good = self._call("query_information", job, kind)
        if good and kind == windows_job.BASIC_ACCOUNTING:
            information.active_processes = len(self.pids)
        if good and kind == windows_job.PROCESS_ID_LIST:
            information.assigned = len(self.pids)
            information.count = min(len(self.pids), len(information.ids))
            information.ids[: information.count] = self.pids[: information.count]
            self._error = 0 if len(self.pids) <= len(information.ids) else windows_job.MORE_DATA
        return 0 if self._error else good

    def assign(self, job: int, process: int) -> int:
        return self._call("assign", job, process)

    def resume(self, process: int) -> int:
        return self._call("resume", process)

    def end_job(self, job: int, exit_code: int) -> int:
        return self._call("end_job", job, exit_code)

    def close(self, handle: int) -> int:
        return self._call("close", handle)

    def last_error(self) -> int:
        return self._error


def names(kernel: Recorded) -> list[str]:
    return [call[0] for call in kernel.calls]


def test_the_work_is_inside_before_it_runs() -> None:
    """Created suspended, assigned, resumed: in this order, so that nothing it starts is ever outside."""
    kernel = Recorded()
    job = Job(kernel)

    def create() -> int:
        kernel.calls.append(("create_suspended",))
        return PROCESS

    assert job.start(create) == PROCESS
    assert names(kernel) == ["create_job", "set_information", "create_suspended", "assign", "resume"]
    assert kernel.calls[1] == ("set_information", JOB, windows_job.EXTENDED_LIMIT, windows_job.KILL_ON_JOB_CLOSE, 0)


def test_r08_a_memory_limit_is_the_job_s_own() -> None:
    kernel = Recorded()
    Job(kernel, memory_bytes=1 << 30)
    flags = windows_job.KILL_ON_JOB_CLOSE | windows_job.JOB_MEMORY
    assert kernel.calls[1] == ("set_information", JOB, windows_job.EXTENDED_LIMIT, flags, 1 << 30)


def test_work_that_cannot_be_taken_in_is_not_let_run() -> None:
    kernel = Recorded(assign=5)
    job = Job(kernel)
    with pytest.raises(JobError, match="AssignProcessToJobObject failed with 5"):
        job.start(lambda: PROCESS)
    assert "resume" not in names(kernel)


def test_a_job_that_cannot_be_bounded_is_closed_again() -> None:
    kernel = Recorded(set_information=87)
    with pytest.raises(JobError) as caught:
        Job(kernel)
    assert caught.value.code == 87
    assert names(kernel)[-1] == "close"
    with pytest.raises(JobError, match="CreateJobObject"):
        Job(Recorded(create_job=8))


@pytest.mark.parametrize("count", [0, 1, windows_job.MEMBERS_FIRST, windows_job.MEMBERS_FIRST + 1, 1_000])
def test_members_are_listed_however_many(count: int) -> None:
    kernel = Recorded()
    job = Job(kernel)
    kernel.pids = list(range(1_000, 1_000 + count))
    assert job.members() == frozenset(kernel.pids)
    assert job.active() == count


def test_another_failure_than_too_little_room_is_one() -> None:
    with pytest.raises(JobError, match="failed with 6"):
        Job(Recorded(query_information=6)).members()
    with pytest.raises(JobError, match="failed with 6"):
        Job(Recorded(query_information=6)).active()


def test_r07_the_tree_is_ended_through_the_job_s_own_handle_and_let_go_once() -> None:
    kernel = Recorded()
    job = Job(kernel)
    job.end()
    job.close()
    job.close()
    assert kernel.calls[2:] == [("end_job", JOB, windows_job.ENDED_BY_ACTUM), ("close", JOB)]


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64-bit systems")
def test_the_structures_have_the_documented_sizes() -> None:
    assert ctypes.sizeof(BasicLimits) == 64
    assert ctypes.sizeof(ExtendedLimits) == 144
    assert ctypes.sizeof(Accounting) == 48


def test_the_module_can_be_imported_anywhere_and_says_where_it_cannot_be_used() -> None:
    if sys.platform == "win32":
        pytest.skip("this is the system that has Job Objects")
    with pytest.raises(OSError, match="no Job Objects"):
        windows_job.SystemKernel()
    code = "import sys; import actum.processes.containment; print('ctypes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", "a host loads no ctypes for a container it has not"
