"""What is known now of an open attempt, as the screens and the followers get it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from actum.clock import Now
from actum.supervise import deadlines
from actum.supervise.machine import Machine

from actum_desktop.controller.events import Live


def of(m: Machine, now: Now) -> Live:
    """A snapshot of the machine's live state."""
    stop = None
    if m.row.stop_requested_at_us is not None:
        stop = stop_stage(m, now)
    return Live(
        run=m.row.run,
        attempt=m.attempt,
        n=m.row.n,
        progress=m.live.get("progress"),
        heartbeat_at_us=m.live.get("heartbeat_at_us"),
        activity=m.live.get("activity") or {},
        cpu_percent=m.live.get("cpu_percent"),
        processes=m.live.get("processes"),
        active_s=deadlines.active_s(m, now),
        warnings=deadlines.warnings(m, now),
        stop=stop,
        step=m.live.get("step"),
    )


def stop_stage(m: Machine, now: Now) -> dict[str, Any]:
    """Where a stop stands: its stage, since when (UTC µs), and the seconds until the next one where that is known."""
    asked, insisted = m.stop_sent.get("ask"), m.stop_sent.get("insist")
    stage, since = "requested", None
    if insisted is not None:
        stage, since = "insisting", insisted
    elif asked is not None:
        stage, since = "asked", asked
    waited_s = 0.0 if since is None else (now.monotonic_us - since) / 1e6
    next_in_s = max(0.0, m.policies.grace_s - waited_s) if stage == "asked" else None
    return {"stage": stage, "at_us": now.utc_us - int(waited_s * 1e6), "next_in_s": next_in_s}


def to_json(live: Live | None) -> dict[str, Any] | None:
    return None if live is None else asdict(live)
