"""The host and its channel: it goes on without one, finds the next one, and does nothing without a claim (§5.4, §7)."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.host import launch
from actum.host.supervision import Supervision
from actum.ipc import spool

from tests.helpers.hosts import Attempt, Server, make_attempt, write_endpoint
from tests.helpers.waiting import wait_until

WAITS = """
import os, time
open(os.environ["ACTUM_OUTPUT"] + "/started", "a").write(str(os.getpid()) + "\\n")
while not os.path.exists(os.environ["ACTUM_OUTPUT"] + "/../../go"):
    time.sleep(0.01)
"""


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Attempt]:
    made = make_attempt(tmp_path, WAITS)
    yield made
    made.end_all()


def let_go(attempt: Attempt) -> None:
    (attempt.folder / "go").touch()


def started(attempt: Attempt) -> bool:
    return attempt.output("started").exists()


def test_the_host_outlives_its_supervisor_and_finds_the_next(attempt: Attempt) -> None:
    """App dies: the host goes on and says hello to the new endpoint, same session, claimed."""
    first = Server(attempt)
    attempt.spawn()
    first.wait_for("hello")
    wait_until(lambda: started(attempt), what="the work")
    first.close()
    write_endpoint(attempt.workspace, "/nowhere/socket")
    wait_until(lambda: "channel closed" in attempt.host_log(), what="the loss")
    with Server(attempt) as second:
        hello = second.wait_for("hello")
        assert hello["claimed"] is True
        assert hello["session"] == attempt.launch["session"]
        assert hello["identity"] == attempt.identity().to_json()
        second.wait_for("heartbeat")
        let_go(attempt)
        second.serve_until_exit()
        assert second.types()[-1] == "sealed"
    assert attempt.output("started").read_text().count("\n") == 1


def test_without_a_claim_it_ends_when_the_channel_closes(attempt: Attempt) -> None:
    """P03: the hello was never answered."""
    with Server(attempt, answer=None) as server:
        attempt.spawn()
        server.wait_for("hello")
        server.hang_up()
        attempt.wait()
    assert isinstance(spool.read_claim(attempt.folder), spool.Absent)
    assert isinstance(spool.read_outcome(attempt.folder), spool.Absent)
    assert not started(attempt)


@pytest.mark.parametrize("answer", ["stop", "dismiss"])
def test_a_hello_answered_otherwise_ends_with_nothing_done(attempt: Attempt, answer: str) -> None:
    with Server(attempt, answer=answer) as server:
        attempt.spawn()
        server.serve_until_exit()
    assert isinstance(spool.read_claim(attempt.folder), spool.Absent)
    assert not started(attempt)


def test_without_an_answer_it_ends_at_its_start_deadline(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, WAITS, deadlines={"start_s": 0.3, "stages": {}, "overall_s": None})
    write_endpoint(attempt.workspace, "/nowhere/socket")
    attempt.spawn()
    attempt.wait()
    assert "start deadline" in attempt.host_log()
    assert isinstance(spool.read_claim(attempt.folder), spool.Absent)


def test_a_revoked_claim_ends_the_host_with_nothing_done(attempt: Attempt) -> None:
    """P01: whoever finds the claim there gives way."""
    with Server(attempt, answer=None) as server:
        attempt.spawn()
        server.wait_for("hello")
        assert spool.create_claim(attempt.folder, {"v": 1, "by": "supervisor", "revoked": True, "epoch": 2, "at": 1})
        server.send("hello-ack", epoch=1)
        server.serve_until_exit()
    assert spool.read_claim(attempt.folder)["by"] == "supervisor"  # type: ignore[index]
    assert isinstance(spool.read_outcome(attempt.folder), spool.Absent)
    assert not started(attempt)


def test_a_second_host_of_the_same_attempt_does_nothing(attempt: Attempt) -> None:
    attempt.spawn()
    wait_until(lambda: started(attempt), what="the work")
    first = attempt.host
    second = attempt.spawn()
    assert second.wait(20) == 3
    assert "another host" in attempt.host_log()
    assert attempt.launch["deadlines"]["start_s"] > limits.ALIVE_LOCK_WAIT_S
    attempt.host = first
    assert attempt.output("started").read_text().count("\n") == 1


def test_the_spool_alone_serves(attempt: Attempt) -> None:
    """§7: where there is no local socket, claim and outcome need none."""
    attempt.spawn()
    wait_until(lambda: started(attempt), what="the work")
    assert spool.probe_alive(attempt.folder) == "held"
    let_go(attempt)
    attempt.wait()
    assert attempt.outcome()["kind"] == "sealed"
    assert spool.probe_alive(attempt.folder) == "free"


def test_a_wrong_frame_closes_the_channel_and_nothing_else(attempt: Attempt) -> None:
    with Server(attempt) as server:
        attempt.spawn()
        server.wait_for("hello")
        wait_until(lambda: started(attempt), what="the work")
        assert server.connection is not None
        server.connection.sendall(b"\xff\xff\xff\xff garbage")
        wait_until(lambda: server.serve() or server.hellos >= 2, what="the second hello")
        assert attempt.state()["root"]["alive"] is True


def test_a_terminal_frame_comes_again_until_it_is_acknowledged(attempt: Attempt) -> None:
    let_go(attempt)
    with Server(attempt, acknowledge=False) as server:
        attempt.spawn()
        wait_until(lambda: server.serve() or len(terminal(server)) >= 2, what="the second terminal frame")
        first, second = terminal(server)[:2]
        assert first["digest"] == second["digest"]
        assert first["seq"] < second["seq"]
        assert second["at"] - first["at"] >= limits.ACK_AGAIN_S * 900_000
        server.send("ack", digest="0" * 64)  # of another outcome: nothing
        server.send("ack", digest=first["digest"])
        server.serve_until_exit()


def test_without_an_answer_to_its_outcome_the_host_leaves_after_a_while(attempt: Attempt) -> None:
    let_go(attempt)
    with Server(attempt, acknowledge=False) as server:
        attempt.spawn()
        sealed = server.wait_for("sealed")
        server.serve_until_exit()
        assert time.time() - sealed["at"] / 1e6 == pytest.approx(limits.ACK_WAIT_S, abs=2)


def terminal(server: Server) -> list[dict[str, object]]:
    return [frame for frame in server.frames if frame["type"] in ("sealed", "failed", "stopped")]


def test_stop_after_counts_from_the_loss_of_the_supervisor(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, WAITS, when_supervisor_is_lost={"stop_after_s": 0.3})
    server = Server(attempt)
    attempt.spawn()
    server.wait_for("heartbeat")
    server.close()
    write_endpoint(attempt.workspace, "/nowhere/socket")
    wait_until(attempt.has_outcome, what="the outcome")
    assert attempt.outcome()["cause"] == "supervisor_lost"
    attempt.end_all()


def test_r08_without_sockets_stop_after_counts_from_when_nobody_holds_the_lock(tmp_path: Path) -> None:
    """An endpoint that names no socket outlives the supervisor that wrote it; the lock of the workspace does not."""
    attempt = make_attempt(tmp_path, WAITS, when_supervisor_is_lost={"stop_after_s": 0.1})
    with open(attempt.workspace / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        attempt.spawn()
        wait_until(lambda: attempt.state().get("active_s", 0) > limits.LOCK_PROBE_S + 0.5, what="a second probe")
        assert not attempt.has_outcome()
    wait_until(attempt.has_outcome, what="the outcome")
    assert attempt.outcome()["cause"] == "supervisor_lost"
    attempt.end_all()


def test_r08_without_sockets_a_task_that_goes_on_alone_asks_nobody(attempt: Attempt) -> None:
    """Nor does it touch a lock that somebody may be about to take."""
    held = Supervision(launch.read(str(attempt.folder)))
    assert held.goes_on(False, True, 0.0)
    assert not held.goes_on(False, False, 0.0)
    assert held.goes_on(True, False, 0.0)


def test_r09_a_lock_that_cannot_be_looked_at_leaves_the_last_answer(tmp_path: Path) -> None:
    attempt = make_attempt(tmp_path, WAITS, when_supervisor_is_lost={"stop_after_s": 10})
    supervision = Supervision(launch.read(str(attempt.folder)))
    attempt.workspace.rename(tmp_path / "away")
    assert supervision.goes_on(False, True, 0.0)
    (tmp_path / "away").rename(attempt.workspace)
    assert supervision.goes_on(False, True, limits.LOCK_PROBE_S - 0.01)  # not asked again yet
    assert not supervision.goes_on(False, True, limits.LOCK_PROBE_S)  # there is no lock, so nobody holds it
    attempt.workspace.rename(tmp_path / "away")
    assert not supervision.goes_on(False, True, 9.0)
    (tmp_path / "away").rename(attempt.workspace)


def test_the_host_closes_what_its_spawner_left_open(attempt: Attempt) -> None:
    reader, writer = os.pipe()
    attempt.spawn(pass_fds=(writer,))
    wait_until(lambda: started(attempt), what="the work")
    os.close(writer)
    assert os.read(reader, 1) == b""  # nobody below holds the other end
    os.close(reader)
