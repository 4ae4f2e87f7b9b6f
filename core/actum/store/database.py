"""Opening the database: created, checked, migrated, or refused in words.

Exactly one connection writes: the lock holder's (`open_writer`). SQLite 3.7.0–3.51.2 are reported to have a fault that
can corrupt when one connection commits while another checkpoints, so that connection alone checkpoints, between commits.
Everyone else reads through `open_reader`: `mode=ro`, automatic checkpoints off. No other code opens these files: closing
any descriptor of theirs would drop SQLite's locks.

What the opening checks: the header and the schema always; `quick_check` only after an unclean end, at most
QUICK_CHECK_MS_MAX (it reads the whole file: about a second for 1,000,000 runs on a quick disk). `audit` does it whole.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from actum import clock, faults
from actum.errors import NotFound, WorkspaceUnusable
from actum.generation import sync_folder
from actum.ipc import regular
from actum.limits import BACKUPS_KEPT_MAX, QUICK_CHECK_MS_MAX
from actum.model import status
from actum.store import ddl_sqlite, failures
from actum.store.reading import ReadConnection
from actum.store.revisions import REVISIONS
from actum.workspace import Workspace

STATEMENTS_CACHED = 256
WRITER_PRAGMAS = (*ddl_sqlite.PRAGMAS, *ddl_sqlite.WRITER_PRAGMAS)
_PROGRESS_STEPS = 20_000  # of SQLite's virtual machine between two looks at the clock

_Connection = TypeVar("_Connection", bound=sqlite3.Connection)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a quick_check found: `whole` is False when the time limit cut it short."""

    whole: bool
    problems: tuple[str, ...]
    seconds: float


def open_writer(ws: Workspace) -> sqlite3.Connection:
    """The one writing connection; creates or migrates the database first. Only the lock holder may call it.

    Raises WorkspaceUnusable (newer, corrupt, read-only, full, of another program), StorageFailed, Busy.
    """
    connection = None
    try:
        fresh = not ws.database.exists() or ws.database.stat().st_size == 0
        connection = _connect(ws.database, "rwc", WRITER_PRAGMAS, sqlite3.Connection)
        if fresh:
            ws.database.chmod(0o600)
        _prepare(connection, ws)
        return connection
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise _known(error, ws, "opening the database") from error
        if isinstance(error, OSError):
            raise failures.of_system(error, ws.database, "opening the database") from error
        raise


def _prepare(connection: sqlite3.Connection, ws: Workspace) -> None:
    """Bring the database to the current schema: create it, migrate it, or refuse it."""
    revision = _revision(connection)
    if revision is None:
        _create(connection, ws)
        return
    refuse_newer(revision, ws)
    if revision != REVISIONS[-1]:
        _migrate(connection, ws, revision)


def open_reader(ws: Workspace) -> tuple[sqlite3.Connection, bool]:
    """A read-only connection, and whether it is `immutable` (a read-only place without a write-ahead log).

    Raises NotFound when there is no database yet, WorkspaceUnusable when it is newer, damaged or cannot be read.
    """
    if not ws.database.exists():
        raise no_workspace(ws)
    try:
        try:
            return _reading(ws, "ro", (*ddl_sqlite.PRAGMAS, *ddl_sqlite.READER_PRAGMAS)), False
        except sqlite3.OperationalError as error:
            if failures.primary(error) not in ("SQLITE_CANTOPEN", "SQLITE_READONLY") or has_log(ws):
                raise
            return _reading(ws, "ro&immutable=1", ddl_sqlite.READER_PRAGMAS), True
    except sqlite3.Error as error:
        raise _known(error, ws, "reading the database") from error


def _reading(ws: Workspace, mode: str, pragmas: tuple[str, ...]) -> ReadConnection:
    connection = _connect(ws.database, mode, pragmas, ReadConnection)
    try:
        revision = _revision(connection)
        if revision is None:
            raise no_workspace(ws)
        refuse_newer(revision, ws)
        if revision != REVISIONS[-1]:
            raise WorkspaceUnusable(
                "workspace_older",
                "The workspace was last used by an older Actum.",
                f"Its schema is {revision}; this program reads {REVISIONS[-1]}.",
                "Run `actum reconcile` once: it migrates the workspace after a backup.",
            )
    except BaseException:
        connection.close()
        raise
    connection.database = ws.database
    return connection


def refuse_foreign_log(ws: Workspace, expected_uuid: str) -> None:
    """Raises WorkspaceUnusable where the write-ahead log beside the database is another database's: SQLite would fold it in.

    `expected_uuid` is what the generation file names. Nothing is written: the database is looked at with its log, and then as
    it stands without. Where it names the expected id only without, the log is foreign.
    """
    if not has_log(ws) or _uuid(ws, "ro") in (expected_uuid, None) or _uuid(ws, "ro&immutable=1") != expected_uuid:
        return
    raise WorkspaceUnusable(
        "log_foreign",
        "The write-ahead log beside the workspace's database is of another database.",
        f"With {ws.database.name}-wal the database has another identity than {ws.database.name} by itself.",
        f"Move {ws.database.name}-wal and {ws.database.name}-shm away, then start again. Nothing was changed.",
    )


def _uuid(ws: Workspace, mode: str) -> str | None:
    """The id of the database as this way of opening shows it; None where it shows none."""
    try:
        connection = _connect(ws.database, mode, (), sqlite3.Connection)
    except sqlite3.Error:
        return None
    try:
        row = connection.execute("SELECT value FROM setting WHERE name = 'database_uuid'").fetchone()
        return None if row is None else str(row[0]).strip('"')
    except sqlite3.Error:
        return None
    finally:
        connection.close()


