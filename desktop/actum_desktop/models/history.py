"""What was seen of the runs while the window was open: samples of progress and activity, bounded, for the two charts."""

from __future__ import annotations

from dataclasses import dataclass, field

from actum.limits import SAMPLED_RUNS_MAX, SAMPLES_PER_RUN_MAX

from actum_desktop.controller.events import Live


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
        return Sample(last.at, sample.fraction, last.cpu, sample.rss, sample.read, sample.written, sample.stage, sample.quiet)


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
            )
        )

    def samples(self, run: int) -> list[Sample]:
        track = self._tracks.get(run)
        return track.samples if track else []
