"""A host killed or a disk refused at each of its fault points: what is found afterwards converges (R18, §5)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.ipc import spool
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, TreeSeen
from actum.processes import evidence, identity

from tests.helpers.hosts import Attempt, Server, make_attempt, write_endpoint
from tests.helpers.waiting import wait_until

COUNTS = """
import os, time
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "pids"), "a") as file:
    file.write(f"{os.getpid()}\\n")
"""


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Attempt]:
    made = make_attempt(tmp_path, COUNTS)
    yield made
    made.end_all()


def look(attempt: Attempt) -> evidence.Evidence:
    session, cookie = attempt.launch["session"], attempt.launch["cookie"]
    return evidence.gather(attempt_folder=attempt.folder, session=session, cookie=cookie)


# fault point → (claim, outcome) that stand when the host was killed there
KILLED = {
    "spool.claim.link.before": (ClaimSeen.NONE, OutcomeSeen.NONE),
    "spool.claim.link.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "host.spawn.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "host.spawn.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.tree.rename.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.tree.rename.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.state.rename.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.state.rename.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "host.ended.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "host.seal.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "host.seal.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.outcome.fsync.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.outcome.fsync.after": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.outcome.link.before": (ClaimSeen.HOST, OutcomeSeen.NONE),
    "spool.outcome.link.after": (ClaimSeen.HOST, OutcomeSeen.SEALED),
    "spool.folder.fsync.after": (ClaimSeen.HOST, OutcomeSeen.SEALED),
}


@pytest.mark.parametrize("point", KILLED)
def test_a_host_killed_at_a_point_leaves_what_the_point_says_and_no_second_one_computes(attempt: Attempt, point: str) -> None:
    claim, outcome = KILLED[point]
    attempt.spawn(ACTUM_FAULT=f"{point}:kill-host")
    assert attempt.wait() == -9
    wait_until(lambda: look(attempt).tree is not TreeSeen.LEFT, what="the work's own end")
    seen = look(attempt)
    assert (seen.host, seen.claim, seen.outcome) == (HostSeen.GONE, claim, outcome)
    second = attempt.spawn()
    assert second.wait(20) == (0 if claim is ClaimSeen.NONE else 3)
    pids = attempt.output("pids")
    assert len(pids.read_text().split()) <= 1 if pids.exists() else True
    assert (claim is ClaimSeen.NONE) == (look(attempt).outcome is OutcomeSeen.SEALED and outcome is OutcomeSeen.NONE)


def test_killed_while_it_reports_the_outcome_stands(attempt: Attempt) -> None:
    with Server(attempt) as server:
        attempt.spawn(ACTUM_FAULT="host.terminal.before:kill-host")
        wait_until(lambda: server.serve() or server.attempt.host.poll() is not None, what="the death")  # type: ignore[union-attr]
    assert attempt.outcome()["kind"] == "sealed"


@pytest.mark.parametrize("point", ["spool.outcome.fsync.before", "spool.outcome.link.before", "spool.outcome.link.after"])
def test_a_disk_that_refuses_the_outcome_is_asked_again(attempt: Attempt, point: str) -> None:
    attempt.spawn(ACTUM_FAULT=f"{point}:error=ENOSPC")
    attempt.wait()
    assert attempt.outcome()["kind"] == "sealed"
    assert "outcome_waits" in attempt.host_log()
    assert [name for name in (attempt.folder / "spool").iterdir() if name.name.startswith(".outcome")] == []


def test_a_disk_that_is_full_at_sealing_is_disk_full(attempt: Attempt) -> None:
    attempt.spawn(ACTUM_FAULT="host.seal.before:error=ENOSPC")
    attempt.wait()
    assert (attempt.outcome()["kind"], attempt.outcome()["code"]) == ("failed", "disk_full")


def test_a_disk_that_refuses_the_claim_starts_nothing(attempt: Attempt) -> None:
    attempt.spawn(ACTUM_FAULT="spool.claim.link.before:error=ENOSPC")
    attempt.wait()
    assert not attempt.output("pids").exists()
    assert look(attempt).claim is ClaimSeen.NONE


def test_a_state_that_cannot_be_written_is_no_reason_to_stop(attempt: Attempt) -> None:
    attempt.spawn(ACTUM_FAULT="spool.state.rename.before:error=EIO,spool.tree.rename.before:error=EIO")
    attempt.wait()
    assert attempt.outcome()["kind"] == "sealed"


def test_every_role_can_be_killed_from_the_host(tmp_path: Path) -> None:
    """kill-all ends work, app and, last, the host itself."""
    attempt = make_attempt(tmp_path, "import time; time.sleep(600)")
    app = subprocess.Popen(["sleep", "600"])
    try:
        with Server(attempt) as server:
            write_endpoint(attempt.workspace, server.path, app.pid)
            attempt.spawn(ACTUM_FAULT="spool.state.rename.after#2:kill-all")
            wait_until(lambda: server.serve() or attempt.host.poll() is not None, what="the death")  # type: ignore[union-attr]
        assert attempt.wait() == -9
        assert app.wait(20) == -9
        wait_until(lambda: attempt.leftovers() == (), what="the work's end")
        assert isinstance(spool.read_outcome(attempt.folder), spool.Absent)
    finally:
        app.kill()
        app.wait()
        attempt.end_all()


def test_the_work_alone_can_be_killed(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, "import time; time.sleep(600)")
    attempt.spawn(ACTUM_FAULT="spool.state.rename.after#2:kill-work")
    attempt.wait()
    assert (attempt.outcome()["code"], attempt.outcome()["details"]["signal"]) == ("work_crashed", 9)
    assert identity.state(attempt.identity()) == "gone"
