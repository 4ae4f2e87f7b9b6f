"""Refuses pairs of PySide6 and CPython that are known to fail, in words, before Qt is imported.

PySide6 6.12.0 under CPython before 3.12 drops references of None and True on most calls and aborts after some hundred
signal emits. Nothing the program does can prevent that, so it does not start.
"""

from __future__ import annotations

import sys

from actum.errors import WrongUse

REMEDY = "Install PySide6-Essentials 6.11.3 (packaging/run does), or use Python 3.12 or newer."


def refuse_known_bad(pyside_version: str, python_version: tuple[int, int]) -> str | None:
    """Why this pair must not run, as a sentence; None when nothing is known against it."""
    if pyside_version == "6.12.0" and python_version < (3, 12):
        python = ".".join(map(str, python_version))
        return f"PySide6 {pyside_version} loses references under Python {python} and ends the program after a while."
    return None


def check() -> None:
    """Call before the first import of Qt. Raises WrongUse for a pair that is known to fail, and where Qt is missing."""
    try:
        import PySide6  # the package alone; Qt itself comes with its modules
    except ImportError:
        raise WrongUse("qt_missing", "The window cannot open.", "PySide6 is not installed.", REMEDY) from None
    if why := refuse_known_bad(PySide6.__version__, sys.version_info[:2]):
        raise WrongUse("qt_known_bad", "The window cannot open.", why, REMEDY)
