"""The constants and small words that the world's parts share with the real ports."""

from __future__ import annotations

from typing import Any

ACTIVITY = {"cpu_s": 1.0, "rss_bytes": 1, "peak_rss_bytes": 1, "read_bytes": 0, "written_bytes": 0}
DEADLINE_CAUSES = ("overall_deadline", "stage_deadline")


def outcome_digest(outcome: Any) -> str:
    """What tells one outcome of this world from another."""
    return f"{outcome['session']}-{outcome['kind']}-{outcome['at']}" if outcome else ""
