"""Opening the database: created, migrated, checked, or refused in words; readers read-only (§10, "SQLite")."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import faults, limits
from actum.errors import Busy, NotFound, StorageFailed, WorkspaceUnusable
from actum.model.status import AttemptEvent, Pair, Phase, Status
from actum.store import database, failures, migrations, revisions
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.workspace import Workspace

from tests.helpers import adoptions
from tests.helpers import workspaces as w


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return w.make(tmp_path / "ws")


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    faults.arm("")


def parts(sql: str | None) -> list[str]:
    """The pieces of a CREATE statement in any order: constraints may be written in another one."""
    text = " ".join((sql or "").replace('"', "").split())
    if not text.startswith("CREATE TABLE"):
        return [text]
    head, _, body = text.partition("(")
    body, _, tail = body.rpartition(")")
    return [head, tail.strip(), *sorted(piece.strip() for piece in re.split(r",(?![^(]*\))", body))]


def schema_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'")
    return {name: parts(sql) for name, sql in rows}


def test_migrating_from_nothing_gives_the_same_as_creating(place: Workspace) -> None:
    migrated = sqlite3.connect(":memory:", isolation_level=None)
    migrations.upgrade(migrated)
    created = database.open_writer(place)
    created.row_factory = None
    try:
        assert schema_of(migrated) == schema_of(created)
        for query in ("SELECT * FROM arrow ORDER BY 1, 2, 3", "SELECT version_num FROM alembic_version"):
            assert migrated.execute(query).fetchall() == created.execute(query).fetchall()
    finally:
        migrated.close()
        created.close()


def test_the_revisions_are_those_alembic_finds() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(migrations.__file__).parent))
    found = [script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()]
    assert tuple(reversed(found)) == revisions.REVISIONS


def test_an_older_workspace_is_migrated_after_a_backup(place: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock holder migrates; a reader only says so. The backup is a whole database."""
    with w.writing(place) as writer:
        w.admit(writer, w.add_task(writer))
    monkeypatch.setattr(database, "REVISIONS", ("0000", *revisions.REVISIONS))
    connection = sqlite3.connect(place.database)
    connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.commit()
    connection.close()
    with pytest.raises(WorkspaceUnusable) as caught:
        Reader(place)
    assert caught.value.code == "workspace_older"
    asked: list[str] = []

    def migrate(connection: sqlite3.Connection) -> None:
        asked.append("upgrade")
        connection.execute("UPDATE alembic_version SET version_num = ?", (revisions.REVISIONS[-1],))

    monkeypatch.setattr(migrations, "upgrade", migrate)
    with w.writing(place):
        assert asked == ["upgrade"]
    [copy] = place.backups.glob("*.db")
    kept = sqlite3.connect(copy)
    assert kept.execute("SELECT count(*) FROM run").fetchone() == (1,)
    kept.close()


def test_p16_an_older_workspace_keeps_its_rows_and_its_numbers_and_may_adopt_again(place: Workspace) -> None:
    """0003 makes the table of runs anew: rows, references, triggers and the number given last are as they were."""
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        old = w.bring_to(writer, w.admit(writer, digest), Pair(Status.STOPPED, Phase.CLOSED))
        w.move(writer, w.row_of(writer.ask(adoptions.asking(digest, old))), AttemptEvent.STOP_ASKED)
    connection = sqlite3.connect(place.database, isolation_level=None)
    now = as_it_is(connection)
    older(connection)
    assert as_it_is(connection)[0] == now[0]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute("UPDATE run SET adopted_attempt = ?", (old.attempt,))
    connection.execute("UPDATE sqlite_sequence SET seq = 41 WHERE name = 'run'")
    connection.close()
    with w.writing(place) as writer:
        assert w.row_of(writer.ask(adoptions.asking(digest, old, key="again"))).run == 42
    connection = sqlite3.connect(place.database)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert as_it_is(connection)[1] == now[1]
    assert connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'run'").fetchall() == [(42,)]
    with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
        connection.execute("DELETE FROM run WHERE number = 1")
    connection.close()


def as_it_is(connection: sqlite3.Connection) -> tuple[list[Any], dict[str, list[str]]]:
    return connection.execute("SELECT * FROM run ORDER BY number").fetchall(), schema_of(connection)


