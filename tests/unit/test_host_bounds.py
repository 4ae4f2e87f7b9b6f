"""Declared limits and the free space nobody declares (R08, R11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from actum import limits
from actum.host import outputs, place
from actum.host.bounds import Bounds

from tests.unit.test_host_deadlines import launch

IDLE: dict[str, Any] = {"cpu_s": 0.0, "rss_bytes": 0, "peak_rss_bytes": 0, "read_bytes": 0, "written_bytes": 0}


class Space(NamedTuple):
    f_bavail: int
    f_frsize: int


def test_each_limit_holds_at_its_bound_and_breaks_above_it(tmp_path: Path) -> None:
    files = tmp_path / "staging" / "files"
    files.mkdir(parents=True)
    (files / "a").write_bytes(bytes(60))
    bounds = Bounds(launch(folder=str(tmp_path), memory_bytes=100, log_bytes=50, output_bytes=60))
    assert bounds.broken({**IDLE, "rss_bytes": 100}, 50, 0.0) is None
    for activity, log in (({**IDLE, "rss_bytes": 101}, 0), (IDLE, 51)):
        failure = bounds.broken(activity, log, 0.0)
        assert failure is not None
        assert failure.code == "limit_exceeded"
    (files / "b").write_bytes(b"x")
    assert bounds.broken(IDLE, 0, limits.DISK_LOOK_EVERY_S - 0.1) is None  # looked at a moment ago
    failure = bounds.broken(IDLE, 0, limits.DISK_LOOK_EVERY_S)
    assert failure is not None
    assert (failure.details["value"], failure.details["bound"]) == (61, 60)


def test_little_free_space_is_a_warning_below_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = [limits.DISK_LOW_BYTES]
    monkeypatch.setattr("actum.host.bounds.os.statvfs", lambda folder: Space(free[0], 1))
    bounds = Bounds(launch(folder=str(tmp_path)))
    assert bounds.broken(IDLE, 0, 0.0) is None
    assert not bounds.disk_low
    free[0] -= 1
    assert bounds.broken(IDLE, 0, limits.DISK_LOOK_EVERY_S) is None
    assert bounds.disk_low


def test_outputs_are_counted_up_to_the_bound_and_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "sub" / "deep" / "a").write_bytes(b"123")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = dict(outputs.output_files(str(tmp_path)))
    assert found["sub/deep/a"] == 3
    assert set(found) == {"loop", "sub/deep/a"}
    monkeypatch.setattr(limits, "OUTPUT_FILES_COUNTED_MAX", 0)
    assert len(list(outputs.output_files(str(tmp_path)))) <= limits.OUTPUT_FILES_COUNTED_MAX + 1
    assert list(outputs.output_files(str(tmp_path / "missing"))) == []


def test_the_hosts_own_log_is_bounded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from itertools import count

    monkeypatch.setattr(place, "_notes", count(limits.HOST_LOG_LINES_MAX - 1))
    for _ in range(3):
        place.note("line")
    assert capsys.readouterr().err == "line\n… and so on\n"
