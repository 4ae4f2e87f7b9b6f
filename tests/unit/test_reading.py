"""Damage met while reading is told in words by every question a reader can ask, not only while the database is opened."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from actum.errors import WorkspaceUnusable
from actum.store import audit
from actum.store.queries import Reader
from actum.workspace import Workspace

from tests.helpers import workspaces as w

QUESTIONS: dict[str, Callable[[Reader], Any]] = {
    "runs": lambda reader: reader.runs_page(),
    "run": lambda reader: reader.run(7),
    "facts": lambda reader: reader.facts(7),
    "journal": lambda reader: reader.journal(7),
    "open attempts": lambda reader: reader.attempt_rows(),
    "tasks": lambda reader: reader.tasks(),
    "counts": lambda reader: reader.counts(),
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Everything but the first page, which opening reads, is noise."""
    place = w.make(tmp_path_factory.mktemp("damaged") / "w")
    with w.writing(place) as writer:
        digest = w.add_task(writer)
        for _ in range(20):
            w.succeed(writer, w.admit(writer, digest))
    keep = schema_pages(place)
    with place.database.open("r+b") as file:
        for page in range(place.database.stat().st_size // 4096):
            if page not in keep:
                file.seek(page * 4096)
                file.write(os.urandom(4096))
    return place


def schema_pages(place: Workspace) -> set[int]:
    """The pages that opening needs: the schema's and the revision's."""
    connection = sqlite3.connect(place.database)
    found = connection.execute("SELECT pageno FROM dbstat WHERE name IN ('sqlite_schema', 'alembic_version')").fetchall()
    revision = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'alembic_version'").fetchall()
    connection.close()
    return {int(page) - 1 for (page,) in [*found, *revision]}


@pytest.mark.parametrize("question", QUESTIONS)
def test_damage_is_told_whatever_is_asked(damaged: Workspace, question: str) -> None:
    with Reader(damaged) as reader, pytest.raises(WorkspaceUnusable) as caught:
        QUESTIONS[question](reader)
    assert (caught.value.code, caught.value.exit_code) == ("workspace_corrupt", 8)


def test_an_audit_of_a_damaged_database_says_that_it_is_damaged(damaged: Workspace) -> None:
    with pytest.raises(WorkspaceUnusable):
        audit.audit(damaged)


def test_a_wrong_statement_stays_a_defect(tmp_path: Path) -> None:
    place = w.make(tmp_path / "w")
    with w.writing(place), Reader(place) as reader, pytest.raises(sqlite3.OperationalError):
        reader.connection.execute("SELECT absent FROM run")
