"""What lives of closed attempts, their results and packages, looked at by a real supervisor at its launch (§6 rows 2, 3, 8)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.processes import identity
from actum.store.queries import Reader
from actum_desktop import verdictwords
from actum_desktop.controller import controller as controlling
from actum_desktop.controller import leftovers, reconciling
from actum_desktop.controller.controller import Controller
from actum_desktop.controller.events import Verdict
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.headless import Place
from tests.helpers.workspaces import CONTRACT

# A process that does not go when it is asked to; it says when it has come so far.
DEAF = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
WILLING = "import signal; print(flush=True); signal.pause()"
# A host of this attempt as the world sees it: it holds the alive file, is named by the claim, and goes when it is dismissed.
HOST = """
import fcntl, json, sys, time
folder, obeys = sys.argv[1], sys.argv[2] == "obeys"
alive = open(folder + "/spool/alive", "a")
fcntl.flock(alive, fcntl.LOCK_EX)
print(flush=True)
while True:
    time.sleep(0.02)
    try:
        with open(folder + "/spool/stop") as file:
            if obeys and json.load(file)["level"] == "dismiss":
                sys.exit(0)
    except (OSError, ValueError):
        pass
"""


class Scene:
    """Attributes: place, started (what a test left behind in the name of an attempt)."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.started: list[subprocess.Popen[bytes]] = []

    @property
    def controller(self) -> Controller:
        return self.place.headless.controller

    def ran(self, program: str = "/bin/true", run: int = 1) -> Any:
        """A run of this program, closed; its row."""
        name = program.rpartition("/")[2]
        policies = {**CONTRACT["policies"], "grace": "1s"}
        work = {**CONTRACT["work"], "program": program}
        self.place.ask("task_add", contract={**CONTRACT, "name": name, "title": name, "policies": policies, "work": work})
        self.place.ask("run", task=name)
        self.place.until(lambda: self.place.status(run)[1] == "CLOSED")
        return self.place.row(run)

    def left(self, cookie: str | None, source: str = WILLING, *arguments: str) -> subprocess.Popen[bytes]:
        """A process that carries this cookie."""
        env = {**os.environ, **({"ACTUM_COOKIE": cookie} if cookie else {})}
        command = [sys.executable, "-c", source, *arguments]
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, start_new_session=True)
        self.started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def host(self, row: Any, how: str) -> subprocess.Popen[bytes]:
        folder = self.place.ws.attempt_folder(row.run, row.n)
        process = self.left(None, HOST, str(folder), how)
        who = identity.of(process.pid)
        assert who is not None
        claim = json.loads((folder / "spool" / "claim").read_bytes())
        (folder / "spool" / "claim").write_text(json.dumps({**claim, "identity": who.to_json()}))
        return process

    def verdicts(self, row: int, run: int = 1) -> list[Verdict]:
        return [each for each in self.controller.state().verdicts if (each.row, each.run) == (row, run)]

    def reopen(self, until: Callable[[], object] | None = None) -> None:
        self.place.open()
        self.place.until(until or (lambda: not self.controller.state().looking))

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def scene(qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr(controlling, "OFFERS_AFTER_MS", 0)  # no first frame has to be waited for
    place = Place(tmp_path, qtbot)
    scene = Scene(place)
    place.open()
    yield scene
    scene.end()
    place.close()


def test_row_2_r07_what_is_left_of_a_success_is_named_and_ended_and_nothing_else_is(scene: Scene) -> None:
    """Found at launch, on record with its pids before the first signal; asked, then made to end; the result stands."""
    row, other = scene.ran(), scene.ran("/bin/echo", 2)
    deaf, willing = scene.left(row.cookie, DEAF), scene.left(row.cookie)
    strangers = scene.left("c0ffee" * 5), scene.left(None)
    of_a_copy = scene.left(other.cookie)
    launched = scene.place.ws.attempt_folder(2, 1) / "launch.json"
    launched.write_text(json.dumps({**json.loads(launched.read_bytes()), "workspace_id": "that of the original"}))
    scene.reopen(lambda: scene.place.alerts() == ["remains"])
    [found] = scene.verdicts(2)
    assert (found.action, sorted(found.evidence["pids"])) == ("late", sorted([deaf.pid, willing.pid]))
    assert found.recorded == {"status": "SUCCEEDED", "phase": "CLOSED"}
    [alert] = scene.place.read(lambda reader: reader.alerts())
    assert (alert.run, sorted(alert.data["pids"])) == (1, sorted([deaf.pid, willing.pid]))
    scene.place.until(lambda: scene.verdicts(2)[0].evidence["remains"] == "ended")
    assert (willing.wait(), deaf.wait()) == (-signal.SIGTERM, -signal.SIGKILL)
    assert all(each.poll() is None for each in (*strangers, of_a_copy)), "what is not proven its own is left alone"
    assert not scene.verdicts(2, run=2)
    scene.place.until(lambda: scene.place.alerts() == [])
    kinds = [kind for kind in scene.place.journal(1) if kind in ("tree_left", "signalled", "remains_gone")]
    assert kinds[:2] == ["tree_left", "signalled"]
    assert kinds[-1] == "remains_gone"
    assert scene.place.status() == ("SUCCEEDED", "CLOSED")
    scene.place.until(lambda: scene.controller.idle)


@pytest.mark.parametrize(("how", "ended"), [("obeys", 0), ("stays", -signal.SIGKILL)])
def test_row_8_a_host_of_a_closed_attempt_is_dismissed_and_after_the_grace_ended(scene: Scene, how: str, ended: int) -> None:
    """P04, P13: its tree first, itself last; the status stays as it is."""
    row = scene.ran("/bin/false")
    host = scene.host(row, how)
    scene.reopen(lambda: scene.verdicts(8))
    [found] = scene.verdicts(8)
    assert (found.action, found.evidence["host"], found.evidence["pid"]) == ("late", "alive", host.pid)
    scene.place.until(lambda: scene.verdicts(8)[0].evidence["remains"] == "ended")
    assert host.wait() == ended
    stop = json.loads((scene.place.ws.attempt_folder(1, 1) / "spool" / "stop").read_bytes())
    assert (stop["level"], stop["cause"]) == ("dismiss", "dismissed")
    scene.place.until(lambda: {"late_host", "remains_gone"} <= set(scene.place.journal(1)))
    assert ("signalled" in scene.place.journal(1)) is (how == "stays")
    assert scene.place.status() == ("FAILED", "CLOSED")


def test_row_8_what_comes_to_light_later_is_found_each_minute(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11: a pass looks at the newest CLOSED_LOOKED_MAX, some a turn; what is older is not looked for."""
    assert limits.CLOSED_A_TURN_MAX <= limits.CLOSED_LOOKED_MAX <= limits.PAGE_ROWS_MAX
    assert limits.RESULTS_A_MINUTE_MAX <= limits.RESULTS_SWEPT_MAX
    first, second, third = scene.ran("/bin/false"), scene.ran("/bin/true", 2), scene.ran("/bin/false", 3)
    with Reader(scene.place.ws) as reader:
        assert [row.run for row in reader.lately_closed(2)] == [second.run, third.run]
        assert [row.run for row in reader.lately_closed(3)] == [first.run, second.run, third.run]
    scene.place.until(lambda: not scene.controller.state().looking)
    monkeypatch.setattr(leftovers, "CLOSED_LOOKED_MAX", 2)
    monkeypatch.setattr(leftovers, "CLOSED_A_TURN_MAX", 1)
    left, older = scene.left(third.cookie), scene.left(first.cookie)
    monkeypatch.setattr(reconciling, "RECONCILE_EVERY_S", 0)
    scene.controller.reconciling._next_us = 0
    scene.place.until(lambda: left.poll() is not None)
    scene.place.until(lambda: scene.verdicts(8, run=3) and scene.verdicts(8, run=3)[0].evidence["remains"] == "ended")
    assert older.poll() is None


def test_row_3_a_result_moved_away_is_a_verdict_of_the_launch_until_it_is_back(scene: Scene) -> None:
    """R16: SUCCEEDED for ever; on the launch screen, among the alerts, and set right by the next pass."""
    scene.ran()
    target = scene.place.ws.result_folder(1, 1)
    target.chmod(0o755)
    aside = scene.place.folder / "aside"
    shutil.move(target, aside)
    scene.reopen()
    [found] = scene.verdicts(3)
    assert (found.action, found.evidence["package"], found.evidence["told_before"]) == ("result_damaged", "missing", False)
    assert verdictwords.verdict(found).evidence[0] == "The package is not at its place among the results."
    scene.place.until(lambda: scene.place.alerts() == ["result_changed"])
    scene.reopen()
    assert scene.verdicts(3)[0].evidence["told_before"], "its alert stands since the launch before: no reason to be shown again"
    assert [(each["row"], each["action"]) for each in scene.place.ask("reconcile")["verdicts"]] == [(3, "result_damaged")]
    shutil.move(aside, target)
    scene.controller.reconciling._next_us = 0
    scene.place.until(lambda: scene.verdicts(3)[0].action == "nothing")
    scene.place.until(lambda: scene.place.alerts() == [])
    assert scene.place.status() == ("SUCCEEDED", "CLOSED")


def test_row_8_a_sealed_package_nobody_awaits_is_a_verdict_of_every_launch(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P05: a host that was killed after it sealed; offered as the run is closed, and by each launch until it is taken."""
    monkeypatch.setenv("ACTUM_FAULT", "host.seal.after:kill-host")
    assert scene.ran().failure_code == "host_lost"
    scene.place.until(lambda: "sealed_late" in scene.place.alerts())
    monkeypatch.delenv("ACTUM_FAULT")
    scene.reopen()
    [found] = scene.verdicts(8)
    assert (found.action, found.evidence["sealed_by"], found.evidence["told_before"]) == ("offer", "manifest", True)
    scene.place.ask("adopt", run=1)
    scene.place.until(lambda: scene.place.status(2) == ("SUCCEEDED", "CLOSED"))
    assert [each["row"] for each in scene.place.ask("reconcile")["verdicts"]] == []
    assert not scene.verdicts(8), "what was taken up is offered no more"
