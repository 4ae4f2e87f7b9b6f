"""The log of a run: any size, found in, followed, opened line by line; and its page once more: rerun, edit, copy, charts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from actum import limits
from actum.host.logs import LogWriter
from actum.ipc import historyfile
from actum.ipc.logfile import ENTRY, STDERR, STDOUT
from actum_desktop import i18n
from actum_desktop.charts import progresschart
from actum_desktop.desk import Desk
from actum_desktop.models import details, history
from actum_desktop.models.details import Pair, Section
from actum_desktop.models.history import Sample
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.views.logview import LogPanel
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.desks import phase, shut

pytestmark = pytest.mark.qt_log_ignore("does not support (propagateSizeHints|raise)")  # offscreen says it of every window

Open = Callable[[], Desk]


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[LogPanel]:
    i18n.use("en")
    theme = Theme(qapp, "light")
    made = LogPanel(Ink(theme))
    made.resize(900, 400)
    made.show()
    yield made
    made.close_down()
    made.close()
    made.deleteLater()
    theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def write(folder: Path, *pieces: bytes, stream: int = STDOUT) -> LogWriter:
    writer = LogWriter(str(folder))
    for piece in pieces:
        assert writer.write(stream, piece, 1_700_000_000_000_000) is None
    return writer


def test_found_lines_are_counted_and_gone_through_in_both_directions(panel: LogPanel, qtbot: QtBot, tmp_path: Path) -> None:
    writer = write(tmp_path, *(f"line {n} {'needle' if n % 100 == 7 else 'hay'}\n".encode() for n in range(1_000)))
    panel.open(tmp_path, 1)
    QTest.keyClicks(panel._find, "NEEDLE")
    qtbot.waitUntil(lambda: panel._count.text() == "1 of 10", timeout=10_000)
    assert panel.lines.current == 7
    panel.find_next()
    assert (panel.lines.current, panel._count.text()) == (107, "2 of 10")
    panel.find_previous()
    panel.find_previous()
    assert (panel.lines.current, panel._count.text()) == (907, "10 of 10"), "it goes round"
    writer.write(STDOUT, b"one more needle\n", 1)
    panel.lines.look()
    qtbot.waitUntil(lambda: panel._count.text() == "10 of 11", timeout=10_000)
    QTest.keyClick(panel._find, Qt.Key.Key_Escape)
    assert panel._find.text() == ""
    QTest.keyClicks(panel._find, "nowhere")
    qtbot.waitUntil(lambda: panel._count.text() == "no line", timeout=10_000)
    writer.close()


def test_the_first_error_and_the_next(panel: LogPanel, qtbot: QtBot, tmp_path: Path) -> None:
    fine = [b"fine\n"] * 300
    writer = write(tmp_path, *fine, b"ERROR one\n", *fine, b"ERROR two\n", stream=STDERR)
    panel.open(tmp_path, 1)
    panel._error.click()
    qtbot.waitUntil(lambda: panel.lines.current == 300, timeout=10_000)
    panel._error.click()
    qtbot.waitUntil(lambda: panel.lines.current == 601, timeout=10_000)
    panel._error.click()
    qtbot.waitUntil(lambda: panel._where.text() == "No further line is marked as an error.", timeout=10_000)
    writer.close()


def test_a_long_line_is_opened_whole_with_enter_and_closed_with_escape(panel: LogPanel, qtbot: QtBot, tmp_path: Path) -> None:
    whole = "x" * 5_000 + " the end"
    writer = write(tmp_path, b"short\n", f"\x1b[31m{whole}\x1b[0m\n".encode())
    panel.open(tmp_path, 1)
    QTest.keyClick(panel.lines, Qt.Key.Key_End)
    assert panel.lines.current == 1
    QTest.keyClick(panel.lines, Qt.Key.Key_Return)
    assert panel._whole.isVisible()
    assert panel._whole.text.toPlainText() == whole
    QTest.keyClick(panel._whole.text, Qt.Key.Key_Escape)
    assert not panel._whole.isVisible()
    writer.close()


def test_a_bar_redrawn_with_carriage_returns_is_its_last_state(panel: LogPanel, tmp_path: Path) -> None:
    writer = write(tmp_path, b"  1 %\r  2 %\r")
    panel.open(tmp_path, 1)
    assert [row.spans[0].text for row in panel.lines.rows(0, 9)] == ["  2 %"]
    writer.write(STDOUT, b"100 %\ndone\n", 1)
    panel.lines.look()
    assert [row.spans[0].text for row in panel.lines.rows(0, 9)] == ["100 %", "done"]
    writer.close()


def test_it_follows_until_one_looks_back_and_again_when_asked(panel: LogPanel, tmp_path: Path) -> None:
    writer = write(tmp_path, *(f"{n}\n".encode() for n in range(500)))
    panel.open(tmp_path, 1)
    bar = panel.lines.verticalScrollBar()
    assert panel.lines.following
    assert bar.value() == bar.maximum()
    QTest.keyClick(panel.lines, Qt.Key.Key_Home)
    assert not panel.lines.following
    writer.write(STDOUT, b"more\n", 1)
    panel.lines.look()
    assert bar.value() == 0, "what is looked at stays"
    panel.lines.follow()
    assert bar.value() == bar.maximum()
    writer.close()


def test_five_gigabytes_of_log_are_opened_scrolled_and_looked_at_quickly(panel: LogPanel, tmp_path: Path) -> None:
    """Sparse files of the true size: 320 segments, 50 million lines; whatever read a whole file would take seconds."""
    size, line = limits.LOG_SEGMENT_BYTES, 128
    index = b"".join(ENTRY.pack(n * line, 1, STDOUT) for n in range(size // line))
    for segment in range(5 * 1024**3 // size):
        with (tmp_path / f"{segment:06d}.log").open("wb") as log:
            log.truncate(size)
        (tmp_path / f"{segment:06d}.idx").hardlink_to(tmp_path / "000000.idx") if segment else (
            tmp_path / "000000.idx"
        ).write_bytes(index)
    begun = time.monotonic()
    panel.open(tmp_path, 1)
    assert panel.lines.total == 5 * 1024**3 // line
    bar = panel.lines.verticalScrollBar()
    for part in range(100):
        bar.setValue(bar.maximum() * part // 100)
        panel.lines.grab()
    assert (time.monotonic() - begun) / 100 < 0.1, "seconds a jump anywhere"


# The page once more


def test_rerun_edit_and_copy_by_keyboard(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    desk = open_desk()
    window, page = desk.window, desk.window._page
    window.asking.sample("return-and-risk")
    qtbot.waitUntil(lambda: page.run == 1 and phase(desk) == "CLOSED", timeout=60_000)
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(page._ledger, Qt.Key.Key_C, control | Qt.KeyboardModifier.ShiftModifier)
    assert qapp.clipboard().text().startswith("actum run return-and-risk --set")
    assert "--set=symbol=AAPL" in qapp.clipboard().text()
    page.copy_json()
    assert '"symbol": "AAPL"' in qapp.clipboard().text()
    QTest.keyClick(page._ledger, Qt.Key.Key_R, control)
    QTest.keyClick(page._ledger, Qt.Key.Key_R, control)  # twice before the answer: one run
    qtbot.waitUntil(lambda: page.run == 2 and phase(desk) == "CLOSED", timeout=60_000)
    assert page._show["rerun_of"] == 1
    assert page._show["parameters"]["symbol"] == "AAPL"
    assert window._counts.total == 2
    QTest.keyClick(page._ledger, Qt.Key.Key_E, control)
    assert window._places.now == ("task", "return-and-risk")
    form = window._tasks.screen.page.run_form  # type: ignore[union-attr]
    assert form is not None
    assert form.form.raw()["symbol"] == "AAPL"
    form.press()
    qtbot.waitUntil(lambda: page.run == 3 and phase(desk) == "CLOSED", timeout=60_000)
    assert page._show["rerun_of"] == 2
    assert page._show["trigger"] == "rerun"


def test_charts_and_averages_outlive_the_window(open_desk: Open, qtbot: QtBot, qapp: QApplication) -> None:
    """What the host kept is there for a window that never saw the run compute."""
    desk = open_desk()
    desk.window.asking.sample("return-and-risk")
    qtbot.waitUntil(lambda: desk.window._page.run == 1 and phase(desk) == "CLOSED", timeout=60_000)
    shut(desk, qapp)
    again = open_desk()
    again.window.open_run(1)
    qtbot.waitUntil(lambda: phase(again) == "CLOSED", timeout=20_000)
    page = again.window._page
    assert page._seen.samples, "the host kept at least one line"
    assert page._seen.usage.peak_rss_bytes
    assert "peak memory" in page._head.measures.text()
    assert again.window._model.cells_of(0).memory.text.startswith("peak ")


def test_records_stand_under_their_attempt_and_that_there_are_more_is_said() -> None:
    rows = [{"at": n, "kind": "trade", "data": {"n": n}, "n": 1 + n // 2, "seq": n} for n in range(4)]
    shown = details.records(rows, more=True)
    heads = [row.note for row in shown if isinstance(row, Section)]
    assert heads == ["attempt 1", "attempt 2", ""]
    values = [row.value for row in shown if isinstance(row, Pair)]
    assert values == [f'trade  {{"n": {n}}}' for n in range(4)]
    assert isinstance(details.records([])[0], Section)


def test_a_chart_tells_sleep_and_the_values_at_the_cross_hair() -> None:
    """Asleep = the wall's clock went on and the work's own stood still."""

    def sample(at_s: int, active_s: float) -> Sample:
        return Sample(at_s * 1_000_000, 0.5, 50.0, 1e6, None, None, "load", False, active_s)

    samples = [sample(0, 0.0), sample(5, 5.0), sample(3_610, 10.0), sample(3_615, 15.0)]
    assert progresschart._asleep(samples) == [(10_000_000, 3_610_000_000)]
    assert progresschart._told(samples[0])[1:] == ["50 % load", "CPU 50 %", "Memory 1.0 MB"]


def test_history_lines_become_samples_and_what_the_window_saw_goes_on_from_there() -> None:
    lines = [
        dict.fromkeys(historyfile.NUMBERS)
        | {"at": n * 5_000_000, "stage": "s", "done": n, "total": 10, "cpu_s": n * 2.5, "active_s": n * 5.0, "progress_s": 0.0}
        for n in range(4)
    ]
    samples = history.from_lines(lines, stall_after_s=12.0)
    assert [one.cpu for one in samples] == [None, 50.0, 50.0, 50.0]
    assert [one.quiet for one in samples] == [False, False, False, True]
    seen = [replace(samples[0], at=12_000_000), replace(samples[0], at=16_000_000)]
    assert [one.at for one in history.joined(samples, seen)] == [0, 5_000_000, 10_000_000, 12_000_000, 16_000_000]
    assert history.usage(lines).cpu_percent == 50.0
    assert history.usage([]).cpu_percent is None
