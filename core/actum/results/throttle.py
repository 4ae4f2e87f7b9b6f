"""A bound on how fast a background look reads: who is ahead of it sleeps. Counted where progress is told, block by block."""

from __future__ import annotations

import time
from collections.abc import Callable

from actum.results.digests import Progress


def throttled(
    progress: Progress,
    bytes_per_s: int,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Progress:
    """The same reports; after each it waits until no more than `bytes_per_s` were read since the first call was made."""
    began = clock()

    def report(done: int, total: int, unit: str) -> None:
        progress(done, total, unit)
        early = done / bytes_per_s - (clock() - began)
        if early > 0:
            sleep(early)

    return report
