"""Samples of progress and activity for the two charts: what the host kept, and what this window saw since, bounded.

The host's file (ipc/historyfile.py) outlives every window but has a line each five seconds at best; what the window sees is
finer. `joined` puts the second after the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from actum.limits import SAMPLED_RUNS_MAX, SAMPLES_PER_RUN_MAX

from actum_desktop import measures
from actum_desktop.controller.events import Live
from actum_desktop.i18n import _


@dataclass(frozen=True, slots=True)
class Sample:
    """`at` in UTC µs; the rest None = not known then."""

    at: int
    fraction: float | None
    cpu: float | None
    rss: float | None
    read: float | None
    written: float | None
    stage: str
    quiet: bool  # a warning of no progress stood at that time
    active_s: float | None = None  # active time of the work then: stands still while the machine sleeps


@dataclass(slots=True)
class Track:
    samples: list[Sample] = field(default_factory=list)
    every_us: int = 500_000

    def add(self, sample: Sample) -> None:
        if self.samples and sample.at - self.samples[-1].at < self.every_us:
            self.samples[-1] = sample if len(self.samples) == 1 else self._kept(sample)
            return
        self.samples.append(sample)
        if len(self.samples) > SAMPLES_PER_RUN_MAX:
            self.samples = self.samples[::2]
            self.every_us *= 2

    def _kept(self, sample: Sample) -> Sample:
        """The newest values at the time of the last kept sample, so that spacing stays even."""
        last = self.samples[-1]
        return replace(sample, at=last.at, cpu=last.cpu)


class History:
    """Tracks by run number."""

    def __init__(self) -> None:
        self._tracks: dict[int, Track] = {}

    def add(self, live: Live, now: int) -> None:
        track = self._tracks.get(live.run)
        if track is None:
            if len(self._tracks) >= SAMPLED_RUNS_MAX:
                del self._tracks[next(iter(self._tracks))]
            track = self._tracks[live.run] = Track()
        progress = live.progress or {}
        done, total = progress.get("done"), progress.get("total")
        fraction = (
            min(1.0, done / total) if isinstance(done, int | float) and isinstance(total, int | float) and total else None
        )
        activity = live.activity
        track.add(
            Sample(
                now,
                fraction,
                live.cpu_percent,
                activity.get("rss_bytes") or None,  # 0 = nobody measured yet
                activity.get("read_bytes"),
                activity.get("written_bytes"),
                str(progress.get("stage") or ""),
                any(warning.get("code") == "no_progress" for warning in live.warnings),
                live.active_s or None,
            )
        )

    def samples(self, run: int) -> list[Sample]:
        track = self._tracks.get(run)
        return track.samples if track else []


def estimate(samples: Sequence[Sample]) -> str:
    """`~ 18 min left`, from the pace of what was seen; nothing before there is a pace."""
    known = [sample for sample in samples if sample.fraction is not None]
    if len(known) < 3:
        return ""
    first, last = known[0], known[-1]
    gained = (last.fraction or 0) - (first.fraction or 0)
    took = _passed_s(first, last)
    if gained <= 0 or took < 3:
        return ""
    left = (1 - (last.fraction or 0)) * took / gained
    return _("~ {time} left").format(time=measures.duration(left))


def _passed_s(first: Sample, last: Sample) -> float:
    """Active time where it is known: neither sleep nor a clock that was set is a pace."""
    if first.active_s is not None and last.active_s is not None:
        return last.active_s - first.active_s
    return (last.at - first.at) / 1e6


def from_lines(lines: Sequence[Mapping[str, Any]], stall_after_s: float | None) -> list[Sample]:
    """The host's lines as samples. CPU is what was used since the line before, in percent of one core."""
    found: list[Sample] = []
    before: Mapping[str, Any] | None = None
    for line in lines:
        done, total, active = line["done"], line["total"], line["active_s"]
        idle_s = None if active is None else active - (line["progress_s"] or 0.0)
        quiet = stall_after_s is not None and idle_s is not None and idle_s > stall_after_s
        found.append(
            Sample(
                line["at"],
                min(1.0, max(0.0, done / total)) if done is not None and total else None,
                _cpu(before, line),
                line["rss_bytes"] or None,
                line["read_bytes"],
                line["written_bytes"],
                line["stage"],
                quiet,
                active,
            )
        )
        before = line
    return found


def _cpu(before: Mapping[str, Any] | None, line: Mapping[str, Any]) -> float | None:
    if before is None or None in (before["cpu_s"], before["active_s"], line["cpu_s"], line["active_s"]):
        return None
    seconds = line["active_s"] - before["active_s"]
    return 100.0 * max(0.0, line["cpu_s"] - before["cpu_s"]) / seconds if seconds > 0.2 else None


def joined(kept: Sequence[Sample], seen: Sequence[Sample]) -> Sequence[Sample]:
    """What the host kept, then what the window saw after that began."""
    if not seen or not kept:
        return seen or kept
    return [*(sample for sample in kept if sample.at < seen[0].at), *seen]


@dataclass(frozen=True, slots=True)
class Usage:
    """What an attempt used over its whole time; None = not known."""

    cpu_percent: float | None = None
    peak_rss_bytes: float | None = None


def usage(lines: Sequence[Mapping[str, Any]]) -> Usage:
    """From the last line, which counts on over all that went before."""
    if not lines:
        return Usage()
    last = lines[-1]
    cpu_s, active_s = last["cpu_s"], last["active_s"]
    percent = 100.0 * cpu_s / active_s if cpu_s is not None and active_s and active_s >= 0.5 else None
    return Usage(percent, last["peak_rss_bytes"] or None)
