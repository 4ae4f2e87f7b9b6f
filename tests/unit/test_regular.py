"""What is no regular file is refused in words and never waited for; no identity has a number that no process has (R09, R18).

A test that fails here by waiting is ended after WAIT_S.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from actum import generation, limits, lock, tried
from actum.host import foreign, history, launch, messages, restoring
from actum.ipc import historyfile, records, regular, spool
from actum.ipc.framing import Violation
from actum.ipc.logfile import ENTRY, LogReader
from actum.ipc.messages import FROM_HOST, check
from actum.model.evidence import ClaimSeen, HostSeen, OutcomeSeen, TreeSeen
from actum.model.identity import PID_MAX, START_TICKS_MAX, ProcessIdentity
from actum.processes import evidence
from actum.store import database
from actum.workspace import Workspace, create_folders

from tests.helpers.hosts import make_attempt, prepare_spool
from tests.unit.test_messages import IDENTITY, message

WAIT_S = 5


@pytest.fixture(autouse=True)
def no_wait() -> Iterator[None]:
    """Whoever opens a FIFO the wrong way fails, instead of holding the suite up."""

    def waited(_signum: int, _frame: FrameType | None) -> None:
        raise AssertionError("it waits for who stands behind what is no regular file")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(WAIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def door(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.getcwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            listener.bind(path.name)
        finally:
            os.chdir(before)


KINDS: dict[str, Callable[[Path], Any]] = {
    "FIFO": os.mkfifo,
    "folder": Path.mkdir,
    "socket": door,
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to a file": lambda path: path.symlink_to(__file__),
    "link to nothing": lambda path: path.symlink_to("nothing"),
}
kinds = pytest.mark.parametrize("kind", KINDS)
FLAGS = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND, os.O_RDWR | os.O_CREAT | os.O_TRUNC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare_spool(tmp_path)
    return tmp_path


def instead(folder: Path, name: str, kind: str) -> None:
    path = folder / "spool" / name
    path.unlink(missing_ok=True)
    KINDS[kind](path)


@kinds
@pytest.mark.parametrize("flags", FLAGS)
def test_nothing_but_a_regular_file_is_opened(tmp_path: Path, kind: str, flags: int) -> None:
    KINDS[kind](tmp_path / "it")
    with pytest.raises(regular.NotRegular) as raised:
        regular.descriptor(tmp_path / "it", flags)
    assert (raised.value.errno, raised.value.strerror) == (errno.EINVAL, regular.WORDS)
    assert not (tmp_path / "nothing").exists()
    assert regular.content(__file__, 3) == b'"""'


def test_a_file_that_the_user_names_may_be_reached_by_a_link(tmp_path: Path) -> None:
    KINDS["link to a file"](tmp_path / "it")
    assert regular.content(tmp_path / "it", 3, follow=True) == b'"""'
    KINDS["link to a device"](tmp_path / "zero")
    with pytest.raises(regular.NotRegular):
        regular.content(tmp_path / "zero", 3, follow=True)


@kinds
def test_r09_in_the_place_of_a_file_of_the_spool_it_is_unreadable_never_absent(folder: Path, kind: str) -> None:
    read = {
        "claim": spool.read_claim,
        "outcome.json": spool.read_outcome,
        "state.json": spool.read_state,
        "tree.json": spool.read_tree,
        "stop": spool.read_stop,
    }
    for name, reading in read.items():
        instead(folder, name, kind)
        assert reading(folder) == spool.Unreadable(f"{name} {regular.WORDS}")
    instead(folder, "alive", kind)
    assert spool.probe_alive(folder) == "unknown"
    for name in ("records.jsonl", historyfile.NAME):
        instead(folder, name, kind)
    for opening in (lambda: spool.hold_alive(folder, 0), lambda: records.read(folder, 0), lambda: historyfile.read(folder)):
        with pytest.raises(regular.NotRegular):
            opening()
    assert records.read(folder, 0, skipping=True).skipped is not None, "nobody will ever mend it"


@kinds
def test_r09_every_look_that_meets_it_says_that_it_cannot_tell(folder: Path, kind: str) -> None:
    for name in ("claim", "alive", "tree.json", "outcome.json"):
        instead(folder, name, kind)
    seen = evidence.gather(attempt_folder=folder, session="5" * 32, cookie="7" * 32)
    assert (seen.host, seen.outcome) == (HostSeen.UNKNOWN, OutcomeSeen.UNKNOWN)
    assert (seen.claim, seen.tree) == (ClaimSeen.UNKNOWN, TreeSeen.UNKNOWN)
    assert seen.why["outcome"] == f"outcome.json {regular.WORDS}."
    assert seen.why["tree"] == f"tree.json {regular.WORDS}."
    assert seen.why["claim"] == f"claim {regular.WORDS}."


@kinds
def test_a_host_starts_nothing_with_a_launch_file_that_is_none(tmp_path: Path, kind: str) -> None:
    attempt = make_attempt(tmp_path, "pass")
    (attempt.folder / "launch.json").unlink()
    KINDS[kind](attempt.folder / "launch.json")
    with pytest.raises(launch.LaunchUnreadable, match=regular.WORDS):
        launch.read(str(attempt.folder))


