"""The controller and whoever connects to it: strangers, violations, followers, commands that make no sense (§6, §7, R11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.clock import US, Now
from actum.model.changes import Changes
from actum_desktop.controller import controller as controlling
from actum_desktop.controller import spoolreading
from actum_desktop.controller.events import Live
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.headless import Place


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, qtbot)
    made.open()
    yield made
    made.close()


@pytest.fixture(scope="module")
def words() -> list[dict[str, Any]]:
    """Bodies that no command understands; each is answered, and none harms the supervisor."""
    return [
        {},
        {"verb": None},
        {"verb": ["run"]},
        {"verb": "delete_everything"},
        {"verb": "run"},
        {"verb": "run", "task": "absent"},
        {"verb": "run", "task": "demo-steps", "version": [1]},
        {"verb": "run", "task": "demo-steps", "parameters": "seconds=1"},
        {"verb": "run", "task": "demo-steps", "parameters": [1]},
        {"verb": "run", "task": "demo-steps", "labels": {"a": 1}},
        {"verb": "run", "task": "demo-steps", "key": 5},
        {"verb": "run", "task": "demo-steps", "base": 5},
        {"verb": "run", "task": "demo-steps", "trigger": "whim"},
        {"verb": "stop"},
        {"verb": "stop", "run": "soon"},
        {"verb": "stop", "run": -1},
        {"verb": "stop", "run": None},
        {"verb": "task_add"},
        {"verb": "task_add", "contract": []},
        {"verb": "set_setting", "name": "slots", "value": "many"},
        {"verb": "set_setting", "name": {}, "value": 1},
        {"verb": "verify", "run": 1 << 62},
        {"verb": "export", "run": 1},
        {"verb": "show_window"},
    ]


def test_what_makes_no_sense_is_answered_in_words_and_nothing_is_created(place: Place, words: list[dict[str, Any]]) -> None:
    client = place.client()
    for body in words:
        error = place.answer(client, **body).get("error")
        assert error, body
        assert error["code"] != "bug", (body, error)
        assert error["what"]
    assert place.read(lambda reader: reader.runs_page(before=None, limit=5)) == []
    assert place.answer(client, verb="status")["ok"]["idle"]


@pytest.mark.logs("failed")
def test_a_command_that_fails_in_a_way_nobody_foresaw_is_answered(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controlling.Commands, "_run_number", lambda commands, body: 1 // 0)
    error = place.answer(place.client(), verb="stop", run=1)["error"]
    assert error["code"] == "bug"
    assert "ZeroDivisionError" in error["why"]


def test_a_host_of_an_attempt_nobody_knows_is_left_alone_and_an_alert_is_on_record(place: Place) -> None:
    end = place.end()
    end.hello({"run": 9, "attempt": "attempt-of-another-workspace", "session": "a" * 32}, "b" * 32)
    place.until(end.ended)
    assert end.received == []
    place.until(lambda: place.alerts() == ["unknown_host"])


def test_r03_a_host_of_a_closed_attempt_is_dismissed_and_that_is_in_the_journal_of_its_run(place: Place) -> None:
    place.define()
    assert place.ask("run", task="plain")["run"] == 1
    secret: list[str] = []

    def closed() -> bool:
        file = place.ws.attempt_folder(1, 1) / "secret"
        secret.extend([file.read_text().strip()] if file.exists() and not secret else [])
        return place.status() == ("SUCCEEDED", "CLOSED")

    place.until(closed)
    row = place.row()
    end = place.end()
    end.hello({"run": row.run, "attempt": row.attempt, "session": row.session}, secret[0], claimed=True)
    place.until(lambda: end.heard("dismiss"))
    place.until(lambda: place.alerts() == ["late_host"])
    assert place.journal(1).count("late_host") == 1
    assert place.status() == ("SUCCEEDED", "CLOSED")


def test_a_client_that_breaks_the_protocol_is_journalled(place: Place) -> None:
    end = place.end()
    end.raw(b"\x00\x00\x00\x02{]")
    place.until(end.ended)
    place.until(lambda: "protocol_violation" in place.journal())
    assert place.alerts() == []


def test_a_proven_channel_that_breaks_the_protocol_is_closed_and_the_spool_serves(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§7: three violations, an alert, the channel is gone; the work goes on, and is shown from state.json."""
    run = place.steps(60)
    row = place.row(run)
    who = {"run": row.run, "attempt": row.attempt, "session": row.session}
    end = place.end()
    end.hello(who, (place.ws.attempt_folder(row.run, row.n) / "secret").read_text().strip(), place.host(run), claimed=True)
    place.until(lambda: end.heard("hello-ack"))
    for _ in range(limits.VIOLATIONS_PROVEN_MAX):
        end.say("stage", **{**who, "run": run + 1}, name="x", total=None)
    place.until(end.ended)
    place.until(lambda: place.alerts() == ["protocol_violation"])
    assert place.journal(run).count("protocol_violation") == limits.VIOLATIONS_PROVEN_MAX
    assert place.status(run) == ("RUNNING", "COMPUTING")

    shown: list[float] = []
    place.headless.controller.updated.connect(lambda update: shown.extend(each.active_s for each in update.live))
    machine = place.headless.controller.supervisor.machines[row.attempt]
    seen = machine.live.get("state_seq")
    place.until(lambda: machine.live.get("state_seq") not in (None, seen) and shown)
    assert row.attempt not in place.headless.controller._performer.channels

    reads: list[str] = []
    read_state = spoolreading.spool.read_state
    monkeypatch.setattr(spoolreading.spool, "read_state", lambda folder: (reads.append(folder), read_state(folder))[1])
    now = Now(*controlling.clock.read())
    reading = place.headless.controller._spool
    reading._looked_s = now.monotonic_us / US
    reading.look(now._replace(monotonic_us=now.monotonic_us + int(limits.STATE_POLL_S * US) - 1))
    assert reads == [], "R11: not more often than this"
    reading.look(now._replace(monotonic_us=now.monotonic_us + int(limits.STATE_POLL_S * US)))
    assert len(reads) == 1


