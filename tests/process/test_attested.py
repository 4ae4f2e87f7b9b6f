"""A person's word: the only way out of a hold that no look can end, and used for nothing else (R07, R09, §6)."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.processes import identity

from tests.helpers.app import App
from tests.helpers.waiting import wait_until


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def begun(app: App) -> int:
    """A run that computes under nobody's supervision; the pid of its host."""
    app.define()
    command = app.start("run", "work")
    wait_until(app.pids, what="the start of the work")
    host = int(app.json("show", "1")["attempts"][0]["pid"])
    command.kill()
    command.communicate()
    return host


def gone_for_good(app: App) -> None:
    """A run whose processes are killed and whose folder is deleted: nothing is left that could tell of it."""
    host = begun(app)
    for pid in (host, *app.pids()):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: identity.of(host) is None, what="the end of the host")
    shutil.rmtree(app.ws.attempt_folder(1, 1))


def test_r09_what_a_person_attests_ends_the_hold_and_stands_as_their_word(app: App) -> None:
    """Its folder is gone for good. Nobody is taken at a word they did not give; then it is in the facts, with their name."""
    gone_for_good(app)
    app.run("reconcile", "--wait", code=7)
    error = app.json("reconcile", "--attest", "1", code=4)["error"]
    assert error["code"] == "not_confirmed"
    assert "every process of run 1 has ended" in error["why"]
    assert app.json("show", "1")["contact"]["state"] == "cannot_tell"
    said = app.run("reconcile", "--attest", "1", "--yes", "--wait", LOGNAME="ada" * limits.ATTESTED_BY_CHARS_MAX)
    by = ("ada" * limits.ATTESTED_BY_CHARS_MAX)[: limits.ATTESTED_BY_CHARS_MAX]
    assert "attests that nothing of run 1 is left" in said.stderr
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("FAILED", "host_lost", True)
    gone = next(fact for fact in shown["facts"] if fact["fact"] == "tree_gone")["evidence"]
    assert (gone["method"], gone["by"]) == ("attested", by)
    assert "is missing" in gone["waited_for"]
    assert app.journal().count("attested") == 1
    assert "cannot_tell" not in {line["code"] for line in app.lines("alerts")}
    app.run("audit")


def test_r18_a_word_that_is_on_record_is_not_asked_for_again_after_a_crash(app: App) -> None:
    """Killed at each commit that follows it; what was acknowledged has its effect (R04), whoever comes next."""
    gone_for_good(app)
    for passage in range(6, 20):  # what comes before is the opening
        app.run("reconcile", "--attest", "1", "--yes", fault=f"store.commit.after#{passage}:kill-app", code=None)
        if "attested" in app.journal():
            break
    assert app.json("show", "1")["released"] is False
    app.run("reconcile", "--wait")
    assert (app.status(), app.journal().count("attested")) == ("FAILED", 1)
    gone = next(fact for fact in app.json("show", "1")["facts"] if fact["fact"] == "tree_gone")["evidence"]
    assert gone["method"] == "attested"


def test_r09_a_launch_whose_folder_is_gone_is_attested_too(app: App) -> None:
    app.define(gated=False)
    app.run("run", "work", fault="controller.spawn.before:kill-app", code=-signal.SIGKILL)
    shutil.rmtree(app.ws.attempt_folder(1, 1))
    app.run("reconcile", "--wait", code=7)
    app.run("reconcile", "--attest", "1", "--yes", "--wait")
    shown = app.json("show", "1")
    assert (shown["status"], shown["failure"]["code"], shown["released"]) == ("START_FAILED", "launch_lost", True)
    assert app.pids() == []


def test_r07_who_is_seen_alive_is_not_attested_away(app: App) -> None:
    """Nor is a run that is over, or one whose processes can be told."""
    begun(app)
    error = app.json("reconcile", "--attest", "1", "--yes", code=4)["error"]
    assert error["code"] == "nothing_to_attest"
    app.gate.touch()
    app.run("reconcile", "--wait")
    assert app.status() == "SUCCEEDED"
    assert app.json("reconcile", "--attest", "1", "--yes", code=4)["error"]["code"] == "nothing_to_attest"
