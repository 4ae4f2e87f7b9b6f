"""What a host tells of itself, and how often (R11, R12)."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from actum import limits
from actum.host.deadlines import Deadlines
from actum.host.family import Family
from actum.host.messages import Collected
from actum.host.report import Report
from actum.ipc import messages, spool
from actum.ipc.outbox import Outbox

from tests.helpers.hosts import prepare_spool
from tests.unit.test_host_deadlines import launch


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Report, Outbox, Collected]:
    prepare_spool(tmp_path)
    told = launch(folder=str(tmp_path), session="s")
    outbox = Outbox()
    family = Family("0" * 32, spool.spool_path(tmp_path, "alive"))
    collected = Collected(str(tmp_path), lambda *_: None)
    report = Report(told, family, collected, Deadlines(told, 0.0), outbox)
    return report, outbox, collected


def kinds(outbox: Outbox) -> list[str]:
    found = []
    while (message := outbox.take()) is not None:
        found.append(message[0])
    return found


def test_state_and_heartbeats_keep_their_distances(parts: tuple[Report, Outbox, Collected], tmp_path: Path) -> None:
    report, outbox, _ = parts
    times: list[float] = []
    beats = 0
    for tenth in range(100):
        report.turn(tenth / 10)
        state = spool.read_state(tmp_path)
        assert isinstance(state, dict)
        if not times or state["seq"] > len(times):
            times.append(tenth / 10)
        beats += kinds(outbox).count("heartbeat")
    apart = [after - before for before, after in pairwise(times)]
    assert min(apart) >= limits.STATE_EVERY_S - 0.001
    assert beats == 10 / limits.HEARTBEAT_EVERY_S
    assert limits.HOST_TURN_S < limits.STATE_EVERY_S


def test_another_phase_is_told_at_once(parts: tuple[Report, Outbox, Collected], tmp_path: Path) -> None:
    report, _, _ = parts
    report.turn(0.0)
    report.enter("ending")
    report.turn(0.01)
    assert spool.read_state(tmp_path)["phase"] == "ending"  # type: ignore[index]


def test_notices_of_one_code_are_bounded(parts: tuple[Report, Outbox, Collected]) -> None:
    report, outbox, _ = parts
    for _ in range(limits.NOTICES_PER_CODE_MAX + 1):
        report.notice("again", "text", {})
    report.notice("other", "text", {})
    assert kinds(outbox) == ["notice"] * (limits.NOTICES_PER_CODE_MAX + 1)


def test_a_condition_is_told_each_time_it_begins_or_ends(parts: tuple[Report, Outbox, Collected]) -> None:
    report, outbox, _ = parts
    for holds in (True, True, False, False, True):
        report.condition("disk_low", "text", holds)
    assert kinds(outbox) == ["notice", "notice", "notice"]


def test_a_new_supervisor_hears_stage_progress_and_ended_again(parts: tuple[Report, Outbox, Collected]) -> None:
    report, outbox, collected = parts
    for changed in collected.take([b'{"stage": "load"}', b'{"progress": [1, 2]}']):
        report.moved_on(changed, 7.0)
    assert kinds(outbox) == ["stage", "progress"]
    assert report.last_progress_s == 7.0
    report.ended, report.completed = {"at": 1}, True
    report.to_new_supervisor()
    assert kinds(outbox) == ["stage", "progress", "ended"]


def test_everything_put_fits_the_tables(parts: tuple[Report, Outbox, Collected]) -> None:
    report, outbox, collected = parts
    for changed in collected.take([b'{"stage": "load", "total": 2.5}', b'{"progress": [1, 2]}']):
        report.moved_on(changed, 7.0)
    report.notice("code", "text", {"n": 1})
    report.turn(0.0)
    envelope = {"v": 1, "run": 1, "attempt": "a", "session": "s", "channel": "c", "seq": 1, "at": 1}
    while (message := outbox.take()) is not None:
        messages.check({**envelope, "type": message[0], **message[1]}, messages.FROM_HOST)


def test_a_folder_that_takes_nothing_is_no_reason_to_stop(parts: tuple[Report, Outbox, Collected], tmp_path: Path) -> None:
    report, _, _ = parts
    os.rename(tmp_path / "spool", tmp_path / "elsewhere")
    report.turn(0.0)
    report.tree()
