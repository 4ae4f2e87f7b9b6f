"""P21, P22, §3: take-over, closing and reopening, and client commands, with a kill at every step: work goes on, told of once.

The successor is what a window does first (`app.acquire`, then a controller), without its widgets.
"""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from actum import limits, lock
from actum.generation import read_endpoint
from actum.model.facts import FACTS

from tests.helpers.app import ENTRY, App
from tests.helpers.waiting import wait_until

ALL = [name.value for name in FACTS]
KILLED = -signal.SIGKILL

SUCCESSOR = """
import sys
from pathlib import Path
from actum.workspace import Workspace
from actum_desktop.app import acquire
from actum_desktop.controller.headless import Headless
ws = Workspace(Path(sys.argv[sys.argv.index("--workspace") + 1]))
headless = Headless(ws, acquire(ws))
headless.submit({"verb": "resume_queue", "only_after_crash": True})
headless.run_until(lambda: headless.is_idle())
headless.leave()
"""
ASKS_ONLY = """
import os, signal, sys
from pathlib import Path
from actum.workspace import Workspace
from actum_desktop.app import ask_the_other
assert ask_the_other(Workspace(Path(sys.argv[sys.argv.index("--workspace") + 1]))) == "leaving"
os.kill(os.getpid(), signal.SIGKILL)
"""


class Pair(App):
    """A workspace with a headless supervisor and, later, its successor."""

    entry = ENTRY

    def supervisor(self, fault: str = "", *more: str) -> subprocess.Popen[str]:
        process = self.start("supervise", *more, fault=fault)
        wait_until(lambda: self.supervised_by() == process.pid, what="the headless supervisor")
        return process

    def other(self, program: str, fault: str = "", *words: str) -> subprocess.Popen[str]:
        """A process that is not the command line."""
        self.entry = program
        try:
            return self.start(*words, fault=fault)
        finally:
            self.entry = ENTRY

    def supervised_by(self) -> int | None:
        return (read_endpoint(self.ws) or {}).get("pid")

    def phase(self) -> str:
        with self.reader() as reader:
            return reader.attempts(1)[-1].phase

    def computing(self) -> None:
        """A run whose work waits at the gate."""
        self.run("run", "work", "--detach")
        wait_until(self.pids, what="the start of the work")
        self.wait_status("RUNNING")

    def converges(self) -> None:
        """Whoever is left or comes next brings the run to its one success."""
        self.gate.touch()
        self.run("reconcile", "--wait", timeout_s=90)
        self.wait_status("SUCCEEDED")
        assert self.facts() == ALL
        assert len(self.pids()) == 1, "the work was started more than once"
        self.run("audit")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Pair]:
    app = Pair(tmp_path)
    yield app
    app.end()


def ended(process: subprocess.Popen[str]) -> int:
    out, err = process.communicate(timeout=60)
    assert process.returncode is not None, (out, err)
    return process.returncode


# who is killed, and where
AT_THE_LEAVER = ("controller.handover.before", "lock.release.before", "controller.handover.after")
AT_THE_SUCCESSOR = ("lock.acquire.after", "store.epoch.before", "store.epoch.after")


@pytest.mark.parametrize("point", AT_THE_LEAVER)
def test_the_leaver_is_killed_while_it_gives_way(app: Pair, point: str) -> None:
    """The successor has asked, and gets in however the leaver ends."""
    app.define()
    leaver = app.supervisor(f"{point}:kill-app")
    app.computing()
    successor = app.other(SUCCESSOR)
    assert ended(leaver) == KILLED
    wait_until(lambda: app.supervised_by() == successor.pid, what="the successor")
    app.converges()
    assert ended(successor) == 0


@pytest.mark.parametrize("point", AT_THE_SUCCESSOR)
def test_the_successor_is_killed_while_it_comes_in(app: Pair, point: str) -> None:
    """P21: the leaver watches, finds the lock free for TAKE_OVER_FREE_S, and supervises again; the work is never alone."""
    app.define()
    leaver = app.supervisor()
    app.computing()
    assert ended(app.other(SUCCESSOR, fault=f"{point}:kill-app")) == KILLED
    wait_until(lambda: app.supervised_by() == leaver.pid, limits.TAKE_OVER_FREE_S + 30, "the leaver takes it again")
    app.converges()
    leaver.send_signal(signal.SIGTERM)
    assert ended(leaver) in (0, 130)


