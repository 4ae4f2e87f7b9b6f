"""Export on success: after SUCCEEDED, under a readable name, never over a file, and never a reason to fail (R14, R18, R19)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actum import faults, limits
from actum.model.facts import FACTS

from tests.helpers.app import App

# Those before the name and after it; `unit/test_exportsaid` kills the exporting process at every one.
POINTS = [point for point in faults.CATALOGUE if point.startswith("export.") and "rename" in point]
needs_mount = pytest.mark.skipif(
    subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0,
    reason="a mount namespace of its own needs root; run the suite as root or in a container",
)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    (tmp_path / "mine").mkdir()
    yield app
    app.end()


def entries(app: App, run: int = 1) -> list[dict[str, Any]]:
    with app.reader() as reader:
        return [dict(entry.data) for entry in reader.journal(run, 0, 500) if entry.kind == "export_on_success"]


def on_record(app: App, run: int = 1) -> list[str]:
    with app.reader() as reader:
        return [row.path for row in reader.exports(run)]


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


def test_what_fails_is_an_alert_the_run_stays_succeeded_and_a_press_does_it(app: App) -> None:
    """Tried again by DELIVERY_TRIES_MAX supervisors, and then only when it is asked for."""
    app.define("--export-to", "gone", gated=False)
    app.run("run", "work")
    assert app.status() == "SUCCEEDED"
    assert [alert["code"] for alert in app.lines("alerts")] == ["export_failed"]
    for tries in range(2, limits.DELIVERY_TRIES_MAX + 1):
        app.run("supervise", "--until-idle")
        assert len(entries(app)) == tries
    app.run("supervise", "--until-idle")
    assert [each["failed"][0]["table"] for each in entries(app)] == ["squares"] * limits.DELIVERY_TRIES_MAX
    refused = app.run("export", "1", "--on-success", code=1)
    assert "not written: squares." in refused.stdout
    (app.folder / "gone").mkdir()
    told = app.json("export", "1", "--on-success")
    path = str(app.folder / "gone" / "work 1 squares.csv")
    assert (told["run"], told["written"], told["failed"]) == (1, [path], [])
    assert app.lines("alerts") == []
    assert app.json("export", "1", "--on-success")["written"] == [path]
    assert on_record(app) == [path]
    assert app.status() == "SUCCEEDED"


def test_only_a_run_whose_task_asks_for_it_is_exported_on_success(app: App) -> None:
    app.define(gated=False)
    app.run("run", "work")
    assert app.json("export", "1", "--on-success", code=4)["error"]["code"] == "no_delivery"
    assert app.json("export", "9", "--on-success", code=3)["error"]["exit_code"] == 3
    app.run("export", "1", "squares", "--on-success", code=2)
    app.run("export", "1", "--on-success", "--format", "csv", code=2)


def test_r18_killed_anywhere_a_delivery_is_made_once(app: App) -> None:
    """Every second time a stranger has the name already, so that ours has a number, and another supervisor finishes it.

    `reconcile --wait` looks at everything that was left open: it does not come back before such a delivery is made.
    """
    app.define("--export-to", "mine", gated=False)
    mine = app.folder / "mine"
    expected = set()
    for run, point in enumerate(POINTS, 1):
        taken = run % 2 == 0
        path = mine / (f"work {run} squares (2).csv" if taken else f"work {run} squares.csv")
        if taken:
            stranger = mine / f"work {run} squares.csv"
            stranger.write_text("mine")
            expected.add(stranger.name)
        app.run("run", "work", fault=f"{point}:kill-app", code=None)
        assert app.status(run) == "SUCCEEDED", point
        app.run(*(("supervise", "--until-idle") if taken else ("reconcile", "--wait")))
        entry = entries(app, run)[-1]
        assert (entry["written"], entry["failed"]) == ([str(path)], []), point
        assert on_record(app, run) == [str(path)], point
        assert path.read_text().splitlines()[:2] == ["n,square", '"0","0"']
        expected |= {path.name, f"{path.name}.actum.json"}
        assert {each.name for each in mine.iterdir()} == expected, point
        assert not taken or stranger.read_text() == "mine"
    assert app.run("audit").returncode == 0


@needs_mount
def test_a_full_disk_leaves_the_run_succeeded_and_is_tried_again(app: App) -> None:
    """The user's folder is a file system of its own, of 1 MB; what was mounted is gone for the commands after it."""
    app.define("--export-to", "mine", "--export-format", "parquet", gated=False)
    app.prefix = (
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"',
        str(app.folder / "mine"),
    )
    app.run("run", "work")
    assert app.status() == "SUCCEEDED"
    (alert,) = app.lines("alerts")
    assert alert["code"] == "export_failed"
    assert "no room" in json.dumps(alert)
    app.run("export", "1", "--on-success", code=1)
    assert app.status() == "SUCCEEDED"
    app.prefix = ()
    assert on_record(app) == []
    app.run("supervise", "--until-idle")
    assert [bool(entry["failed"]) for entry in entries(app)] == [True, True, False]
    assert app.lines("alerts") == []
    assert on_record(app) == [str(app.folder / "mine" / "work 1 squares.parquet")]


@pytest.mark.parametrize(
    "options",
    [("--export-name", "x"), ("--export-to", "mine", "--export-format", "xlsx"), ("--export-to", "m", "--export-name", "{no}")],
)
def test_what_cannot_be_is_refused_when_the_task_is_defined(app: App, options: tuple[str, ...]) -> None:
    app.run("task", "add", "other", "--program", "/bin/true", *options, code=2)
