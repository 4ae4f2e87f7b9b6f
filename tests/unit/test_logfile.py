"""The log's writer and reader joined: every byte, every line, over segments (FORMATS)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from actum import limits
from actum.host.logs import LogWriter
from actum.ipc.logfile import STDERR, STDOUT, LogReader


def written(folder: Path, *parts: tuple[int, bytes]) -> LogReader:
    writer = LogWriter(str(folder))
    for number, (stream, data) in enumerate(parts):
        assert writer.write(stream, data, 1000 + number) is None
    writer.close()
    return LogReader(folder)


def test_lines_over_any_borders_of_reads(tmp_path: Path) -> None:
    reader = written(tmp_path, (STDOUT, b"one\ntw"), (STDOUT, b"o\nthr"), (STDOUT, b"ee"))
    lines = reader.lines(0, 10)
    assert [line.raw for line in lines] == [b"one\n", b"two\n", b"three"]
    assert [line.at_us for line in lines] == [1000, 1000, 1001]
    assert [line.number for line in reader.lines(1, 1)] == [1]


def test_streams_are_told_apart_inside_a_line(tmp_path: Path) -> None:
    reader = written(tmp_path, (STDOUT, b"ab"), (STDERR, b"err\n"), (STDOUT, b"cd\n"))
    assert [(line.raw, line.stream, line.continues) for line in reader.lines(0, 9)] == [
        (b"ab", STDOUT, False),
        (b"err\n", STDERR, False),
        (b"cd\n", STDOUT, True),
    ]


def test_a_line_at_the_bound_is_one_piece_and_one_above_it_is_two(tmp_path: Path) -> None:
    long = b"x" * (limits.LOG_LINE_BYTES_MAX - 1) + b"\n"
    assert [line.raw for line in written(tmp_path / "a", (STDOUT, long + b"z\n")).lines(0, 9)] == [long, b"z\n"]
    lines = written(tmp_path / "b", (STDOUT, b"x" + long)).lines(0, 9)
    assert [(len(line.raw), line.continues) for line in lines] == [(limits.LOG_LINE_BYTES_MAX, False), (1, True)]


def test_segments_begin_at_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_SEGMENT_BYTES", 10)
    reader = written(tmp_path, *[(STDOUT, b"line %03d\n" % n) for n in range(20)])
    assert len(list(tmp_path.glob("*.log"))) == 10
    assert {path.stat().st_size for path in tmp_path.glob("*.log")} == {18}  # the first line end at or beyond the bound
    assert limits.LOG_SEGMENT_BYTES == 10
    assert [line.text for line in reader.lines(0, 100)] == [f"line {n:03d}" for n in range(20)]
    assert [line.text for line in reader.tail(3)] == ["line 017", "line 018", "line 019"]
    assert b"".join(path.read_bytes() for path in sorted(tmp_path.glob("*.log"))).count(b"\n") == 20


def test_r12_a_fifo_in_the_place_of_the_folder_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_SEGMENT_BYTES", 10)
    writer = LogWriter(str(tmp_path / "log"))
    assert writer.write(STDOUT, b"one line that is long\n", 1) is None
    (tmp_path / "log").rename(tmp_path / "taken")
    os.mkfifo(tmp_path / "log")
    assert writer.write(STDOUT, b"another\n", 2) is None
    writer.close()
    assert (tmp_path / "log" / "000001.log").read_bytes() == b"another\n"
    assert (tmp_path / "log.foreign").is_fifo()


def test_an_entry_that_is_half_written_is_not_read_yet(tmp_path: Path) -> None:
    reader = written(tmp_path, (STDOUT, b"one\ntwo\n"))
    with (tmp_path / "000000.idx").open("ab") as index:
        index.write(b"\x08\0\0\0\0")
    assert [line.raw for line in reader.tail(1)] == [b"two\n"]
    assert [line.raw for line in reader.lines(0, 9)] == [b"one\n", b"two\n"]
    assert reader.count() == 2


def test_the_text_is_what_a_terminal_would_leave(tmp_path: Path) -> None:
    reader = written(tmp_path, (STDOUT, b" 1%\r 2%\r\nbad \xff byte\n"))
    assert [line.text for line in reader.lines(0, 9)] == [" 2%", "bad \ufffd byte"]


def test_a_log_without_a_folder_holds_no_lines(tmp_path: Path) -> None:
    assert LogReader(tmp_path / "none").tail(5) == []


def test_a_full_disk_keeps_the_rest_until_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import os

    writer = LogWriter(str(tmp_path))
    real, full = os.write, [True]

    def write(descriptor: int, data: bytes) -> int:
        if full[0]:
            raise OSError(errno.ENOSPC, "no room")
        return real(descriptor, data[:3])  # short writes too

    monkeypatch.setattr("actum.host.logs.os.write", write)
    error = writer.write(STDOUT, b"one\ntwo\n", 5)
    assert error is not None
    assert writer.blocked
    full[0] = False
    assert writer.retry() is None
    assert not writer.blocked
    writer.close()
    assert [line.raw for line in LogReader(tmp_path).lines(0, 9)] == [b"one\n", b"two\n"]
