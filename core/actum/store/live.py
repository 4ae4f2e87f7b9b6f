"""What the spool says of an open attempt *now*: read defensively, merged into what is shown, never stored.

The files are written by the host, so every member is taken only where it has the expected type; what is absent or
unreadable simply shows nothing. Deadlines are counted in active time (§12), which the host reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actum.clock import US, rfc3339
from actum.contracts import durations
from actum.ipc import spool

_ACTIVITY = ("cpu_s", "rss_bytes", "peak_rss_bytes", "read_bytes", "written_bytes")


@dataclass(frozen=True, slots=True)
class LiveState:
    """The useful part of state.json, in the words of `show`. Times are RFC 3339; None = not known."""

    phase: str | None = None
    progress: Mapping[str, Any] | None = None
    stage: str | None = None
    stage_since_us: int | None = None
    heartbeat_at: str | None = None
    activity: Mapping[str, Any] = field(default_factory=dict)
    active_s: float | None = None
    processes: int | None = None


def read(folder: Path, session: str | None) -> LiveState:
    """The state of the attempt in `folder`; empty when there is none, or when it is of another session."""
    found = spool.read_state(folder)
    if not isinstance(found, dict) or (session is not None and found.get("session") != session):
        return LiveState()
    stage = found.get("stage")
    stage = stage if isinstance(stage, dict) else {}
    phase = found.get("phase")
    return LiveState(
        phase=phase if isinstance(phase, str) else None,
        progress=progress(found.get("progress")),
        stage=_text(stage.get("name")),
        stage_since_us=_whole(stage.get("at")),
        heartbeat_at=time_text(_whole(found.get("heartbeat_at"))),
        activity=activity(found.get("activity")),
        active_s=_number(found.get("active_s")),
        processes=_whole(found.get("processes")),
    )


def progress(document: object) -> dict[str, Any] | None:
    """{done, total, unit, stage, message, at} of a progress document; None when it is none."""
    if not isinstance(document, Mapping):
        return None
    at = document.get("at")
    return {
        "done": _number(document.get("done")),
        "total": _number(document.get("total")),
        "unit": _text(document.get("unit")),
        "stage": _text(document.get("stage")),
        "message": _text(document.get("message")),
        "at": time_text(_whole(at)) if not isinstance(at, str) else at,
    }


def activity(document: object) -> dict[str, Any]:
    """{cpu_s, rss_bytes, peak_rss_bytes, read_bytes, written_bytes}, each a number or None."""
    found = document if isinstance(document, Mapping) else {}
    return {name: _number(found.get(name)) for name in _ACTIVITY}


def deadlines(contract: Mapping[str, Any], live: LiveState, launched_at_us: int | None, now_us: int) -> dict[str, Any]:
    """Each deadline the task declares: {limit_s, remaining_s}; remaining_s is None while it does not count."""
    policies = contract.get("policies")
    policies = policies if isinstance(policies, Mapping) else {}
    stages = policies.get("stage_deadlines")
    stages = stages if isinstance(stages, Mapping) else {}
    starting = launched_at_us is not None and live.active_s is None
    return {
        "start": _deadline(policies.get("start_deadline"), _since(launched_at_us, now_us) if starting else None),
        "stages": {
            str(name): _deadline(text, _since(live.stage_since_us, now_us) if live.stage == name else None)
            for name, text in stages.items()
        },
        "overall": _deadline(policies.get("deadline"), live.active_s),
    }


def time_text(us: int | None) -> str | None:
    return None if us is None else rfc3339(us)


def _deadline(text: object, used_s: float | None) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        limit_s = durations.parse(text).total_seconds()
    except ValueError:
        return None
    return {"limit_s": limit_s, "remaining_s": None if used_s is None else max(0.0, limit_s - used_s)}


def _since(us: int | None, now_us: int) -> float | None:
    return None if us is None else max(0.0, (now_us - us) / US)


def _number(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
