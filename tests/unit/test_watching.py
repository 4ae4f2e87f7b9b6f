"""What a waiting command says and how it ends: exit codes by status, under 100 % until recorded (R10)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from actum import limits
from actum.model.status import RUN_TERMINAL, RunStatus
from actum.workspace import Workspace
from actum_desktop.commands.context import Context
from actum_desktop.commands.output import Output
from actum_desktop.commands.watching import Watch, exit_code, is_closed, news_key, progress_text

from tests.helpers.small_workspace import alert, fill
from tests.helpers.waiting import wait_until


def show(**members: Any) -> dict[str, Any]:
    document = {
        "run": 17,
        "status": "RUNNING",
        "phase": "COMPUTING",
        "released": False,
        "progress": None,
        "facts": [],
        "duration_s": None,
    }
    return {**document, **members}


@pytest.mark.parametrize(
    ("status", "code"),
    [("SUCCEEDED", 0), ("FAILED", 1), ("START_FAILED", 1), ("TIMEOUT", 1), ("STOPPED", 6)],
)
def test_a_closed_run_has_the_exit_code_of_its_status(status: str, code: int) -> None:
    assert exit_code(show(status=status, phase="CLOSED", released=True)) == code


def test_every_terminal_status_has_an_exit_code_and_no_other() -> None:
    for status in RunStatus:
        document = show(status=status.value, phase="CLOSED", released=True)
        assert (exit_code(document) != 7) is (status in RUN_TERMINAL)


def test_a_failed_run_that_is_still_cleaning_up_is_not_closed() -> None:
    document = show(status="FAILED", phase="CLEANING_UP", released=False)
    assert not is_closed(document)
    assert exit_code(document) == 7


def test_r10_progress_stays_under_100_percent() -> None:
    whole = {"done": 10, "total": 10, "unit": "files", "stage": "write", "message": None}
    assert progress_text(show(progress=whole), None) == "Run 17  Running  write, 99 % (10 of 10 files)"


def test_a_progress_line_says_what_is_known_and_no_more() -> None:
    progress = {"done": 3, "total": 5, "unit": "files", "stage": "compute", "message": None}
    live = {"cpu_percent": 97.6, "warnings": [{"code": "no_progress", "data": {"for_s": 2520}}]}
    text = progress_text(show(progress=progress, duration_s=12.4), live)
    assert text == "Run 17  Running  compute, 60 % (3 of 5 files)  CPU 98 %  No progress for 42 min  12 s"
    assert progress_text(show(progress=None), None) == "Run 17  Running"


def test_a_verifying_run_shows_the_step_and_not_the_work() -> None:
    progress = {"done": 5, "total": 5, "unit": "files", "stage": "compute", "message": None}
    live = {"step": {"verb": "verify", "done": 9, "total": 14, "unit": "files"}, "cpu_percent": 1.0}
    text = progress_text(show(phase="VERIFYING", released=True, progress=progress), live)
    assert text == "Run 17  Verifying  reading it back, 64 % (9 of 14 files)"


def test_news_are_statuses_facts_stages_and_steps_of_ten_percent() -> None:
    progress = {"done": 11, "total": 100, "stage": "load"}
    assert news_key(show(progress=progress)) == news_key(show(progress={**progress, "done": 19}))
    assert news_key(show(progress=progress)) != news_key(show(progress={**progress, "done": 20}))
    assert news_key(show(progress=progress)) != news_key(show(progress={**progress, "stage": "write"}))
    assert news_key(show()) != news_key(show(facts=[{"fact": "admitted"}]))


def test_the_step_of_an_earlier_phase_is_not_shown() -> None:
    live = {"step": {"verb": "freeze", "done": 12_245, "total": 12_245, "unit": "bytes"}}
    assert progress_text(show(status="CREATED", phase="FREEZING"), live) == (
        "Run 17  Freezing inputs  keeping inputs, 99 % (12.2 KB of 12.2 KB)"
    )
    assert progress_text(show(phase="VERIFYING", released=True), live) == "Run 17  Verifying"


def test_r11_a_waiting_command_reads_now_and_then_or_when_it_hears_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 1 / limits.CHANGES_PER_S_MAX < limits.CLIENT_READ_EVERY_S, "news are read sooner than silence"
    monkeypatch.setattr(limits, "CLIENT_READ_EVERY_S", 3600)
    fill(Workspace(tmp_path), 1)
    out = Output(as_json=False, out=io.StringIO(), err=io.StringIO())
    with Watch(Context(out, str(tmp_path)), 1) as watch:
        assert not watch.closed()
        alert(Workspace(tmp_path), 1)
        assert not watch.closed()
        assert watch.show["alerts"] == [], "nobody said anything, and the time for the next look has not come"
        watch.hear({1: {"cpu_percent": 5.0}})
        wait_until(lambda: not watch.closed() and watch.show["alerts"], 5, "the look that the news ask for")
        assert watch.live == {"cpu_percent": 5.0}
