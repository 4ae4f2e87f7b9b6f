"""The spool read as frames would be, of every attempt that starts or computes without a channel (§7)."""

from __future__ import annotations

from collections.abc import Callable

from actum import clock
from actum.ipc import spool
from actum.limits import STATE_POLL_S
from actum.model.status import Phase, Status
from actum.supervise import events
from actum.supervise.machine import Machine

from actum_desktop.controller.instance import Instance


class SpoolReading:
    """Looks with the ticks of the controller, at most every STATE_POLL_S. `has_channel` says whom frames serve."""

    def __init__(self, instance: Instance, has_channel: Callable[[str], bool]) -> None:
        self._instance = instance
        self._has_channel = has_channel
        self._looked_s = 0.0

    def look(self, now: clock.Now) -> None:
        if now.monotonic_us / clock.US - self._looked_s < STATE_POLL_S:
            return
        self._looked_s = now.monotonic_us / clock.US
        for m in list(self._instance.supervisor.machines.values()):
            silent = not self._has_channel(m.attempt)
            if silent and m.row.pair.status is Status.RUNNING and m.row.pair.phase in (Phase.COMPUTING, Phase.SEALING):
                self._read_state(m)
            elif silent and m.row.pair.status is Status.STARTING and m.seen.sign is None:
                self._read_claim(m)

    def _read_claim(self, m: Machine) -> None:
        claim = spool.read_claim(self._instance.ws.attempt_folder(m.row.run, m.row.n))
        if isinstance(claim, dict) and claim.get("by") == "host":
            self._instance.tell(events.OutcomeFound(m.attempt))

    def _read_state(self, m: Machine) -> None:
        folder = self._instance.ws.attempt_folder(m.row.run, m.row.n)
        found = spool.read_state(folder)
        if isinstance(found, dict):
            self._instance.tell(events.StateRead(m.attempt, found))
        if m.seen.outcome is None and isinstance(spool.read_outcome(folder), dict):
            self._instance.tell(events.OutcomeFound(m.attempt))
