"""Hosts as the controller starts and watches them: a failed spawn in words, an exit told once (R07)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.model.identity import ProcessIdentity
from actum.processes import identity
from actum_desktop.controller import hosts as hosting
from actum_desktop.controller.hosts import Hosts
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

WAITS = [sys.executable, "-c", "input()"]


class Bench:
    """Watched processes and what was told of them."""

    def __init__(self, qtbot: QtBot) -> None:
        self.parent = QObject()
        self.told: list[tuple[str, str]] = []
        self.hosts = Hosts(lambda attempt, method: self.told.append((attempt, method)), self.parent)
        self.started: list[subprocess.Popen[bytes]] = []
        self._qtbot = qtbot

    def process(self) -> ProcessIdentity:
        self.started.append(subprocess.Popen(WAITS, stdin=subprocess.PIPE))
        found = identity.of(self.started[-1].pid)
        assert found is not None
        return found

    def end(self, number: int = 0) -> None:
        self.started[number].kill()
        self.started[number].communicate()

    def until(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)


@pytest.fixture
def bench(qapp: QApplication, qtbot: QtBot) -> Iterator[Bench]:
    made = Bench(qtbot)
    yield made
    made.hosts.close()
    made.parent.deleteLater()
    for number in range(len(made.started)):
        made.end(number)


def test_a_spawn_that_fails_says_why(bench: Bench, tmp_path: Path) -> None:
    why = bench.hosts.spawn([str(tmp_path / "absent")], tmp_path, dict(os.environ))
    assert why
    assert bench.hosts.spawn(["/bin/true"], tmp_path / "no folder", dict(os.environ))


def test_a_host_has_a_session_of_its_own_its_streams_in_its_log_and_only_what_it_is_given(bench: Bench, tmp_path: Path) -> None:
    script = "import os; print(os.getsid(0) == os.getpid(), sorted(os.environ), os.listdir('/proc/self/fd'), os.getcwd())"
    environment = {"ONLY": "this", "LC_ALL": "C"}
    assert bench.hosts.spawn([sys.executable, "-I", "-S", "-c", script], tmp_path, environment) is None
    log = tmp_path / "host.log"
    bench.until(lambda: log.exists() and log.read_text().endswith("\n"))
    own_session, rest = log.read_text().split(" ", 1)
    assert own_session == "True"
    assert rest.strip() == f"['LC_ALL', 'ONLY'] ['0', '1', '2', '3'] {tmp_path}", "3 is the listing itself"


def test_an_exit_is_told_once_through_a_pidfd(bench: Bench) -> None:
    first, second = bench.process(), bench.process()
    bench.hosts.watch("a", first)
    bench.hosts.watch("a", first)
    bench.hosts.watch("b", second)
    assert not bench.hosts._poll.isActive(), "the kernel tells"
    bench.end(0)
    bench.until(lambda: bench.told)
    bench.end(1)
    bench.until(lambda: len(bench.told) == 2)
    assert bench.told == [("a", "pidfd"), ("b", "pidfd")]


def test_a_host_that_is_forgotten_is_told_of_no_more(bench: Bench) -> None:
    first, second = bench.process(), bench.process()
    bench.hosts.watch("a", first)
    bench.hosts.watch("b", second)
    bench.hosts.forget("a")
    bench.end(0)
    bench.end(1)
    bench.until(lambda: bench.told)
    assert bench.told == [("b", "pidfd")]


def test_r07_another_process_under_the_same_pid_is_not_watched(bench: Bench) -> None:
    """A process that started at another time is another one: the one asked for is gone."""
    living = bench.process()
    old = ProcessIdentity(living.machine, living.boot, living.pid_namespace, living.pid, living.start_ticks - 1)
    bench.hosts.watch("a", old)
    bench.until(lambda: bench.told)
    assert bench.told == [("a", "identity")]


def test_r11_without_pidfd_the_identity_is_polled_this_often(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(pid: int, flags: int = 0) -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(hosting.os, "pidfd_open", without)
    watched = bench.process()
    bench.hosts.watch("a", watched)
    assert bench.hosts._poll.isActive()
    assert bench.hosts._poll.interval() == limits.HOST_POLL_MS
    bench.hosts._poll.timeout.emit()
    assert bench.told == [], "it lives"
    bench.end()
    bench.until(lambda: bench.told)
    assert bench.told == [("a", "identity")]
    assert not bench.hosts._poll.isActive(), "nobody is polled any more"