def test_a_successor_that_dies_once_it_is_in_leaves_work_that_goes_on(app: Pair) -> None:
    """P21: its epoch was open, so the leaver may have left; the work computes on, and the next start takes it up."""
    app.define()
    leaver = app.supervisor()
    app.computing()
    assert ended(app.other(SUCCESSOR, fault="endpoint.rename.before:kill-app")) == KILLED
    wait_until(lambda: leaver.poll() is not None or app.supervised_by() == leaver.pid, what="the leaver is gone, or back")
    app.converges()
    if leaver.poll() is None:
        leaver.send_signal(signal.SIGTERM)
    assert ended(leaver) in (0, 130)


def test_whoever_asked_died_at_once(app: Pair) -> None:
    """P21: nobody comes; the one that gave way goes on."""
    app.define()
    leaver = app.supervisor()
    app.computing()
    assert ended(app.other(ASKS_ONLY)) == KILLED
    wait_until(lambda: app.supervised_by() is None, what="its leaving")
    wait_until(lambda: app.supervised_by() == leaver.pid, limits.TAKE_OVER_FREE_S + 30, "the leaver takes it again")
    app.converges()
    leaver.send_signal(signal.SIGTERM)
    assert ended(leaver) in (0, 130)


@dataclass(frozen=True)
class Asked:
    """A take-over that is asked for while a commit of the publication is under way.

    Attributes: commit (what is being recorded), leaver and successor (their faults), found (where the next one finds the
    package, "" where the leaver has carried all of it through), by (who establishes the success: 0 the leaver, 1 its
    successor, 2 whoever comes after that).
    """

    commit: str
    leaver: str
    successor: str
    found: str
    by: int


STAGING, RESULTS = "staging", "results"
HANDING_OVER, LETTING_GO = "controller.handover.before:kill-app", "lock.release.before:kill-app"
ASKED = {
    # the leaver finishes its open transaction, and begins no rename after it (P21)
    "it gives way before its rename": Asked("publishing", "", "", STAGING, 1),
    "it dies before its rename": Asked("publishing", LETTING_GO, "", STAGING, 1),
    "both die, at the rename": Asked("publishing", LETTING_GO, "publish.rename.after:kill-app", STAGING, 2),
    # its rename is done: what is being recorded of it is carried through, or found by whoever comes next (§5)
    "it gives way after its rename": Asked("published", "", "", "", 0),
    "it dies after its rename": Asked("published", HANDING_OVER, "", RESULTS, 1),
    "both die, after the rename": Asked("published", HANDING_OVER, "publish.durable.fsync.after:kill-app", RESULTS, 2),
}


@pytest.mark.parametrize("case", ASKED.values(), ids=ASKED)
def test_a_take_over_while_publishing_converges(app: Pair, case: Asked) -> None:
    """P21, §5: whoever does the rest, there is one publication and one success, by whom it must be; the request comes, and is
    answered, while the publication is on its way: another program's lock holds its commit until then."""
    app.define(gated=False)
    passed, begin, come_in = app.folder / "passed.txt", app.folder / "begin", app.folder / "come in"
    hold = "publish.derived.rename.after" if case.commit == "publishing" else "publish.rename.before"
    leaver = app.supervisor(",".join(filter(None, (f"trace={passed}", f"{hold}:until={begin}", case.leaver))))
    app.run("run", "work", "--detach")
    wait_until(lambda: f"{hold} {leaver.pid} until" in text_of(passed), 60, "the publication")
    with locked(app.ws.database):
        begin.touch()
        if case.commit == "publishing":
            wait_until(lambda: verified(text_of(passed), leaver.pid), 9, "the answer of the verification")
        into = (f"trace={passed}", f"lock.acquire.after:until={come_in}", case.successor)
        successor = app.other(SUCCESSOR, fault=",".join(filter(None, into)))
        wait_until(lambda: f"controller.handover.before {leaver.pid}" in text_of(passed), 9, "the request")
        assert app.phase() == ("VERIFYING" if case.commit == "publishing" else "PUBLISHING")
        assert app.ws.result_folder(1, 1).exists() == (case.commit == "published")
    wait_until(lambda: f"lock.acquire.after {successor.pid}" in text_of(passed), 30, "the successor")
    assert app.phase() == ("PUBLISHING" if case.found else "CLOSED")
    assert app.ws.result_folder(1, 1).exists() == (case.found != STAGING)
    come_in.touch()
    assert ended(leaver) == (KILLED if case.leaver else 0)
    assert ended(successor) == (KILLED if case.successor else 0)
    app.converges()
    with app.reader() as reader:
        epoch = {str(row.fact): row.epoch for row in reader.facts(1)}
    assert {epoch[name] - epoch["admitted"] for name in ("reference_committed", "succeeded")} == {case.by}
    assert [path.name for path in app.ws.results.glob("*/*")] == ["1"]
    assert list(app.ws.quarantine.iterdir()) == []


