"""§7, R09: a socket or an endpoint file that disappears under a living supervisor is made again; what is connected stays."""

from __future__ import annotations

import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import clock, limits
from actum.generation import read_endpoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.app import App
from tests.helpers.headless import Place
from tests.helpers.waiting import wait_until


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of this test's own, with a short name, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="actum-r") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, runtime: Path, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    made.close()


def endpoint(place: Place) -> dict[str, Any]:
    found = read_endpoint(place.ws)
    assert found is not None
    return found


def test_a_socket_that_is_taken_away_is_replaced_and_who_is_connected_stays(place: Place) -> None:
    client, before = place.client(), endpoint(place)
    Path(before["socket"]).unlink()
    place.until(lambda: endpoint(place)["socket"] != before["socket"])
    assert {**endpoint(place), "socket": ""} == {**before, "socket": ""}
    assert "ok" in place.answer(client, verb="status"), "the old channel"
    assert "ok" in place.answer(place.client(), verb="status"), "a new one"
    assert place.alerts() == []


def test_another_socket_in_its_place_is_not_taken_for_its_own(place: Place, runtime: Path) -> None:
    before = Path(endpoint(place)["socket"])
    other = before.with_name("other.sock")
    other.touch()
    other.replace(before)
    place.until(lambda: endpoint(place)["socket"] != str(before))
    assert place.client().heard("client-hello-ack")


def test_the_whole_runtime_folder_may_go_and_is_made_again(place: Place, runtime: Path) -> None:
    before = endpoint(place)
    shutil.rmtree(runtime / "actum")
    place.until(lambda: endpoint(place)["socket"] != before["socket"])
    assert stat.S_IMODE((runtime / "actum").stat().st_mode) == 0o700
    assert place.client().heard("client-hello-ack")


@pytest.mark.logs("without a local socket")
def test_r11_where_nothing_can_listen_the_spool_alone_serves_until_the_next_look(place: Place, runtime: Path) -> None:
    """LOCK_LOOK_EVERY_S later it is tried again, and the alert is closed."""
    client, folder = place.client(), runtime / "actum"
    shutil.rmtree(folder)
    folder.touch()
    place.until(lambda: endpoint(place)["socket"] is None)
    place.until(lambda: place.alerts() == ["no_socket"])
    assert "ok" in place.answer(client, verb="status"), "the old channel"
    folder.unlink()
    controller = place.headless.controller
    controller._on_tick()
    assert endpoint(place)["socket"] is None, "just looked"
    controller._lock_looked_us -= limits.LOCK_LOOK_EVERY_S * clock.US + 1
    controller._on_tick()
    assert endpoint(place)["socket"] is not None
    place.until(lambda: place.alerts() == [])
    assert place.client().heard("client-hello-ack")


def test_p23_whoever_lost_the_workspace_leaves_the_endpoint_to_its_successor(place: Place) -> None:
    """The folder was replaced under it: it retires at once, and does not claim the new one by its endpoint file."""
    place.ws.lock.rename(place.ws.path / "lock.old")
    place.ws.lock.touch()
    place.ws.endpoint.unlink()
    place.until(lambda: place.headless.retired)
    assert "lock file was replaced" in place.headless.retired
    assert not place.ws.endpoint.exists()


class Cleaned(App):
    """Its runtime folder is removed while it supervises."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        super().__init__(folder)
        self.runtime = runtime / "run"
        self.runtime.mkdir(mode=0o700)

    def start(self, *args: str, fault: str = "", **environment: str) -> subprocess.Popen[str]:
        return super().start(*args, fault=fault, **{"XDG_RUNTIME_DIR": str(self.runtime), **environment})


def test_commands_and_hosts_find_a_supervisor_whose_runtime_folder_went_away(runtime: Path, tmp_path: Path) -> None:
    """R08: a run is recorded, its host greets, its stop is delivered: all after the folder has gone."""
    app = Cleaned(tmp_path, runtime)
    try:
        app.define()
        supervisor = app.start("supervise")
        wait_until(lambda: (read_endpoint(app.ws) or {}).get("pid") == supervisor.pid, what="the supervisor")
        shutil.rmtree(app.runtime)
        app.run("run", "work", "--detach")
        app.wait_status("RUNNING")
        app.run("stop", "1", "--wait")
        assert app.status() == "STOPPED"
        assert supervisor.poll() is None, "the same supervisor all the time"
    finally:
        app.end()
