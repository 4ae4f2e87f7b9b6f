"""Ending the host's own tree: ask each with SIGTERM once, after the grace insist with SIGKILL, again until none is left.

A halted process (SIGSTOP) is woken when it is asked, or it could not hear. Processes are found anew in every round, so
what forks while it is being ended is ended in the next. Only proven identities are signalled (processes/terminate.py). A
process that even SIGKILL does not end, for it sleeps in the kernel, is waited for: the host does not say "gone" before.
"""

from __future__ import annotations

import signal

from actum.host.family import Family, Life
from actum.processes import terminate


class Ending:
    """Attribute: ended (how many processes were signalled)."""

    def __init__(self, family: Family, grace_s: float, now: float) -> None:
        self._family = family
        self._insist_at = now + grace_s
        self._asked: set[Life] = set()
        self._killed: set[Life] = set()

    @property
    def ended(self) -> int:
        return len(self._asked | self._killed)

    def insist(self, now: float) -> None:
        """A harder stop came: do not wait for the grace."""
        self._insist_at = min(self._insist_at, now)

    def step(self, now: float) -> bool:
        """One round; whether the tree is proven gone. Call again after ENDING_EVERY_S or when a child has ended."""
        family = self._family
        if family.gone():
            return True
        family.look(now, at_once=True)
        if family.gone():
            return True
        insist = now >= self._insist_at
        done = self._killed if insist else self._asked
        for life, member in family.members.items():
            if life not in done:
                terminate.signal(member.identity, signal.SIGKILL if insist else signal.SIGTERM)
                if not insist:
                    terminate.signal(member.identity, signal.SIGCONT)
                done.add(life)
        return False
