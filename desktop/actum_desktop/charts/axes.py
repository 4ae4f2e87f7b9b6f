"""The axes of plots: dates written as the cells write them, in every language; no half steps between whole numbers."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

_WRITTEN = {"%b": "%Y-%m", "%d": "%m-%d", "%a %d": "%m-%d"}
_PLAIN_BELOW = 1e12
_PLACES_MAX = 6
_WIDEST = {"YYYY": "0000-00", "MMM": "0000-00", "MMM 00": "00-00 00"}  # what room the widest of a level takes


def axis(pg: Any, side: str, *, time: bool = False, whole: bool = False) -> Any:
    """An axis for `side` (left, bottom): of moments in UTC, of whole numbers, or of any numbers."""
    if time:
        made = pg.DateAxisItem(orientation=side, utcOffset=0)
        made.zoomLevels = OrderedDict((density, _level(level)) for density, level in made.zoomLevels.items())
        made.zoomLevel = None  # chosen anew when it is drawn
        return made
    return _number_axis(pg, whole)(orientation=side)


def are_whole(values: Sequence[float]) -> bool:
    return all(float(value).is_integer() for value in values)


def _level(level: Any) -> Any:
    """A level of zoom whose days and months are numbers: names of months would be English in every language."""
    kind, spec = type(level), type(level.tickSpecs[0])
    specs = [spec(each.spacing, each.step, _WRITTEN.get(each.format, each.format), each.autoSkip) for each in level.tickSpecs]
    return kind(specs, _WIDEST.get(level.exampleText, level.exampleText))


def _number_axis(pg: Any, whole: bool) -> Any:
    class NumberAxis(pg.AxisItem):  # type: ignore[misc]  # its base is known once plots are wanted, and is not typed
        def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
            found: list[tuple[float, float]] = super().tickSpacing(low, high, size)
            if not whole:
                return found
            return [step for step in found if float(step[0]).is_integer()] or [(1.0, 0.0)]

        def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
            """Grouped, as cells are; a power of ten only where the digits would be too many to read."""
            places = max(0, math.ceil(-math.log10(spacing * scale))) if spacing > 0 else 0
            return [_written(value * scale, places) for value in values]

    return NumberAxis


def _written(value: float, places: int) -> str:
    told = f"{value:g}" if places > _PLACES_MAX or abs(value) >= _PLAIN_BELOW else f"{value:,.{places}f}"
    return told.replace("-", "−")