def test_a_follower_hears_of_its_runs_and_of_no_others(place: Place) -> None:
    client, other = place.client(), place.client()
    place.define()
    assert place.answer(client, verb="follow", runs=[1])["ok"] == {"following": [1]}
    assert place.answer(other, verb="follow", runs=[2, "x", True])["ok"] == {"following": [2]}
    assert place.answer(place.client(), verb="follow", runs=7)["ok"] == {"following": []}
    assert place.ask("run", task="plain")["run"] == 1
    place.until(lambda: client.heard("change"))
    place.until(lambda: place.status() == ("SUCCEEDED", "CLOSED"))
    assert {frame["body"]["run"] for frame in client.hear() if frame["type"] == "change"} == {1}
    assert other.heard("change") is None


def test_r11_news_too_long_for_a_frame_holds_up_nobody(place: Place) -> None:
    client = place.client()
    place.answer(client, verb="follow", runs=[1, 2])
    live = (Live(1, "a", 1, progress={"message": "x" * limits.FRAME_BYTES_MAX}), Live(2, "b", 1, progress={"message": "y"}))
    place.headless.controller._tell_followers(Changes(runs=frozenset({1, 2})), live)
    place.until(lambda: sum(frame["type"] == "change" for frame in client.hear()) == 2)
    told = {frame["body"]["run"]: frame["body"]["live"] for frame in client.received if frame["type"] == "change"}
    assert told[1] is None
    assert told[2]["progress"] == {"message": "y"}


def test_reconciling_many_over_the_channel_tells_the_first_and_how_many(place: Place) -> None:
    """R11: more verdicts than an answer holds are counted. They wait in the queue, so that nothing is started."""
    place.define()
    place.ask("pause_queue")
    count = limits.VERDICTS_BYTES_MAX // 150
    for _ in range(count):
        place.ask("run", task="plain")
    told = place.answer(place.client(), verb="reconcile")["ok"]
    assert told["total"] == count
    assert 0 < len(told["verdicts"]) < count
    assert [verdict["run"] for verdict in told["verdicts"]] == list(range(1, len(told["verdicts"]) + 1))
    assert len(place.ask("reconcile")["verdicts"]) == count, "in this process there is no frame to fit"
    for run in range(1, count + 1):
        place.ask("stop", run=run)
    place.until(lambda: not place.open_rows())
