"""Refuses what is known to fail before Qt is imported, in words: pairs of PySide6 and CPython, and no display.

PySide6 6.12.0 under CPython before 3.12 drops references of None and True on most calls and aborts after some hundred
signal emits. Nothing the program does can prevent that, so it does not start.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping

from actum.errors import WrongUse

REMEDY = "Install PySide6-Essentials 6.11.3 (packaging/run does), or use Python 3.12 or newer."


def refuse_known_bad(pyside_version: str, python_version: tuple[int, int]) -> str | None:
    """Why this pair must not run, as a sentence; None when nothing is known against it."""
    if pyside_version == "6.12.0" and python_version < (3, 12):
        python = ".".join(map(str, python_version))
        return f"PySide6 {pyside_version} loses references under Python {python} and ends the program after a while."
    return None


def has_display(environment: Mapping[str, str], system: str) -> bool:
    """Whether a window could be shown: Qt ends the process where it cannot, without a word that helps."""
    if system != "Linux" or environment.get("QT_QPA_PLATFORM", "") not in ("", "xcb", "wayland"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def check_display() -> None:
    """Call before a window is opened. Raises WrongUse where there is nothing to show it on."""
    if not has_display(os.environ, platform.system()):
        why = "There is no display here: DISPLAY and WAYLAND_DISPLAY are empty."
        raise WrongUse("no_display", "The window cannot open.", why, "Every command works without one: see `actum --help`.")


def check() -> None:
    """Call before the first import of Qt. Raises WrongUse for a pair that is known to fail, and where Qt is missing."""
    try:
        import PySide6  # the package alone; Qt itself comes with its modules
    except ImportError:
        raise WrongUse("qt_missing", "The window cannot open.", "PySide6 is not installed.", REMEDY) from None
    if why := refuse_known_bad(PySide6.__version__, sys.version_info[:2]):
        raise WrongUse("qt_known_bad", "The window cannot open.", why, REMEDY)
