"""The program itself in processes of its own: killed and opened again, opened twice, opened over a headless supervisor."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from actum.errors import EXIT_BUG
from actum.generation import read_endpoint
from actum.model.facts import FACTS

from tests.helpers.app import App
from tests.helpers.waiting import wait_until


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setenv("ACTUM_CONFIG", str(tmp_path / "config"))
    made = App(tmp_path)
    yield made
    made.end()


def window(app: App) -> subprocess.Popen[str]:
    """`actum` without words, until it supervises with a window."""
    process = app.start()
    wait_until(lambda: supervised_by(app) == process.pid, 30, "the window supervises")
    return process


def supervised_by(app: App) -> int:
    found = read_endpoint(app.ws) or {}
    return int(found["pid"]) if found.get("window") else 0


def left(process: subprocess.Popen[str], timeout_s: float = 30) -> tuple[int, str]:
    _out, err = process.communicate(timeout=timeout_s)
    return process.returncode, err


def test_r18_killed_and_opened_again_the_ledger_completes(app: App) -> None:
    """SIGKILL of the window's process; the work computes on, and the next window sees the run to its end."""
    app.define()
    first = window(app)
    app.run("run", "work", "--detach")
    wait_until(lambda: len(app.pids()) == 1, 30, "the work has begun")
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=30)
    second = window(app)
    app.gate.touch()
    app.wait_status("SUCCEEDED", timeout_s=60)
    assert app.facts() == [fact.value for fact in FACTS]
    assert len(app.pids()) == 1, "nothing was started twice"
    second.send_signal(signal.SIGTERM)
    code, err = left(second)
    assert code == 0, err


def test_a_second_start_shows_the_first_window_and_never_supervises(app: App) -> None:
    first = window(app)
    instance = (read_endpoint(app.ws) or {})["instance"]
    code, err = left(app.start())
    assert code == 0, err
    assert (read_endpoint(app.ws) or {})["instance"] == instance
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    assert left(first)[0] == 0


def test_a_window_takes_over_from_a_headless_supervisor(app: App) -> None:
    """The run goes on in its host; the headless one leaves in good order, and the window sees the run to its end."""
    app.define()
    headless = app.start("supervise")
    wait_until(lambda: (read_endpoint(app.ws) or {}).get("pid") == headless.pid, 30, "it supervises")
    app.run("run", "work", "--detach")
    wait_until(lambda: len(app.pids()) == 1, 30, "the work has begun")
    opened = window(app)
    code, err = left(headless)
    assert code == 0, err
    app.gate.touch()
    app.wait_status("SUCCEEDED", timeout_s=60)
    assert len(app.pids()) == 1
    opened.send_signal(signal.SIGTERM)
    assert left(opened)[0] == 0


def test_a_window_whose_pages_cannot_be_made_ends_with_a_report(app: App) -> None:
    """It does not stay open, empty and busy: the report is written, the traceback is said, the workspace is free again."""
    app.entry = f"import sys; sys.modules['actum_desktop.window'] = None; {app.entry}"
    code, err = left(app.start())
    assert code == EXIT_BUG, err
    assert err.count("Traceback") == 1, err
    assert "actum_desktop.window" in err
    assert len(list((app.ws.path / "crashes").glob("crash-*.txt"))) == 1
    assert supervised_by(app) == 0
