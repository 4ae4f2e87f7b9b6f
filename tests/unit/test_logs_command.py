"""`actum logs` reads in pages, and the log of detached supervisors has a bound (R11)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from actum import limits
from actum.ipc.logfile import ENTRY, STDOUT, LogReader
from actum_desktop.commands.detached import open_log
from actum_desktop.commands.logs import _whole


def written(folder: Path, count: int) -> LogReader:
    """A log of `count` numbered lines, in the format of logfile.py."""
    folder.mkdir()
    lines = [f"{number}\n".encode() for number in range(count)]
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line)
    (folder / "000000.log").write_bytes(b"".join(lines))
    (folder / "000000.idx").write_bytes(b"".join(ENTRY.pack(offset, 1, STDOUT) for offset in offsets))
    return LogReader(folder)


@pytest.mark.parametrize("more", [0, 1])
def test_r11_no_line_is_missing_where_two_pages_meet(tmp_path: Path, more: int) -> None:
    count = limits.LOG_PAGE_LINES + more
    pages = list(_whole(written(tmp_path / "log", count), 0))
    assert len(pages) == 1 + more
    assert [line.text for page in pages for line in page] == [str(number) for number in range(count)]


@pytest.mark.parametrize(("more", "kept"), [(0, True), (1, False)])
def test_r11_the_log_of_detached_supervisors_starts_afresh_above_its_bound(tmp_path: Path, more: int, kept: bool) -> None:
    path = tmp_path / "supervise.log"
    path.write_bytes(b"x" * (limits.DETACHED_LOG_BYTES_MAX + more))
    descriptor = open_log(path)
    os.write(descriptor, b"new")
    os.close(descriptor)
    assert path.stat().st_size == (limits.DETACHED_LOG_BYTES_MAX + 3 if kept else 3)
