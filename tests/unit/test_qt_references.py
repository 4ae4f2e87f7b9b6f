"""The pair of PySide6 and CPython in use loses no references, and start-up refuses the pair that does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest
from actum.errors import WrongUse
from actum_desktop import qtguard
from PySide6.QtCore import QObject, Signal

EMITS = 300


class Sender(QObject):
    """One signal of each kind of value that the faulty pair drops."""

    sent = Signal(object)

    def send(self, value: object) -> None:
        self.sent.emit(value)


@pytest.mark.parametrize("value", [True, False, None])
def test_references_do_not_fall_over_300_emits(value: object) -> None:
    sender, received = Sender(), []
    sender.sent.connect(received.append)
    before = sys.getrefcount(value)
    for _ in range(EMITS):
        sender.send(value)
        sender.blockSignals(False)
        sender.objectName()
        sender.parent()
    received.clear()
    assert sys.getrefcount(value) >= before - 5, f"{EMITS} emits lost {before - sys.getrefcount(value)} references"


@pytest.mark.parametrize(
    ("pyside", "python", "refused"),
    [
        ("6.12.0", (3, 11), True),
        ("6.12.1", (3, 11), False),
        ("6.12.0", (3, 12), False),
        ("6.12.0", (3, 13), False),
        ("6.11.3", (3, 11), False),
        ("6.13.0", (3, 11), False),
    ],
)
def test_the_known_bad_pair_is_refused_in_words(pyside: str, python: tuple[int, int], refused: bool) -> None:
    why = qtguard.refuse_known_bad(pyside, python)
    assert (why is not None) is refused
    if why is not None:
        assert pyside in why
        assert "3.11" in why


def test_start_up_refuses_before_qt_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PySide6, "__version__", "6.12.0")
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    with pytest.raises(WrongUse) as caught:
        qtguard.check()
    assert (caught.value.code, caught.value.exit_code) == ("qt_known_bad", 2)
    assert "6.11.3" in caught.value.remedy


def test_the_guard_itself_imports_no_qt() -> None:
    source = "import sys, actum_desktop.qtguard as g; g.check(); sys.exit(any(m.startswith('PySide6.Qt') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0


def test_the_pair_in_use_is_accepted() -> None:
    qtguard.check()


@pytest.mark.parametrize(
    ("environment", "system", "there"),
    [
        ({}, "Linux", False),
        ({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "Linux", False),
        ({"DISPLAY": ":0"}, "Linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "Linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "Linux", True),
        ({}, "Windows", True),
        ({}, "Darwin", True),
    ],
)
def test_a_window_is_asked_for_only_where_it_can_be_shown(environment: dict[str, str], system: str, there: bool) -> None:
    assert qtguard.has_display(environment, system) is there


def test_without_a_display_the_window_is_refused_in_words_and_not_by_qt(tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    words = [sys.executable, "-m", "actum_desktop.entry", "--workspace", str(tmp_path / "ws")]
    ended = subprocess.run(words, env=kept, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2, ended.stderr
    assert "no display" in ended.stderr
    assert not (tmp_path / "ws").exists()
