"""The check for what tests leave behind can fail: each kind of trace is left, named, and then taken away."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from tests.helpers import leaks
from tests.helpers.leaks import Records, Traces, left
from tests.helpers.waiting import wait_until

WAITING = "import sys; sys.stdout.write('here'); sys.stdout.flush(); sys.stdin.read()"


def test_nothing_is_left_by_a_test_that_does_nothing() -> None:
    assert left(Traces.take(), settle_s=0) == []


def test_a_thread_is_named() -> None:
    before, end = Traces.take(), threading.Event()
    thread = threading.Thread(target=end.wait, name="the forgotten one")
    thread.start()
    assert left(before, settle_s=0) == ["the thread “the forgotten one” still runs"]
    end.set()
    thread.join()
    assert left(before) == []


def test_a_child_process_is_named_while_it_runs_and_until_it_is_waited_for() -> None:
    before = Traces.take()
    command = [sys.executable, "-I", "-S", "-c", WAITING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.read(4)
        assert any(f"the process {child.pid} still runs" in line for line in left(before, settle_s=0))
        child.stdin.close()
        wait_until(lambda: f"the ended child {child.pid} was never waited for" in left(before, settle_s=0))
    assert left(before) == []


def test_a_detached_process_is_found_by_its_mark() -> None:
    """Its parent has ended and its kernel session is its own, as with a host."""
    before = Traces.take()
    source = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import sys; sys.stdin.read()'],"
        "start_new_session=True, stdout=subprocess.DEVNULL); print(p.pid); p.returncode = 0"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        orphan = int(parent.stdout.readline())
        parent.wait()
        assert any(f"the process {orphan} still runs" in line for line in left(before, settle_s=0))
        parent.stdin.close()
        wait_until(lambda: not left(before, settle_s=0), what="the orphan's end")


def test_a_helper_belongs_to_the_supervisor_that_tests_share_for_as_long_as_that_lives() -> None:
    before = Traces.take()
    source = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import sys; sys.stdin.read()',"
        "'-m', 'actum.helpers'], start_new_session=True, stdout=subprocess.DEVNULL); print(p.pid, flush=True); p.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shared:
        assert shared.stdin is not None
        assert shared.stdout is not None
        helper = int(shared.stdout.readline())
        named = f"the process {helper} still runs"
        wait_until(lambda: leaks.helpers_of(shared.pid) == [helper], what="the helper to be called so")
        assert any(named in line for line in left(before, settle_s=0))
        with leaks.supervised_by(shared.pid):
            assert not any(named in line for line in left(before, settle_s=0))
            shared.kill()
            shared.wait()
            assert leaks.helpers_of(shared.pid) == []
            assert [line for line in left(before, settle_s=0) if named in line]
        shared.stdin.close()
        wait_until(lambda: not left(before, settle_s=0), what="the orphan's end")


def test_an_open_file_is_named(tmp_path: Path) -> None:
    before = Traces.take()
    with (tmp_path / "forgotten").open("w"):
        (words,) = left(before, settle_s=0)
        assert "forgotten is still open" in words
    assert left(before) == []


def test_an_active_timer_is_named(qapp: object) -> None:
    before = Traces.take(qt=True)
    timer = QTimer()
    timer.setObjectName("forgotten")
    timer.start(50)
    assert left(before, qt=True, settle_s=0) == ["the QTimer “forgotten” (50 ms) is still active"]
    timer.stop()
    assert left(before, qt=True) == []


@pytest.mark.logs("known trouble")
def test_unexpected_log_records_are_kept_and_expected_ones_are_not() -> None:
    records = Records(("known",))
    handler = records.attach()
    logging.getLogger("tried").warning("known trouble")
    logging.getLogger("tried").info("chatter, known trouble")
    logging.getLogger().removeHandler(handler)
    assert records.unexpected == []
    other = Records()
    handler = other.attach()
    logging.getLogger("tried").error("known trouble %d", 7)
    logging.getLogger().removeHandler(handler)
    assert other.unexpected == ["ERROR tried: known trouble 7"]


def test_the_users_folders_are_not_the_tests_folders() -> None:
    assert Path.home().name.startswith("actum-t")
    assert leaks.MARK
