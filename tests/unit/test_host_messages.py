"""Reading and sorting the work's messages: bounded pieces, nothing dropped (§7, R11, R12)."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.host.messages import Collected, MessageFile
from actum.ipc import records

from tests.helpers.hosts import prepare_spool


class Notices(list[str]):
    def __call__(self, code: str, text: str, data: dict[str, Any]) -> None:
        self.append(code)


def opened(tmp_path: Path) -> tuple[Path, MessageFile, Notices]:
    path, notices = tmp_path / "messages.jsonl", Notices()
    return path, MessageFile(str(path), notices), notices


def collected(tmp_path: Path) -> tuple[Collected, Notices]:
    prepare_spool(tmp_path)
    notices = Notices()
    return Collected(str(tmp_path), notices), notices


def said(into: Collected, *messages: Any) -> list[str]:
    return list(into.take([json.dumps(message).encode() for message in messages]))


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def test_a_line_is_a_line_when_its_end_has_come(tmp_path: Path) -> None:
    path, file, notices = opened(tmp_path)
    append(path, b'{"a"')
    assert file.next_lines() == []
    append(path, b": 1}\n\n{")
    assert file.next_lines() == [b'{"a": 1}', b""]
    assert file.next_lines() == []
    assert file.next_lines(final=True) == [b"{"]
    assert file.next_lines(final=True) == []
    assert notices == []
    file.close()


def test_a_line_at_the_bound_is_read_and_one_above_is_skipped_with_a_notice(tmp_path: Path) -> None:
    path, file, notices = opened(tmp_path)
    whole = b"x" * limits.MESSAGE_LINE_BYTES_MAX
    append(path, whole + b"\n" + whole + b"y\nnext\n")
    lines: list[bytes] = []
    while found := file.next_lines() or (file.backlog and [b""]):
        lines += [line for line in found if line]
    assert [len(line) for line in lines] == [limits.MESSAGE_LINE_BYTES_MAX, 4]
    assert notices == ["message_too_long"]
    file.close()


def test_one_turn_reads_a_bounded_piece_and_the_backlog_asks_for_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file, _ = opened(tmp_path)
    line = b"x" * 1023 + b"\n"
    append(path, line * (limits.MESSAGES_READ_BYTES_MAX // 1024) * 2)
    monkeypatch.setattr(limits, "MESSAGES_BACKLOG_BYTES_MAX", file.backlog)
    assert not file.wants_pause(False)  # at the bound
    monkeypatch.setattr(limits, "MESSAGES_BACKLOG_BYTES_MAX", file.backlog - 1)
    assert file.wants_pause(False)  # just above it
    assert len(b"".join(file.next_lines())) < limits.MESSAGES_READ_BYTES_MAX
    assert file.backlog == limits.MESSAGES_READ_BYTES_MAX
    assert file.wants_pause(True)  # until half of it is read
    file.next_lines()
    assert not file.wants_pause(True)
    file.close()


def test_a_file_that_was_cut_is_noticed_and_read_on_from_its_end(tmp_path: Path) -> None:
    path, file, notices = opened(tmp_path)
    append(path, b"one\ntwo\n")
    assert file.next_lines() == [b"one", b"two"]
    path.write_bytes(b"new\n")
    assert file.next_lines() == []
    append(path, b"more\n")
    assert file.next_lines() == [b"more"]
    assert notices == ["messages_cut"]
    file.close()


def test_progress_and_stage_are_news_with_the_stage_they_belong_to(tmp_path: Path) -> None:
    into, _ = collected(tmp_path)
    assert said(into, {"stage": "load", "total": 10}, {"progress": [3, 10], "unit": "rows"}) == ["stage", "progress"]
    assert into.stage is not None
    assert into.progress is not None
    assert (into.stage["name"], into.stage["total"]) == ("load", 10)
    assert {**into.progress, "at": 0} == {"done": 3, "total": 10, "unit": "rows", "stage": "load", "message": None, "at": 0}
    assert said(into, {"progress": 7}) == ["progress"]
    assert into.spoke


@pytest.mark.parametrize("message", [{"progress": "x"}, {"progress": []}, {"progress": [1, "x"]}, {"stage": ""}, {"stage": 5}])
def test_news_without_sense_are_noticed_and_ignored(tmp_path: Path, message: dict[str, Any]) -> None:
    into, notices = collected(tmp_path)
    assert said(into, message) == []
    assert notices == ["message_malformed"]
    assert into.contradictions == []


@pytest.mark.parametrize("kind", ["metric", "unavailable", "table", "file", "record", "done"])
def test_what_makes_the_result_contradicts_the_contract_where_it_makes_no_sense(tmp_path: Path, kind: str) -> None:
    into, _ = collected(tmp_path)
    said(into, {kind: 5})
    assert len(into.contradictions) == 1


def test_more_than_the_bound_of_one_kind_contradict_the_contract(tmp_path: Path) -> None:
    into, _ = collected(tmp_path)
    said(into, *[{"metric": f"m{n}", "value": "1"} for n in range(limits.COLLECTED_MESSAGES_MAX)])
    said(into, *[{"note": "n"}] * limits.COLLECTED_MESSAGES_MAX)
    assert into.contradictions == []
    said(into, {"metric": "one more", "value": "1"}, {"note": "n"})
    assert len(into.contradictions) == 2
    assert len(into.metrics) == len(into.notes) == limits.COLLECTED_MESSAGES_MAX


def test_a_metric_may_be_said_at_each_step_and_the_last_word_counts(tmp_path: Path) -> None:
    """Work that trains for longer than COLLECTED_MESSAGES_MAX steps is not failed for saying each step's loss."""
    into, _ = collected(tmp_path)
    steps = limits.COLLECTED_MESSAGES_MAX + 1
    said(into, *[{"metric": "loss", "value": str(n)} for n in range(steps)], {"metric": "last", "value": "1"})
    said(into, {"unavailable": "last", "reason": "r"}, {"table": "t", "path": "a.csv"}, {"table": "t", "path": "b.csv"})
    assert into.contradictions == []
    assert into.metrics == [{"metric": "loss", "value": str(steps - 1)}, {"unavailable": "last", "reason": "r"}]
    assert into.tables == [{"table": "t", "path": "b.csv"}]


