"""Export on success: after SUCCEEDED, under a readable name, never over a file, and never a reason to fail (R14, R18, R19)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum.model.facts import FACTS

from tests.helpers.app import App


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    (tmp_path / "mine").mkdir()
    yield app
    app.end()


def entries(app: App, run: int = 1) -> list[dict[str, Any]]:
    with app.reader() as reader:
        return [dict(entry.data) for entry in reader.journal(run, 0, 500) if entry.kind == "export_on_success"]


def test_the_tables_are_in_the_users_folder_when_the_command_returns(app: App) -> None:
    app.define("--export-to", "mine", gated=False)
    app.run("run", "work")
    mine = app.folder / "mine"
    path = mine / "work 1 squares.csv"
    assert path.read_text().splitlines()[:2] == ["n,square", '"0","0"']
    assert (mine / "work 1 squares.csv.actum.json").is_file()
    (entry,) = entries(app)
    assert (entry["written"], entry["failed"]) == ([str(path)], [])
    assert app.facts() == [name.value for name in FACTS]
    assert "exported" in app.journal()


def test_a_taken_name_is_never_overwritten(app: App) -> None:
    app.define("--export-to", "mine", "--export-name", "{table}", "--export-format", "parquet", gated=False)
    taken = app.folder / "mine" / "squares.parquet"
    taken.write_text("mine")
    app.run("run", "work")
    assert taken.read_text() == "mine"
    (entry,) = entries(app)
    assert len(entry["written"]) == 1
    assert Path(entry["written"][0]).read_bytes()[:4] == b"PAR1"


def test_what_fails_is_an_alert_and_the_run_stays_succeeded(app: App) -> None:
    app.define("--export-to", "gone", "--export-table", "squares", "--export-table", "cubes", gated=False)
    app.run("run", "work")
    assert app.status() == "SUCCEEDED"
    assert [alert["code"] for alert in app.lines("alerts")] == ["export_failed"]
    (entry,) = entries(app)
    assert [each["table"] for each in entry["failed"]] == ["squares", "cubes"]


def test_r18_an_export_that_a_crash_cut_off_is_made_by_the_next_supervisor(app: App) -> None:
    app.define("--export-to", "mine", gated=False)
    app.run("run", "work", fault="export.sidecar.rename.after:kill-app", code=None)
    assert app.status() == "SUCCEEDED"
    assert entries(app) == []
    app.run("supervise", "--until-idle")
    (entry,) = entries(app)
    path = app.folder / "mine" / "work 1 squares.csv"
    assert entry["written"] == [str(path)]
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, f"{path.name}.actum.json"]


@pytest.mark.parametrize(
    "options",
    [("--export-name", "x"), ("--export-to", "mine", "--export-format", "xlsx"), ("--export-to", "m", "--export-name", "{no}")],
)
def test_what_cannot_be_is_refused_when_the_task_is_defined(app: App, options: tuple[str, ...]) -> None:
    app.run("task", "add", "other", "--program", "/bin/true", *options, code=2)
