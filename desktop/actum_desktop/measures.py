"""Durations, sizes, counts and times in the user's words (UI.md §7): two units at most, a space before each unit."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from actum_desktop.i18n import _, chinese, pgettext

DASH = "–"
_DECIMAL = 1000.0
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SIZES = ("B", "KB", "MB", "GB", "TB", "PB")


def micros(value: Any) -> int | None:
    """UTC microseconds of what a document holds: RFC 3339 text, microseconds, or None."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def now_us() -> int:
    return time.time_ns() // 1000


def duration(seconds: float | None, *, narrow: bool = False) -> str:
    """`3 h 45 min`, `4 min 12 s`, `2 s`, `0.4 s`; the dash where there is none. `narrow` = the short Chinese forms."""
    if seconds is None:
        return DASH
    value = max(0.0, float(seconds))
    if 0 < value < 0.95:
        return _("{n} s").format(n=f"{max(value, 0.1):.1f}")
    whole = round(value)
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, left = divmod(rest, 60)
    hour_words = pgettext("narrow", "{n} h") if narrow else _("{n} h")
    if days:
        parts = [_("{n} d").format(n=days), hour_words.format(n=hours) if hours else ""]
    elif hours:
        parts = [hour_words.format(n=hours), _("{n} min").format(n=minutes) if minutes else ""]
    elif minutes:
        parts = [_("{n} min").format(n=minutes), _("{n} s").format(n=left) if left and minutes < 10 else ""]
    else:
        parts = [_("{n} s").format(n=left)]
    return " ".join(part for part in parts if part)


def age(at: Any, now: int | None = None, *, narrow: bool = False) -> str:
    """How long ago `at` was, as a duration (never negative)."""
    moment = micros(at)
    if moment is None:
        return DASH
    return duration(max(0, int(((now_us() if now is None else now) - moment) / 1e6)), narrow=narrow)


def size(count: float | None) -> str:
    """`84.2 MB`, `640 MB`, `3.9 GB` (powers of 1000); the dash where there is none."""
    if count is None:
        return DASH
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_SIZES) - 1:
        value, unit = value / _DECIMAL, unit + 1
    digits = 0 if unit == 0 or value >= 99.95 else 1
    return f"{value:.{digits}f} {_SIZES[unit]}"


def count(number: float | None) -> str:
    """`1,204,331`; the dash where there is none."""
    if number is None:
        return DASH
    if isinstance(number, float) and not number.is_integer():
        return f"{number:,.1f}".replace("-", "−")
    return f"{int(number):,}".replace("-", "−")


def percent(fraction: float | None) -> str:
    """`61 %`; under 100 % for any fraction that is not quite one (R10)."""
    if fraction is None:
        return DASH
    shown = int(max(0.0, min(1.0, fraction)) * 100 + 1e-9)
    return f"{shown} %"


def cpu(value: float | None) -> str:
    return DASH if value is None else f"{round(value)} %"


def _local(at: Any) -> datetime | None:
    moment = micros(at)
    return None if moment is None else datetime.fromtimestamp(moment / 1e6).astimezone()


def clock(at: Any) -> str:
    """`09:41:02`, local."""
    moment = _local(at)
    return DASH if moment is None else f"{moment:%H:%M:%S}"


def short_clock(at: Any) -> str:
    """`09:41`, local."""
    moment = _local(at)
    return DASH if moment is None else f"{moment:%H:%M}"


def fraction(at: Any) -> str:
    """`.118`: the thousandths that stand below the time in the ledger."""
    moment = micros(at)
    return "" if moment is None else f".{moment % 1_000_000 // 1000:03d}"


def is_today(at: Any, now: int | None = None) -> bool:
    moment = _local(at)
    return moment is not None and moment.date() == datetime.fromtimestamp((now or now_us()) / 1e6).date()


def day(at: Any, now: int | None = None) -> str:
    """`today`, `yesterday`, `30 March`, with the year where it is another one."""
    moment = _local(at)
    if moment is None:
        return DASH
    today = datetime.fromtimestamp((now or now_us()) / 1e6).date()
    if moment.date() == today:
        return _("today")
    if moment.date() == today - timedelta(days=1):
        return _("yesterday")
    if chinese():
        return f"{moment.month} 月 {moment.day} 日" if moment.year == today.year else f"{moment:%Y-%m-%d}"
    return f"{moment.day} {_month(moment.month)}" + ("" if moment.year == today.year else f" {moment.year}")


def short_day(at: Any) -> str:
    """`31 Mar`: under the time in the ledger when it is not today."""
    moment = _local(at)
    if moment is None:
        return ""
    return f"{moment.month}-{moment.day:02d}" if chinese() else f"{moment.day} {_month(moment.month)[:3]}"


def when(at: Any, now: int | None = None) -> str:
    """`today 09:41`, `yesterday 18:02`, `30 March 07:00`."""
    return DASH if micros(at) is None else f"{day(at, now)} {short_clock(at)}"


def _month(number: int) -> str:
    """English names only: in Chinese the month is a number."""
    return _MONTHS[number - 1]


def joined(*sentences: str) -> str:
    """Sentences one after another; after a Chinese full stop without a space."""
    text = ""
    for sentence in sentences:
        if sentence:
            text += f"{'' if not text or text.endswith('。') else ' '}{sentence}"
    return text


def listed(parts: Iterable[str]) -> str:
    """Parts of one line, with the comma of the language."""
    return ("，" if chinese() else ", ").join(parts)


def short(digest: Any, head: int = 4, tail: int = 4) -> str:
    """`9f2c…41ab`: a digest or id as far as a person compares it."""
    text = str(digest or "").removeprefix("sha256:")
    return text if len(text) <= head + tail + 1 else f"{text[:head]}…{text[-tail:]}"