def test_what_is_kept_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11: at the bound it is kept; just above, it contradicts the contract; what replaces another takes its room."""
    notes = [{"note": "x" * 100}, {"note": "y" * 100}]
    monkeypatch.setattr(limits, "COLLECTED_BYTES_MAX", sum(len(json.dumps(note)) for note in notes))
    into, _ = collected(tmp_path)
    said(into, *notes)
    assert (into.contradictions, len(into.notes)) == ([], 2)
    said(into, {"note": ""})
    assert (len(into.contradictions), len(into.notes)) == (1, 2)
    again = tmp_path / "again"
    again.mkdir()
    into, _ = collected(again)
    said(into, *[{"metric": "m", "value": "1" * 100} for _ in range(5)])
    assert into.contradictions == []


def test_a_message_file_that_was_replaced_is_followed(tmp_path: Path) -> None:
    path, file, notices = opened(tmp_path)
    append(path, b"one\n")
    assert file.next_lines() == [b"one"]
    append(path, b"two\nhalf")
    path.unlink()
    append(path, b"three\n")
    assert [file.next_lines(), file.next_lines()] == [[b"two"], [b"three"]]
    assert notices == ["messages_replaced"]
    file.close()


def test_names_in_a_notice_are_short(tmp_path: Path) -> None:
    told: list[Any] = []
    into = Collected(str(tmp_path), lambda code, text, data: told.append(data))
    list(into.take([json.dumps({"k" * 1_000_000: 1}).encode()]))
    assert told == [{"keys": ["k" * limits.NAME_CHARS_MAX]}]


def test_not_a_number_is_text_from_here_on(tmp_path: Path) -> None:
    into, _ = collected(tmp_path)
    list(into.take([b'{"metric": "m", "value": NaN}', b'{"record": "r", "data": {"x": -Infinity}}']))
    assert into.metrics == [{"metric": "m", "value": "NaN"}]
    into.write_records()
    into.close()
    assert records.read(tmp_path, 0).records[0]["data"] == {"x": "-Infinity"}


def test_records_wait_for_a_disk_that_takes_them_and_none_is_lost_or_halved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12."""
    import os

    into, _ = collected(tmp_path)
    real = os.write
    said(into, {"record": "a", "data": {"n": 1}})
    into.write_records()

    def short(descriptor: int, data: bytes) -> int:
        return real(descriptor, data[:5])

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no room")

    said(into, {"record": "b"}, {"record": "c"})
    for broken in (short, full):
        monkeypatch.setattr("actum.host.messages.os.write", broken)
        into.write_records()
        assert into.waits
        assert [record["seq"] for record in records.read(tmp_path, 0).records] == [1]
    monkeypatch.setattr("actum.host.messages.os.write", real)
    into.write_records()
    assert not into.waits
    into.close()
    assert [(record["seq"], record["kind"]) for record in records.read(tmp_path, 0).records] == [(1, "a"), (2, "b"), (3, "c")]
