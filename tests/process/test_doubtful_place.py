"""§11: a network or synced folder is no refusal, and whoever works there is told: by `run`, by `doctor` and by an alert."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.store.queries import Reader
from actum.workspace import NETWORK_TYPES, Workspace, filesystem_type

from tests.helpers.app import ENTRY, App


@pytest.fixture
def place(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.end()


def told(app: App) -> tuple[str, str]:
    """What `run` notes and what `doctor` says of the folder."""
    app.run("task", "add", "work", "--program", "/bin/true")
    run = app.run("run", "work")
    return run.stderr, next(line for line in app.run("doctor", code=None).stdout.splitlines() if str(app.ws.path) in line)


def alerts(ws: Workspace) -> list[tuple[str, str]]:
    with Reader(ws) as reader:
        return [(row.code, row.severity) for row in reader.alerts(open_only=True)]


def test_both_commands_say_that_a_folder_is_on_the_network_and_an_alert_stays(place: App) -> None:
    """Where the folder is moved to a disk of its own, the next start takes the alert away."""
    kind = filesystem_type(place.folder)
    assert kind not in NETWORK_TYPES
    place.entry = f"import actum.workspace as w; w.NETWORK_TYPES |= {{{kind!r}}}\n{ENTRY}"
    for said in told(place):
        assert f"The workspace is on a network folder ({kind}). Locks and fsync may not hold there" in said
    assert alerts(place.ws) == [("folder_network", "warning")]
    place.entry = ENTRY
    place.run("reconcile")
    assert alerts(place.ws) == []


def test_both_commands_say_that_a_folder_is_synced_and_an_alert_stays(place: App) -> None:
    place.ws = Workspace(place.folder / "Dropbox" / "ws")
    for said in told(place):
        assert "The workspace seems to be in a synced folder (dropbox)" in said
    assert alerts(place.ws) == [("folder_synced", "warning")]
