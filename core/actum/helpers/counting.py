"""Turns block lengths into progress reports."""

from __future__ import annotations

from collections.abc import Callable

from actum.results.digests import Progress


def counter(progress: Progress, total: int, unit: str = "bytes") -> Callable[[int], None]:
    """A function to be told of each block; it reports the sum, never more than `total`."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(min(done, total), total, unit)

    return advance
