"""Settings take effect at once: slots, room on the disk, said and set by the command line (§11, §12, R06)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.program import Place, made
from tests.helpers.waiting import wait_until


def open_statuses(place: Place) -> list[str]:
    return [document["phase"] for document in place.actum("runs").objects if document["phase"] != "CLOSED"]


def alerted(place: Place) -> set[str]:
    return {alert["code"] for alert in place.actum("alerts").objects}


def waits_for(path: Path) -> str:
    return f"while [ ! -e {path} ]; do sleep 0.05; done"


@pytest.mark.leaves("the long-lived helpers of the supervisor end with it")
def test_more_slots_let_a_waiting_run_begin_and_room_lets_all(tmp_path: Path) -> None:
    place = made(tmp_path)
    gate = tmp_path / "gate"
    place.define("wait", waits_for(gate))
    assert place.actum("settings", "slots", "1").code == 0
    supervisor = place.start("supervise")
    try:
        wait_until(lambda: place.supervisor() is not None, what="the supervisor's endpoint")
        for _run in range(2):
            assert place.actum("run", "wait", "--detach").code == 0
        wait_until(lambda: sorted(open_statuses(place)) == ["COMPUTING", "QUEUED"], what="one of two computes")
        assert place.actum("settings", "slots", "2").code == 0
        wait_until(lambda: open_statuses(place) == ["COMPUTING", "COMPUTING"], what="the second began")

        assert place.actum("settings", "slots", "3").code == 0
        assert place.actum("settings", "free-bytes-min", str(1 << 50)).code == 0
        wait_until(lambda: "no_room" in alerted(place), what="it is said that there is no room")
        assert place.actum("run", "wait", "--detach").code == 0
        wait_until(lambda: "QUEUED" in open_statuses(place), what="the third waits")
        assert open_statuses(place).count("COMPUTING") == 2, "what computes is left alone"
        assert place.actum("settings", "free-bytes-min", "--default").code == 0
        wait_until(lambda: open_statuses(place) == ["COMPUTING"] * 3, what="there is room, so the third began")
        assert "no_room" not in alerted(place)
        gate.touch()
        wait_until(lambda: not open_statuses(place), 40, what="all have ended")
    finally:
        supervisor.terminate()
        supervisor.communicate(timeout=30)


def test_settings_are_said_and_refused_in_words(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.define("quick", "true")
    lines = place.actum("settings").objects
    assert {line["schema"] for line in lines} == {"actum.settings/1"}
    assert {"slots", "free_bytes_min", "keep_awake"} <= {line["name"] for line in lines}
    assert "queue_paused" not in {line["name"] for line in lines}, "that one has a verb of its own"
    assert place.actum("settings", "keep-awake", "no").code == 0
    (said,) = place.actum("settings", "keep_awake").objects
    assert (said["value"], said["default"]) == (False, True)
    for words, code in (("slots 0", 2), ("slots many", 2), ("nope", 3), ("queue_paused true", 3), ("--default", 2)):
        told = place.actum("settings", *words.split())
        assert told.code == code, told
        assert told.error["what"]
        assert told.error["why"] or told.error["remedy"]
