"""How a function says that it cannot do its work: one sentence in the log instead of a traceback."""

from __future__ import annotations


class TaskFailed(Exception):
    """The work cannot be done, and the message says why in words for the person who started it."""
