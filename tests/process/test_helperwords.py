"""What a helper's failure says, with real helpers: nothing of the result, and nothing of another's run."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum.supervise import finishing
from actum_desktop.controller import helpers as helping
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.headless import Place

HOURS_OF_HASHING = 1 << 42  # a sparse file: it takes no room


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    made.close()


def helper(place: Place, name: str) -> Any:
    return place.headless.controller.helpers[name]


def big(folder: Path) -> Path:
    path = folder / "big"
    path.touch()
    os.truncate(path, HOURS_OF_HASHING)
    return path


# Verdicts


@pytest.mark.parametrize("name", ["freeze", "derive", "verify"])
def test_r01_a_helper_that_has_too_little_memory_rejects_nothing(place: Place, name: str) -> None:
    """The helper begins anew without what was wrong with it, and the run succeeds."""
    place.define()
    place.ask("pause_queue")
    place.ask("run", task="plain")
    helper(place, name).warm()
    place.until(lambda: helper(place, name).pid)
    place.until(lambda: b"actum.helpers" in Path(f"/proc/{helper(place, name).pid}/cmdline").read_bytes())
    answers: list[object] = []
    helper(place, name).call("digest", {"paths": []}, answers.append)
    place.until(lambda: answers)
    resource.prlimit(helper(place, name).pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
    place.ask("resume_queue")
    place.until(lambda: place.status()[1] == "CLOSED")
    assert place.status() == ("SUCCEEDED", "CLOSED")
    assert place.alerts() == []
    assert ("helper_crashed" in place.journal(1)) == (name != "freeze"), "a freeze is asked again by itself"


def test_r11_r18_a_helper_that_takes_no_more_is_asked_again_and_rejects_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four runs end together and one may wait: the others wait for a place, and each succeeds."""
    monkeypatch.setattr(helping, "HELPER_CALLS_MAX", 1)
    monkeypatch.setattr(finishing, "PUBLISH_RETRY_S", 0.05)
    place.define()
    halted = place.halt("derive")
    runs = [int(place.ask("run", task="plain", key=str(each))["run"]) for each in range(4)]
    place.until(lambda: all(place.status(run) == ("RUNNING", "VERIFYING") for run in runs))
    place.until(lambda: place.alerts().count("busy") == 2)
    os.kill(halted, signal.SIGCONT)
    place.until(lambda: all(place.status(run)[1] == "CLOSED" for run in runs))
    assert {place.status(run) for run in runs} == {("SUCCEEDED", "CLOSED")}
    assert place.alerts() == []


# Nobody stands behind another


def test_a_small_run_is_admitted_while_a_big_input_is_digested_and_a_client_that_goes_takes_its_digesting_along(
    place: Place, tmp_path: Path
) -> None:
    place.define("reads", {"name": "data", "type": "file", "title": "data", "required": True})
    place.define()
    client = place.client()
    client.command(verb="run", task="reads", parameters={"data": str(big(tmp_path))})
    place.until(lambda: helper(place, "admit").busy)
    place.ask("pause_queue")
    assert place.ask("run", task="plain")["run"] == 1
    assert client.heard("answer") is None
    (working,) = helper(place, "admit").pids
    assert not place.headless.controller.idle
    client.close()
    place.until(lambda: not helper(place, "admit").busy)
    assert not Path(f"/proc/{working}").exists()
    assert place.ask("run", task="plain", key="another")["run"] == 2, "what nobody waited for was not admitted"
    assert not place.headless.controller._commands._admitting
    for run in (1, 2):
        place.ask("stop", run=run)


def test_r08_a_stop_while_an_input_is_frozen_ends_the_hashing(place: Place, tmp_path: Path) -> None:
    """Another run freezes and ends beside it; the stop is confirmed, and the helper has gone."""
    data = tmp_path / "data"
    data.write_text("small when it was admitted")
    parameter = {"name": "data", "type": "file", "title": "data", "required": True, "policy": "pin"}
    place.define("reads", parameter)
    place.define()
    place.ask("set_setting", name="slots", value=2)
    place.ask("pause_queue")
    place.ask("run", task="reads", parameters={"data": str(data)})
    os.truncate(data, HOURS_OF_HASHING)
    place.ask("resume_queue")
    place.until(lambda: place.status() == ("CREATED", "FREEZING") and helper(place, "freeze").busy)
    other = int(place.ask("run", task="plain")["run"])
    place.until(lambda: place.status(other) == ("SUCCEEDED", "CLOSED"))
    assert place.status() == ("CREATED", "FREEZING")
    assert place.ask("stop", run=1)["answer"] in ("accepted", "closed")
    place.until(lambda: place.status() == ("STOPPED", "CLOSED") and not helper(place, "freeze").busy)
    assert place.alerts() == []
