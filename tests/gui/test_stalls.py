"""A call that holds the GUI thread is kept with its length and its stack, in a file of bounded size (R11)."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from actum import limits
from actum.workspace import Workspace
from actum_desktop import stalls
from actum_desktop.stalls import Stall, StallFile, StallWatch
from actum_desktop.theme import Theme
from actum_desktop.views.ink import Ink
from actum_desktop.window import Window
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.stalls import where

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")  # offscreen says it of every window


def held_by_this(for_s: float) -> None:
    """Nothing but a wait that no event ends: what a call that blocks looks like from beside it."""
    threading.Event().wait(for_s)


def test_a_call_that_holds_the_gui_thread_is_told_with_its_stack(qapp: QApplication, qtbot: QtBot) -> None:
    told: list[Stall] = []
    watch = StallWatch(told.append, over_s=0.05)
    watch.start()
    QTimer.singleShot(0, lambda: held_by_this(0.5))
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    watch.stop()
    longest = max(told, key=lambda stall: stall.seconds)
    assert longest.seconds >= 0.3
    assert "held_by_this" in "".join(longest.stack)
    assert "the window stood still for" in longest.text()


def test_what_was_noticed_is_told_before_the_watch_ends_and_its_thread_goes(qapp: QApplication, qtbot: QtBot) -> None:
    told: list[Stall] = []
    watch = StallWatch(told.append, over_s=0.05)
    watch.start()
    watch._gaps.append(7.0)
    watch.stop()
    assert 7.0 in [stall.seconds for stall in told]
    assert "held the interpreter too" in Stall(7.0).text()
    assert not [thread for thread in threading.enumerate() if thread is watch._thread]


def test_r11_no_more_wait_to_be_written_than_their_bound(qapp: QApplication) -> None:
    watch = StallWatch(lambda _stall: None)
    for number in range(limits.STALLS_WAITING_MAX + 1):
        watch._gaps.append(float(number))
    assert len(watch._gaps) == limits.STALLS_WAITING_MAX
    assert watch._gaps[0] == 1.0, "the oldest goes"
    assert watch._over_s == limits.GUI_STALL_S_MIN


def test_r11_a_stack_holds_the_innermost_calls_up_to_its_bound() -> None:
    def deep(levels: int) -> tuple[str, ...]:
        return deep(levels - 1) if levels else stalls._stack(sys._getframe())

    for levels in (limits.STALL_FRAMES_MAX - 1, limits.STALL_FRAMES_MAX):  # one call more than levels
        text = "".join(deep(levels))
        assert f"repeated {limits.STALL_FRAMES_MAX - 3} more times" in text  # three are written out
    assert stalls._stack(None) == ()


def test_r11_the_file_starts_afresh_above_its_bound(tmp_path: Path) -> None:
    kept = StallFile(tmp_path / "crashes")
    path = tmp_path / "crashes" / stalls.FILE
    path.parent.mkdir()
    stall = Stall(0.3, ("  File “x”\n",))
    exact = limits.STALL_LOG_BYTES_MAX - len(stall.text().encode())
    path.write_bytes(b"x" * exact)
    kept.keep(stall)
    assert path.stat().st_size == limits.STALL_LOG_BYTES_MAX
    kept.keep(stall)
    assert path.read_text().startswith("20"), "only the newest is there"
    assert path.stat().st_size == len(stall.text().encode())


def test_a_file_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "crashes").write_text("in the way")
    StallFile(tmp_path / "crashes").keep(Stall(1.0))
    assert (tmp_path / "crashes").read_text() == "in the way"


def test_the_window_watches_itself(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    theme = Theme(qapp, "light")
    window = Window(Ink(theme), Workspace(tmp_path), "0")
    window._stalls.start()
    QTimer.singleShot(0, lambda: held_by_this(0.6))
    kept = tmp_path / "crashes" / stalls.FILE
    qtbot.waitUntil(lambda: kept.exists() and "held_by_this" in kept.read_text(), timeout=20_000)
    window.part()
    assert window._stalls._thread is None
    window.close()
    window.deleteLater()
    theme.deleteLater()


def test_only_calls_of_the_program_count_in_tests() -> None:
    ours = ('  File "/x/desktop/actum_desktop/window.py", line 7, in _show_place\n', '  File "/x/lib/y.py", line 1, in z\n')
    assert where(Stall(1.0, ours)) == "actum_desktop/window.py:7 _show_place"
    assert where(Stall(1.0, ours[1:])) == ""
