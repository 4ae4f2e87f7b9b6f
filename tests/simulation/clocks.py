"""The clocks of the simulated machine: wall, monotonic and boot time; each can jump or stand still, as real ones do."""

from __future__ import annotations

from dataclasses import dataclass

from actum.clock import US, Now


@dataclass(slots=True)
class Clocks:
    """Attributes: the three clocks in µs; lapsed_us and active_us are the truth, with and without sleep, across boots.

    The wall clock jumps when somebody sets it and stands still when it is slewed hard; the monotonic clock stands still
    while the machine sleeps, leaps for whoever was not scheduled, and begins anew at a boot.
    """

    utc_us: int = 1_800_000_000 * US
    monotonic_us: int = 1_000 * US
    boottime_us: int = 1_000 * US
    lapsed_us: int = 0
    active_us: int = 0
    wall_stands: bool = False

    def now(self) -> Now:
        return Now(self.utc_us, self.monotonic_us, self.boottime_us)

    def run(self, us: int) -> None:
        """Time passes while the machine is awake."""
        self.monotonic_us += us
        self.boottime_us += us
        self.active_us += us
        self.lapsed_us += us
        if not self.wall_stands:
            self.utc_us += us

    def sleep(self, us: int) -> None:
        """The machine is suspended: only boot time and the wall go on."""
        self.boottime_us += us
        self.lapsed_us += us
        self.utc_us += us

    def set_wall(self, by_us: int) -> None:
        self.utc_us = max(US, self.utc_us + by_us)

    def boot(self) -> None:
        self.monotonic_us = self.boottime_us = 5 * US
        self.lapsed_us += 30 * US
        self.utc_us += 30 * US
