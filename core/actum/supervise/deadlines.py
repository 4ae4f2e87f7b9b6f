"""Warnings in words and deadlines while the host is silent (R08, §12).

Warnings are observations: no progress, no CPU, lost contact. They go away by themselves and change no status. The host
enforces deadlines; the supervisor does so only when the host has been silent past the grace, and only after it has looked
for an outcome (P19). Active time is the host's own count plus the monotonic time since it last spoke, so sleep never counts.
Nor does time in which this program itself was not there to listen (halted, swapped out, a machine that stood still): what the
hosts said meanwhile is yet to be read. So an old state file tells how long a host is silent, and still this instance listens
as long as ever before it ends anything for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actum.clock import US, Now
from actum.limits import HOST_SILENT_S, TICK_LATE_S
from actum.model.status import FailureCode, Phase, Status
from actum.supervise.machine import Machine

IDLE_CPU_PERCENT = 1.0


def slept(slept_us: int, now: Now) -> dict[str, int]:
    """What the journal says of a sleep that has just ended: how long, and from when to when by the clock on the wall."""
    return {"slept_us": slept_us, "from_us": now.utc_us - slept_us, "to_us": now.utc_us}


def active_s(m: Machine, now: Now) -> float:
    """Active seconds of the work as far as known, in this instant: the host's own count, and the silence since."""
    if "heard_us" not in m.live and m.row.pair.phase is not Phase.COMPUTING:
        return 0.0
    return float(m.live.get("active_s", 0.0)) + silent_s(m, now)


def silent_s(m: Machine, now: Now) -> float:
    """Seconds of silence since the host last spoke, by frame or state file; since this step began where it never did."""
    return max(0, now.monotonic_us - int(m.live.get("heard_us", m.step_started_us)) - _deaf(m)[1]) / US


def listened_s(m: Machine, now: Now) -> float:
    """Seconds this instance has listened in vain since it last took notice of the host."""
    since_us, deaf_us = _deaf(m)
    return max(0, now.monotonic_us - since_us - deaf_us) / US


def overdue(m: Machine, now: Now) -> tuple[str | None, bool]:
    """The deadline due now, kept for the look that has to confirm it, and whether it has just become due."""
    due, before = deadline_due(m, now), m.live.get("deadline_due")
    m.live["deadline_due"] = due
    return due, due is not None and due != before


def not_listened(m: Machine, missed_us: int) -> None:
    """So long nobody was there to hear this host."""
    since_us, deaf_us = _deaf(m)
    m.live["deaf"] = (since_us, deaf_us + missed_us)


def _deaf(m: Machine) -> tuple[int, int]:
    """Since when this instance listens in vain (monotonic µs), and how much of that nobody listened."""
    since_us = int(m.live.get("noticed_us", m.step_started_us))
    counted_since_us, deaf_us = m.live.get("deaf", (since_us, 0))
    return since_us, deaf_us if counted_since_us == since_us else 0


@dataclass(slots=True)
class Ticks:
    """The ticks of this instance, which say whether it was there. Attributes: last_us (monotonic; at first its opening)."""

    last_us: int

    def missed_us(self, now: Now) -> int:
        """How much longer ago the last tick was than a tick can be late."""
        last_us, self.last_us = self.last_us, now.monotonic_us
        return max(0, now.monotonic_us - last_us - int(TICK_LATE_S * US))


def warnings(m: Machine, now: Now) -> tuple[Mapping[str, Any], ...]:
    """What is worth saying now: {code, since_us (UTC), data}."""
    if m.row.pair.status is not Status.RUNNING or m.row.pair.phase is not Phase.COMPUTING:
        return ()
    found: list[Mapping[str, Any]] = []
    silent = silent_s(m, now)
    if m.held is not None:
        found.append(_warning("cannot_tell", now, 0.0, waiting_for=m.held))
    elif silent > HOST_SILENT_S:
        found.append(_warning("lost_contact", now, silent))
    last = m.live.get("last_progress_active_s")
    idle_s = active_s(m, now) - float(last or 0.0)
    if idle_s > m.policies.stall_after_s:
        cpu = m.live.get("cpu_percent")
        data = {"cpu_percent": cpu, "heartbeat_age_s": silent, "ever": last is not None}
        found.append(_warning("no_progress", now, idle_s, **data))
        if cpu is not None and cpu < IDLE_CPU_PERCENT and silent <= HOST_SILENT_S:
            found.append(_warning("no_cpu", now, idle_s, **data))
    return tuple(found)


def deadline_due(m: Machine, now: Now) -> str | None:
    """The failure code of a deadline that has passed while the host is silent past the grace, or None."""
    if m.row.pair not in ((Status.RUNNING, Phase.COMPUTING),) or m.seen.ended is not None:
        return None
    if min(silent_s(m, now), listened_s(m, now)) <= HOST_SILENT_S + m.policies.grace_s:
        return None
    overall = m.policies.deadline_s
    active = active_s(m, now)
    if "active_s" not in m.live and not m.restored:  # it counts from its claim, which may be this much younger than contact
        active -= m.policies.start_deadline_s
    if overall is not None and active > overall + m.policies.grace_s:
        return FailureCode.OVERALL_DEADLINE.value
    stage = m.live.get("stage") or {}
    limit = m.policies.stage_deadlines_s.get(str(stage.get("name")))
    if limit is not None and active - float(stage.get("active_s") or 0.0) > limit + m.policies.grace_s:
        return FailureCode.STAGE_DEADLINE.value
    return None


def _warning(code: str, now: Now, for_s: float, **data: Any) -> Mapping[str, Any]:
    return {"code": code, "since_us": now.utc_us - int(for_s * US), "data": {"for_s": for_s, **data}}
