"""Schema migrations: Alembic, configured here and nowhere else, imported only when a workspace is migrated.

A fresh database is created from `store.schema` and stamped; a test proves that migrating from nothing gives the same.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path


def upgrade(connection: sqlite3.Connection, revision: str = "head") -> None:
    """Migrate the database behind `connection` to `revision` in one transaction. The lock holder's connection only.

    A table that is made anew is dropped in between, so foreign keys are off meanwhile; before the commit all are looked at.
    """
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    event.listen(engine, "begin", lambda opened: opened.exec_driver_sql("BEGIN IMMEDIATE"))
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    row_factory, connection.row_factory = connection.row_factory, None
    (enforced,) = connection.execute("PRAGMA foreign_keys").fetchone()
    connection.execute("PRAGMA foreign_keys = OFF")  # inside a transaction it would be ignored
    try:
        with engine.connect() as opened, opened.begin():
            configuration.attributes["connection"] = opened
            command.upgrade(configuration, revision)
            broken = opened.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if broken:
                raise sqlite3.IntegrityError(f"after the migration {len(broken)} rows refer to nothing: {broken[0]}")
    finally:
        connection.execute(f"PRAGMA foreign_keys = {int(enforced)}")
        connection.row_factory = row_factory
