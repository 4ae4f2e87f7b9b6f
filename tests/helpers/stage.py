"""A window on prepared data, for drawing its states and measuring its texts: a source of invented runs, nothing behind it.

Only for pictures and extents. What the window does is tested with the real controller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from actum import settings
from actum_desktop.controller.events import Awake, Live, Supervising, Verdict
from actum_desktop.models.history import Sample
from actum_desktop.models.source import AlertItem, Counts, RunItem

from tests.helpers import showdocs
from tests.helpers.showdocs import MINUTE, NOW

_RELEASED = ("admitted", "inputs_frozen", "launched", "contact_made", "host_exited", "tree_gone", "released")
_SEALED = ("admitted", "inputs_frozen", "launched", "contact_made", "computation_ended", "sealed", "host_exited")


def _run(number: int, title: str, status: str, phase: str, minutes_ago: float, **changes: Any) -> RunItem:
    started = NOW - int(minutes_ago * MINUTE)
    open_run = status in ("CREATED", "STARTING", "RUNNING", "STOPPING")
    item = RunItem(
        number,
        title.lower().replace(" ", "-"),
        title,
        "manual",
        status,
        phase,
        phase in ("CLOSED", "VERIFYING", "PUBLISHING"),
        "ok",
        1,
        created_us=started,
        started_us=started,
        finished_us=None if open_run else started + int(min(minutes_ago, 31) * MINUTE),
        activity={"cpu_s": 1_637.0 + number, "active_s": 1_860.0, "peak_rss_bytes": 610_000_000 + number * 1_000_000},
    )
    return replace(item, **changes)


def runs() -> list[RunItem]:
    progress = {"done": 18, "total": 30, "unit": "", "stage": "fold", "message": ""}
    return [
        _run(217, "Train churn model", "RUNNING", "COMPUTING", 225, progress=progress),
        _run(216, "Sync users table", "RUNNING", "COMPUTING", 27, trigger="schedule"),
        _run(215, "Export March reports", "RUNNING", "VERIFYING", 29),
        _run(214, "Clean call records", "STOPPING", "CLEANING_UP", 16, trigger="command", stop_us=NOW - 4_000_000),
        _run(213, "Return and risk", "CREATED", "QUEUED", 3, started_us=None),
        _run(
            212, "Profile orders table", "RUNNING", "CLEANING_UP", 687, trigger="schedule", contact="cannot_tell", facts=_SEALED
        ),
        _run(211, "Return and risk", "SUCCEEDED", "CLOSED", 47),
        _run(210, "Convert invoices", "FAILED", "CLOSED", 95, failure="result_rejected", n=3, facts=tuple(showdocs.first(9))),
        _run(209, "Sync users table", "SUCCEEDED", "CLOSED", 87, trigger="schedule"),
        _run(208, "Train churn model", "STOPPED", "CLOSED", 237, facts=_RELEASED),
        _run(207, "Quarterly forecast", "TIMEOUT", "CLOSED", 447, failure="overall_deadline", facts=_RELEASED),
        _run(206, "Batch export", "SUCCEEDED", "CLOSED", 493, trigger="api"),
    ]


def lives() -> tuple[Live, ...]:
    beat = NOW - 2_000_000
    stall = {"code": "no_progress", "since_us": NOW - 42 * MINUTE, "data": {"read_bytes_s": 0, "written_bytes_s": 0}}

    def activity(rss: int) -> dict[str, Any]:
        return {"cpu_s": 100.0, "rss_bytes": rss, "read_bytes": 0, "written_bytes": 0}

    fold = {"done": 18, "total": 30, "unit": "", "stage": "fit folds", "message": ""}
    shard = {"done": 11, "total": 32, "unit": "", "stage": "shard", "message": ""}
    clean = {"done": 12, "total": 100, "unit": "", "stage": "", "message": ""}
    step = {"verb": "verify", "done": 9, "total": 14, "unit": "files"}
    stop = {"stage": "asked", "at_us": NOW - 4_000_000, "next_in_s": 6.0}
    return (
        Live(217, "a-1", 1, fold, beat, activity(3_900_000_000), 0.0, 7, 13_500.0, (stall,)),
        Live(216, "a-2", 1, shard, beat + 1_000_000, activity(640_000_000), 112.0, 3, 1_600.0),
        Live(215, "a-3", 1, None, None, {}, None, None, 0.0, (), None, step),
        Live(214, "a-4", 1, clean, beat, activity(1_200_000_000), 98.0, 7, 960.0, (), stop),
    )


def samples(*, quiet: bool = True) -> list[Sample]:
    """Four hours of an invented run: load, then folds, then 42 minutes of nothing."""
    found = []
    for index in range(226):
        at = NOW - (225 - index) * MINUTE
        still = quiet and index > 183
        fraction = min(0.61, 0.08 + 0.55 * (index / 183) ** 0.8)
        cpu = 0.0 if still else (30 if index < 30 else 88) + 9 * math.sin(index * 1.7) + 5 * math.sin(index * 5.1)
        rss = 1.0e9 + 2.9e9 * min(1.0, index / 90)
        found.append(Sample(at, fraction, cpu, rss, 0, 0, "load" if index < 30 else "fit folds", still))
    return found


class PreparedSource:
    """Implements `source.Source` over a list."""

    def __init__(self, items: Sequence[RunItem], alerts: Sequence[AlertItem] = ()) -> None:
        self._items, self._alerts = list(items), list(alerts)

    def runs_page(self, before: int | None, limit: int, statuses: Sequence[str], text: str) -> list[RunItem]:
        found = [item for item in self._items if item.status in statuses and (before is None or item.number < before)]
        return [item for item in found if text.lower() in item.title.lower()][:limit]

    def runs(self, numbers: Iterable[int]) -> list[RunItem]:
        wanted = set(numbers)
        return [item for item in self._items if item.number in wanted]

    def fact_names(self, run: int) -> tuple[str, ...]:
        return next((item.facts or () for item in self._items if item.number == run), ())

    def counts(self) -> Counts:
        total = 1_000_412 if self._items else 0
        return Counts(total, sum(item.open for item in self._items), sum(item.phase == "QUEUED" for item in self._items))

    def alerts(self) -> list[AlertItem]:
        return list(self._alerts)

    def setting(self, name: str) -> Any:
        return None

    def settings(self) -> Mapping[str, Any]:
        return settings.merged({"slots": 4})

    def close(self) -> None:
        self._items = []


def alerts() -> list[AlertItem]:
    held: Mapping[str, Any] = {"waiting_for": "tree", "pids": [51877], "reason": "EACCES reading /proc/51877/environ"}
    refused: Mapping[str, Any] = {"message": "content: row 88,214 of table invoices differs", "kept": "quarantine/210-3"}
    return [
        AlertItem("cannot_tell:1", "cannot_tell", "warning", NOW - 265 * MINUTE, 212, "Profile orders table", held),
        AlertItem("rejected:2", "result_rejected", "bad", NOW - 95 * MINUTE, 210, "Convert invoices", refused),
    ]


def supervising(*, verdicts: bool = False, paused: bool = False) -> Supervising:
    rows: tuple[Verdict, ...] = ()
    if verdicts:
        clear = {"host": "gone", "outcome": "sealed", "tree": "clear"}
        rows = (
            Verdict(217, "a-1", 1, 11, "adopt", "adopt", {"host": "alive", "pid": 48213, "outcome": "none"}),
            Verdict(215, "a-3", 1, 21, "sealed_clear", "sealed_clear", clear),
            Verdict(210, "a-2", 3, 18, "host_lost", "host_lost", {"host": "gone", "outcome": "none", "tree": "clear"}),
            Verdict(
                212,
                "a-6",
                1,
                19,
                "cannot_tell",
                "hold",
                {"host": "gone", "outcome": "sealed", "tree": "unknown", "why": {"tree": "Permission denied reading 51877."}},
            ),
        )
    return Supervising("f00d", 7, 4, 4, paused, rows, True, awake=Awake(by="org.gnome.SessionManager"))


class Answerless:
    """A bridge that only counts: nothing is behind the pictures."""

    def __init__(self) -> None:
        self.bodies: list[Mapping[str, Any]] = []

    def command(self, body: Mapping[str, Any]) -> int:
        self.bodies.append(body)
        return len(self.bodies)


class Unread:
    """A reader of runs that is never asked: the pictures hand the document over themselves."""

    def ask(self, run: int, n: int = 0) -> None:
        self.last = run
