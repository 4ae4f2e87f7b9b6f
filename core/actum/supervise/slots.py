"""Slots and exclusive resources: who holds them, and who may begin next (R06).

Theory. The supervisor says of each machine that an event touched what became of it (`note`); nothing here ever looks at all
that is open. Attempts that wait stand in a heap by run number. One that may not begin now is put aside with its reason, and
comes back when that reason may be over: the queue was opened, a resource came free, the store had its time. So an event
costs what it changed, with one open run as with a thousand.

A slot is held from the grant on, before its commit is answered, until `released` is on record; so is every exclusive
resource that the contract names. An attempt that waits for a resource lets others with no need of it pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from actum.clock import Now
from actum.model.changes import Answer, RefusalKind, Refused
from actum.supervise import advancing
from actum.supervise.machine import Machine

Place = tuple[int, int, str]  # run, n, attempt: the order of the queue


@dataclass(slots=True)
class Slots:
    """Attributes: total, room (none begins without), holders (attempt → its exclusive resources), resumed (runs that no pause
    after a crash bars)."""

    total: int = 1
    room: bool = True
    resumed: set[int] = field(default_factory=set)
    holders: dict[str, frozenset[str]] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _known: set[str] = field(default_factory=set)  # attempts in one of the four below
    _queue: list[Place] = field(default_factory=list)
    _barred: list[Place] = field(default_factory=list)  # the queue is paused for them
    _blocked: list[Place] = field(default_factory=list)  # a resource of theirs is held
    _later: list[Place] = field(default_factory=list)  # the store has to have its time first

    @property
    def free(self) -> int:
        return self.total - len(self.holders)

    def note(self, m: Machine) -> None:
        """What became of this machine: it holds, it waits, or neither."""
        if m.holds_slot or "slot" in m.doing:
            if m.attempt not in self.holders:
                self.holders[m.attempt] = m.policies.resources
                self._taken |= m.policies.resources
            return
        self.forget(m.attempt)
        if advancing.is_queued(m) and m.attempt not in self._known:
            self._known.add(m.attempt)
            heappush(self._queue, (m.row.run, m.row.n, m.attempt))

    def forget(self, attempt: str) -> None:
        """It holds nothing any more; who waits for a resource of its may ask again."""
        held = self.holders.pop(attempt, frozenset())
        if held:
            self._taken -= held
            self._back(self._blocked)

    def opened(self) -> None:
        """A pause is over: whom it barred may ask again."""
        self._back(self._barred)

    def time_passed(self) -> None:
        self._back(self._later)

    def take(self, machines: dict[str, Machine], is_open: Callable[[Machine], bool], now: Now) -> Machine | None:
        """The next attempt that may begin, while a slot is free; None where there is none."""
        while self.room and self.free > 0 and self._queue:
            place = heappop(self._queue)
            m = machines.get(place[2])
            if m is None or not advancing.is_queued(m):
                self._known.discard(place[2])  # noted again when it waits again
            elif not is_open(m):
                self._barred.append(place)
            elif m.policies.resources & self._taken:
                self._blocked.append(place)
            elif now.monotonic_us < m.not_before_us:
                self._later.append(place)
            else:
                self._known.discard(place[2])
                return m
        return None

    def _back(self, aside: list[Place]) -> None:
        for place in aside:
            heappush(self._queue, place)
        aside.clear()


def answered(m: Machine, answer: Answer) -> None:
    """What the store's answer means for a slot that is being granted: one whose answer was lost may be on record, so it is
    kept until the store says how it is."""
    if isinstance(answer, Refused) and answer.kind is RefusalKind.LOST and "slot" in m.doing:
        m.live["slot_unsure"] = True
    if answer.row is not None or not m.live.get("slot_unsure"):
        m.doing.discard("slot")
        m.live.pop("slot_unsure", None)
