"""The window's bounds, each at its bound and one above it (R11)."""

from __future__ import annotations

from pathlib import Path

from actum.ipc.logfile import STDOUT, Line
from actum.limits import (
    CRASH_REPORTS_MAX,
    LOG_LINE_SHOWN_CHARS_MAX,
    SAMPLED_RUNS_MAX,
    SAMPLES_PER_RUN_MAX,
    VALUE_SHOWN_CHARS_MAX,
)
from actum_desktop import crash
from actum_desktop.controller.events import Live
from actum_desktop.models import details
from actum_desktop.models.history import History
from actum_desktop.views import logview

SECOND = 1_000_000


def _live(run: int = 1, done: int = 1) -> Live:
    return Live(run, "a", 1, {"done": done, "total": 10_000, "stage": "s"}, 1, {"rss_bytes": 5}, 50.0)


def test_samples_of_a_run_are_thinned_never_cut_off() -> None:
    history = History()
    for index in range(SAMPLES_PER_RUN_MAX):
        history.add(_live(done=index), index * SECOND)
    assert len(history.samples(1)) == SAMPLES_PER_RUN_MAX
    history.add(_live(done=SAMPLES_PER_RUN_MAX), SAMPLES_PER_RUN_MAX * SECOND)
    thinned = history.samples(1)
    assert len(thinned) == SAMPLES_PER_RUN_MAX // 2 + 1
    assert thinned[0].at == 0
    assert thinned[-1].at == SAMPLES_PER_RUN_MAX * SECOND


def test_only_so_many_runs_are_sampled() -> None:
    history = History()
    for run in range(SAMPLED_RUNS_MAX):
        history.add(_live(run), SECOND)
    assert history.samples(0)
    history.add(_live(SAMPLED_RUNS_MAX), SECOND)
    assert not history.samples(0)
    assert history.samples(SAMPLED_RUNS_MAX)


def test_crash_reports_are_kept_up_to_their_bound(tmp_path: Path) -> None:
    for number in range(CRASH_REPORTS_MAX + 1):
        assert crash.write(tmp_path, f"report {number}") is not None
        expected = min(number + 1, CRASH_REPORTS_MAX)
        assert len(list(tmp_path.glob("crash-*.txt"))) == expected
    assert not any(path.read_text() == "report 0" for path in tmp_path.iterdir())


def test_a_crash_report_holds_the_traceback_and_no_data(tmp_path: Path) -> None:
    try:
        raise ValueError("what happened")
    except ValueError as error:
        text = crash.report_text(type(error), error, error.__traceback__, "0.1")
    assert "ValueError: what happened" in text
    assert "Actum 0.1" in text


def test_long_values_and_long_log_lines_are_cut_on_the_screen_only() -> None:
    exact, above = "x" * VALUE_SHOWN_CHARS_MAX, "x" * (VALUE_SHOWN_CHARS_MAX + 1)
    assert details.plain(exact) == exact
    assert details.plain(above) == exact + "…"
    assert len(logview.plain("y" * LOG_LINE_SHOWN_CHARS_MAX)) == LOG_LINE_SHOWN_CHARS_MAX
    assert len(logview.plain("y" * (LOG_LINE_SHOWN_CHARS_MAX + 1))) == LOG_LINE_SHOWN_CHARS_MAX


def test_r19_control_sequences_of_a_log_line_are_dropped() -> None:
    assert logview.plain("\x1b[31mred\x1b[0m \x1b]0;title\x07plain\ttab") == "red 0;titleplain    tab"


def test_the_level_of_a_line_is_its_own_word_or_its_stream() -> None:
    line = Line(0, 0, STDOUT, False, b"")
    assert logview.level(line, "2026-01-01 WARNING slow") == "warn"
    assert logview.level(line, "Traceback (most recent call last):") == "error"
    assert logview.level(line, "hello") == "out"
