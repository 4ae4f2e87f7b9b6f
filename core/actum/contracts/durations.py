"""Durations as people write them: `2h`, `10m`, `1h30m`, `90s`, `250ms`, `1d`; exact, never through a float."""

from __future__ import annotations

import re
from datetime import timedelta

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(d|h|min|ms|us|m|s)", re.ASCII)
_UNITS_US = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_DAYS_MAX = 36_500


def parse(text: str) -> timedelta:
    """The duration that `text` names; units in falling order, each at most once. Raises ValueError with a sentence."""
    total_us, position, smallest = 0, 0, 1 << 62
    stripped = text.strip()
    while position < len(stripped):
        part = _PART.match(stripped, position)
        unit_us = _UNITS_US[{"min": "m"}.get(part[2], part[2])] if part else 0
        if part is None or unit_us >= smallest:
            raise ValueError(_sentence(text))
        total_us += _exact_us(part[1], unit_us, text)
        smallest, position = unit_us, part.end()
        while stripped[position : position + 1] == " ":
            position += 1
    if not stripped or total_us > _DAYS_MAX * _UNITS_US["d"]:
        raise ValueError(_sentence(text))
    return timedelta(microseconds=total_us)


def _exact_us(number: str, unit_us: int, text: str) -> int:
    whole, _, fraction = number.partition(".")
    if len(number) > 30:
        raise ValueError(_sentence(text))
    scale = 10 ** len(fraction)
    scaled = int(whole + fraction) * unit_us
    if scaled % scale:
        raise ValueError(f"“{text}” is finer than a microsecond. Use a longer duration, for example 250ms.")
    return int(scaled // scale)


def _sentence(text: str) -> str:
    return f"“{text}” is not a duration. Write a number and a unit, for example 90s, 10m, 1h30m or 2d."


def text_of(duration: timedelta) -> str:
    """The shortest canonical text: `1h30m`, `90s` becomes `1m30s`, nothing at all is `0s`."""
    left = whole_us(duration)
    parts = []
    for unit, unit_us in _UNITS_US.items():
        count, left = divmod(left, unit_us)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def whole_us(duration: timedelta) -> int:
    """Microseconds, exactly."""
    return duration // timedelta(microseconds=1)


def seconds(duration: timedelta) -> int | float:
    """Seconds for launch files and clocks: a whole number where it is one."""
    us = whole_us(duration)
    return us // 1_000_000 if us % 1_000_000 == 0 else us / 1_000_000
