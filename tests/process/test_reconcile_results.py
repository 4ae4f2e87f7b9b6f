"""What the command `reconcile` says of published results (§6 row 3; R16). What it says of the rest: test_leftovers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.model.facts import FACTS

from tests.helpers.app import App


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def test_row_3_a_result_that_is_gone_is_said_and_history_stays(app: App) -> None:
    """R16: missing now, SUCCEEDED for ever; the alert closes when the result is there again."""
    app.define(gated=False)
    app.run("run", "work")
    target = app.ws.result_folder(1, 1)
    target.chmod(0o755)
    aside = app.folder / "aside"
    shutil.move(target, aside)
    verdicts = app.lines("reconcile")
    assert [(each["row"], each["verdict"]) for each in verdicts] == [(3, "result_damaged")]
    shown = app.json("show", "1")
    assert (shown["status"], shown["result"]["state"]) == ("SUCCEEDED", "missing")
    assert app.facts() == [name.value for name in FACTS]
    assert [alert["code"] for alert in app.lines("alerts")] == ["result_changed"]
    shutil.move(aside, target)
    assert app.lines("reconcile") == []
    assert app.json("show", "1")["result"]["state"] == "readable"
    assert app.lines("alerts") == []


def test_r11_a_pass_looks_at_a_bounded_number_of_results(app: App) -> None:
    """R11: the newest RESULTS_SWEPT_MAX, whatever the history; the page of the store is no smaller."""
    assert limits.RESULTS_SWEPT_MAX <= limits.PAGE_ROWS_MAX
    app.define(gated=False)
    for _ in range(2):
        app.run("run", "work")
        shutil.rmtree(app.ws.result_folder(1, 1), ignore_errors=True)
    assert [each["run"] for each in app.lines("reconcile")] == [1]
