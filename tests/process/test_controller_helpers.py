"""Helper processes as the controller has them: order, crashes, silence, bounds, Ctrl-C, and no process left (R11, R18)."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum_desktop.controller import helpers as helping
from actum_desktop.controller.helpers import Helper, HelperAnswer, Helpers, Pool
from PySide6.QtCore import QObject, QProcess
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.waiting import wait_until

# A stand-in for the helper program: says of each request what its verb names, and nothing of "wait".
SAYS = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    verb, number = request["verb"], request["id"]
    if verb == "exit":
        os._exit(3)
    elif verb == "progress":
        print(json.dumps({"id": number, "progress": [1, 2, "rows"]}), flush=True)
    elif verb in ("bug", "out_of_memory", "input_changed"):
        print(json.dumps({"id": number, "error": {"code": verb, "what": "It failed.", "why": "", "remedy": ""}}), flush=True)
    elif verb == "long":
        print("x" * request["args"]["bytes"], end="", flush=True)
    elif verb == "noise":
        print("no JSON at all\\n" + json.dumps({"id": number + 7, "ok": {}}), flush=True)
        print(json.dumps({"id": number, "ok": {"noise": True}}), flush=True)
    elif verb != "wait":
        print(json.dumps({"id": number, "ok": request["args"]}), flush=True)
"""


class Bench:
    """One helper and what it answered, in order."""

    def __init__(self, qtbot: QtBot) -> None:
        self.parent = QObject()
        self.helper = Helper("tried", self.parent)
        self.pool = Pool("tried", self.parent)
        self.answers: list[HelperAnswer] = []
        self.progress: list[tuple[int, int, str]] = []
        self._qtbot = qtbot

    def call(self, verb: str, **args: Any) -> None:
        self.helper.call(verb, args, self.answers.append, lambda *step: self.progress.append(step))

    def until(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)

    def answered(self, count: int) -> list[HelperAnswer]:
        self.until(lambda: len(self.answers) >= count)
        return self.answers

    @property
    def pid(self) -> int:
        assert self.helper._process is not None
        return int(self.helper._process.processId())


@pytest.fixture
def bench(qapp: QApplication, qtbot: QtBot) -> Iterator[Bench]:
    made = Bench(qtbot)
    yield made
    made.helper.close()
    made.pool.close()
    made.parent.deleteLater()


