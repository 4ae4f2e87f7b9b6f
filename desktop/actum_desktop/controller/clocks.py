"""Sleep and a wall clock that was set, noticed between two ticks and written into the journal (§12).

Three clocks are compared. *Boot time* goes on in sleep and *monotonic* does not: what one gains on the other was slept, and
everything is looked at again. The *wall clock* can be set by anyone: what it gains on boot time was no time at all. Nothing
is decided by it; each run whose work is going on has the change in its journal, so that its duration can be told rightly.
"""

from __future__ import annotations

from typing import Any

from actum.clock import US, Now
from actum.limits import CLOCK_SET_NOTICED_S, SLEEP_NOTICED_S
from actum.model.changes import JournalEntry, Note
from actum.supervise import deadlines, events

from actum_desktop.controller.instance import Instance


class Clocks:
    """Looks at the clocks with every tick of the controller."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._last: Now | None = None

    def begin(self, now: Now) -> None:
        """What passed before counts for nothing."""
        self._last = now

    def look(self, now: Now) -> None:
        last, self._last = self._last, now
        if last is None:
            return
        slept_us = (now.boottime_us - now.monotonic_us) - (last.boottime_us - last.monotonic_us)
        if slept_us > SLEEP_NOTICED_S * US:
            self._instance.tell(events.Woke(slept_us))
            self._note_runs("slept", now, deadlines.slept(slept_us, now))
        set_us = (now.utc_us - now.boottime_us) - (last.utc_us - last.boottime_us)
        if abs(set_us) > CLOCK_SET_NOTICED_S * US:
            told = {"by_us": set_us, "from_us": now.utc_us - set_us, "to_us": now.utc_us}
            self._note(JournalEntry("clock_set", now.utc_us, told))
            self._note_runs("clock_set", now, told)

    def _note_runs(self, kind: str, now: Now, data: dict[str, Any]) -> None:
        """In the journal of every run that is under way: those that wait for a slot have no duration yet."""
        for m in list(self._instance.supervisor.machines.values()):
            if m.row.started_at_us is not None and not m.closed:
                self._note(JournalEntry(kind, now.utc_us, data), m.row.run, m.attempt)

    def _note(self, entry: JournalEntry, run: int | None = None, attempt: str | None = None) -> None:
        self._instance.persist(Note(journal=(entry,), run=run, attempt=attempt), lambda answer: None)
