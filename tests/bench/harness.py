"""Measures ours and a bare reference alternately in one run, and reports medians and the median of the ratios.

Absolute figures drift with the machine and its neighbours; a ratio of two things measured within the same second drifts
much less. A bench module offers `prepare(folder)`, a context manager that yields its `Comparison`s. Nothing is asserted:
`python -m tests.bench` is a command, not a test.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row. Each call of `ours` and `reference` returns one measurement in `unit`; `reach` is a sentence."""

    what: str
    unit: str
    ours: Callable[[], float]
    reference: Callable[[], float]
    against: str
    reach: str
    met: Callable[[float, float], bool]  # (median of ours, median ratio) → is it reached?
    rounds: int = 7
    warm_up: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    unit: str
    ours: float
    reference: float
    ratio: float
    spread: float  # largest measurement of ours divided by the smallest
    against: str
    reach: str
    met: bool

    def to_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


def compare(comparison: Comparison, rounds: int | None = None) -> Row:
    """Reference, ours, reference, ours …; the first pair warms up and does not count, where `warm_up`."""
    if comparison.warm_up:
        comparison.reference()
        comparison.ours()
    pairs = [(comparison.reference(), comparison.ours()) for _ in range(rounds or comparison.rounds)]
    ours = statistics.median(o for _, o in pairs)
    ratios = [o / r for r, o in pairs if r]
    ratio = statistics.median(ratios) if ratios else math.nan  # the reference cost nothing that can be measured
    smallest = min(o for _, o in pairs)
    return Row(
        comparison.what,
        comparison.unit,
        ours,
        statistics.median(r for r, _ in pairs),
        ratio,
        max(o for _, o in pairs) / smallest if smallest else 1.0,
        comparison.against,
        comparison.reach,
        comparison.met(ours, ratio),
    )


def seconds(function: Callable[[], object], times: int = 1) -> float:
    """Seconds for one call, averaged over `times` calls."""
    began = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - began) / times


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines of a Markdown table."""
    yield "| what | ours | bare reference | ratio | spread | to reach | reached |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.what} | {figure(row.ours)} {row.unit} | {row.against}: {figure(row.reference)} {row.unit} "
            f"| {row.ratio:.2f} | {row.spread:.1f} | {row.reach} | {'yes' if row.met else 'NO'} |"
        )


def figure(value: float) -> str:
    """Three significant digits, thousands with commas."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
