"""Where the window has been: what back and forward go through, at most VISITED_PLACES_MAX places."""

from __future__ import annotations

from typing import NamedTuple

from actum.limits import VISITED_PLACES_MAX


class Place(NamedTuple):
    """A screen, and what is looked at there: a run's number, a task's name, runs that are compared; 0 = the screen itself."""

    screen: str
    what: int | str = 0


class Places:
    """Attribute: now."""

    def __init__(self, first: Place) -> None:
        self._visited = [first]
        self._at = 0

    @property
    def now(self) -> Place:
        return self._visited[self._at]

    def go(self, place: Place) -> None:
        """What was ahead is forgotten; the oldest places are as well."""
        if place != self.now:
            self._visited = [*self._visited[: self._at + 1], place][-VISITED_PLACES_MAX:]
            self._at = len(self._visited) - 1

    def step(self, by: int) -> bool:
        """Back (−1) or forward (1); whether there was such a place."""
        if not 0 <= self._at + by < len(self._visited):
            return False
        self._at += by
        return True
