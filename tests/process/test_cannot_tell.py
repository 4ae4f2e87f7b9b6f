"""“Cannot tell”, reached for real: another pid namespace, and processes that this user may not see (R07, R09)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.processes import identity, terminate

from tests.helpers.app import ENTRY, App
from tests.helpers.users import NOBODY, give_to_normal_user, let_normal_user_reach
from tests.helpers.waiting import wait_until

PID_NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
HIDING = ("unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh")
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def require(*way: str) -> None:
    if shutil.which(way[0]) is None or subprocess.run([*way, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"this needs a namespace that cannot be made here: {' '.join(way[:3])}")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def orphaned(app: App) -> int:
    """Work that computes on while app and host are dead; its pid."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    [work] = app.pids()
    tree = app.ws.attempt_folder(1, 1) / "spool" / "tree.json"
    wait_until(lambda: tree.exists() and str(work) in tree.read_text(), what="the work on record in tree.json")
    host = app.json("show", "1")["attempts"][0]["pid"]
    command.kill()
    command.communicate()
    os.kill(host, signal.SIGKILL)
    wait_until(lambda: identity.of(host) is None, what="the end of the host")
    os.kill(work, 0)
    return work


def command(app: App, *words: str) -> list[str]:
    return [sys.executable, "-c", ENTRY, "--workspace", str(app.ws.path), *words]


def holds(app: App, word: str) -> None:
    """The run holds, its slot stays taken, and an alert says what is waited for. Nothing was signalled."""
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"]) == ("FAILED", False)
    assert shown["contact"]["state"] == "cannot_tell"
    assert word in shown["contact"]["why"]
    [alert] = [line for line in app.lines("alerts") if line["code"] == "cannot_tell"]
    assert word in alert["data"]["waiting_for"]
    assert "signalled" not in app.journal()


def test_r09_in_another_pid_namespace_the_run_holds_and_the_next_look_from_home_resolves_it(app: App) -> None:
    """The lock is free, so the host is gone; of its tree nothing can be told from there, however often it is asked."""
    require(*PID_NAMESPACE)
    work = orphaned(app)
    done = subprocess.run([*PID_NAMESPACE, *command(app, "reconcile", "--wait")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7, done.stderr
    assert "Held" in done.stderr
    holds(app, "another pid namespace")
    os.kill(work, 0)
    app.run("reconcile", "--wait")  # from home: the rest of the tree is found, ended by identity, and released
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("FAILED", "host_lost", True)
    assert "cannot_tell" not in [line["code"] for line in app.lines("alerts")]
    assert identity.of(work) is None
    app.run("audit")


def test_r09_a_recorded_process_that_may_not_be_seen_holds_until_it_ends(app: App) -> None:
    """/proc hides it and it is another user's: its absence from the list is none. When it ends, the run goes on by itself."""
    require(*HIDING, *AS_NOBODY)
    work = orphaned(app)
    give_to_normal_user(app.folder)
    let_normal_user_reach(app.folder)
    home = app.folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    env = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": "", "XDG_CACHE_HOME": str(home), "XDG_STATE_HOME": str(home)}
    supervisor = subprocess.Popen(
        [*HIDING, *AS_NOBODY, *command(app, "supervise")], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        wait_until(lambda: "cannot_tell" in app.journal(), what="the hold", timeout_s=30)
        holds(app, f"Process {work} of its tree may be alive")
        found = identity.of(work)
        assert found is not None, "nothing has ended it"
        terminate.signal(found, signal.SIGKILL)
        wait_s = limits.RECONCILE_EVERY_S + 30  # a hold is looked at again within a minute
        wait_until(lambda: app.json("show", "1")["released"], what="the release", timeout_s=wait_s)
        assert "can_tell" in app.journal()
        assert "cannot_tell" not in [line["code"] for line in app.lines("alerts")]
    finally:
        supervisor.terminate()
        out, _ = supervisor.communicate(timeout=30)
    assert app.status() == "FAILED", out
