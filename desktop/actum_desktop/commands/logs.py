"""`actum logs [RUN|--task T] [-f] [--grep P]`: what the work printed, also of unsuccessful attempts.

The log's files are read where the host writes them; nobody is asked and nothing is copied. To a pipe the bytes go as the
work wrote them; on a terminal its colours stay and every other control character is shown, not obeyed (R19).
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import clock, limits
from actum.errors import NotFound

from actum_desktop.commands.context import Context, run_number, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import coloured_line
from actum_desktop.commands.watching import EXIT_INTERRUPTED, is_closed

if TYPE_CHECKING:
    from actum.ipc.logfile import Line, LogReader
    from actum.store.queries import Reader

_STREAMS = {1: "stdout", 2: "stderr"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="the run's number or id; else the newest run")
    parser.add_argument("--task", metavar="T", help="the newest run of this task")
    parser.add_argument("--attempt", type=int, metavar="N", help="an attempt of the run; else its newest")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run is closed")
    parser.add_argument("-n", "--tail", type=int, metavar="LINES", help="only the last lines")
    parser.add_argument("--grep", metavar="PATTERN", help="only lines in which the regular expression is found")


def run(args: argparse.Namespace, context: Context) -> int:
    from actum.ipc.logfile import LogReader

    pattern = _pattern(args.grep)
    if args.tail is not None and args.tail < 0:
        raise wrong_use("--tail needs a whole number from 0.", "For example: actum logs 17 --tail 50")
    with context.reader() as reader, Interrupts() as interrupts:
        subject = _Subject(context, reader, chosen_run(reader, args.run, args.task), args.attempt)
        log = LogReader(subject.folder())
        first = 0 if args.tail is None else max(0, log.count() - args.tail)
        pages = _follow(log, first, subject, interrupts) if args.follow else _whole(log, first)
        for page in pages:
            for line in page:
                if pattern is None or pattern.search(line.text):
                    _print(context, subject, line, whole=pattern is not None)
            context.out.flush()
        return EXIT_INTERRUPTED if interrupts.count else 0


def chosen_run(reader: Reader, text: str | None, task: str | None) -> int:
    """The run that is meant: by its number or id, else the newest, of `task` if one is given. Raises NotFound, WrongUse."""
    if text is not None and task is not None:
        raise wrong_use("RUN and --task say the same thing twice.", "Give one of them.")
    if text is not None:
        return run_number(reader, text)
    newest = reader.runs_page(before=None, limit=1, task=task)
    if not newest:
        of_task = f" of the task “{task}”" if task else ""
        raise NotFound("no_such_run", f"There is no run{of_task} yet.", "", "`actum runs` lists the runs of this workspace.")
    return int(newest[0].number)


class _Subject:
    """One attempt whose log is read."""

    def __init__(self, context: Context, reader: Reader, run: int, n: int | None) -> None:
        self.run = run
        self._context = context
        self._reader = reader
        attempts = self._show()["attempts"]
        known = [int(attempt["n"]) for attempt in attempts]
        self.n = known[-1] if n is None else n
        if self.n not in known:
            raise NotFound("no_such_attempt", f"Run {run} has no attempt {n}.", f"It has {len(known)}.", f"`actum show {run}`")

    def folder(self) -> Path:
        """Where the host wrote the log; the published copy where that is gone."""
        ws = self._context.workspace
        written = ws.attempt_folder(self.run, self.n) / "log"
        published = ws.result_folder(self.run, self.n) / "log"
        return published if not written.exists() and published.exists() else written

    def closed(self) -> bool:
        return is_closed(self._show())

    def _show(self) -> Mapping[str, Any]:
        from actum.store.show import show_document

        return show_document(self._reader, self._context.workspace, self.run)


def _whole(log: LogReader, first: int) -> Iterator[list[Line]]:
    """Every line there is now, read in pages."""
    while page := log.lines(first, limits.LOG_PAGE_LINES):
        yield page
        first += len(page)


def _follow(log: LogReader, first: int, subject: _Subject, interrupts: Interrupts) -> Iterator[list[Line]]:
    """Every line there is and will be, until the run is closed. A last line without an end waits until it has one."""
    looked_at, closed = 0.0, False
    while not interrupts.count:
        page = log.lines(first, limits.LOG_PAGE_LINES)
        if page and not closed and not page[-1].raw.endswith(b"\n"):
            page.pop()
        yield page
        first += len(page)
        if page:
            continue
        if closed:
            return
        if time.monotonic() - looked_at >= limits.CLIENT_READ_EVERY_S:
            looked_at, closed = time.monotonic(), subject.closed()
        else:
            time.sleep(0.1)


def _print(context: Context, subject: _Subject, line: Line, *, whole: bool) -> None:
    """One line; to a pipe exactly its bytes, with a line end of its own where lines were picked out (`whole`)."""
    out = context.out
    if out.json:
        out.document(
            "logs",
            {
                "run": subject.run,
                "n": subject.n,
                "line": line.number,
                "at": clock.rfc3339(line.at_us),
                "stream": _STREAMS.get(line.stream, "stdout"),
                "continues": line.continues,
                "text": line.text,
            },
        )
    elif out.out_is_terminal:
        out.say(coloured_line(line.text))
    else:
        out.raw(line.raw if not whole or line.raw.endswith(b"\n") else line.raw + b"\n")


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        remedy = "Put a backslash before . * + ? ( [ to mean them."
        raise wrong_use(f"“{text}” is not a regular expression.", remedy, f"{error}.") from error
