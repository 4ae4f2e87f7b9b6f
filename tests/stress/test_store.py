"""The store under stress: another program's lock, a disk that fills in the middle of a commit, damaged and foreign files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from actum.errors import WorkspaceUnusable
from actum.limits import BUSY_TIMEOUT_MS
from actum.model.changes import Admit, Persisted, RefusalKind, Refused, SetSetting
from actum.store import audit
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import workspaces as w
from tests.helpers.waiting import wait_until
from tests.process.test_pid_reuse import environment

PAGE_BYTES = 4_096
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
"""
WRITE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tests.helpers import workspaces as w
ws = w.make(Path(sys.argv[1]))
with w.writing(ws) as writer:
    digest = w.add_task(writer)
    for _ in range(5):
        w.admit(writer, digest)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


@contextmanager
def held_by_another(ws: Workspace) -> Iterator[subprocess.Popen[str]]:
    """Another program has the database's write lock; it lets go when it is told to, and at the end."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(ws.database)], stdin=pipe, stdout=pipe, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.communicate()


def killed_writer(ws: Workspace) -> None:
    """A writer that admitted five runs and was killed: all of it is in the write-ahead log."""
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(ws.path)], env=environment(), check=False)
    assert done.returncode == -signal.SIGKILL


def log_of(ws: Workspace) -> Path:
    return ws.database.with_name(ws.database.name + "-wal")


def test_a_write_lock_of_another_program_is_waited_for(place: Workspace) -> None:
    """R04: within BUSY_TIMEOUT_MS nothing is refused; the answer comes when the other lets go."""
    assert BUSY_TIMEOUT_MS >= 1_000
    with w.writing(place) as writer:
        answers: list[object] = []
        with held_by_another(place) as other:
            writer.submit(SetSetting("slots", 2, 1), answers.append)
            wait_until(lambda: writer._connection is not None and not writer._queue, what="the writer to try")
            assert answers == []
            assert other.stdin is not None
            other.stdin.write("\n")
            other.stdin.flush()
            wait_until(lambda: answers, what="the answer")
        assert isinstance(answers[0], Persisted)


def test_a_write_lock_that_is_kept_is_said_and_the_store_goes_on_afterwards(place: Workspace) -> None:
    """Beyond the time: refused in words, nothing written; reads go on meanwhile; the same request passes later."""
    with w.writing(place) as writer:
        assert writer._connection is not None
        writer._connection.execute("PRAGMA busy_timeout = 20")
        with held_by_another(place):
            answer = writer.ask(SetSetting("slots", 3, 1))
            assert isinstance(answer, Refused)
            assert (answer.kind, answer.details["code"]) == (RefusalKind.STORAGE, "workspace_busy")
            with Reader(place) as reader:
                assert "slots" not in reader.setting_rows()
        assert isinstance(writer.ask(SetSetting("slots", 3, 1)), Persisted)


def test_r04_a_disk_that_fills_in_the_middle_of_a_commit(tmp_path: Path) -> None:
    """On a small file system: refusals name the disk; what was answered is there, the rest is not; then it goes on."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("a small file system needs the program unshare (util-linux)")
    disk = tmp_path / "disk"
    disk.mkdir()
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    shell = f'mount -t tmpfs -o size=2m none "{disk}" && exec "$@"'
    command = [unshare, "--mount", *user, "sh", "-c", shell, "sh", sys.executable, "-m", "tests.helpers.fulldisk", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False, timeout=60)
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["refused"] >= 10
    assert (said["codes"], said["kinds"]) == (["disk_full"], ["storage"])
    assert said["found"] == said["kept"]
    assert {"before", "after"} <= set(said["found"])
    assert said["read while full"] == said["runs"] == {"CREATED": 1}
    assert said["integrity"] == "ok"
    assert said["failed starts"] >= 2
    assert said["logs lost"] == 0, "a start that failed on the full disk ended in order: no log is missing"


