"""What is recorded of a host that nobody awaits: one of a closed attempt, and one of an attempt nobody knows (§6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actum import clock
from actum.model.changes import JournalEntry, Note, RaiseAlert


def late(hello: Mapping[str, Any]) -> Note:
    """A host of a closed attempt was told to end (§6 rows 2 and 8)."""
    data = {"attempt": hello["attempt"], "pid": (hello.get("identity") or {}).get("pid")}
    alert = RaiseAlert(f"late:{hello['attempt']}", "late_host", "warning", clock.utc_us(), data, hello["run"])
    entry = JournalEntry("late_host", clock.utc_us(), {"pid": data["pid"]})
    return Note((entry,), (alert,), hello["run"], hello["attempt"])


def unknown(hello: Mapping[str, Any]) -> Note:
    """A host of an attempt nobody knows got no answer, and is left to finish."""
    data = {"attempt": str(hello["attempt"])[:64], "pid": hello["identity"]["pid"]}
    return Note(alerts=(RaiseAlert(f"stranger:{data['attempt']}", "unknown_host", "warning", clock.utc_us(), data),))