def quick_check(connection: sqlite3.Connection, limit_ms: int | None = QUICK_CHECK_MS_MAX) -> Checked:
    """SQLite's own check of pages, rows and order, cut short after `limit_ms` (None = whole)."""
    begun = time.monotonic()
    if limit_ms is not None:
        end = begun + limit_ms / 1000
        connection.set_progress_handler(lambda: time.monotonic() > end, _PROGRESS_STEPS)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)")]
    except sqlite3.OperationalError as error:
        if failures.primary(error) != "SQLITE_INTERRUPT":
            raise
        return Checked(False, (), time.monotonic() - begun)
    finally:
        connection.set_progress_handler(None, 0)
    return Checked(True, tuple(line for line in found if line != "ok"), time.monotonic() - begun)


def backup(connection: sqlite3.Connection, ws: Workspace, why: str) -> Path:
    """A copy by SQLite's backup API in backups/, complete and fsync'ed before it has its name. The oldest ones go."""
    ws.backups.mkdir(mode=0o700, exist_ok=True)
    for unfinished in ws.backups.glob("*.new"):  # of an upgrade that was killed
        unfinished.unlink()
    target = ws.backups / f"{clock.rfc3339(clock.utc_us()).replace(':', '')}-{why}.db"
    temporary = target.with_suffix(".new")
    copy = sqlite3.connect(temporary)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    faults.point("store.backup.rename.before")
    temporary.rename(target)
    sync_folder(ws.backups)
    faults.point("store.backup.rename.after")
    for old in sorted(ws.backups.glob(f"*-{why}.db"))[:-BACKUPS_KEPT_MAX]:
        old.unlink()
    return target


def refuse_newer(revision: str, ws: Workspace) -> None:
    """Raises WorkspaceUnusable for a schema this program does not know."""
    if revision not in REVISIONS:
        raise WorkspaceUnusable(
            "workspace_newer",
            f"The workspace {ws.path} was written by a newer Actum.",
            f"Its schema is {revision}; this program knows {', '.join(REVISIONS)}.",
            "Install the newer Actum, or open another workspace with --workspace.",
        )


def no_workspace(ws: Workspace) -> NotFound:
    return NotFound(
        "no_workspace",
        f"There is no workspace in {ws.path} yet.",
        "Nothing has been run there.",
        "Run a task, or name another folder with --workspace.",
    )


def ddl() -> list[str]:
    """Every statement that makes the current schema, triggers included."""
    from sqlalchemy.schema import CreateIndex, CreateTable

    from actum.store import schema
    from actum.store.sql import DIALECT

    statements = []
    for table in schema.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=DIALECT)).strip())
        by_name = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=DIALECT)) for index in by_name]
    return [*statements, *(text.strip() for text in ddl_sqlite.TRIGGERS.values())]


def seed_arrows(connection: sqlite3.Connection) -> None:
    """Fill the table `arrow` from the status table: what the trigger allows."""
    connection.executemany(
        "INSERT INTO arrow (status, phase, event, next_status, next_phase) VALUES (?, ?, ?, ?, ?)",
        [(*before, event, *after) for before, event, after in status.arrows()],
    )


def _create(connection: sqlite3.Connection, ws: Workspace) -> None:
    """The current schema in one transaction; a kill in the middle leaves an empty file, which is created again."""
    existing = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if existing:
        raise WorkspaceUnusable(
            "not_a_workspace",
            f"{ws.database} is not a database of Actum.",
            "It holds tables of another program.",
            "Choose another folder with --workspace.",
        )
    connection.execute("BEGIN IMMEDIATE")
    for statement in ddl():
        connection.execute(statement)
    seed_arrows(connection)
    connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    connection.execute("INSERT INTO alembic_version VALUES (?)", (REVISIONS[-1],))
    connection.execute(
        "INSERT INTO setting (name, value, at_us, epoch) VALUES ('database_uuid', ?, ?, 0)",
        (f'"{uuid.uuid4()}"', clock.utc_us()),
    )
    faults.point("store.create.before")
    connection.execute("COMMIT")
    faults.point("store.create.after")


def _migrate(connection: sqlite3.Connection, ws: Workspace, revision: str) -> None:
    from actum.store.migrations import upgrade

    backup(connection, ws, f"before-{REVISIONS[-1]}-from-{revision}")
    upgrade(connection)


def _connect(database: Path, mode: str, pragmas: tuple[str, ...], kind: type[_Connection]) -> _Connection:
    """Raises sqlite3.Error. SQLite would wait at a FIFO for whoever writes into it."""
    if os.path.exists(database) and not os.path.isfile(database):
        raise sqlite3.OperationalError(f"unable to open database file: it {regular.WORDS}")
    connection = sqlite3.connect(
        f"file:{quote(str(database))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS_CACHED,
        factory=kind,
    )
    connection.row_factory = sqlite3.Row
    try:
        for pragma in pragmas:
            connection.execute(pragma).close()
    except BaseException:
        connection.close()
        raise
    return connection


def _revision(connection: sqlite3.Connection) -> str | None:
    """The schema's revision; None for a database that holds nothing of ours."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    if found is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def has_log(ws: Workspace) -> bool:
    """Whether a write-ahead log with something in it lies beside the database."""
    log = ws.database.with_name(ws.database.name + "-wal")
    try:
        return log.stat().st_size > 0
    except OSError:
        return False


def _known(error: sqlite3.Error, ws: Workspace, action: str) -> Exception:
    return failures.known(error, ws.database, action) or error
