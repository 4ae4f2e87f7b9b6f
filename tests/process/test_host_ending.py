"""How a tree is ended and proven gone: deadlines, stops, daemons, nested hosts (§5.6–7, R07, R08, P14)."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.ipc import spool
from actum.model.evidence import TreeSeen
from actum.model.identity import ProcessIdentity
from actum.processes import evidence, identity, terminate

from tests.helpers.hosts import Attempt, Server, make_attempt
from tests.helpers.waiting import wait_until

STUBBORN = """
import os, signal, subprocess, sys, time
child = '''
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
'''
out = os.environ["ACTUM_OUTPUT"]
subprocess.Popen([sys.executable, "-c", child, out + "/pid.part"])
while not os.path.exists(out + "/pid.part") or not open(out + "/pid.part").read():
    time.sleep(0.01)
os.rename(out + "/pid.part", out + "/pid")
time.sleep(600)
"""

DAEMON = """
import os, sys, time
daemon = '''
import os, sys, time
open(sys.argv[1] + ".part", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(float(sys.argv[2]))
'''
path = os.environ["ACTUM_OUTPUT"] + "/pid"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", daemon, path, "%s"], {})
    os._exit(0)
os.wait()
while not os.path.exists(path):
    time.sleep(0.01)
%s
"""


@pytest.fixture
def attempts() -> Iterator[list[Attempt]]:
    made: list[Attempt] = []
    yield made
    for attempt in made:
        attempt.end_all()


def started(attempts: list[Attempt], tmp: Path, source: str, **changes: object) -> Attempt:
    attempt = make_attempt(tmp, source, **changes)
    attempts.append(attempt)
    return attempt


def child_of(attempt: Attempt) -> ProcessIdentity:
    """The process that wrote its pid into the output `pid`."""
    path = attempt.output("pid")
    wait_until(path.exists, what="the child's pid")
    found = identity.of(int(path.read_text()))
    assert found is not None
    return found


def test_an_overall_deadline_ends_work_that_sleeps(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(
        attempts, tmp_path, "import time; time.sleep(600)", deadlines={"start_s": 30, "stages": {}, "overall_s": 0.3}
    )
    with Server(attempt) as server:
        attempt.spawn()
        server.serve_until_exit()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["cause"], outcome["code"]) == ("stopped", "overall_deadline", "overall_deadline")
    assert outcome["ended"]["signal"] == signal.SIGTERM


def test_a_stage_deadline_counts_from_its_stage(tmp_path: Path, attempts: list[Attempt]) -> None:
    source = """
import os, time
with open(os.environ["ACTUM_MESSAGES"], "a") as file:
    file.write('{"stage": "load"}\\n'); file.flush()
    time.sleep(600)
