"""Progress that programs print for people: `n%`, `k/n` and tqdm's lines.

Only what looks like nothing else counts: 3/10 does, 2024/01/05, 3/0 and a/b do not. A line redrawn with carriage returns
is its last drawing. Work that sends progress messages is believed by those alone.
"""

from __future__ import annotations

import re

from actum import limits

_OF = re.compile(rb"(?<![\w/.,:-])(\d{1,12})\s?/\s?(\d{1,12})(?![\w/]|[.,:]\d)")
_PERCENT = re.compile(rb"(?<![\w.,/-])(\d{1,3}(?:\.\d{1,6})?)\s?%")


def find(data: bytes) -> tuple[float, float, str] | None:
    """(done, total, unit) of the last line in `data` that shows progress; unit is "%" or ""."""
    lines = data[-limits.LOG_LINE_BYTES_MAX :].replace(b"\r", b"\n").split(b"\n")
    for line in reversed(lines[-limits.PROGRESS_LINES_PER_READ_MAX :]):
        if 0 < len(line) <= limits.PROGRESS_LINE_CHARS_MAX and (found := _in_line(line)):
            return found
    return None


def _in_line(line: bytes) -> tuple[float, float, str] | None:
    for match in reversed(list(_OF.finditer(line))):
        done, total = int(match[1]), int(match[2])
        if total > 0 and done <= total:
            return done, total, ""
    percent = _PERCENT.search(line)
    if percent and float(percent[1]) <= 100:
        return float(percent[1]), 100, "%"
    return None
