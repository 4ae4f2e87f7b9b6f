"""Kill the app or the host at any moment: facts, journal, audit and the outside world agree afterwards (R01, R18)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.model.facts import FACTS, FactName

from tests.helpers import packages
from tests.helpers.app import App
from tests.helpers.waiting import wait_until

ALL = [name.value for name in FACTS]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def killed(process: subprocess.Popen[str]) -> None:
    process.wait(60)
    assert process.returncode == -signal.SIGKILL, process.communicate()
    process.communicate()


def succeeded_once(app: App) -> None:
    """The run is done, every fact is on record once, the audit agrees, and the work was started once."""
    assert app.status() == "SUCCEEDED", app.json("show", "1")["failure"]
    assert app.facts() == ALL
    app.run("audit")
    assert len(app.pids()) == 1, "the work was started more than once"


@pytest.mark.parametrize("fact", [name for name in ALL[:-2] if name != "contact_made"])
def test_killed_after_each_fact_the_first_k_exist_and_the_run_converges(app: App, fact: str) -> None:
    """R01, R18: killed between fact k and k+1, the store holds exactly the first k; then everything is established."""
    app.define(gated=False)
    killed(app.start("run", "work", fault=f"fact.{fact}.after:kill-app"))
    assert app.facts() == ALL[: ALL.index(fact) + 1]
    app.run("reconcile", "--wait")
    succeeded_once(app)


def test_killed_between_hello_and_its_answer_nothing_is_computed(app: App) -> None:
    """P03: a host without a claim ends itself when its channel closes; the run says that its work never started."""
    app.define(gated=False)
    killed(app.start("run", "work", fault="fact.contact_made.after:kill-app"))
    assert app.facts() == ALL[:4]
    app.run("reconcile", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("FAILED", "host_lost", True)
    assert app.pids() == []
    app.run("audit")


def test_killed_after_the_success_is_on_record_the_same_key_returns_the_same_run(app: App) -> None:
    """R05: committed, the answer lost; asking again with the same key finds the run."""
    app.define(gated=False)
    killed(app.start("run", "work", "--key", "once", fault="fact.succeeded.after:kill-app"))
    assert app.facts() == ALL
    assert app.json("run", "work", "--key", "once")["run"] == 1
    succeeded_once(app)


def test_app_killed_while_the_work_computes(app: App) -> None:
    """R18: the work goes on, contact is resumed with the same session, progress rises, no line is lost."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    session = app.json("show", "1")["attempts"][0]["session"]
    command.kill()
    killed(command)
    os.kill(app.pids()[0], 0)  # the work is alive without any supervisor
    follower = app.start("reconcile", "--wait")
    wait_until(lambda: "contact_resumed" in app.journal(), what="contact resumed")
    assert app.json("show", "1")["attempts"][0]["session"] == session
    app.gate.touch()
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 0, (out, err)
    succeeded_once(app)
    assert app.json("show", "1")["progress"]["done"] == 10
    assert [f"step {n} of 10" in app.run("logs", "1").stdout for n in range(1, 11)] == [True] * 10


def test_stop_works_after_the_relaunch(app: App) -> None:
    """R08: a stop of re-adopted work is delivered, confirmed, and exits 6."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    command.kill()
    killed(command)
    app.run("stop", "1", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["released"]) == ("STOPPED", True)
    assert shown["attempts"][0]["exit"]["signal"] == signal.SIGTERM
    assert FactName.SUCCEEDED.value not in app.facts()
    assert FactName.RELEASED.value in app.facts()
    app.run("audit")


def test_stop_recorded_and_the_app_killed_before_delivery(app: App) -> None:
    """R04: a stop that was answered is on record; the next supervisor delivers it."""
    app.define()
    supervisor = app.start("run", "work", fault="spool.stop.rename.before:kill-app")
    wait_until(app.pids, what="the start of the work")
    app.run("stop", "1", code=None)
    killed(supervisor)
    assert app.json("show", "1")["status"] == "STOPPING"
    app.run("reconcile", "--wait")
    assert app.status() == "STOPPED"
    assert len(app.pids()) == 1
    app.run("audit")


DAEMON = """
import os, subprocess, sys, time
trace = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time\\nwhile True: time.sleep(1)"], {})
    os._exit(0)
with open(trace, "a") as file:
    file.write(f"{os.getpid()}\\n")
while True:
    time.sleep(0.05)