"""
    deadlines = {"start_s": 30, "stages": {"load": 0.3, "write": 0}, "overall_s": None}
    attempt = started(attempts, tmp_path, source, deadlines=deadlines)
    with Server(attempt) as server:
        attempt.spawn()
        server.serve_until_exit()
    assert (attempt.outcome()["kind"], attempt.outcome()["cause"]) == ("stopped", "stage_deadline")


def test_a_grandchild_that_ignores_sigterm_is_ended_after_the_grace(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, STUBBORN, grace_s=0.5)
    with Server(attempt) as server:
        attempt.spawn()
        server.wait_for("hello")
        child = child_of(attempt)
        server.send("stop", level="ask", cause="user")
        server.serve_until_exit()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["cause"], outcome["code"]) == ("stopped", "user", None)
    assert outcome["ended"]["descendants_left"] == 2
    assert attempt.launch["grace_s"] > limits.ENDING_EVERY_S
    assert outcome["tree"]["method"] == "subreaper"
    assert identity.state(child) == "gone"


def test_insist_does_not_wait_for_the_grace(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, STUBBORN, grace_s=600)
    with Server(attempt) as server:
        attempt.spawn()
        server.wait_for("hello")
        child = child_of(attempt)
        server.send("stop", level="ask", cause="user")
        wait_until(lambda: attempt.state().get("phase") == "ending", what="the ending")
        server.send("stop", level="insist", cause="user")
        server.serve_until_exit()
    assert identity.state(child) == "gone"


def test_a_stop_file_serves_without_a_channel(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, "import time; time.sleep(600)")
    attempt.spawn()
    wait_until(lambda: attempt.state().get("phase") == "computing", what="the work")
    spool.write_stop(attempt.folder, level="ask", cause="user", at_us=1)
    attempt.wait()
    assert (attempt.outcome()["kind"], attempt.outcome()["cause"]) == ("stopped", "user")


def test_a_signal_to_the_host_stops_the_attempt(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, "import time; time.sleep(600)")
    host = attempt.spawn()
    wait_until(lambda: attempt.state().get("phase") == "computing", what="the work")
    host.send_signal(signal.SIGTERM)
    attempt.wait()
    assert (attempt.outcome()["kind"], attempt.outcome()["cause"]) == ("stopped", "signal")


def test_dismiss_ends_the_tree_and_claims_nothing_else(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, STUBBORN, grace_s=600)
    with Server(attempt) as server:
        attempt.spawn()
        server.wait_for("hello")
        child = child_of(attempt)
        server.send("dismiss", why="released")
        server.serve_until_exit()
    assert (attempt.outcome()["kind"], attempt.outcome()["cause"]) == ("stopped", "dismissed")
    assert identity.state(child) == "gone"


def test_p13_a_dismissed_host_makes_no_spool_anew(tmp_path: Path, attempts: list[Attempt]) -> None:
    """It ends without a trace: its attempt is over, and its folder may have been taken away."""
    attempt = started(attempts, tmp_path, "import time; time.sleep(600)")
    with Server(attempt) as server:
        host = attempt.spawn()
        server.wait_for("hello")
        wait_until(lambda: attempt.state().get("phase") == "computing", what="the work")
        host.send_signal(signal.SIGSTOP)  # so that it hears of both at once
        shutil.rmtree(attempt.folder / "spool")
        server.send("dismiss", why="released")
        host.send_signal(signal.SIGCONT)
        server.serve_until_exit()
    assert not (attempt.folder / "spool").exists()
    assert attempt.leftovers() == ()


def test_wait_lets_a_daemon_of_its_own_session_finish(tmp_path: Path, attempts: list[Attempt]) -> None:
    """A double-forked daemon with its own kernel session and an emptied environment is still of the tree."""
    attempt = started(attempts, tmp_path, DAEMON % ("1.5", ""))
    with Server(attempt) as server:
        attempt.spawn()
        server.wait_for("hello")
        daemon = child_of(attempt)

        def root_has_ended() -> bool:
            server.serve()
            return bool(attempt.state().get("root")) and not attempt.state()["root"]["alive"]

        wait_until(root_has_ended, what="the root's end")
        assert identity.state(daemon) == "alive"
        assert attempt.state()["phase"] == "computing"
        assert attempt.state()["ended"] is None
        server.serve_until_exit()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["ended"]["descendants_left"]) == ("sealed", 0)
    assert identity.state(daemon) == "gone"


def test_end_ends_a_daemon_when_the_root_has_ended(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, DAEMON % ("600", ""), after_exit="end")
    with Server(attempt) as server:
        attempt.spawn()
        server.serve_until_exit()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["ended"]["descendants_left"]) == ("sealed", 1)
    assert attempt.leftovers() == ()


def test_a_deadline_while_waiting_for_descendants_is_a_deadline(tmp_path: Path, attempts: list[Attempt]) -> None:
    deadlines = {"start_s": 30, "stages": {}, "overall_s": 1.0}
    attempt = started(attempts, tmp_path, DAEMON % ("600", ""), deadlines=deadlines)
    with Server(attempt) as server:
        attempt.spawn()
        server.serve_until_exit()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["cause"]) == ("stopped", "overall_deadline")
    assert outcome["ended"]["exit_code"] == 0


def test_a_daemon_outlives_a_killed_host_and_is_found_by_its_recorded_identity(tmp_path: Path, attempts: list[Attempt]) -> None:
    attempt = started(attempts, tmp_path, DAEMON % ("600", "time.sleep(600)"))
    with Server(attempt) as server:
        host = attempt.spawn()
        server.wait_for("hello")
        daemon = child_of(attempt)

        def recorded() -> bool:
            server.serve()
            found = spool.read_tree(attempt.folder)
            return isinstance(found, dict) and any(member["pid"] == daemon.pid for member in found["members"])

        wait_until(recorded, what="the daemon in tree.json")
        host.kill()
        host.wait()
    by_pid = {member.identity.pid: member.found_by for member in attempt.leftovers()}
    assert by_pid[daemon.pid] == "recorded"
    assert len(by_pid) == 2
    assert spool.probe_alive(attempt.folder) == "free"
    assert terminate.signal(daemon, signal.SIGKILL) == "sent"
    wait_until(lambda: identity.state(daemon) == "gone", what="the daemon's end")


NESTS = """
import os, subprocess, sys, time
env = {k: v for k, v in os.environ.items() if not k.startswith("ACTUM_")}
env["ACTUM_COOKIE"] = %r
log = open(%r, "ab")
subprocess.Popen([sys.executable, "-I", "-S", %r, %r], env=env, start_new_session=True,
                 stdin=subprocess.DEVNULL, stdout=log, stderr=log)
