"""`actum queue`: a person's pause is kept, is said where somebody waits, and only a person lifts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.app import App
from tests.helpers.waiting import wait_until


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.run("queue", "resume", code=None)
    app.end()


def test_a_paused_queue_holds_new_runs_until_it_is_resumed(app: App) -> None:
    """R09: nothing starts while a person holds the queue, whoever supervises; who waits is told why and what to do."""
    app.define(gated=False)
    app.run("queue", "pause")
    assert app.json("queue") == {"schema": "actum.queue/1", "paused": True, "waiting": 0}
    command = app.start("run", "work")
    wait_until(lambda: app.json("queue")["waiting"] == 1, what="the run in the queue")
    assert app.pids() == []
    app.run("queue", "resume")
    out, err = command.communicate(timeout=60)
    assert command.returncode == 0, (out, err)
    assert "actum queue resume" in err
    assert app.json("queue") == {"schema": "actum.queue/1", "paused": False, "waiting": 0}
