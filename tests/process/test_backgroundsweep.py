"""Published bytes are read again in the background: slowly, only in idleness, recorded, history untouched (R11, R16)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.results.manifest import Messages
from actum.store import resultlists
from actum_desktop.controller import backgroundsweep
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers import packages, results, workspaces
from tests.helpers.headless import Place

MIB = 1 << 20


@pytest.fixture
def place(qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Two results, the first of 6 MiB; nobody has supervised them for SWEEP_IDLE_S."""
    made = Place(tmp_path, qtbot)
    with workspaces.writing(made.ws) as writer:
        digest = results.define(writer)
        for key, size in (("one", 6 * MIB), ("two", 10)):
            row = workspaces.admit(writer, digest, key=key)
            results.publish(made.ws, writer, row, {"report.html": b"x" * size}, Messages(done=True))
    monkeypatch.setattr(backgroundsweep, "SWEEP_IDLE_S", 0)
    yield made
    made.close()


def seen(place: Place, run: int) -> tuple[str, str] | None:
    check = place.headless.controller.reader.result(run).check  # type: ignore[union-attr]
    return None if check is None else (check.state, check.level)


def test_every_byte_is_looked_at_again_and_what_is_found_is_recorded(place: Place) -> None:
    path = packages.writable(place.ws.result_folder(2, 1) / "files" / "report.html")
    path.write_text("y" * 10)
    place.open()
    place.ask("set_setting", name="sweep_again_days", value=0)
    place.until(lambda: seen(place, 1) and seen(place, 2))
    assert (seen(place, 1), seen(place, 2)) == (("readable", "bytes"), ("damaged", "bytes"))
    reader = place.headless.controller.reader
    assert resultlists.last_thorough_us(reader.connection, 1) is not None
    place.until(lambda: [alert.code for alert in reader.alerts(open_only=True)] == ["result_changed"])
    assert reader.run(2).status == "SUCCEEDED"


def test_a_result_that_was_looked_at_lately_is_left_in_peace_and_so_is_everything_at_no_speed(place: Place) -> None:
    place.open()
    sweep = place.headless.controller._background
    place.until(lambda: sweep._again_us)  # a whole pass, and SWEEP_PAUSE_S until the next
    assert (seen(place, 1), seen(place, 2)) == (None, None)
    assert limits.SWEEP_PAUSE_S > limits.SWEEP_IDLE_S > 0
    sweep._again_us = 0
    place.ask("set_setting", name="sweep_mib_per_s", value=0)
    place.ask("set_setting", name="sweep_again_days", value=0)
    ticked = place.headless.controller.supervisor
    before = ticked.slots
    place.until(lambda: not sweep.looking and ticked.slots == before)
    assert (seen(place, 1), seen(place, 2)) == (None, None)


def test_r11_a_step_asks_for_no_more_results_than_its_bound(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """SWEEP_STEP_ROWS: with one a step, the older result comes with the step after."""
    assert limits.SWEEP_STEP_ROWS <= limits.PAGE_ROWS_MAX
    monkeypatch.setattr(backgroundsweep, "SWEEP_STEP_ROWS", 1)
    place.open()
    place.ask("set_setting", name="sweep_again_days", value=0)
    place.until(lambda: seen(place, 1) and seen(place, 2))


def test_it_reads_no_faster_than_it_may_and_gives_way_to_whoever_asks(place: Place) -> None:
    place.open()
    controller = place.headless.controller
    sweep = controller._background
    place.ask("set_setting", name="sweep_mib_per_s", value=1)
    place.ask("set_setting", name="sweep_again_days", value=0)
    place.until(lambda: seen(place, 2) and sweep.looking)  # now the one of 6 MiB, at 1 MiB a second
    command = controller.expect(lambda ok, error: None)
    place.until(lambda: not sweep.looking)
    assert seen(place, 1) is None
    place.ask("set_setting", name="sweep_mib_per_s", value=1000)
    controller.reply(command, {}, None)
    place.until(lambda: seen(place, 1) == ("readable", "bytes"))