def older(connection: sqlite3.Connection) -> None:
    """The rows of this workspace in a database of schema 0002."""
    before = sqlite3.connect(":memory:", isolation_level=None)
    migrations.upgrade(before, "0002")
    made = before.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name = 'run'").fetchall()
    triggers = before.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name <> 'run'").fetchall()
    before.close()
    connection.execute("PRAGMA foreign_keys = OFF")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM run")
    connection.execute("DROP TABLE run")
    for kind in ("table", "index"):
        for (text,) in [(text,) for each, text in made if each == kind]:
            connection.execute(text)
    connection.execute("INSERT INTO run SELECT * FROM kept")
    for (text,) in [*[(text,) for kind, text in made if kind == "trigger"], *triggers]:
        connection.execute(text)
    connection.execute("UPDATE alembic_version SET version_num = '0002'")


def test_backups_are_kept_up_to_a_bound(place: Workspace) -> None:
    """BACKUPS_KEPT_MAX: at it all are there, one more and the oldest goes."""
    connection = database.open_writer(place)
    try:
        made = [database.backup(connection, place, "test") for _ in range(limits.BACKUPS_KEPT_MAX)]
        assert all(path.exists() for path in made)
        database.backup(connection, place, "test")
        assert [path.exists() for path in made] == [False, *[True] * (limits.BACKUPS_KEPT_MAX - 1)]
    finally:
        connection.close()


@pytest.mark.parametrize("opens", [Reader, lambda ws: Writer(ws).start("x")], ids=["reader", "writer"])
def test_a_newer_schema_is_refused_in_words(place: Workspace, opens: type) -> None:
    with w.writing(place):
        pass
    connection = sqlite3.connect(place.database)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(WorkspaceUnusable) as caught:
        opens(place)
    assert caught.value.code == "workspace_newer"
    assert "newer Actum" in str(caught.value)


@pytest.mark.parametrize("opens", [Reader, lambda ws: Writer(ws).start("x")], ids=["reader", "writer"])
def test_a_file_that_is_no_database_is_refused_in_words(place: Workspace, opens: type) -> None:
    place.database.write_bytes(b"not a database, and longer than the header of one" * 100)
    with pytest.raises(WorkspaceUnusable) as caught:
        opens(place)
    assert caught.value.code == "workspace_corrupt"


def test_a_database_of_another_program_is_left_alone(place: Workspace) -> None:
    connection = sqlite3.connect(place.database)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    with pytest.raises(WorkspaceUnusable) as caught:
        Writer(place).start("x")
    assert caught.value.code == "not_a_workspace"
    with pytest.raises(NotFound):
        Reader(place)