def text_of(passed: Path) -> str:
    return passed.read_text() if passed.exists() else ""


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """The write lock of the database is another program's: whoever commits waits, at most BUSY_TIMEOUT_MS."""
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def verified(text: str, supervisor: int) -> bool:
    """Whether the supervisor has heard the helper that verifies: the one that is first at work after the derivation."""
    before, _, after = text.partition("publish.derived.rename.after")
    known, lines = set(before.split()), after.splitlines()
    done = [at for at, line in enumerate(lines) if line.startswith("helper.verb.after") and line.split()[1] not in known]
    return any(f"controller.helper.after {supervisor}" in line for line in lines[done[0] :]) if done else False


REOPENING = (
    "lock.acquire.after",
    "store.epoch.before",
    "store.epoch.after",
    "generation.fsync.before",
    "generation.rename.before",
    "generation.rename.after",
    "generation.fsync.after",
    "endpoint.rename.before",
    "endpoint.rename.after",
)


def test_reopening_is_killed_at_every_step_and_the_work_goes_on(app: Pair) -> None:
    """§3: opened again and killed nine times while work computes; the tenth finds it as it was left."""
    app.define()
    closed = app.supervisor("lock.release.before:kill-app")
    app.computing()
    closed.send_signal(signal.SIGTERM)
    assert ended(closed) == KILLED, "killed while it closes"
    for point in REOPENING:
        assert ended(app.start("supervise", fault=f"{point}:kill-app")) == KILLED, point
        assert lock.held_by_someone(app.ws) is False
    app.converges()
    with app.reader() as reader:
        epochs = [row.epoch for row in reader.facts(1)]
    assert epochs == sorted(epochs)
    assert epochs[-1] > len(REOPENING), "each opening but two had its epoch, and none was used twice"


COMMANDS = (
    "controller.send.before#2",  # the first frame greets the client, the second is its answer
    "controller.send.after#2",
    "fact.admitted.after",
)


@pytest.mark.parametrize("point", COMMANDS)
def test_r05_a_command_whose_supervisor_is_killed_is_carried_out_once(app: Pair, point: str) -> None:
    """P22: the answer is lost; the client asks again with its key, whoever supervises then, and there is one run."""
    app.define(gated=False)
    supervisor = app.supervisor(f"{point}:kill-app")
    code = app.run("run", "work", "--key", "once", timeout_s=90).returncode
    assert (ended(supervisor), code) == (KILLED, 0)
    with app.reader() as reader:
        assert len(reader.runs_page()) == 1
    app.converges()


# The frames a supervisor sends: it answers the host's hello, greets the client, then answers it and tells the host to stop.
AROUND_A_STOP = ("controller.send.before#3", "controller.send.after#3", "controller.send.after#4")


