"""Streams and pauses with real pipes and processes: nothing is lost, and who must wait waits (R12)."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from pathlib import Path

import pytest
from actum import limits
from actum.host.family import Family
from actum.host.logs import LogWriter
from actum.host.pause import Pause
from actum.host.pump import Pump
from actum.host.work import Work
from actum.ipc import spool
from actum.ipc.logfile import STDOUT, LogReader
from actum.processes import identity

from tests.helpers.hosts import prepare_spool
from tests.helpers.waiting import wait_until


def filled(data: bytes) -> tuple[Work, int]:
    """Work that has written `data` to its standard output, and the end it still holds open."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.set_blocking(reader, False)
    os.write(writer, data)
    return Work(1, None, {STDOUT: reader}), writer


def test_what_is_left_in_the_pipe_is_read_though_somebody_holds_it_open(tmp_path: Path) -> None:
    data = b"line\n" * (2 * limits.LOG_READ_BYTES_MAX // 5)
    work, writer = filled(data)
    pump = Pump(work, LogWriter(str(tmp_path)))
    pump.turn()
    assert pump.log.bytes_total == limits.LOG_READ_BYTES_MAX  # one turn takes no more
    assert pump.drain()
    assert pump.log.bytes_total == len(data)
    pump.close()
    pump.log.close()
    os.close(writer)
    assert LogReader(tmp_path).count() == len(data) // 5


def test_while_the_disk_takes_nothing_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, writer = filled(b"one\n")
    pump = Pump(work, LogWriter(str(tmp_path)))
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("actum.host.logs.os.write", full)
    pump.turn()
    real(writer, b"two\n")
    pump.turn()
    assert pump.descriptors() == []
    assert not pump.drain()
    monkeypatch.setattr("actum.host.logs.os.write", real)
    assert pump.drain()
    pump.close()
    pump.log.close()
    os.close(writer)
    assert [line.text for line in LogReader(tmp_path).tail(9)] == ["one", "two"]


def test_paused_work_waits_until_it_may_go_on(tmp_path: Path) -> None:
    prepare_spool(tmp_path)
    family = Family("0" * 32, spool.spool_path(tmp_path, "alive"))
    child = subprocess.Popen(["sleep", "600"])
    try:
        family.expect(identity.of(child.pid))
        pause = Pause(family)
        pause.hold(True)
        pause.hold(True)
        wait_until(lambda: state(child.pid) == b"T", what="the pause")
        assert pause.held
        pause.hold(False)
        wait_until(lambda: state(child.pid) == b"S", what="the work going on")
        assert not pause.held
    finally:
        child.kill()
        child.wait()


def state(pid: int) -> bytes:
    fields = identity.stat_fields(pid)
    assert fields is not None
    return fields[identity.STATE]
