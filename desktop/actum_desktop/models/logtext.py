"""A line of the work's log as it is shown: control sequences taken out, ANSI colours as inks of the theme. Pure; no Qt.

Text is data (R19): nothing is interpreted but colours and weight; grounds, movements and titles of terminals are dropped. The
sixteen colours become tokens, each readable on every ground of a row; any other colour is blended towards the text until it
is (`legible`). A carriage return leaves the last state of a line, as a terminal would.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from actum.ipc.logfile import STDERR, Line
from actum.limits import ICON_CACHE_ENTRIES_MAX, LOG_LINE_SHOWN_CHARS_MAX

from actum_desktop.tokens import Tokens, contrast

CONTRAST_MIN = 4.5
ROW_GROUNDS = ("sunken", "tint_accent", "tint_warn", "tint_bad")
_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])"  # CSI; a colour where its last letter is m
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # strings for devices
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0a-\x1f\x7f\x80-\x9f]"
)
_LEVEL = re.compile(r"\b(CRITICAL|FATAL|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b", re.IGNORECASE)
_WORDS = {"CRITICAL": "error", "FATAL": "error", "ERROR": "error", "WARN": "warn", "WARNING": "warn", "INFO": "info"}
_WORDS |= {"DEBUG": "debug", "TRACE": "debug"}
_SIXTEEN = ("text2", "bad", "ok", "warn", "accent", "series2", "series3", "text")  # black … white; bright ones alike
_LEVEL_CHARS = 80  # where a level stands, it stands near the start
_CUBE = (0, 95, 135, 175, 215, 255)


class Span(NamedTuple):
    """A piece of a line in one ink: a token, or a colour as #RRGGBB that `legible` has to be asked about."""

    text: str
    ink: str = "text"
    bold: bool = False


def plain(text: str) -> str:
    """One line without control sequences, whole."""
    return _SEQUENCE.sub("", text).replace("\t", "    ")


def shown(text: str) -> str:
    """`plain`, cut where nobody reads on a screen; the whole line is one key away."""
    return plain(text[:LOG_LINE_SHOWN_CHARS_MAX])


def spans(text: str) -> list[Span]:
    """A line in its inks, cut like `shown`."""
    text = text[:LOG_LINE_SHOWN_CHARS_MAX]
    if "\x1b" not in text:
        return [Span(plain(text))]
    found: list[Span] = []
    ink, bold, start = "text", False, 0
    for match in _SEQUENCE.finditer(text):
        _add(found, text[start : match.start()], ink, bold)
        start = match.end()
        if match[2] == "m" and not (match[1] or "").startswith(("?", "<", "=", ">")):
            ink, bold = _colour(match[1] or "", ink, bold)
    _add(found, text[start:], ink, bold)
    return found or [Span("")]


def _add(found: list[Span], text: str, ink: str, bold: bool) -> None:
    text = text.replace("\t", "    ")
    if not text:
        return
    if found and (found[-1].ink, found[-1].bold) == (ink, bold):
        found[-1] = Span(found[-1].text + text, ink, bold)
    else:
        found.append(Span(text, ink, bold))


def _colour(codes: str, ink: str, bold: bool) -> tuple[str, bool]:
    """Ink and weight after `ESC [ codes m`."""
    numbers = [int(part) if part.isdigit() else 0 for part in codes.replace(":", ";").split(";")]
    index = 0
    while index < len(numbers):
        code = numbers[index]
        index += 1
        if code == 0:
            ink, bold = "text", False
        elif code == 1:
            bold = True
        elif code == 2:
            ink = "text3" if ink == "text" else ink
        elif code == 22:
            bold = False
        elif 30 <= code <= 37:
            ink = _SIXTEEN[code - 30]
        elif code == 39:
            ink = "text"
        elif code == 90:
            ink = "text3"
        elif 91 <= code <= 97:
            ink = _SIXTEEN[code - 90]
        elif code in (38, 48):
            extended, used = _extended(numbers[index:])
            index += used
            ink = extended if code == 38 and extended else ink
    return ink, bold


def _extended(rest: list[int]) -> tuple[str, int]:
    """(ink, numbers used) of what follows 38 or 48."""
    if len(rest) >= 2 and rest[0] == 5:
        return _of_256(rest[1]), 2
    if len(rest) >= 4 and rest[0] == 2:
        red, green, blue = (min(255, part) for part in rest[1:4])
        return f"#{red:02X}{green:02X}{blue:02X}", 4
    return "", len(rest)


def _of_256(number: int) -> str:
    if number < 16:
        return "text3" if number == 8 else _SIXTEEN[number % 8]
    if number >= 232:
        grey = min(255, 8 + 10 * (number - 232))
        return f"#{grey:02X}{grey:02X}{grey:02X}"
    red, rest = divmod(number - 16, 36)
    green, blue = divmod(rest, 6)
    return f"#{_CUBE[min(red, 5)]:02X}{_CUBE[green]:02X}{_CUBE[blue]:02X}"


@lru_cache(maxsize=ICON_CACHE_ENTRIES_MAX)
def legible(colour: str, theme: Tokens) -> str:
    """`colour` moved towards the text's own until it reads on every ground a row may have."""
    grounds = [getattr(theme, name) for name in ROW_GROUNDS]
    for step in range(11):
        mixed = _mix(colour, theme.text, step / 10)
        if min(contrast(mixed, ground) for ground in grounds) >= CONTRAST_MIN:
            return mixed
    return theme.text


def _mix(first: str, second: str, part: float) -> str:
    parts = [round(int(first[i : i + 2], 16) * (1 - part) + int(second[i : i + 2], 16) * part) for i in (1, 3, 5)]
    return "#" + "".join(f"{each:02X}" for each in parts)


def level(line: Line, text: str) -> str:
    """`error`, `warn`, `info`, `debug`; else which stream it came from: `out`, `err`."""
    if "Traceback (most recent call last)" in text:
        return "error"
    match = _LEVEL.search(text[:_LEVEL_CHARS])
    if match:
        return _WORDS[match[1].upper()]
    return "err" if line.stream == STDERR else "out"