@pytest.mark.parametrize("point", ["", *AROUND_A_STOP])
def test_r08_a_stop_whose_supervisor_is_killed_around_its_commit_or_its_answer_holds(app: Pair, point: str) -> None:
    """P22: whether the stop was recorded or not (no point: before its commit), the command goes on until it is, once."""
    app.define()
    first = app.supervisor()
    app.computing()
    first.kill()
    ended(first)
    passed = app.folder / "passed.txt"
    second = app.supervisor(f"trace={passed}" + (f",{point}:kill-app" if point else ""))
    wait_until(lambda: f"controller.send.after {second.pid}" in text_of(passed), what="the host's hello to be answered")
    wait_until(lambda: "contact_resumed" in app.journal(), what="contact resumed")
    if point:
        stop = app.start("stop", "1", "--wait")
        assert ended(second) == KILLED
        assert app.status() == "STOPPING", "the stop was on record before anything was sent of it"
    else:
        stop = killed_before_the_commit(app, second, passed, "stop", "1", "--wait")
        assert app.status() == "RUNNING"
    assert ended(stop) == 0
    assert app.status() == "STOPPED"
    assert app.journal().count("stop_requested") == 1
    app.run("audit")


def killed_before_the_commit(app: Pair, supervisor: subprocess.Popen[str], passed: Path, *words: str) -> subprocess.Popen[str]:
    """A command whose supervisor has greeted it and dies while another program's lock holds its commit."""
    greeted = text_of(passed).count("controller.send.after") + 1
    with locked(app.ws.database):
        asking = app.start(*words)
        wait_until(lambda: text_of(passed).count("controller.send.after") >= greeted, 9, "the greeting")
        supervisor.kill()
        ended(supervisor)
    return asking


COMMANDS_OF_A_PERSON = {
    "pause": ("queue", "pause"),
    "resume": ("queue", "resume"),
    "set": ("settings", "slots", "3"),
}


@pytest.mark.parametrize("words", COMMANDS_OF_A_PERSON.values(), ids=COMMANDS_OF_A_PERSON)
@pytest.mark.parametrize("point", ["", "controller.send.before#2", "controller.send.after#2"])
def test_r04_a_command_whose_supervisor_is_killed_has_its_effect_once(app: Pair, words: tuple[str, ...], point: str) -> None:
    """P22: before its commit (no point), and before and after its answer, which is sent when it is on record."""
    app.run("settings", "slots", "2")
    if words != COMMANDS_OF_A_PERSON["pause"]:
        app.run("queue", "pause")
    wait_until(lambda: lock.held_by_someone(app.ws) is False or app.send_home(), what="nobody supervises")
    before = of_a_person(app)
    passed = app.folder / "passed.txt"
    supervisor = app.supervisor(f"trace={passed}" + (f",{point}:kill-app" if point else ""))
    if point:
        asking = app.start(*words)
        assert ended(supervisor) == KILLED
        after = of_a_person(app)
    else:
        asking = killed_before_the_commit(app, supervisor, passed, *words)
        after = None
    assert ended(asking) == 0
    assert of_a_person(app) != before
    assert after in (None, of_a_person(app)), "it was on record before it was answered"


def of_a_person(app: Pair) -> tuple[object, ...]:
    """What commands of a person have changed."""
    with app.reader() as reader:
        settings = reader.settings()
    return settings["queue_paused"], settings["slots"]


CLIENT = """
import os, signal, sys
from pathlib import Path
from actum.store.queries import Reader
from actum.workspace import Workspace
from actum_desktop.commands.connection import reach
from actum_desktop.commands.run import request
ws = Workspace(Path(sys.argv[sys.argv.index("--workspace") + 1]))
client = reach(ws)
client.send("command", request("work", None, {}, "once", []))
while "commit" in sys.argv:
    with Reader(ws) as reader:
        if reader.runs_page():
            break
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["sent", "commit"])
def test_r05_a_client_that_dies_before_its_answer_asks_again_for_the_same_run(app: Pair, when: str) -> None:
    """Killed when it has sent its command, or when that is on record: the same key is the same run, computed once."""
    app.define(gated=False)
    supervisor = app.supervisor()
    assert ended(app.other(CLIENT, "", when)) == KILLED
    if when == "commit":
        assert app.status() != ""
    assert app.json("run", "work", "--key", "once")["run"] == 1
    with app.reader() as reader:
        assert len(reader.runs_page()) == 1
    app.converges()
    supervisor.send_signal(signal.SIGTERM)
    assert ended(supervisor) in (0, 130)
