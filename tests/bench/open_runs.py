"""What one event costs the supervisor while 1,000 runs are open, against the same event with one run open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.limits import TICK_MS
from actum.supervise import events

from tests.bench.harness import Comparison
from tests.helpers.supervised import Bench

OPEN, COMPUTING = 1_000, 200
EVENTS, TICKS = 2_000, 20


def opened(runs: int, computing: int) -> Bench:
    """A supervisor with so many open runs, of which the first ones compute and the others wait for a slot."""
    bench = Bench(slots=computing)
    for _ in range(runs):
        bench.admit()
    for run in range(1, computing + 1):
        bench.to_computing(run)
    bench.done.clear()
    return bench


def heard(bench: Bench) -> float:
    """Microseconds of one heartbeat of run 1."""
    frame = {"activity": {}, "active_s": 1.0, "processes": 1, "last_progress_active_s": 0.0}
    attempt, now = bench.row(1).attempt, bench.now()
    event = events.Frame(attempt, bench.machine(1).seen.channel or "", "heartbeat", frame)
    began = time.perf_counter()
    for _ in range(EVENTS):
        bench.supervisor.handle(event, now)
    return (time.perf_counter() - began) / EVENTS * 1e6


def ticked(bench: Bench) -> float:
    """Milliseconds of one tick in which nothing is due."""
    began = time.perf_counter()
    for _ in range(TICKS):
        bench.supervisor.handle(events.Tick(), bench.now())
    return (time.perf_counter() - began) / TICKS * 1e3


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    many, few = opened(OPEN, COMPUTING), opened(1, 1)
    yield [
        Comparison(
            f"a heartbeat with {OPEN:,} open runs",
            "µs",
            lambda: heard(many),
            lambda: heard(few),
            "the same with one open run",
            "≤ 2 × as long",
            lambda ours, ratio: ratio <= 2.0,
        ),
        Comparison(
            f"a tick with {OPEN:,} open runs, {COMPUTING} of them computing",
            "ms",
            lambda: ticked(many),
            lambda: ticked(few),
            "the same with one open run",
            "≤ a tenth of the time between two ticks",
            lambda ours, ratio: ours <= TICK_MS / 10,
        ),
    ]
