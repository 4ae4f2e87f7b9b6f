"""§5, R18: the fault points that no run passes are struck too, with the real program: upgrade, and the acceptance of a copy."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.generation import read_generation, write_generation
from actum.store.migrations import upgrade
from actum.store.revisions import REVISIONS
from actum.workspace import Workspace, create_folders

from tests.faults import matrix
from tests.faults.scenarios import DATA, Stage

KILLED = -signal.SIGKILL


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.end()


def revision(database: Path) -> str:
    connection = sqlite3.connect(database)
    try:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_upgrade_that_is_killed_around_its_backup_is_made_again(stage: Stage, side: str) -> None:
    """The old database is whole until the new one is; its backup is complete or not there; nothing half-made stays."""
    create_folders(stage.ws)
    connection = sqlite3.connect(stage.ws.database, isolation_level=None)
    upgrade(connection, REVISIONS[0])
    connection.close()
    assert stage.define_task(f"store.backup.rename.{side}:kill-app").returncode == KILLED
    assert revision(stage.ws.database) == REVISIONS[0]
    assert stage.define_task().returncode == 0
    assert revision(stage.ws.database) == REVISIONS[-1]
    backups = list(stage.ws.backups.iterdir())
    assert {revision(path) for path in backups if path.suffix == ".db"} == {REVISIONS[0]}
    assert [path.name for path in backups if path.suffix != ".db"] == []
    stage.run("audit")


@pytest.mark.parametrize("side", ["before", "after"])
def test_the_acceptance_of_a_copy_that_is_killed_is_made_again(stage: Stage, side: str) -> None:
    """FORMATS: until the generation file says so the folder is a copy, and is refused; then it is a workspace of its own."""
    assert stage.define_task().returncode == 0
    original, stage.ws = stage.ws, Workspace(stage.folder / "copy")
    shutil.copytree(original.path, stage.ws.path)
    assert stage.run("doctor", "--accept-copy", code=None, fault=f"store.copy.{side}:kill-app").returncode == KILLED
    assert stage.define_task().returncode == 8
    stage.run("doctor", "--accept-copy", code=None)
    assert stage.define_task().returncode == 0
    stage.run("audit")


@pytest.mark.parametrize("side", ["before", "after"])
def test_the_acceptance_of_a_restored_database_that_is_killed_is_made_again(stage: Stage, side: str) -> None:
    """PROTOCOL "Lock": killed before its commit it is still refused to start anything; after it, it is accepted."""
    assert stage.define_task().returncode == 0
    recorded = read_generation(stage.ws)
    assert recorded is not None
    write_generation(stage.ws, recorded.database_uuid, recorded.epoch + 40, recorded.folder)
    assert stage.define_task().returncode == 0  # another start: it finds itself behind, and remembers
    killed = stage.run("doctor", "--accept-restored", code=None, fault=f"store.restored.{side}:kill-app")
    assert killed.returncode == KILLED
    again = stage.run("doctor", "--accept-restored", code=None)
    assert again.returncode == (0 if side == "before" else 4), again.stdout
    assert stage.run("doctor", code=None).returncode == 0
    stage.run("audit")


def success(stage: Stage) -> None:
    """Run 1, with one table."""
    assert stage.define_task().returncode == 0
    data = stage.folder / "data.csv"
    data.write_text(f"heading\n{DATA}")
    stage.run("run", "work", "--set", "wanted=succeed", "--set", f"data={data}")


def test_packing_is_killed_at_each_of_its_points_and_made_again(stage: Stage) -> None:
    """What stands under the name of a packed result is whole, whenever it was killed."""
    success(stage)
    target = stage.folder / "result.zip"
    for point in ("pack.fsync.before", "pack.fsync.after", "pack.rename.before", "pack.rename.after"):
        killed = stage.run("pack", "1", "-o", str(target), "--overwrite", code=None, fault=f"{point}:kill-app")
        assert killed.returncode == KILLED, point
        if target.exists():  # the helper may come a step further before it ends with the program
            assert stage.run("verify", str(target), code=None).returncode == 0, point
    assert target.exists(), "after the rename it is there"
    with zipfile.ZipFile(target) as pack:
        assert pack.testzip() is None
    stage.run("pack", "1", "-o", str(target), "--overwrite")
    stage.run("audit")


def test_rebuilding_is_killed_at_each_of_its_points_and_made_again(stage: Stage) -> None:
    """The derived tables are there, or can be made again; the result itself is never touched."""
    success(stage)
    for point in ("rebuild.rename.before", "rebuild.rename.after"):
        derived = stage.ws.result_folder(1, 1) / "derived"
        table = next(derived.glob("*.parquet"), None) or next(derived.rglob("*.parquet"))
        table.chmod(0o644)
        table.write_bytes(b"not a table")
        killed = stage.run("verify", "1", "--rebuild", code=None, fault=f"{point}:kill-app")
        assert killed.returncode == KILLED, (point, killed.stdout, killed.stderr)
        assert stage.run("verify", "1", code=None).returncode == (5 if point.endswith("before") else 0)
        stage.run("verify", "1", "--rebuild")
        stage.run("verify", "1")
    stage.run("audit")


def test_the_points_that_are_struck_elsewhere_are_those_no_scenario_passes() -> None:
    """The list is what the matrix leaves out; tests/faults/test_pairs.py compares it with what the scenarios passed."""
    assert set(matrix.STRUCK_ELSEWHERE.values()) == {"tests/faults/test_rare_points.py", "tests/process/test_take_over.py"}
    for point, place in matrix.STRUCK_ELSEWHERE.items():
        text = (Path(__file__).parents[2] / place).read_text()
        assert point in text or point.rpartition(".")[0] in text