@pytest.fixture
def said(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose helper is the stand-in."""
    program = tmp_path / "says.py"
    program.write_text(f"#!{sys.executable}\n{SAYS}")
    program.chmod(0o755)
    monkeypatch.setattr(helping.sys, "executable", str(program))
    return bench


def test_the_real_helper_answers_in_order(bench: Bench, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}" for number in range(5)]
    for number, path in enumerate(paths):
        path.write_text("x" * number)
        bench.call("digest", paths=[str(path)])
    bench.call("digest", paths=["relative"])
    answers = bench.answered(6)
    assert [answer.ok["files"][0]["size"] for answer in answers[:5] if answer.ok] == [0, 1, 2, 3, 4]
    assert answers[5].error is not None
    assert answers[5].error.code == "bad_request"
    assert not bench.helper.busy


def test_a_helper_killed_in_the_middle_of_a_call_answers_crashed_and_the_next_call_works(bench: Bench, tmp_path: Path) -> None:
    """R18: a crash is no rejection; what waits behind it is done by a new process."""
    (tmp_path / "file").write_text("x")
    bench.call("digest", paths=[])
    bench.answered(1)
    first = bench.pid
    os.kill(first, signal.SIGSTOP)  # so that it cannot answer before it is killed
    bench.call("digest", paths=[str(tmp_path / "file")])
    bench.call("digest", paths=[str(tmp_path / "file")])
    os.kill(first, signal.SIGKILL)
    _, crashed, answer = bench.answered(3)
    assert (crashed.crashed, crashed.ok, crashed.error) == (True, None, None)
    assert answer.ok is not None
    assert bench.pid != first


def test_a_helper_that_ends_by_itself_in_a_call_answers_crashed(said: Bench) -> None:
    said.call("exit")
    said.call("echo", n=2)
    assert said.answered(2) == [HelperAnswer(crashed=True), HelperAnswer(ok={"n": 2})]


def test_lines_that_answer_nothing_asked_are_passed_over(said: Bench) -> None:
    said.call("noise")
    assert said.answered(1) == [HelperAnswer(ok={"noise": True})]


def test_a_helper_that_cannot_be_started_answers_every_call(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helping.sys, "executable", str(tmp_path / "absent"))
    for number in range(50):
        bench.call("echo", n=number)
    assert bench.answered(50) == [HelperAnswer(crashed=True)] * 50


def test_r11_calls_above_the_bound_are_answered_busy(said: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is small here; one more call than waits is the one that works."""
    monkeypatch.setattr(helping, "HELPER_CALLS_MAX", 3)
    said.call("wait")
    for number in range(3):
        said.call("echo", n=number)
    assert said.answers == []
    said.call("echo", n=3)
    assert said.answers[0].error is not None
    assert said.answers[0].error.code == "busy"


def test_r11_a_line_at_the_bound_is_read_and_a_longer_one_ends_the_helper(said: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is small here."""
    monkeypatch.setattr(helping, "HELPER_LINE_BYTES_MAX", 10_000)
    said.call("long", bytes=10_000)
    said.until(lambda: len(said.helper._buffer) == 10_000)
    assert said.answers == []
    said.helper.close()
    said.helper = Helper("another", said.parent)
    said.call("long", bytes=10_001)
    said.call("echo", n=1)
    assert said.answered(2) == [HelperAnswer(crashed=True), HelperAnswer(ok={"n": 1})]


def test_r11_a_helper_that_says_nothing_for_too_long_is_ended(said: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is short here. Progress counts as a word; nothing is rejected, and the next call works."""
    assert limits.HELPER_SECONDS_MAX >= 3_600, "the slowest honest step says something more often"
    monkeypatch.setattr(helping, "HELPER_SECONDS_MAX", 0.4)
    said.call("wait")
    assert said.answered(1) == [HelperAnswer(crashed=True)]
    said.call("progress")
    said.until(lambda: said.progress)
    assert said.helper._silence.isActive()
    assert said.helper._silence.remainingTime() > 0
    assert said.answered(2)[1] == HelperAnswer(crashed=True)
    monkeypatch.setattr(helping, "HELPER_SECONDS_MAX", limits.HELPER_SECONDS_MAX)
    said.call("echo", n=1)
    assert said.answered(3)[2] == HelperAnswer(ok={"n": 1})
    assert not said.helper._silence.isActive(), "a helper nobody waits for may be silent"


def test_a_receiver_that_fails_is_told_of_and_the_next_call_has_its_turn(qapp: QApplication, qtbot: QtBot, said: Bench) -> None:
    met: list[type[BaseException] | None] = []
    helper = Helper("guarded", said.parent, lambda: met.append(sys.exc_info()[0]))

    def fails(answer: HelperAnswer) -> None:
        raise KeyError("size")

    helper.call("echo", {}, fails)
    helper.call("echo", {"n": 1}, said.answers.append)
    assert said.answered(1) == [HelperAnswer(ok={"n": 1})]
    assert met == [KeyError]
    helper.close()


def test_a_helper_has_a_session_of_its_own_so_that_ctrl_c_is_the_commands_alone(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    bench.call("digest", paths=[str(tmp_path / "file")])
    bench.answered(1)
    assert os.getsid(bench.pid) == bench.pid != os.getsid(0)
    assert os.getpgid(bench.pid) != os.getpgid(0)


OWNER = """
import json, sys
from PySide6.QtCore import QCoreApplication, QObject
from actum_desktop.controller.helpers import Helper
app = QCoreApplication([])
parent = QObject()
helper = Helper("orphan", parent)
def told(answer):
    print(json.dumps(int(helper._process.processId())), flush=True)
helper.call("digest", {"paths": []}, told)
app.exec()
"""


def test_a_helper_dies_with_its_app_in_its_own_session_too() -> None:
    """R18: PDEATHSIG follows the process that spawned it, whatever the session."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pid = int(json.loads(owner.stdout.readline()))
    os.kill(pid, 0)
    owner.kill()
    owner.communicate()
    wait_until(lambda: _gone(pid), what="the end of the helper")


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_closing_leaves_no_process_and_answers_nobody(qapp: QApplication, qtbot: QtBot) -> None:
    """The idle end at the end of their input; one in the middle of a call is killed."""
    parent = QObject()
    helpers = Helpers(parent)
    answers: list[HelperAnswer] = []
    for name in ("freeze", "verify"):
        helpers[name].call("digest", {"paths": []}, answers.append)
    qtbot.waitUntil(lambda: len(answers) == 2, timeout=20_000)
    pids = [pid for name in ("freeze", "verify") if (pid := helpers[name].pid) is not None]
    os.kill(pids[1], signal.SIGSTOP)
    for _ in range(2):
        helpers["verify"].call("digest", {"paths": []}, answers.append)
    helpers.close()
    assert all(_gone(pid) for pid in pids)
    helpers["verify"].call("digest", {"paths": []}, answers.append)
    assert len(answers) == 2
    parent.deleteLater()


@pytest.mark.parametrize("stopped", [False, True])
def test_r11_a_helper_at_work_may_end_in_order_and_is_killed_when_it_does_not(
    said: Bench, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """HELPER_END_MS_MAX (small here): within it a helper ends by SIGTERM; one that cannot obey is gone all the same."""
    monkeypatch.setattr(helping, "HELPER_END_MS_MAX", min(500, limits.HELPER_END_MS_MAX))
    said.call("progress")
    said.until(lambda: said.progress)
    pid = said.pid
    if stopped:
        os.kill(pid, signal.SIGSTOP)
    said.helper.close()
    assert not Path(f"/proc/{pid}").exists()
    assert said.answers == []


@pytest.mark.parametrize("code", ["bug", "out_of_memory"])
def test_a_helper_that_fails_of_itself_has_crashed_with_its_words_and_begins_anew(said: Bench, code: str) -> None:
    """FORMATS: that is no rejection; what is wrong with the process is gone with it, and the next call is not lost."""
    said.call("echo", n=1)
    said.answered(1)
    first = said.pid
    said.call(code)
    said.call("echo", n=2)
    _, failed, answer = said.answered(3)
    assert failed.crashed
    assert failed.error is not None
    assert failed.error.what == "It failed."
    assert answer == HelperAnswer(ok={"n": 2})
    assert said.pid != first


def test_a_finding_of_a_helper_is_no_crash(said: Bench) -> None:
    said.call("input_changed")
    said.call("echo")
    first, _ = said.answered(2)
    assert first.error is not None
    assert not first.crashed


def test_a_real_helper_that_runs_out_of_memory_says_so(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    bench.call("digest", paths=[])
    bench.answered(1)
    resource.prlimit(bench.pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
    bench.call("digest", paths=[str(tmp_path / "file")])
    bench.call("digest", paths=[str(tmp_path / "file")])
    _, failed, again = bench.answered(3)
    assert failed.crashed
    assert again.ok is not None


class Undying(QProcess):
    """As one that reads from a disk that does not answer: no signal reaches it."""

    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def test_r11_a_helper_that_cannot_be_killed_is_let_go(said: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """HELPER_END_MS_MAX, small here: whoever waits behind it waits no longer than that."""
    monkeypatch.setattr(helping, "HELPER_END_MS_MAX", 20)
    with monkeypatch.context() as patched:
        patched.setattr(helping, "QProcess", Undying)
        said.call("wait")
        pid = said.pid
    said.call("echo", n=2)
    said.helper.cancel(1)
    cancelled, answer = said.answered(2)
    assert cancelled.error is not None
    assert cancelled.error.code == "cancelled"
    assert answer.ok == {"n": 2}
    assert said.pid != pid
    (held,) = helping._let_go
    os.kill(pid, signal.SIGKILL)
    said.until(lambda: held.waitForFinished(0) or held.state() is QProcess.ProcessState.NotRunning)
    helping._let_go.clear()


def test_r11_no_call_stands_behind_another_while_fewer_than_the_bound_work(
    said: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HELPERS_AT_ONCE_MAX (2 here): at it one more waits, and begins when one is given up; then the first alone is left."""
    monkeypatch.setattr(helping, "HELPERS_AT_ONCE_MAX", 2)
    assert 2 <= limits.HELPERS_AT_ONCE_MAX <= limits.HELPER_CALLS_MAX
    answers: dict[str, HelperAnswer] = {}

    def call(name: str, verb: str) -> int:
        return said.pool.call(verb, {}, lambda answer: answers.update({name: answer}))

    call("a", "echo")
    said.until(lambda: "a" in answers)
    first = said.pool.pid
    assert said.pool.pids == [first], "none is started before it is needed"
    call("b", "wait")
    call("c", "echo")
    said.until(lambda: "c" in answers)
    said.until(lambda: said.pool.pids == [first])
    number = call("d", "progress")
    assert len(said.pool.pids) == 2
    waits = call("e", "wait")
    call("f", "echo")
    said.pool.cancel(waits)
    assert set(answers) == {"a", "c", "e"}
    said.pool.cancel(number)
    said.until(lambda: "f" in answers)
    assert set(answers) == {"a", "c", "d", "e", "f"}
    assert said.pool.busy
    said.until(lambda: said.pool.pids == [first])


def test_r11_a_pool_answers_busy_above_its_bound(said: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helping, "HELPERS_AT_ONCE_MAX", 1)
    monkeypatch.setattr(helping, "HELPER_CALLS_MAX", 2)
    for _ in range(3):
        said.pool.call("wait", {}, said.answers.append)
    assert said.answers == []
    said.pool.call("wait", {}, said.answers.append)
    assert said.answers[0].error is not None
    assert (said.answers[0].error.code, said.answers[0].error.exit_code) == ("busy", 75)


def test_a_pool_whose_helpers_cannot_be_started_answers_every_call(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helping.sys, "executable", str(tmp_path / "absent"))
    for _ in range(50):
        bench.pool.call("echo", {}, bench.answers.append)
    assert bench.answered(50) == [HelperAnswer(crashed=True)] * 50
    assert not bench.pool.busy