while not os.path.exists(%r):
    time.sleep(0.01)
"""


def nest(inner: Attempt) -> tuple[str, str, str, str]:
    return str(inner.folder / "host.log"), host_path(), str(inner.folder), str(inner.folder / "spool" / "tree.json")


def test_a_nested_host_is_neither_ended_nor_waited_for(tmp_path: Path, attempts: list[Attempt]) -> None:
    """FORMATS, Nested actum: work that starts an attempt of its own leaves it behind, and both end as they should."""
    inner = started(attempts, tmp_path, "import time; time.sleep(600)")
    outer = started(attempts, tmp_path, NESTS % (inner.launch["cookie"], *nest(inner)) + "os._exit(0)")
    outer.spawn()
    outer.wait()
    outcome = outer.outcome()
    assert outcome["kind"] == "sealed"
    assert outcome["tree"]["method"] == "subreaper, nested left out"
    assert outcome["tree"]["nested"] == 2
    assert outcome["ended"]["descendants_left"] == 0
    nested = inner.identity()
    assert nested.pid in outcome["tree"]["nested_pids"]
    assert identity.state(nested) == "alive"
    members = {member.identity.pid for member in outer.leftovers()}
    assert members == set()
    spool.write_stop(inner.folder, level="ask", cause="user", at_us=1)
    wait_until(inner.has_outcome, what="the nested outcome")
    assert inner.outcome()["cause"] == "user"
    wait_until(lambda: identity.state(nested) == "gone", what="the nested host's end")


CHANGELING = """
import os, subprocess, sys, time
child = 'import os, sys, time; open(sys.argv[1], "w").write(str(os.getpid())); time.sleep(600)'
out = os.environ["ACTUM_OUTPUT"] + "/pid"
subprocess.Popen([sys.executable, "-c", child, out + ".part"], env={**os.environ, "ACTUM_COOKIE": %r}, start_new_session=True)
while not os.path.exists(out + ".part") or not open(out + ".part").read():
    time.sleep(0.01)
