"""Commands on their way to the supervisor, and who waits for their answers.

The window shows what is recorded before the supervisor is up. A command given in that moment waits for it, and is sent when
it comes; at most EARLY_COMMANDS_MAX of them, one more is refused in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError
from actum.limits import EARLY_COMMANDS_MAX

from actum_desktop.i18n import _

if TYPE_CHECKING:
    from actum_desktop.controller.events import Answered
    from actum_desktop.ports import Commands

Then = Callable[[Mapping[str, Any]], None]
Failed = Callable[[ActumError], bool]  # True = the error is shown where it belongs


class Sending:
    """`tell` shows an error that nobody who asked has taken."""

    def __init__(self, tell: Callable[[ActumError], None]) -> None:
        self._tell = tell
        self._bridge: Commands | None = None
        self._pending: dict[int, tuple[Then | None, Failed | None]] = {}
        self._early: list[tuple[Mapping[str, Any], Then | None, Failed | None]] = []

    def join(self, bridge: Commands) -> None:
        """The supervisor is up: what waited for it goes first."""
        self._bridge = bridge
        early, self._early = self._early, []
        for body, then, failed in early:
            self.send(body, then, failed)

    def part(self) -> None:
        self._bridge = None

    def refuse(self, error: ActumError) -> None:
        """The supervisor does not come up: nothing waits for it any longer."""
        early, self._early = self._early, []
        for _body, _then, failed in early:
            self._failed(error, failed)

    def send(self, body: Mapping[str, Any], then: Then | None = None, failed: Failed | None = None) -> None:
        if self._bridge is None:
            if len(self._early) < EARLY_COMMANDS_MAX:
                self._early.append((body, then, failed))
                return
            why = _("It waits for the supervisor, and so do {n} commands before this one.").format(n=len(self._early))
            what = _("Actum is still opening the workspace.")
            self._failed(ActumError("not_ready", what, why, _("Try again in a moment.")), failed)
            return
        token = self._bridge.command(body)
        if then is not None or failed is not None:
            self._pending[token] = (then, failed)

    def answered(self, answered: Answered) -> None:
        then, failed = self._pending.pop(answered.token, (None, None))
        if answered.error is not None:
            self._failed(answered.error, failed)
        elif then is not None:
            then(answered.ok or {})

    def _failed(self, error: ActumError, failed: Failed | None) -> None:
        if failed is None or not failed(error):
            self._tell(error)
