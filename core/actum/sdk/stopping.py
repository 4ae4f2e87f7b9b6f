"""How a stop reaches a function: SIGTERM sets a flag, and the next `check_stop` raises StopRequested.

A function that never asks is ended when its grace has passed. A stopped function ends with EXIT_STOPPED, as a program ended
by SIGTERM does in a shell.
"""

from __future__ import annotations

import signal
from typing import Any

EXIT_STOPPED = 128 + signal.SIGTERM


class StopRequested(BaseException):
    """Somebody asked the run to stop. Not an Exception, so that `except Exception` around one step does not swallow it."""


class StopFlag:
    """Raised once, never lowered. Attributes: raised."""

    def __init__(self) -> None:
        self.raised = False

    def on_signal(self, signum: int, frame: Any) -> None:
        self.raised = True

    def listen(self) -> None:
        """Let SIGTERM raise this flag; only the main thread may ask for that."""
        signal.signal(signal.SIGTERM, self.on_signal)
