"""Everything the commands print: documents for programs, calm lines for people, progress on stderr.

One object prints; verbs say what, never how. With `--json` standard output holds JSON objects only, one a line, each with
its `schema`; errors are the object `{"error": {code, what, why, remedy}}` there too. Without it, standard output holds
text for people. Notes and progress go to standard error in both cases, so that a pipe sees results alone.

Names, cells and log lines are data (R19): whatever could steer a terminal is shown, not obeyed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import textwrap
import traceback
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from actum.errors import ActumError

# Control characters, the deletes and the marks that reorder text; line breaks are controls too.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SGR = re.compile(r"(\x1b\[[0-9;:]*m)")
_TONES = {"ok": "32", "bad": "31", "warn": "33", "accent": "34", "faint": "2", "strong": "1"}
_TEXT_COLUMNS = 96
_ERASE_TO_END = "\x1b[K"


def plain(text: object) -> str:
    """`text` on one line with everything that could steer a terminal written as an escape."""
    return _STEERING.sub(_escaped, str(text))


def coloured_line(text: str) -> str:
    """A line of a log for a terminal: tabs and colours stay, every other control is written as an escape."""
    pieces = _SGR.split(text)
    shown = [piece if index % 2 else "\t".join(plain(part) for part in piece.split("\t")) for index, piece in enumerate(pieces)]
    return "".join(shown) + ("\x1b[0m" if len(pieces) > 1 else "")


def width(text: str) -> int:
    """The columns `text` takes on a terminal: wide East Asian characters take two, combining marks none."""
    columns = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return columns


def fitted(text: str, columns: int) -> str:
    """`text` cut at the right to `columns`, with an ellipsis where something was cut."""
    if width(text) <= columns:
        return text
    kept, used = [], 0
    for character in text:
        used += width(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


class Output:
    """Where one command prints. Attributes: json (for programs), live (progress is redrawn in place)."""

    def __init__(self, *, as_json: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        for stream in (self._out, self._err):
            with contextlib.suppress(AttributeError, ValueError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._out_colour = wanted and self._out.isatty()
        self._err_colour = wanted and self._err.isatty()
        self.live = self._err.isatty() and os.environ.get("TERM") != "dumb"
        self.out_is_terminal = self._out.isatty()
        self._progress = ""
        self._marks_known = _can_write(self._out, "✓○●×─═–…")

    # Results ---------------------------------------------------------------------------------------------------------

    def document(self, verb: str, document: Mapping[str, Any]) -> None:
        """One object for programs; `schema` stands first."""
        shown = {"schema": f"actum.{verb}/1"} | {name: value for name, value in document.items() if name != "schema"}
        self._write_out(json.dumps(shown, ensure_ascii=False, allow_nan=False, default=str) + "\n")

    def say(self, text: str = "") -> None:
        """One line for people on standard output; nothing where programs read."""
        if not self.json:
            self._write_out(text + "\n")

    def paragraphs(self, text: str) -> None:
        """Text of several paragraphs, wrapped to the terminal or to a readable width."""
        columns = min(shutil.get_terminal_size().columns, _TEXT_COLUMNS) if self.out_is_terminal else _TEXT_COLUMNS
        for position, paragraph in enumerate(text.split("\n\n")):
            if position:
                self.say()
            for line in textwrap.wrap(plain(" ".join(paragraph.split())), columns, break_on_hyphens=False):
                self.say(line)

    def rows(self, heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> None:
        """Aligned columns under quiet heads; `right` are the columns of numbers. A terminal gets the last column cut to fit."""
        cells = [tuple(plain(cell) for cell in row) for row in rows]
        table = [tuple(heads), *cells]
        widths = [max(width(row[column]) for row in table) for column in range(len(heads))]
        if self.out_is_terminal:
            room = shutil.get_terminal_size().columns - sum(widths[:-1]) - 2 * (len(widths) - 1)
            widths[-1] = min(widths[-1], max(room, 12))
        numbers = frozenset(right)
        for index, row in enumerate(table):
            shown = []
            for column, cell in enumerate(row):
                cell = fitted(cell, widths[column])
                gap = " " * (widths[column] - width(cell))
                shown.append(gap + cell if column in numbers else cell + gap)
            line = "  ".join(shown).rstrip()
            self.say(self.toned(line, "faint") if index == 0 else line)

    def fields(self, pairs: Iterable[tuple[str, object]], *, indent: str = "") -> None:
        """Names and values, one a line, the values aligned; a None value is left out."""
        kept = [(name, value) for name, value in pairs if value is not None]
        column = max((width(name) for name, _ in kept), default=0)
        for name, value in kept:
            self.say(f"{indent}{self.toned(name + ' ' * (column - width(name)), 'faint')}  {plain(value)}")

    def raw(self, data: bytes) -> None:
        """Bytes as they are, for a pipe; `flush` sends what has gathered."""
        buffer = getattr(self._out, "buffer", None)
        if buffer is None:
            self._out.write(data.decode("utf-8", "backslashreplace"))
        else:
            buffer.write(data)

    def flush(self) -> None:
        self._out.flush()

    # Beside the results ----------------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """One line for people on standard error, in both modes."""
        self._close_progress()
        self._err.write(text + "\n")
        self._err.flush()

    def progress(self, text: str, *, news: bool = True) -> None:
        """What is happening now: redrawn in place on a terminal; elsewhere a line of its own, only when it is `news`."""
        if self.live:
            line = fitted(plain(text), shutil.get_terminal_size().columns - 1)
            if line != self._progress:
                self._err.write("\r" + line + _ERASE_TO_END)
                self._err.flush()
                self._progress = line
        elif news and text != self._progress:
            self._err.write(plain(text) + "\n")
            self._err.flush()
            self._progress = text

    def error(self, error: ActumError) -> None:
        """An error in its three sentences: for programs on standard output, for people on standard error."""
        if self.json:
            self._write_out(json.dumps(error.to_json(), ensure_ascii=False, default=str) + "\n")
            return
        self._close_progress()
        fields = error.details.get("fields") if isinstance(error.details.get("fields"), Mapping) else None
        self._err.write(self._tone(plain(error.what), "bad", on=self._err_colour) + "\n")
        if fields:
            for name, message in fields.items():
                self._err.write(f"  {plain(name) + ': ' if name else ''}{plain(message)}\n")
        elif error.why:
            self._err.write(plain(error.why) + "\n")
        if error.remedy:
            self._err.write(plain(error.remedy) + "\n")
        self._err.flush()

    def help(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    def bug(self, error: BaseException) -> None:
        """Something that should not be possible: for programs an error object, for people the trace."""
        known = ActumError(
            "bug",
            "Actum met something it does not know how to handle.",
            f"{type(error).__name__}: {error}",
            "What was recorded is safe. The trace on standard error is what a report needs.",
        )
        known.exit_code = 70
        self._close_progress()
        traceback.print_exception(error, file=self._err)
        self.error(known)

    # Looks -----------------------------------------------------------------------------------------------------------

    def toned(self, text: str, tone: str) -> str:
        """`text` in one of the few tones, where standard output shows colours."""
        return self._tone(text, tone, on=self._out_colour)

    def mark(self, mark: str, instead: str) -> str:
        """`mark` where standard output can write it, else the plain letters `instead`."""
        return mark if self._marks_known else instead

    def _tone(self, text: str, tone: str, *, on: bool) -> str:
        code = _TONES.get(tone)
        return f"\x1b[{code}m{text}\x1b[0m" if on and code and text else text

    def _write_out(self, text: str) -> None:
        self._close_progress()
        self._out.write(text)
        self._out.flush()

    def _close_progress(self) -> None:
        """Ends a live line, so that what follows starts on a line of its own."""
        if self.live and self._progress:
            self._err.write("\r" + _ERASE_TO_END)
            self._err.flush()
        if self.live:
            self._progress = ""


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
