"""The window's bounds, each at its bound and one above it (R11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actum import limits
from actum.host.logs import LogWriter
from actum.ipc.logfile import STDOUT, Line
from actum.limits import (
    CRASH_REPORTS_MAX,
    LOG_LINE_SHOWN_CHARS_MAX,
    SAMPLED_RUNS_MAX,
    SAMPLES_PER_RUN_MAX,
    VALUE_SHOWN_CHARS_MAX,
)
from actum.workspace import Workspace
from actum_desktop import crash
from actum_desktop.controller.events import Live
from actum_desktop.models import details, logtext, runreader
from actum_desktop.models.history import History
from actum_desktop.models.runcells import cells
from actum_desktop.models.runsmodel import RunsModel
from actum_desktop.models.source import RunItem
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.loglines import LogLines
from actum_desktop.views.sidebar import Active, Sidebar
from actum_desktop.window import Window
from PySide6.QtCore import QEvent, QModelIndex
from PySide6.QtWidgets import QApplication

from tests.helpers import stage

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window

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
    assert len(logtext.shown("y" * LOG_LINE_SHOWN_CHARS_MAX)) == LOG_LINE_SHOWN_CHARS_MAX
    assert len(logtext.shown("y" * (LOG_LINE_SHOWN_CHARS_MAX + 1))) == LOG_LINE_SHOWN_CHARS_MAX


def test_r19_control_sequences_of_a_log_line_are_dropped() -> None:
    assert logtext.plain("\x1b[31mred\x1b[0m \x1b]0;title\x07plain\ttab") == "red plain    tab"


def test_the_level_of_a_line_is_its_own_word_or_its_stream() -> None:
    line = Line(0, 0, STDOUT, False, b"")
    assert logtext.level(line, "2026-01-01 WARNING slow") == "warn"
    assert logtext.level(line, "Traceback (most recent call last):") == "error"
    assert logtext.level(line, "hello") == "out"


def test_open_runs_are_listed_up_to_their_bound_and_the_history_by_pages(qapp: QApplication) -> None:
    def items(status: str, phase: str, count: int, first: int) -> list[RunItem]:
        return [RunItem(first + n, "t", "T", "manual", status, phase, True, "ok", 1) for n in range(count)][::-1]

    above = limits.RUN_LIST_OPEN_ROWS_MAX + 1
    model = RunsModel(stage.PreparedSource(items("CREATED", "QUEUED", above, 10_000)))
    model.reload()
    assert model.rowCount() == limits.RUN_LIST_OPEN_ROWS_MAX
    for count in (limits.RUN_LIST_PAGE_ROWS, limits.RUN_LIST_PAGE_ROWS + 1):
        model = RunsModel(stage.PreparedSource(items("SUCCEEDED", "CLOSED", count, 1)))
        model.reload()
        assert model.rowCount() == limits.RUN_LIST_PAGE_ROWS
        model.fetchMore(QModelIndex())
        assert model.rowCount() == count
        assert not model.canFetchMore(QModelIndex())


def test_rows_in_words_are_kept_up_to_their_bound(qapp: QApplication) -> None:
    items = [RunItem(n, "t", "T", "manual", "SUCCEEDED", "CLOSED", True, "ok", 1) for n in range(6_000, 0, -1)]
    model = RunsModel(stage.PreparedSource(items))
    model.reload()
    while model.canFetchMore(QModelIndex()):
        model.fetchMore(QModelIndex())
    for row in range(limits.RUN_LIST_CELLS_KEPT_MAX + 1):
        model.cells_of(row)
    assert len(model._cells) == limits.RUN_LIST_CELLS_KEPT_MAX + 1
    model.cells_of(limits.RUN_LIST_CELLS_KEPT_MAX + 1)
    assert len(model._cells) == 1


@pytest.fixture
def ink(qapp: QApplication) -> Iterator[Ink]:
    theme = Theme(qapp, "light")
    yield Ink(theme)
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_the_caches_of_text_and_icons_are_emptied_when_full(ink: Ink) -> None:
    for number in range(limits.TEXT_CACHE_ENTRIES_MAX):
        ink.width(str(number))
    assert len(ink._elided) == limits.TEXT_CACHE_ENTRIES_MAX
    ink.width("one more")
    assert len(ink._elided) == 1
    for number in range(limits.ICON_CACHE_ENTRIES_MAX):
        ink.theme.pixmap("bell", "text", 8 + number / 4, 1.0)
    assert len(ink.theme._pixmaps) == limits.ICON_CACHE_ENTRIES_MAX
    ink.theme.pixmap("gear", "text", 8, 1.0)
    assert len(ink.theme._pixmaps) == 1


def test_the_sidebar_shows_open_runs_up_to_its_bound(ink: Ink) -> None:
    sidebar = Sidebar(ink, "ws")
    shown = [Active(n, cells(stage.runs()[0], None, (), 0)) for n in range(limits.ACTIVE_SHOWN_MAX + 1)]
    for count in (limits.ACTIVE_SHOWN_MAX, limits.ACTIVE_SHOWN_MAX + 1):
        sidebar.show_active(shown[:count])
        visible = [made for made in sidebar._active if not made.isHidden()]
        assert len(visible) == limits.ACTIVE_SHOWN_MAX


def test_places_visited_are_kept_up_to_their_bound(ink: Ink, tmp_path: Path) -> None:
    window = Window(ink, Workspace(tmp_path), "0")
    for run in range(1, limits.VISITED_PLACES_MAX):
        window.open_run(run)
    assert len(window._places._visited) == limits.VISITED_PLACES_MAX
    assert window._places._visited[0] == ("runs", 0)
    window.open_run(limits.VISITED_PLACES_MAX)
    assert len(window._places._visited) == limits.VISITED_PLACES_MAX
    assert window._places._visited[0] == ("run", 1)
    window.part()
    window.close()
    window.deleteLater()


@pytest.mark.parametrize("most", [limits.JOURNAL_SHOWN_ROWS_MAX, limits.RECORDS_SHOWN_ROWS_MAX])
def test_journal_and_records_are_read_up_to_their_bounds(most: int) -> None:
    for there, full in ((most - 1, False), (most, True), (most + 1, True)):
        rows: list[dict[str, int]] = []

        def read(limit: int, rows: list[dict[str, int]] = rows, there: int = there) -> int:
            count = min(limit, there - len(rows))
            rows.extend({} for _ in range(count))
            return count

        assert runreader._filled(read, rows, most) is full
        assert len(rows) == min(there, most)


def test_a_line_opened_whole_is_cut_at_its_bound_and_says_so(ink: Ink, tmp_path: Path) -> None:
    writer = LogWriter(str(tmp_path / "log"))
    writer.write(STDOUT, b"x" * limits.LOG_WHOLE_LINE_BYTES_MAX + b"\nshort\n", 0)
    lines = LogLines(ink)
    lines.open(tmp_path / "log")
    text, cut = lines.whole(0)
    assert (len(text), cut) == (limits.LOG_WHOLE_LINE_BYTES_MAX, True)
    assert lines.whole(lines.total - 1) == ("short", False)
    writer.close()
