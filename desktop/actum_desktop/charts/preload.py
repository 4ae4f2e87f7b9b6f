"""What plots are drawn with, imported beside the GUI thread before the first plot, which would stand still for it."""

from __future__ import annotations


def preload() -> None:
    """For a thread that has nothing else to do just then. A plot that comes earlier waits for the rest of it only."""
    import pyqtgraph  # noqa: F401 - only so that it is there
