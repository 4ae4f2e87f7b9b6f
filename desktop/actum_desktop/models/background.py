"""Bounded work away from the GUI thread: looking at a file, reading a header, asking interpreters their version.

`ask(key, work, then)`: `work` runs on a pool thread, `then` is called in the GUI thread with its value or its error. A
newer question with the same key makes an older answer silently stale. `close` waits for what is under way; what it leaves
has a time limit of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

THREADS_MAX = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """Exactly one of `value` and `error` counts: `error` None = it worked."""

    key: str
    number: int
    value: Any = None
    error: Exception | None = None


class _Work(QRunnable):
    def __init__(self, key: str, number: int, work: Callable[[], Any], told: Callable[[Answer], None]) -> None:
        super().__init__()
        self._key, self._number, self._work, self._told = key, number, work, told

    def run(self) -> None:
        try:
            answer = Answer(self._key, self._number, self._work())
        except Exception as error:  # handed to whoever asked, in the GUI thread
            answer = Answer(self._key, self._number, None, error)
        self._told(answer)


class Background(QObject):
    """One small pool of threads for the screens of one window."""

    _answered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(THREADS_MAX)
        self._number = 0
        self._closing = False
        self._waiting: dict[str, tuple[int, Callable[[Any, Exception | None], None]]] = {}
        self._answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)

    def ask(self, key: str, work: Callable[[], Any], then: Callable[[Any, Exception | None], None]) -> None:
        self._number += 1
        self._waiting[key] = (self._number, then)
        self._pool.start(_Work(key, self._number, work, self._answered.emit))

    def forget(self, key: str) -> None:
        """Whoever asked is no longer there."""
        self._waiting.pop(key, None)

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def awaited(self, key: str) -> bool:
        """Whether anyone still waits for an answer to `key`; asked from pool threads too."""
        return not self._closing and key in self._waiting

    def close(self) -> None:
        self._closing = True
        self._waiting.clear()
        self._pool.clear()
        self._pool.waitForDone()

    @Slot(object)
    def _on_answered(self, answer: Answer) -> None:
        number, then = self._waiting.get(answer.key, (0, None))
        if then is not None and number == answer.number:
            del self._waiting[answer.key]
            then(answer.value, answer.error)
