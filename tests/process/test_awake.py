"""Keep-awake on a real session bus: held while work is under way, let go afterwards, its truth told (§17)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.helpers import awake as helper
from actum_desktop.controller import awake as awaking
from actum_desktop.controller.events import Awake
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.headless import Place
from tests.helpers.sessionbus import NAME, SessionBus
from tests.helpers.waiting import wait_until


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(awaking, "AWAKE_KEPT_S", 0.1)
    monkeypatch.setattr(awaking, "AWAKE_LOOK_EVERY_S", 0.05)
    made = Place(tmp_path / "place", qtbot)
    yield made
    made.close()


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionBus]:
    with SessionBus(tmp_path) as bus:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.address)
        yield bus


def test_the_machine_is_kept_awake_while_work_is_under_way_and_the_setting_allows_it(
    bus: SessionBus, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held by the session when work starts; let go when it is over, when the user does not want it, when the helper dies."""
    place.open()
    controller = place.headless.controller
    told: list[Awake] = []
    controller.supervising.connect(lambda state: told.append(state.awake))
    assert place.ask("status")["awake"] == {"by": "", "why": "", "setting": True}
    assert bus.said() == [], "nothing is asked while nothing computes"
    run = place.steps(60)
    place.until(lambda: told and told[-1].by == NAME)
    assert bus.said() == ["Inhibit"]
    assert place.ask("status")["awake"]["by"] == NAME
    place.ask("set_setting", name="keep_awake", value=False)
    place.until(lambda: told[-1] == Awake(setting=False))
    wait_until(lambda: bus.said() == ["Inhibit", "Uninhibit"], what="the release")
    place.ask("set_setting", name="keep_awake", value=True)
    place.until(lambda: told[-1].by)
    os.kill(int(controller.helpers["awake"]._process.processId()), signal.SIGKILL)
    place.until(lambda: told[-1].why and not told[-1].by)
    controller.awake._again_at_us = 0
    place.until(lambda: told[-1].by)
    place.ask("stop", run=run, level="insist")
    place.until(lambda: told[-1] == Awake())
    wait_until(lambda: bus.said() == ["Inhibit", "Uninhibit", "Inhibit", "Inhibit", "Uninhibit"], what="the release")


def test_where_nothing_keeps_awake_the_reason_is_told_and_work_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that comes to its senses is found at the next try (AWAKE_RETRY_S)."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr(awaking, "AWAKE_RETRY_S", 0.05)
    place.open()
    controller = place.headless.controller
    run = place.steps(60)
    place.until(lambda: controller.awake.truth == Awake(why=helper.NO_BUS))
    calls = controller.helpers["awake"]._waiting._number
    place.until(lambda: controller.helpers["awake"]._waiting._number > calls + 1)
    assert place.status(run) == ("RUNNING", "COMPUTING")


def test_doctor_tries_for_an_instant_and_lets_go(bus: SessionBus, tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from actum_desktop.entry import main; import sys; sys.exit(main())", "doctor"]
    done = subprocess.run([*words, "--workspace", str(tmp_path / "ws")], capture_output=True, text=True, check=False)
    assert f"possible, by {NAME}" in done.stdout, done.stderr
    assert bus.said() == ["Inhibit", "Uninhibit"]


@pytest.mark.parametrize("length", [limits.AWAKE_WHY_CHARS_MAX, limits.AWAKE_WHY_CHARS_MAX + 1])
def test_r11_a_reason_is_told_up_to_its_bound(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "words", lambda reasons: "x" * length)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    with helper.held() as (by, why):
        assert (by, why) == ("", "x" * limits.AWAKE_WHY_CHARS_MAX)


def test_reasons_are_told_once_and_without_the_calls_that_led_to_them() -> None:
    call = "DBusCallError(\"DBus call of method 'Inhibit' on interface 'x' with args () failed with message: not today\")"
    assert helper.first_line(call) == "not today"
    assert helper.words({"a": "not supported on LINUX", "b": "not today"}) == "b: not today"
    assert helper.words({"a": "not supported on LINUX"}) == helper.NO_WAY
    assert limits.AWAKE_TOLD_EVERY_S < limits.HELPER_SECONDS_MAX, "a helper that holds is not silent"
