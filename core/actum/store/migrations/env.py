"""Alembic's entry: runs the migrations on the connection it is handed."""

from __future__ import annotations

from alembic import context

from actum.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    transaction_per_migration=False,
)
context.run_migrations()