@pytest.mark.parametrize("table", ["journal", "run", "attempt"])
def test_a_damaged_page_is_said_in_words_wherever_it_is_met(place: Workspace, table: str) -> None:
    """After an orderly end nothing looks through the whole file; whoever meets the damage says so, and nobody falls.

    One page is damaged, the root of one table: a sound request is refused because of it and of nothing else, for with the
    page put back the same request is carried out.
    """
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        for _ in range(5):
            w.succeed(writer, w.admit(writer, digest))
    page = root_page(place.database, table)
    sound = page_of(place.database, page)
    put_page(place.database, page, b"\xff" * len(sound))
    asked = w.admission(digest)
    answer = _written_on(place, asked)
    assert (answer.kind, answer.details["code"]) == (RefusalKind.STORAGE, "workspace_corrupt")
    assert "database" in answer.details["what"]
    assert "malformed" in answer.details["why"]
    assert answer.details["remedy"]
    with Reader(place) as reader, pytest.raises(WorkspaceUnusable) as read:
        reader.journal(1) if table == "journal" else reader.runs_page()
    with pytest.raises(WorkspaceUnusable) as audited:
        audit.audit(place)
    assert {read.value.code, audited.value.code} == {"workspace_corrupt"}
    with Reader(place) as reader:
        assert reader.tasks()[0].name == "sample", "what lies on other pages is read"
    put_page(place.database, page, sound)
    with w.writing(place) as writer:
        w.persisted(writer.ask(asked))


def root_page(database: Path, table: str) -> int:
    connection = sqlite3.connect(database)
    try:
        return int(connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0])
    finally:
        connection.close()


def page_of(database: Path, page: int) -> bytes:
    with database.open("rb") as file:
        file.seek((page - 1) * PAGE_BYTES)
        return file.read(PAGE_BYTES)


def put_page(database: Path, page: int, content: bytes) -> None:
    assert len(content) == PAGE_BYTES
    with database.open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(content)


def _written_on(ws: Workspace, request: Admit) -> Refused:
    """What a writer that opened the damaged database without meeting the damage answers, and answers again."""
    with w.writing(ws) as writer:
        first, again = writer.ask(request), writer.ask(request)
    assert isinstance(first, Refused)
    assert first == again
    return first


def test_a_foreign_log_is_refused_and_nothing_is_folded_in(place: Workspace, tmp_path: Path) -> None:
    """SQLite would put the other database's pages into this one; refused before anything is written, with the remedy."""
    with w.writing(place) as writer:
        w.admit(writer, w.add_task(writer))
    other = w.make(tmp_path / "other")
    killed_writer(other)
    shutil.copy(log_of(other), log_of(place))
    before = place.database.read_bytes()
    with pytest.raises(WorkspaceUnusable) as caught:
        Writer(place).start("x")
    assert caught.value.code == "log_foreign"
    assert place.database.read_bytes() == before
    for name in ("-wal", "-shm"):
        place.database.with_name(place.database.name + name).rename(tmp_path / name)
    with w.writing(place), Reader(place) as reader:
        assert reader.counts() == {"CREATED": 1}
        assert not reader.setting_rows().get("recovery")


def test_a_log_that_was_taken_away_is_said(place: Workspace) -> None:
    """R18: a killed writer's log is folded in and said to be well; without it nothing is called well."""
    with w.writing(place):
        pass
    killed_writer(place)
    with w.writing(place) as writer:
        assert (writer.opened.log_lost, writer.opened.previous_clean) == (False, False)
    killed_writer(place)
    connection = sqlite3.connect(place.database)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    for name in ("-wal", "-shm"):
        place.database.with_name(place.database.name + name).unlink()
    connection.close()
    with w.writing(place) as writer:
        assert (writer.opened.log_lost, writer.opened.recovery) == (True, False)
    with w.writing(place) as writer:
        assert not writer.opened.log_lost


def test_a_log_that_was_taken_away_with_all_that_was_ever_written_is_recovery(place: Workspace) -> None:
    """The database is behind its generation file then: nothing is launched."""
    killed_writer(place)
    for name in ("-wal", "-shm"):
        place.database.with_name(place.database.name + name).unlink()
    with w.writing(place) as writer:
        assert writer.opened.recovery


def test_readers_and_writer_at_once_meet_no_lock(place: Workspace) -> None:
    """Six threads read while the writer commits and folds: none is told that the database is locked."""
    stop, failures = threading.Event(), []

    def look() -> None:
        try:
            while not stop.is_set():
                with Reader(place) as reader:
                    reader.counts()
                    reader.runs_page(before=None, limit=50)
        except Exception as error:
            failures.append(error)

    with w.writing(place) as writer:
        digest = w.add_task(writer)
        threads = [threading.Thread(target=look) for _ in range(6)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                w.succeed(writer, w.admit(writer, digest))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert failures == []
