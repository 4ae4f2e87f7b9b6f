"""Reading records.jsonl: whole lines, nothing lost, and no line that could keep a run open for ever (R12)."""

from __future__ import annotations

import json
import shutil
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from actum.ipc import records
from actum.limits import FRAME_BYTES_MAX, MESSAGE_LEVELS_MAX, RECORD_LINE_BYTES_MAX

NO_RECORDS = [
    b"[]",
    b"{}",
    b"\x00\xff\x80 garbage",
    b'{"seq": 1, "at": 1, "kind": "k", "data": []}',
    b'{"seq": 1, "at": -1, "kind": "k", "data": {}}',
    b'{"seq": 1, "at": 1, "kind": "k", "data": {"x": NaN}}',
    b'{"seq": 1, "at": 1, "kind": "k", "data": {"x": 1e999}}',
    b'{"seq": 9223372036854775808, "at": 1, "kind": "k", "data": {}}',
    b'{"seq": 1, "at": 1, "kind": "\\ud800", "data": {}}',
    b'{"seq": 1, "at": 1, "kind": "k", "data": {"x": "\xed\xa0\x80"}}',
    b'{"seq": 1, "at": 1, "kind": "k", "data": {"x": ' + b"[" * MESSAGE_LEVELS_MAX + b"]" * MESSAGE_LEVELS_MAX + b"}}",
    b"[" * 99_999,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "spool").mkdir()
    return tmp_path / "spool" / "records.jsonl"


def record(seq: int, **data: Any) -> bytes:
    return json.dumps({"seq": seq, "at": 1, "kind": "k", "data": data}, ensure_ascii=False).encode()


def all_of(folder: Path, **how: Any) -> tuple[list[int], int, list[records.Skipped]]:
    """Batch by batch to the end: the seqs, the last offset, and what was skipped. It comes to an end."""
    seqs: list[int] = []
    offset, skipped, more = 0, [], True
    for _ in range(10_000):
        batch = records.read(folder, offset, **how)
        assert batch.offset > offset or not batch.more, "it goes on for ever"
        seqs += [each["seq"] for each in batch.records]
        skipped += [batch.skipped] if batch.skipped else []
        offset, more = batch.offset, batch.more
        if not more:
            return seqs, offset, skipped
    raise AssertionError("it goes on for ever")


def test_records_are_read_by_offset_and_only_whole_lines(tmp_path: Path, path: Path) -> None:
    assert records.read(tmp_path, 0) == ([], 0, False, None)
    lines = [record(n, text="\u2028" * 10) for n in range(100)]
    path.write_bytes(b"\n".join(lines) + b'\n{"seq": 100')
    ends, offset, found, more = set(accumulate(len(line) + 1 for line in lines)), 0, [], True
    while more:
        batch, offset, more, _ = records.read(tmp_path, offset, 300)
        assert offset in ends, "nothing of an unfinished line is passed over"
        found += batch
    assert [each["seq"] for each in found] == list(range(100))
    assert records.read(tmp_path, offset) == ([], offset, False, None)


def test_a_record_longer_than_a_batch_is_read(tmp_path: Path, path: Path) -> None:
    path.write_bytes(record(1, text="x" * 5000) + b"\n")
    assert [each["seq"] for each in records.read(tmp_path, 0, 100).records] == [1]


@pytest.mark.parametrize("line", NO_RECORDS, ids=range(len(NO_RECORDS)))
def test_a_line_that_is_no_record_is_waited_for_and_passed_over_once_nobody_writes(
    tmp_path: Path, path: Path, line: bytes
) -> None:
    """R12: what comes before it is read, and so is what comes after it."""
    before, after = record(1) + b"\n", record(2) + b"\n"
    path.write_bytes(before + line + b"\n" + after)
    batch = records.read(tmp_path, 0)
    assert ([each["seq"] for each in batch.records], batch.offset, batch.more) == ([1], len(before), True)
    with pytest.raises(OSError, match="no record"):
        records.read(tmp_path, batch.offset)
    seqs, offset, skipped = all_of(tmp_path, skipping=True)
    assert (seqs, offset) == ([1, 2], path.stat().st_size)
    assert [(each.lines, each.bytes, each.offset) for each in skipped] == [(1, len(line), len(before))]
    assert skipped[0].why


@pytest.mark.parametrize("size", [10, FRAME_BYTES_MAX, 2 * FRAME_BYTES_MAX, RECORD_LINE_BYTES_MAX + FRAME_BYTES_MAX])
def test_an_unfinished_line_is_waited_for_and_passed_over_once_nobody_writes(tmp_path: Path, path: Path, size: int) -> None:
    """R12: a power cut may leave half a record of any length, and a reader that waits for its end waits for ever."""
    before = record(1) + b"\n"
    path.write_bytes(before + b"x" * size)
    assert records.read(tmp_path, len(before)) == ([], len(before), False, None)
    seqs, offset, skipped = all_of(tmp_path, skipping=True)
    assert (seqs, offset, sum(each.bytes for each in skipped)) == ([1], len(before) + size, size)


def test_the_longest_record_is_read(tmp_path: Path, path: Path) -> None:
    longest = record(1, text="x" * (RECORD_LINE_BYTES_MAX - len(record(1, text=""))))
    path.write_bytes(longest + b"\n" + record(2) + b"\n")
    assert all_of(tmp_path)[0] == [1, 2]


@pytest.mark.parametrize("size", [FRAME_BYTES_MAX + RECORD_LINE_BYTES_MAX, 3 * RECORD_LINE_BYTES_MAX])
def test_a_line_longer_than_any_record_is_none(tmp_path: Path, path: Path, size: int) -> None:
    path.write_bytes(b"x" * size + b"\n" + record(1) + b"\n")
    with pytest.raises(OSError, match="too long"):
        records.read(tmp_path, 0)
    assert all_of(tmp_path, skipping=True)[0] == [1]


def test_many_lines_are_told_as_one(tmp_path: Path, path: Path) -> None:
    path.write_bytes(b"x\n" * 1_000)
    assert records.read(tmp_path, 0, skipping=True).skipped == (1_000, 1_000, 0, "it is not JSON")


def test_a_file_that_cannot_be_read_is_waited_for_whoever_writes(tmp_path: Path, path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.touch()
    for skipping in (False, True):
        with pytest.raises(NotADirectoryError):
            records.read(tmp_path, 0, skipping=skipping)


def test_what_is_no_file_holds_no_records_that_could_be_waited_for_once_nobody_writes(tmp_path: Path, path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError, match="regular file"):
        records.read(tmp_path, 0)
    assert records.read(tmp_path, 7, skipping=True) == ([], 7, False, (1, 0, 7, "records.jsonl is not a regular file"))
