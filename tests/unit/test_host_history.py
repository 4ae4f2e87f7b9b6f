"""The history of progress and activity: small whatever the work does, readable whatever the disk did (R11, R12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.host.history import History
from actum.ipc import historyfile

from tests.helpers.hosts import prepare_spool


def sample(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {"done": number, "total": 10_000, "stage": "load", "cpu_s": 1.5, "rss_bytes": 7, **changes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare_spool(tmp_path)
    return tmp_path


def test_a_line_each_five_seconds_and_one_at_the_end(folder: Path) -> None:
    history = History(str(folder))
    for tenth in range(101):
        now = tenth / 10
        if history.due(now):
            history.keep(sample(tenth), now)
    assert [each["done"] for each in historyfile.read(folder)] == [0, 50, 100]
    assert not history.due(10.0 + limits.HISTORY_EVERY_S - 0.01)
    assert history.due(10.1, last=True)
    history.keep(sample(101), 10.1, last=True)
    assert not history.due(99.0)
    assert not history.due(99.0, last=True)
    assert historyfile.read(folder)[-1]["done"] == 101


def test_r11_above_its_bound_every_second_line_goes_and_the_distance_doubles(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HISTORY_LINES_MAX", 10)
    history = History(str(folder))
    now, kept = 0.0, 0
    while kept < limits.HISTORY_LINES_MAX:
        assert len(historyfile.read(folder)) == kept
        history.keep(sample(kept), now)
        now, kept = now + limits.HISTORY_EVERY_S, kept + 1
    assert [each["done"] for each in historyfile.read(folder)] == [1, 3, 5, 7, 9], "thinned, and the newest stays"
    assert not history.due(now)
    assert history.due(now + limits.HISTORY_EVERY_S)


def test_r11_the_largest_line_fits_as_often_as_lines_are_kept() -> None:
    most = historyfile.line(1 << 60, dict.fromkeys(historyfile.NUMBERS, 1.2345678901234567e300) | {"stage": "长" * 9_999})
    stage = json.loads(most)["stage"]
    assert len(stage) == limits.HISTORY_STAGE_CHARS_MAX
    assert len(most) * limits.HISTORY_LINES_MAX <= limits.HISTORY_FILE_BYTES_MAX
    usual = historyfile.line(1_700_000_000_000_000, sample(5_000))
    assert len(usual) * limits.HISTORY_LINES_MAX <= limits.HISTORY_FILE_BYTES_MAX


def test_garbage_and_half_a_line_are_left_out(folder: Path) -> None:
    history = History(str(folder))
    history.keep(sample(1), 0.0)
    with (folder / "spool" / historyfile.NAME).open("ab") as file:
        file.write(b'[1]\n\xff\xfe\n{"at":"soon"}\n{"at":5,"done":"many","stage":7}\n{"at":1, "do')
    found = historyfile.read(folder)
    assert [each["done"] for each in found] == [1, None]
    assert found[1]["stage"] == ""


def test_a_disk_that_takes_nothing_costs_the_line_alone(folder: Path) -> None:
    history = History(str(folder))
    (folder / "spool").rename(folder / "elsewhere")
    history.keep(sample(1), 0.0)
    assert historyfile.read(folder) == []
    (folder / "elsewhere").rename(folder / "spool")
    history.keep(sample(2), limits.HISTORY_EVERY_S)
    assert [each["done"] for each in historyfile.read(folder)] == [2]
