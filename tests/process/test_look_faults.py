"""A fault while leftovers are looked at is visible, retried, and takes nothing from the others (R09, R18)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import faults, limits
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, PackageSeen, TreeSeen
from actum.model.identity import ProcessIdentity
from actum.processes import identity
from actum.processes.evidence import Question, gather_many
from actum.processes.tree import Snapshot
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.headless import Place


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    faults.arm("")


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    faults.arm("")
    made.close()


@pytest.mark.logs("a look at .* failed")
def test_one_look_that_fails_tells_nothing_of_its_attempt_and_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """An I/O error, or an error nobody foresaw: everything about that attempt is unknown, and why is said."""

    def broken() -> PackageSeen:
        raise RuntimeError("nobody foresaw this")

    questions = [Question(tmp_path / name, "session", None, package=package) for name, package in (("1", None), ("2", None))]
    faults.arm("evidence.look#2:error=EIO")
    found = gather_many([*questions, Question(tmp_path / "3", "session", None, package=broken)])
    unknown = (HostSeen.UNKNOWN, OutcomeSeen.UNKNOWN, TreeSeen.UNKNOWN, ClaimSeen.UNKNOWN, PackageSeen.UNKNOWN)
    for seen, why in zip(found[1:], ("Input/output error", "nobody foresaw this"), strict=True):
        assert (seen.host, seen.outcome, seen.tree, seen.claim, seen.package) == unknown
        assert list(seen.why) == ["look"]
        assert seen.why["look"].startswith(f"Looking at it failed: {why}")
    assert "look" not in found[0].why
    faults.arm("")
    assert all("look" not in seen.why for seen in gather_many(questions))


@pytest.mark.logs("a look at .* failed")
def test_r09_at_launch_one_fault_holds_one_run_and_the_next_pass_resolves_it(place: Place) -> None:
    place.ask("set_setting", name="slots", value=2)
    place.headless.leave()
    place.open()
    runs = [place.steps(60), place.steps(60)]
    place.headless.leave()
    faults.arm("evidence.look:error=EIO")
    place.open()
    controller = place.headless.controller
    place.until(lambda: controller.state().verdicts_complete)
    verdicts = {verdict.run: verdict for verdict in controller.state().verdicts}
    held = [run for run in runs if verdicts[run].verdict == "cannot_tell"]
    assert len(held) == 1, "the first look was at one of them"
    assert "Input/output error" in verdicts[held[0]].evidence["why"]["look"]
    other = next(run for run in runs if run not in held)
    assert verdicts[other].verdict == "adopt"
    place.until(lambda: controller.state().verdicts[0].verdict == controller.state().verdicts[1].verdict == "adopt")
    place.until(lambda: "cannot_tell" not in place.alerts())
    assert [place.status(run) for run in runs] == [("RUNNING", "COMPUTING")] * 2


def test_a_helper_that_dies_while_results_are_looked_at_is_told_and_the_next_pass_looks_again(place: Place) -> None:
    run = int(place.ask("run", task="demo-steps", parameters={"seconds": "1"})["run"])
    place.until(lambda: place.status(run) == ("SUCCEEDED", "CLOSED"))
    pid = place.halt("check")
    QTimer.singleShot(300, lambda: os.kill(pid, signal.SIGKILL))
    [verdict] = place.ask("reconcile", resume=False)["verdicts"]
    assert (verdict["run"], verdict["row"], verdict["verdict"]) == (run, 3, "result_unchecked")
    assert "ended unexpectedly" in verdict["evidence"]["why"]["package"]
    assert place.ask("reconcile", resume=False)["verdicts"] == []


@pytest.mark.parametrize("count", [limits.PIDS_NAMED_MAX, limits.PIDS_NAMED_MAX + 1])
def test_r11_so_many_hidden_processes_are_named(tmp_path: Path, count: int) -> None:
    """PIDS_NAMED_MAX, in what a hold waits for: recorded processes of another namespace cannot be told from here."""
    from actum.ipc import spool

    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "alive").touch()
    mine = identity.own()
    recorded = [ProcessIdentity(mine.machine, mine.boot, "pid:[1]", 1_000 + n, 5).to_json() for n in range(count)]
    spool.write_tree(tmp_path, {"v": 1, "session": "s", "at": 1, "members": recorded})
    [seen] = gather_many([Question(tmp_path, "s", "no such cookie")])
    assert (seen.host, seen.tree) == (HostSeen.GONE, TreeSeen.UNKNOWN)
    named = [str(1_000 + n) in seen.why["tree"] for n in range(count)]
    assert named.count(True) == limits.PIDS_NAMED_MAX
    hidden = Snapshot.take().find(cookie=None, alive_path=None, members=[ProcessIdentity.from_json(each) for each in recorded])
    assert len(hidden.hidden) == count
