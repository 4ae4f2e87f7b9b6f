"""Identity and the only signal there is: proven or not sent (R07)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from actum.processes import identity, terminate

from tests.helpers.waiting import wait_until


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_process_is_alive_until_it_is_gone_and_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    found = identity.of(sleeper.pid)
    assert found is not None
    assert identity.state(found) == "alive"
    assert identity.same_place(found)
    assert terminate.signal(found, signal.SIGKILL) == "sent"
    wait_until(lambda: identity.state(found) == "gone", what="the end")  # nobody has waited for it yet
    assert identity.of(sleeper.pid) is None
    assert terminate.signal(found, signal.SIGKILL) == "gone"


def test_a_pid_that_is_another_life_is_not_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    found = identity.of(sleeper.pid)
    assert found is not None
    earlier = found._replace(start_ticks=found.start_ticks - 1)
    assert identity.state(earlier) == "gone"
    assert terminate.signal(earlier, signal.SIGKILL) == "gone"
    assert identity.state(found) == "alive"


def test_another_place_is_refused_and_another_boot_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    found = identity.of(sleeper.pid)
    assert found is not None
    machine = found._replace(machine="another")
    namespace = found._replace(pid_namespace="pid:[1]")
    boot = found._replace(boot="another")
    assert [identity.state(each) for each in (machine, namespace, boot)] == ["cannot_tell", "cannot_tell", "gone"]
    answers = [terminate.signal(each, signal.SIGKILL) for each in (machine, namespace, boot)]
    assert answers == ["refused:other_machine", "refused:other_namespace", "gone"]
    assert identity.state(found) == "alive"


def test_nobody_ends_oneself_or_the_first_process() -> None:
    assert terminate.signal(identity.own(), signal.SIGKILL) == "refused:not_a_member"
    first = identity.of(1)
    assert first is not None
    assert terminate.signal(first, signal.SIGKILL) == "refused:not_a_member"


def test_a_process_whose_first_thread_has_ended_is_alive() -> None:
    source = """
import ctypes, sys, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("up", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        wait_until(lambda: (identity.stat_fields(process.pid) or [b""])[0] == b"Z", what="the first thread's end")
        found = identity.of(process.pid)
        assert found is not None
        assert identity.state(found) == "alive"
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


OUT_OF_DESCRIPTORS = """
import os, resource, sys
from actum.processes import identity
living = identity.of(int(sys.argv[1]))
assert identity.state(living) == "alive"
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
held = []
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    said = identity.state(living)
for each in held:
    os.close(each)
print(said)
"""


def test_r07_without_a_free_descriptor_nothing_is_called_gone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_DESCRIPTORS, str(os.getpid())], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "cannot_tell"
