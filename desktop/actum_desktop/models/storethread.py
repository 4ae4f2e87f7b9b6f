"""One thread with a read-only connection of its own: what every reader of the store beside the GUI thread is built on.

`start` hands work to the thread, `store` gives it the connection, opened when it is first needed, `close` waits for what is
under way and closes the connection in the thread that used it. A newer question may make the waiting ones void: `start_alone`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from actum.workspace import Workspace
from PySide6.QtCore import QObject, QThreadPool

if TYPE_CHECKING:
    from actum.store.queries import Reader

Question = TypeVar("Question")


class StoreThread(QObject):
    """Base of the readers. The thread begins with the first question."""

    def __init__(self, ws: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ws = ws
        self._reader: Reader | None = None  # belongs to the one thread of the pool
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(-1)

    def start(self, work: Callable[[], object]) -> None:
        self._pool.start(work)

    def start_alone(self, work: Callable[[], object]) -> None:
        """What still waits is not done any more."""
        self._pool.clear()
        self._pool.start(work)

    def close(self) -> None:
        self._pool.start(self._let_go)
        self._pool.waitForDone()

    # ---- in the pool's thread

    def store(self) -> Reader:
        """The connection. Raises NotFound(no_workspace) while nothing was ever written, and WorkspaceUnusable."""
        from actum.store.queries import Reader

        if self._reader is None:
            self._reader = Reader(self._ws)
        return self._reader

    def _let_go(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class Latest(Generic[Question]):
    """One question under way and one waiting, the newest: `ask` with a new one, `done` when the answer is there."""

    def __init__(self, begin: Callable[[Question], None]) -> None:
        self._begin = begin
        self._busy = False
        self._next: list[Question] = []

    def ask(self, question: Question) -> None:
        if self._busy:
            self._next = [question]
        else:
            self._busy = True
            self._begin(question)

    def done(self) -> None:
        """Call once the answer was handed on."""
        self._busy = False
        following, self._next = self._next, []
        for question in following:
            self.ask(question)