@kinds
def test_r12_a_host_makes_anew_what_is_spoiled_and_keeps_every_record(tmp_path: Path, kind: str) -> None:
    attempt = make_attempt(tmp_path, "pass")
    restorer = restoring.Restorer(launch.read(str(attempt.folder)))
    restorer.claim = {"v": 1, "by": "host", "session": "s", "identity": {}, "at": 1}
    collected = messages.Collected(str(attempt.folder), lambda *_: None)
    say(collected, 1)
    for name in ("alive", "claim", "records.jsonl", "state.json", "stop", historyfile.NAME):
        instead(attempt.folder, name, kind)
    assert {"alive", "claim", "records.jsonl"} <= set(collected.mend(restorer.mend))
    say(collected, 2)
    collected.settle()
    written = attempt.folder / "spool" / "records.jsonl"
    written.unlink()  # a file that is gone is made anew too, even after the end
    assert collected.mend(restorer.mend) == ["records.jsonl"]
    written.rename(tmp_path / "aside")
    written.write_bytes(b"forged")
    assert collected.mend(restorer.mend) == ["records.jsonl"]
    assert collected.mend(restorer.mend) == []
    collected.close()
    assert spool.probe_alive(attempt.folder) == "held"
    assert spool.read_claim(attempt.folder) == restorer.claim
    assert [record["data"]["n"] for record in records.read(attempt.folder, 0).records] == [1, 2]
    os.close(restorer._lock)


def say(collected: messages.Collected, n: int) -> None:
    assert list(collected.take([b'{"record":"trade","data":{"n":%d}}' % n])) == []
    collected.write_records()
    assert not collected.waits


@kinds
def test_r12_a_spool_that_is_no_folder_is_set_aside(tmp_path: Path, kind: str) -> None:
    attempt = make_attempt(tmp_path, "pass")
    asked = launch.read(str(attempt.folder))
    restorer = restoring.Restorer(asked)
    restorer.claim = {"v": 1, "by": "host", "session": "s", "identity": {}, "at": 1}
    place = attempt.folder / "spool"
    place.rename(tmp_path / "taken")
    KINDS[kind](place)
    assert restoring.is_gone(asked)
    assert restorer.restore(-1)
    assert spool.probe_alive(attempt.folder) == "held"
    os.close(restorer._lock)


@kinds
def test_a_message_file_that_is_none_is_told_once_and_read_when_it_is_one_again(tmp_path: Path, kind: str) -> None:
    path, told = tmp_path / "messages.jsonl", []
    file = messages.MessageFile(str(path), lambda code, text, data: told.append(code))
    path.unlink()
    KINDS[kind](path)
    assert [file.next_lines() for _ in range(3)] == [[], [], []]
    assert told == ["messages_replaced"]
    foreign.set_aside(str(path))
    path.write_bytes(b"{}\n")
    assert file.next_lines() == [b"{}"]
    file.close()


@kinds
def test_a_history_that_is_no_file_costs_its_lines(folder: Path, kind: str) -> None:
    instead(folder, historyfile.NAME, kind)
    kept = history.History(str(folder))
    kept.keep({"done": 1}, 0.0)
    assert not kept.due(1.0)


@kinds
def test_the_files_of_a_workspace_hold_nobody_up(tmp_path: Path, kind: str) -> None:
    ws = Workspace(tmp_path / "workspace")
    create_folders(ws)
    for path in (ws.generation, ws.endpoint, ws.lock):
        KINDS[kind](path)
    assert generation.read_generation(ws) is None
    assert generation.read_endpoint(ws) is None
    assert lock.held_by_someone(ws) is None


def test_a_database_that_is_a_fifo_is_refused(tmp_path: Path) -> None:
    ws = Workspace(tmp_path / "workspace")
    create_folders(ws)
    os.mkfifo(ws.database)
    partner = threading.Timer(WAIT_S, os.open, (ws.database, os.O_WRONLY | os.O_NONBLOCK))  # SQLite hears no alarm
    partner.start()
    with pytest.raises(Exception, match=regular.WORDS):
        database.open_reader(ws)
    partner.cancel()
    partner.join()


def test_r11_a_forged_index_makes_no_reader_take_more_than_a_piece(tmp_path: Path) -> None:
    with (tmp_path / "000000.log").open("wb") as log:
        log.truncate(10**12)
    pieces = [(0, 1, 1), (10**12 - 1, 2, 1), (5, 3, 1)]
    (tmp_path / "000000.idx").write_bytes(b"".join(ENTRY.pack(*piece) for piece in pieces))
    reader = LogReader(tmp_path)
    assert [len(line.raw) for line in reader.lines(0, 3)] == [limits.LOG_LINE_BYTES_MAX, 0, limits.LOG_LINE_BYTES_MAX]
    assert len(reader.block(0, 1, 10).raw) == limits.LOG_LINE_BYTES_MAX


def test_of_a_file_in_git_no_more_than_its_bound_is_read(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    line = f"{'a' * 40} refs/heads/main"
    for beyond in (0, 1):
        before = "#" * (limits.GIT_FILE_BYTES_MAX - len(line) - 1 + beyond)
        (git / "packed-refs").write_text(f"{before}\n{line}")
        assert tried.commit_of(tmp_path) == (None if beyond else "a" * 40)
    os.mkfifo(git / "refs")
    (git / "HEAD").unlink()
    os.mkfifo(git / "HEAD")
    assert tried.commit_of(tmp_path) is None


@pytest.mark.parametrize("member", ["pid", "start_ticks"])
def test_r07_a_number_that_no_process_can_have_is_no_identity(member: str) -> None:
    largest = {"pid": PID_MAX, "start_ticks": START_TICKS_MAX}[member]
    assert ProcessIdentity.from_json({**IDENTITY, member: largest})
    hello = message(FROM_HOST, "hello")
    check({**hello, "identity": {**IDENTITY, member: largest}}, FROM_HOST)
    for value in (largest + 1, -1, True, "1"):
        with pytest.raises(ValueError, match="not a process identity"):
            ProcessIdentity.from_json({**IDENTITY, member: value})
        with pytest.raises(Violation):
            check({**hello, "identity": {**IDENTITY, member: value}}, FROM_HOST)
