"""Round numbers along an axis, and how they are written."""

from __future__ import annotations

from datetime import UTC, datetime

from actum_desktop.models import celltext

_DAY_S = 86_400


def levels(low: float, high: float, most: int = 3) -> list[float]:
    """Round levels between the ends, about `most` of them."""
    if high <= low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** int(f"{raw:e}".partition("e")[2])
    step = next((power * part for part in (1, 2, 2.5, 5, 10) if power * part >= raw * 0.999), power * 10)
    first = -(-low // step) * step
    return [first + place * step for place in range(2 * most) if first + place * step <= high * (1 + 1e-12 if high > 0 else 1)]


def text(value: float, *, timed: bool) -> str:
    """A number to seven digits; a time (seconds since 1970, UTC) as a date, with the time of day where it has one."""
    if not timed:
        return celltext.measure(value)
    try:
        moment = datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError):  # before the year 1 or after 9999
        return celltext.measure(value)
    return f"{moment:%Y-%m-%d}" if value % _DAY_S == 0 else f"{moment:%Y-%m-%d %H:%M}"