"""


def test_host_killed_with_a_daemon_that_hides(app: App) -> None:
    """R07: the daemon of its own kernel session with an emptied environment is found through recorded members and ended."""
    app.define(source=DAEMON)
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    tree = app.ws.attempt_folder(1, 1) / "spool" / "tree.json"
    wait_until(lambda: tree.exists() and "while True" in tree.read_text(), what="the daemon in tree.json")
    members = [member["pid"] for member in json.loads(tree.read_text())["members"]]
    host = app.json("show", "1")["attempts"][0]["pid"]
    os.kill(host, signal.SIGKILL)
    out, err = command.communicate(timeout=60)
    assert command.returncode == 1, (out, err)
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("FAILED", "host_lost", True)
    with app.reader() as reader:
        left = next(row for row in reader.alerts(open_only=False) if row.code == "tree_left")
        noted = next(row.data for row in reader.journal(1) if row.kind == "tree_left")
    assert sorted(left.data["pids"]) == sorted(members), "the alert names each process that was left"
    assert (left.run, noted["pids"]) == (1, left.data["pids"])
    for pid in members:
        assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]
    app.run("audit")


@pytest.mark.parametrize("point", ["publish.rename.before", "publish.rename.after", "publish.durable.fsync.after"])
def test_killed_between_publish_and_commit(app: App, point: str) -> None:
    """R18: verified again by the new service instance, committed once."""
    app.define(gated=False)
    killed(app.start("run", "work", fault=f"{point}:kill-app"))
    assert app.facts() == ALL[:11]
    app.run("reconcile", "--wait")
    succeeded_once(app)


def test_a_program_edited_between_publish_and_commit_loses_nothing(app: App) -> None:
    """R17, R18: inputs are looked at until the verification is on record; what was verified is then committed."""
    script = app.folder / "script"
    script.write_text(f"#!{sys.executable}\nimport os\nopen(os.environ['ACTUM_OUTPUT'] + '/a.txt', 'w').write('1')\n")
    script.chmod(0o755)
    app.run("task", "add", "script", "--program", str(script))
    killed(app.start("run", "script", fault="publish.durable.fsync.after:kill-app"))
    script.write_text(script.read_text() + "# edited\n")
    app.run("reconcile", "--wait")
    assert (app.status(), app.facts()) == ("SUCCEEDED", ALL)
    app.run("audit")


def test_package_altered_between_publish_and_commit(app: App) -> None:
    """R18: what is at the target is not what was verified: quarantine, FAILED(result_rejected), never a success."""
    app.define(gated=False)
    killed(app.start("run", "work", fault="publish.durable.fsync.after:kill-app"))
    target = app.ws.result_folder(1, 1)
    altered = target / "tables" / "table.csv"
    altered = altered if altered.exists() else next(iter(target.glob("tables/*.csv")))
    altered.chmod(0o644)
    altered.write_text(altered.read_text().replace("81", "82"))
    app.run("reconcile", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"]) == ("FAILED", "result_rejected")
    assert not target.exists()
    assert any(app.ws.quarantine.iterdir())
    assert FactName.SUCCEEDED.value not in app.facts()
    app.run("audit")


def test_two_relaunches_racing_commit_once(app: App) -> None:
    """R02: two supervisors at once over a published, uncommitted package: one succeeds, the other is its client."""
    app.define(gated=False)
    killed(app.start("run", "work", fault="publish.rename.after:kill-app"))
    racing = [app.start("reconcile", "--wait") for _ in range(2)]
    for process in racing:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, (out, err)
    succeeded_once(app)


def test_open_runs_that_nobody_supervises_are_said(app: App) -> None:
    """R09: after a kill, `runs` and `show` say that nobody goes on with what is open, and what does."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    assert "Nobody supervises" not in app.run("runs").stderr
    command.kill()
    killed(command)
    assert "actum reconcile --wait" in app.run("runs").stderr
    assert "actum reconcile --wait" in app.run("show", "1").stderr


@pytest.mark.parametrize("gone", ["staging", "staging/manifest.json"])
def test_a_sealed_package_that_is_removed_before_it_is_verified(app: App, gone: str) -> None:
    """R18: it is provably not there, so the run says so and ends, instead of waiting for a disk that serves."""
    app.define(gated=False)
    killed(app.start("run", "work", fault="fact.released.after:kill-app"))
    place = app.ws.attempt_folder(1, 1) / gone
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    app.run("reconcile", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"]) == ("FAILED", "package_lost")
    app.run("audit")


def test_r01_a_package_that_is_consistently_sealed_again_before_it_is_verified_is_found_out(app: App) -> None:
    """§8: what is expected comes from the store, so a manifest that fits what is there and is another one proves nothing."""
    app.define(gated=False)
    killed(app.start("run", "work", fault="fact.released.after:kill-app"))
    staging = app.ws.attempt_folder(1, 1) / "staging"
    table = next((staging / "tables").iterdir())
    packages.writable(table).write_text(table.read_text().replace("81", "82"))
    manifest = packages.read_json(staging / "manifest.json")
    packages.fit(staging, manifest)
    packages.write_json(staging / "manifest.json", manifest)
    app.run("reconcile", "--wait")
    assert app.status() == "FAILED"
    failure = app.json("show", "1")["failure"]
    assert failure["code"] == "result_rejected"
    assert "not the one that was sealed" in failure["message"]
    app.run("audit")


def test_a_host_killed_before_its_hello_is_not_waited_for_until_its_deadline(app: App) -> None:
    """R07, P01: nothing of it lives and it made no claim; the claim is revoked, and the run says that it never started."""
    app.define(gated=False)
    process = app.start("run", "work", fault="host.hello.before:kill-host")
    out, err = process.communicate(timeout=45)
    assert process.returncode == 1, (out, err)
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("START_FAILED", "launch_lost", True)
    assert app.pids() == []
    app.run("audit")
