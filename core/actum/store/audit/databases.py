"""Checks of the database itself: pages, references, guards, and that it belongs to this folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actum.generation import folder_identity, read_generation
from actum.model import status
from actum.store import database
from actum.store.audit.report import Finding, Look

_RESTORE = "Restore a copy from backups/; results/ is not affected."


def integrity(look: Look) -> Iterator[Finding]:
    """SQLite's integrity_check, whole: pages, indices, order, types."""
    look.count("SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM attempt) + (SELECT count(*) FROM fact)")
    for row in look.reader.connection.execute("PRAGMA integrity_check(100)"):
        if row[0] != "ok":
            yield look.finding("actum.db", str(row[0]), _RESTORE)


def references(look: Look) -> Iterator[Finding]:
    """Every row refers to a row that exists."""
    look.count("SELECT (SELECT count(*) FROM attempt) + (SELECT count(*) FROM fact) + (SELECT count(*) FROM journal)")
    for row in look.reader.connection.execute("PRAGMA foreign_key_check"):
        yield look.finding(f"{row[0]} row {row[1]}", f"It refers to a row of {row[2]} that does not exist.", _RESTORE)


def guards(look: Look) -> Iterator[Finding]:
    """Tables, indices and triggers are those of this program, and `arrow` holds the status table."""
    found = {
        row["name"]: _plain(row["sql"])
        for row in look.each("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'")
    }
    for statement in database.ddl():
        name = _name(statement)
        if name not in found:
            yield look.finding(name, "It is missing from the database.", _RESTORE)
        elif statement.startswith("CREATE TRIGGER") and found[name] != _plain(statement):
            yield look.finding(name, "This guard is not the one of this program.", _RESTORE)
    wanted = {(*before, event, *after) for before, event, after in status.arrows()}
    stored = {tuple(row) for row in look.each("SELECT status, phase, event, next_status, next_phase FROM arrow")}
    for line in sorted(wanted ^ stored):
        kind = "is missing" if line in wanted else "does not belong"
        yield look.finding("arrow", f"The arrow {' '.join(line)} {kind}.", _RESTORE)


def generation(look: Look) -> Iterator[Finding]:
    """The generation file names this database, its newest epoch and this folder."""
    look.examined += 1
    recorded = read_generation(look.ws)
    if recorded is None:
        yield look.finding("generation", "The file is missing or cannot be read.", "Run `actum reconcile`; it is written anew.")
        return
    if recorded.database_uuid != look.reader.database_uuid():
        yield look.finding(
            "generation", "It names another database.", "The database was replaced: restore the right one from backups/."
        )
    elif recorded.epoch > look.reader.epoch():
        yield look.finding(
            "generation",
            f"The database is at epoch {look.reader.epoch()}, the workspace at {recorded.epoch}: an older backup.",
            "Nothing is launched meanwhile; import the packages in results/ that it does not know.",
        )
    if recorded.folder != folder_identity(look.ws.path):
        yield look.finding("generation", "This folder is a copy of another workspace.", "Run `actum doctor --accept-copy`.")


def epochs(look: Look) -> Iterator[Finding]:
    """Every row was written by a known service instance; none is newer than the newest."""
    for table in ("task", "task_version", "run", "attempt", "fact", "journal", "record", "input", "result", "export", "alert"):
        rows = look.each(
            f"SELECT epoch, count(*) AS many FROM {table}"
            " WHERE epoch NOT IN (SELECT epoch FROM service_instance) GROUP BY epoch"
        )
        for row in rows:
            yield look.finding(
                table,
                f"{row['many']} rows were written under epoch {row['epoch']}, which no service instance has.",
                "Another program wrote to the database; compare it with a copy from backups/.",
            )
        look.count(f"SELECT count(*) FROM {table}")


def _name(statement: str) -> str:
    match = re.match(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) \"?(\w+)", statement)
    assert match is not None, statement
    return match[1]


def _plain(text: str) -> str:
    return " ".join(text.split())


CHECKS = (
    ("integrity", "The database is whole", integrity),
    ("references", "Rows refer to rows that exist", references),
    ("guards", "The database's own guards stand", guards),
    ("generation", "The database belongs to this folder", generation),
    ("epochs", "Every row has a known writer", epochs),
)
