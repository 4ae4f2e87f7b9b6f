"""Which rows of a table an export may be of besides all: those that are shown, and those selected among them. Plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from actum.results.query import Query

Extent = tuple[Mapping[str, Any], int]  # the question (JSON), and how many rows its answer has


def filtered(shown: Query, total: int) -> Extent | None:
    """The rows that are shown; None where they are the table as published."""
    return None if shown.whole else (shown.to_json(), total)


def selected(shown: Query, total: int, ranges: Sequence[tuple[int, int]]) -> Extent | None:
    """The rows selected among those shown, by (first, last) of each run from 0; None where that is one row at most, which is
    the current one and need not have been chosen, or every row."""
    count = sum(last - first + 1 for first, last in ranges)
    return (replace(shown, rows=tuple(ranges)).to_json(), count) if 1 < count < total else None
