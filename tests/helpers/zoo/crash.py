"""A segmentation fault in native code, with Python's own last words about it."""

import ctypes
import faulthandler

faulthandler.enable()


def reads_nowhere() -> None:
    ctypes.string_at(0)


reads_nowhere()
