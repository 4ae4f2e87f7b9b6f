"""Commands while work is going on: Ctrl-C, detaching, a killed supervisor, many at once (R04, R05, P22, §16)."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from actum import limits
from actum.lock import held_by_someone
from actum.workspace import Workspace

from tests.helpers.program import Place, made
from tests.helpers.waiting import wait_until

# The work appends its pid to a file outside: exactly one line for one attempt, whatever was killed meanwhile.
COUNTED = """
echo $$ >> "$1"; i=0
while [ ! -e "$1.go" ]; do i=$((i+1)); echo "line $i"; sleep 0.1; done
echo done > "$ACTUM_OUTPUT/a.txt"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = made(tmp_path)
    place.define("counted", COUNTED, "--param", "pids:text", "--arg", "{pids}")
    return place


def pids(place: Place) -> list[str]:
    path = place.data / "pids"
    return path.read_text().split() if path.exists() else []


def running(place: Place) -> None:
    wait_until(lambda: pids(place), what="the work to begin")


def let_go(place: Place) -> None:
    (place.data / "pids.go").touch()


def words(place: Place, *more: str) -> tuple[str, ...]:
    return ("run", "counted", "--set", f"pids={place.data / 'pids'}", *more)


def unsupervised(place: Place) -> bool:
    return held_by_someone(Workspace(place.home)) is False


def test_the_first_ctrl_c_detaches_and_the_work_goes_on(place: Place) -> None:
    command = place.start(*words(place))
    running(place)
    command.send_signal(signal.SIGINT)
    _, notes = command.communicate(timeout=30)
    assert command.returncode == 130
    assert "Detached: run 1 goes on." in notes
    assert f"Ctrl-C again within {limits.INTERRUPT_AGAIN_S} s stops it." in notes
    let_go(place)
    wait_until(lambda: place.show().get("status") == "SUCCEEDED", 30, "the run to succeed under the supervisor left behind")
    wait_until(lambda: unsupervised(place), limits.IDLE_LINGER_S + 20, "the supervisor left behind to leave")
    assert len(pids(place)) == 1


def test_the_second_ctrl_c_stops_the_run(place: Place) -> None:
    command = place.start(*words(place))
    running(place)
    command.send_signal(signal.SIGINT)
    assert command.stderr is not None
    for line in command.stderr:
        if "Ctrl-C again" in line:
            break
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=30)
    assert command.returncode == 130
    assert place.show()["status"] == "STOPPED"
    assert unsupervised(place), "with nothing in flight nobody is left behind"


def test_detach_returns_at_once_and_waits_for_nobody(place: Place) -> None:
    begun = time.monotonic()
    told = place.actum(*words(place, "--detach"))
    assert told.code == 0, told
    assert (told.objects[-1]["schema"], told.objects[-1]["run"]) == ("actum.run/1", 1)
    assert time.monotonic() - begun < limits.LOCK_WAIT_S
    running(place)
    assert place.supervisor() is not None
    stopped = place.actum("stop", "1", "--wait")
    assert stopped.code == 0, stopped
    assert stopped.objects[-1]["status"] == "STOPPED"
    wait_until(lambda: unsupervised(place), limits.IDLE_LINGER_S + 20, "the detached supervisor to leave")


def test_p22_a_client_whose_supervisor_is_killed_becomes_the_supervisor(place: Place) -> None:
    """The session is the same, the work ran once, and its log has every line printed meanwhile."""
    assert place.actum(*words(place, "--detach", "--key", "k")).code == 0
    running(place)
    client = place.start(*words(place, "--key", "k", "--json"))
    wait_until(lambda: place.show().get("status") == "RUNNING", what="the run to be running")
    session = place.show()["attempts"][0]["session"]
    supervisor = place.supervisor()
    assert supervisor is not None
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: place.supervisor() == client.pid, 30, "the client to supervise")
    let_go(place)
    shown, notes = client.communicate(timeout=60)
    assert client.returncode == 0, notes
    document = json.loads(shown.splitlines()[-1])
    assert (document["run"], document["status"]) == (1, "SUCCEEDED")
    assert document["attempts"][0]["session"] == session
    assert len(pids(place)) == 1
    numbers = [int(line["text"].split()[1]) for line in place.actum("logs", "1").objects]
    assert numbers == list(range(1, len(numbers) + 1)), "every line is in the log, in order"


def test_r05_twenty_commands_at_once_on_a_workspace_that_does_not_exist_are_one_run(tmp_path: Path) -> None:
    place = made(tmp_path)
    commands = [place.start("run", "demo-steps", "--set", "seconds=1", "--key", "same", "--json") for _ in range(20)]
    answers = [command.communicate(timeout=120)[0] for command in commands]
    assert [command.returncode for command in commands] == [0] * 20
    assert {json.loads(answer.splitlines()[-1])["run"] for answer in answers} == {1}
    assert place.runs() == 1


def test_logs_follow_until_the_run_is_closed(place: Place) -> None:
    assert place.actum(*words(place, "--detach")).code == 0
    running(place)
    follower = place.start("logs", "-f", "--grep", "line [12]$")
    wait_until(lambda: len(place.actum("logs", "1").objects) > 2, what="three lines of the log")
    let_go(place)
    text, _ = follower.communicate(timeout=60)
    assert (follower.returncode, text) == (0, "line 1\nline 2\n")
    wait_until(lambda: unsupervised(place), limits.IDLE_LINGER_S + 20, "the detached supervisor to leave")