def test_damage_inside_is_found_after_an_unclean_end(place: Workspace) -> None:
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        for _ in range(40):
            w.succeed(writer, w.admit(writer, digest))
    connection = sqlite3.connect(place.database)
    connection.execute("UPDATE service_instance SET closed_at_us = NULL")
    connection.commit()
    connection.close()
    pages = place.database.stat().st_size // 4096
    with place.database.open("r+b") as file:
        for page in range(pages // 2, pages):
            file.seek(page * 4096 + 200)
            file.write(os.urandom(2000))
    with pytest.raises(WorkspaceUnusable) as caught:
        Writer(place).start("x")
    assert caught.value.code == "workspace_corrupt"


def test_the_check_at_opening_is_cut_short(place: Workspace) -> None:
    """QUICK_CHECK_MS_MAX: within it the check is whole, beyond it it says that it is not."""
    connection = database.open_writer(place)
    try:
        assert database.quick_check(connection, limits.QUICK_CHECK_MS_MAX).whole
        connection.execute("CREATE TABLE filler (x)")
        connection.execute(
            "INSERT INTO filler WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT i FROM n"
        )
        assert not database.quick_check(connection, -1).whole
        assert database.quick_check(connection, None).whole
    finally:
        connection.close()


def test_killed_while_creating_it_is_created_again(place: Workspace) -> None:
    faults.arm("store.create.before:error=EIO")
    with pytest.raises(StorageFailed):
        Writer(place).start("x")
    faults.arm("")
    with pytest.raises(NotFound):
        Reader(place)
    with w.writing(place) as writer:
        assert writer.opened.epoch == 1


def test_a_reader_makes_nothing(place: Workspace) -> None:
    with pytest.raises(NotFound) as caught:
        Reader(place)
    assert caught.value.code == "no_workspace"
    assert not place.database.exists()


def test_a_reader_cannot_write(place: Workspace) -> None:
    with w.writing(place), Reader(place) as reader, pytest.raises(WorkspaceUnusable, match="readonly"):
        reader.connection.execute("UPDATE setting SET value = '1'")


def test_readers_work_with_the_writer_alive_and_closed(place: Workspace) -> None:
    with w.writing(place) as writer:
        row = w.admit(writer, w.add_task(writer))
        with Reader(place) as reader:
            before = reader.version()
            assert reader.counts() == {"CREATED": 1}
            w.bring_to(writer, row, w.Pair(w.Status.STOPPED, w.Phase.CLOSED))
            assert reader.version() != before
            assert reader.counts() == {"STOPPED": 1}
    with Reader(place) as reader:
        assert reader.counts() == {"STOPPED": 1}
        assert not reader.immutable


WRITE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tests.helpers import workspaces as w
ws = w.make(Path(sys.argv[1]))
with w.writing(ws) as writer:
    w.admit(writer, w.add_task(writer))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_readers_and_the_next_writer_work_after_the_writer_was_killed(place: Workspace) -> None:
    """R18: what was answered is there; the write-ahead log of the dead one is read, then folded back."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(place.path)], cwd=root, env=os.environ | paths(root))
    assert done.returncode == -9
    with Reader(place) as reader:
        assert reader.counts() == {"CREATED": 1}
    with w.writing(place) as writer:
        assert not writer.opened.previous_clean
        assert writer.opened.checked is not None


def paths(root: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(str(root / part) for part in ("core", "desktop", "resources", "."))}


def test_a_read_only_place_can_be_read_and_says_why_it_cannot_be_written(place: Workspace, tmp_path: Path) -> None:
    """On a read-only mount without a log the reader falls back to `immutable`; the writer refuses in words."""
    with w.writing(place) as writer:
        w.admit(writer, w.add_task(writer))
    script = f"""
import sys
from pathlib import Path
from actum.errors import WorkspaceUnusable
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.lock import Lock
from actum.workspace import Workspace
ws = Workspace(Path({str(place.path)!r}))
with Reader(ws) as reader:
    print(reader.immutable, reader.counts())
for open_it in (lambda: Writer(ws).start("x"), lambda: Lock.try_acquire(ws)):
    try:
        open_it()
    except WorkspaceUnusable as error:
        print(error.code)
"""
    unshare = shutil.which("unshare")
    if unshare is None or os.getuid() != 0:
        pytest.skip("a read-only mount needs unshare and root")
    shell = f'mount --bind "{place.path}" "{place.path}" && mount -o remount,bind,ro "{place.path}" && exec "$@"'
    root = Path(__file__).parents[2]
    command = [unshare, "-m", "sh", "-c", shell, "sh", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | paths(root))
    if "mount" in done.stderr:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    assert done.stdout.split("\n")[:3] == ["True {'CREATED': 1}", "workspace_read_only", "workspace_read_only"], done.stderr


def test_a_folder_without_permission_is_refused_in_words(place: Workspace) -> None:
    """As another user (setpriv): the database cannot be opened for writing."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.getuid() != 0:
        pytest.skip("acting as another user needs setpriv and root")
    with w.writing(place):
        pass
    code = (
        "import sys; from pathlib import Path; from actum.lock import Lock; from actum.workspace import Workspace\n"
        "from actum.errors import ActumError\n"
        "try: Lock.try_acquire(Workspace(Path(sys.argv[1])))\n"
        "except ActumError as error: print(error.code)"
    )
    command = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", code, str(place.path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | paths(Path(__file__).parents[2]))
    assert done.stdout == "workspace_read_only\n", done.stderr


def test_two_programs_at_the_write_lock_wait_a_bounded_time(place: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """BUSY_TIMEOUT_MS is how long SQLite waits; beyond it the answer is Busy, in words."""
    with w.writing(place):
        pass
    connection = database.open_writer(place)
    assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == limits.BUSY_TIMEOUT_MS
    connection.execute("BEGIN IMMEDIATE")
    second = database.open_writer(place)
    second.execute("PRAGMA busy_timeout = 1")
    try:
        with pytest.raises(sqlite3.OperationalError) as caught:
            second.execute("BEGIN IMMEDIATE")
        assert isinstance(failures.known(caught.value, place.database, "writing"), Busy)
    finally:
        second.close()
        connection.close()


def test_a_wrong_statement_is_a_bug_and_nothing_else() -> None:
    connection = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("SELECT nonsense")
    connection.close()
    assert failures.known(caught.value, Path("/w/actum.db"), "reading") is None


def test_durability_is_switched_on(place: Workspace) -> None:
    """R04: WAL and synchronous=FULL, foreign keys on; automatic checkpoints off, for the writer folds back itself."""
    connection = database.open_writer(place)
    try:
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "wal_autocheckpoint": 0}
        assert {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted
    finally:
        connection.close()
