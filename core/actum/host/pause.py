"""Making the work's write wait: its processes are paused while more messages lie unread than the bound allows (R12)."""

from __future__ import annotations

import signal

from actum.host.family import Family, Life
from actum.processes import terminate


class Pause:
    """Attribute: held (the work is paused now)."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._stopped: set[Life] = set()
        self.held = False

    def hold(self, wanted: bool) -> None:
        """Pause the members there are now, those that came since included; or let the paused ones go on."""
        members = self._family.members
        if wanted:
            for life in members.keys() - self._stopped:
                terminate.signal(members[life].identity, signal.SIGSTOP)
                self._stopped.add(life)
        elif self.held:
            for life in self._stopped & members.keys():
                terminate.signal(members[life].identity, signal.SIGCONT)
            self._stopped.clear()
        self.held = wanted
