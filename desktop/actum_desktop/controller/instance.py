"""The service instance as the parts of its controller see it: what each may read, ask for and be told, and nothing else.

The controller owns its parts; a part knows this much of it and never the controller itself, so that each can be read, and put
to work in a test, for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from actum.errors import ActumError
from actum.model.changes import Answer, Request
from actum.store.queries import Reader
from actum.store.writer import Writer
from actum.supervise import events
from actum.supervise.supervisor import Supervisor
from actum.workspace import Workspace

from actum_desktop.controller.events import Progressed
from actum_desktop.controller.helpers import Helpers

Reply = Callable[[Mapping[str, Any] | None, ActumError | None], None]


class Instance(Protocol):
    """One service instance, in the thread of its controller."""

    @property
    def ws(self) -> Workspace: ...
    @property
    def window(self) -> bool:
        """Whether it runs behind a window."""

    @property
    def supervisor(self) -> Supervisor: ...
    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> Writer: ...
    @property
    def helpers(self) -> Helpers: ...
    @property
    def idle(self) -> bool:
        """Nothing in flight, nothing asked."""

    @property
    def left(self) -> bool:
        """Whether it lets go of the workspace, has let go of it, or never had it."""

    def tell(self, event: events.Event) -> None:
        """Queue an event for the supervisor."""

    def persist(self, request: Request, then: Callable[[Answer], None]) -> None:
        """Commit a request that is about no attempt; `then` is called here, after the commit; never, once it left."""

    def note(self, code: str, severity: str, holds: bool) -> None:
        """An alert about the workspace as it was found, or its end."""

    def expect(self, reply: Reply) -> int:
        """The number of a command whose answer goes to `reply`."""

    def reply(self, command: int, ok: Mapping[str, Any] | None, error: ActumError | None) -> None:
        """Answer a command; the first answer counts."""

    def show_progress(self, progress: Progressed) -> None:
        """Show how far a command is that a helper works on."""

    def show_window(self) -> None:
        """A second start wants to see the window of this one."""

    def soon(self, then: Callable[[], None]) -> None:
        """Call `then` at the next turn of the loop, while this instance lives."""

    def hand_over(self) -> None:
        """Let a successor in, when the answer has been sent."""

    def met_defect(self) -> None:
        """Called where an exception is handled that nobody foresaw: the instance retires."""