os.rename(out + ".part", out)
"""


@pytest.mark.parametrize("cookie", ["x", "0" * 32], ids=["garbage", "a token"])
def test_r07_a_foreign_cookie_alone_excuses_nobody(tmp_path: Path, attempts: list[Attempt], cookie: str) -> None:
    """FORMATS, Nested actum: who holds no alive lock of its own is of the tree, is waited for, and is ended with it."""
    attempt = started(attempts, tmp_path, CHANGELING % cookie)
    attempt.spawn()
    changeling = child_of(attempt)
    wait_until(lambda: attempt.state().get("root", {}).get("alive") is False, what="the root's end")
    assert identity.state(changeling) == "alive"
    assert not attempt.has_outcome()
    spool.write_stop(attempt.folder, level="ask", cause="user", at_us=1)
    attempt.wait()
    outcome = attempt.outcome()
    assert (outcome["kind"], outcome["tree"]["method"]) == ("stopped", "subreaper")
    assert (outcome["tree"]["nested"], outcome["tree"]["nested_pids"]) == (0, [])
    assert outcome["ended"]["descendants_left"] == 1
    assert identity.state(changeling) == "gone"


@pytest.mark.parametrize("cookie", ["x", "0" * 32], ids=["garbage", "a token"])
def test_r07_nor_where_the_host_is_dead(tmp_path: Path, attempts: list[Attempt], cookie: str) -> None:
    """What tree.json names is ended by identity, whatever its environment says."""
    attempt = started(attempts, tmp_path, CHANGELING % cookie)
    host = attempt.spawn()
    changeling = child_of(attempt)
    wait_until(lambda: changeling.pid in pids(spool.read_tree(attempt.folder), "members"), what="it in tree.json")
    host.kill()
    host.wait()
    assert [member.identity for member in attempt.leftovers()] == [changeling]


def pids(found: object, which: str) -> list[int]:
    return [each["pid"] for each in found.get(which, ())] if isinstance(found, dict) else []


def test_r07_the_orphans_of_a_nested_host_that_was_killed_are_still_told_apart(tmp_path: Path, attempts: list[Attempt]) -> None:
    """They come to the outer host, and are neither ended nor waited for, nor found of its tree when it is dead too."""
    inner = started(attempts, tmp_path, "import time; time.sleep(600)")
    outer = started(attempts, tmp_path, NESTS % (inner.launch["cookie"], *nest(inner)) + "time.sleep(600)")
    outer_host = outer.spawn()
    wait_until(lambda: len(pids(spool.read_tree(outer.folder), "nested")) == 2, what="both on record as nested")
    orphan = identity.of(pids(spool.read_tree(inner.folder), "members")[0])
    assert orphan is not None
    assert terminate.signal(inner.identity(), signal.SIGKILL) == "sent"
    wait_until(lambda: parent_of(orphan.pid) == outer_host.pid, what="the orphan under the outer host")
    document = spool.read_tree(outer.folder)
    spool.write_stop(outer.folder, level="ask", cause="user", at_us=1)
    outer.wait()
    assert identity.state(orphan) == "alive"
    outcome = outer.outcome()
    assert (outcome["tree"]["method"], outcome["tree"]["nested_pids"]) == ("subreaper, nested left out", [orphan.pid])
    assert isinstance(document, dict)
    spool.write_tree(outer.folder, document | {"members": [orphan.to_json()]})  # as if it had been seen before its host's lock
    assert [member.identity for member in outer.leftovers()] == [orphan]
    session, cookie = outer.launch["session"], outer.launch["cookie"]
    spool.write_tree(outer.folder, document | {"members": [orphan.to_json()], "nested": [orphan.to_json()]})
    os.unlink(outer.folder / "spool" / "outcome.json")
    assert evidence.gather(attempt_folder=outer.folder, session=session, cookie=cookie).tree is TreeSeen.CLEAR


def parent_of(pid: int) -> int:
    fields = identity.stat_fields(pid)
    return int(fields[identity.PPID]) if fields else 0


def host_path() -> str:
    from actum.host import host_main

    return os.path.abspath(host_main.__file__)


def test_a_supervisor_that_the_work_left_behind_is_neither_ended_nor_waited_for(
    tmp_path: Path, attempts: list[Attempt]
) -> None:
    """FORMATS, Nested actum: it leads a session of its own and holds a workspace's lock. One that merely opened it is ended."""
    home = tmp_path / "another workspace"
    home.mkdir()
    (home / "generation").touch()
    code = """
import fcntl, sys, time
lock = open(sys.argv[1], "w")
if sys.argv[2] == "hold":
    fcntl.flock(lock, fcntl.LOCK_EX)
open(sys.argv[3], "w").close()
time.sleep(600)
"""
    command = f"""
import os, subprocess, sys, time
for what in ("hold", "open"):
    env = {{k: v for k, v in os.environ.items() if not k.startswith("ACTUM_")}}
    marker = {str(home)!r} + "/" + what
    child = subprocess.Popen([sys.executable, "-c", {code!r}, {str(home / "lock")!r}, what, marker], env=env,
                             start_new_session=True, stdin=subprocess.DEVNULL)
    while not os.path.exists(marker):
        time.sleep(0.01)
    with open({str(tmp_path / "pids")!r}, "a") as file:
        file.write(f"{{child.pid}}\\n")
os._exit(0)
"""
    outer = started(attempts, tmp_path, command, after_exit="end")
    outer.spawn()
    outer.wait()
    holder, opener = (int(line) for line in (tmp_path / "pids").read_text().split())
    living = identity.of(holder)
    try:
        outcome = outer.outcome()
        assert (outcome["kind"], outcome["tree"]["method"]) == ("sealed", "subreaper, nested left out")
        assert living is not None
        assert identity.of(opener) is None, "it was of the tree, and was ended with it"
        assert outer.leftovers() == ()
    finally:
        if living is not None:
            assert terminate.signal(living, signal.SIGKILL) == "sent"
    wait_until(lambda: identity.state(living) == "gone", what="its end")
