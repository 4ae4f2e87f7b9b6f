"""Schema migrations: Alembic, configured here and nowhere else, imported only when a workspace is migrated.

A fresh database is created from `store.schema` and stamped; a test proves that migrating from nothing gives the same.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path


def upgrade(connection: sqlite3.Connection, revision: str = "head") -> None:
    """Migrate the database behind `connection` to `revision` in one transaction. The lock holder's connection only."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    event.listen(engine, "begin", lambda opened: opened.exec_driver_sql("BEGIN IMMEDIATE"))
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    row_factory, connection.row_factory = connection.row_factory, None
    try:
        with engine.connect() as opened, opened.begin():
            configuration.attributes["connection"] = opened
            command.upgrade(configuration, revision)
    finally:
        connection.row_factory = row_factory
