"""Which steps of a service instance have failed and are tried again, and for how many ticks nothing was said of them (R09).

Seen from outside: by the answers of the driver, and by what the store holds. A tick counts only if the machine could have said
it: it waits for no answer of the store, the store has refused it nothing lately, and nobody has deposed the instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.limits import STORE_RETRY_S
from actum.model.changes import Refused
from actum.model.facts import FactName
from actum.model.status import Contact, Pair
from actum.supervise import events
from actum.supervise.machine import Machine

if TYPE_CHECKING:
    from tests.simulation.world import World

# The answers that tell of a step, and the alert that says that it failed.
ALERTS: Mapping[type, str] = {
    events.ClaimAnswered: "cannot_tell",
    events.RecordsRead: "records",
    events.Quarantined: "quarantine",
    events.StopWritten: "stop_file",
    events.Derived: "helper",
    events.Verified: "helper",
    events.Published: "publish_pending",
}
_NO_VERDICT = ("disk_full", "io_error", "busy")


@dataclass(slots=True)
class Step:
    pair: Pair  # in which it failed: another one has other steps
    ticks: int = 0  # in which it could have been said, and was not


@dataclass(slots=True)
class Failing:
    """Attributes: steps (failing ones, by attempt and kind of alert); refused_us (of an attempt: the store's last refusal)."""

    steps: dict[tuple[str, str], Step] = field(default_factory=dict)
    refused_us: dict[str, int] = field(default_factory=dict)

    def note(self, event: Any, machines: Mapping[str, Machine], monotonic_us: int) -> None:
        if isinstance(event, events.Committed) and isinstance(event.answer, Refused):
            for m in machines.values():
                if m.pending == event.token:
                    self._refused(m.attempt, monotonic_us)
        kind, m = ALERTS.get(type(event)), machines.get(getattr(event, "attempt", None) or "")
        if kind is None or m is None:
            return
        if _failed(event):
            self.steps.setdefault((m.attempt, kind), Step(m.row.pair))
        else:
            self.steps.pop((m.attempt, kind), None)

    def _refused(self, attempt: str, monotonic_us: int) -> None:
        self.refused_us[attempt] = monotonic_us
        for (failing, _), step in self.steps.items():
            step.ticks = 0 if failing == attempt else step.ticks

    def tick(self, machines: Mapping[str, Machine], world: World, epoch: int) -> None:
        for (attempt, kind), step in list(self.steps.items()):
            m = machines.get(attempt)
            exited = m is not None and m.has(FactName.HOST_EXITED) and kind == "stop_file"
            if m is None or exited or m.row.pair != step.pair:
                del self.steps[attempt, kind]
                continue
            said = f"{kind}:{attempt}" in world.store.alerts or world.store.row(attempt).contact is Contact.CANNOT_TELL
            refused_us = world.clocks.monotonic_us - self.refused_us.get(attempt, -(STORE_RETRY_S + 1) * US)
            able = m.pending is None and refused_us > STORE_RETRY_S * US and epoch == world.store.epoch
            step.ticks = 0 if said else step.ticks + able


def _failed(event: Any) -> bool:
    if isinstance(event, events.Published):
        return event.failure in ("rename", "unsure")
    if isinstance(event, events.Derived | events.Verified):
        return event.crashed or (event.error is not None and event.code in _NO_VERDICT)
    return event.error is not None
