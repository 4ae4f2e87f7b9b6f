"""`actum reconcile [--wait]`: a verdict for everything that is open; with `--wait`, supervise until all is closed (§6).

"Cannot tell" is a verdict too: with only holds left, `--wait` ends with exit 7 instead of waiting for ever. `--attest RUN` is
the only way out of a hold that no look can end: a person's word, journalled, that nothing of that run is left anywhere.
"""

from __future__ import annotations

import argparse
import getpass
import time
from collections.abc import Mapping, Sequence
from typing import Any

from actum import limits
from actum.errors import Conflict
from actum.model.status import Contact

from actum_desktop.commands.context import Context, nothing_yet, run_number
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.supervision import Session
from actum_desktop.commands.watching import EXIT_CANNOT_TELL, EXIT_INTERRUPTED

MEANS = (
    "You would attest that every process of run {run} has ended, wherever it was started, and that nothing of it will write "
    "again. It is recorded with your name; the attempt is then closed without a result, its slot is free, and the next attempt "
    "starts if the task retries. If something of it still computes, two of them may write to the same places."
)
_TONES = {"ok": "ok", "bad": "bad", "warn": "warn", "accent": "accent"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wait", action="store_true", help="supervise until all is terminal and released")
    words = "say that nothing of this run, of which nothing can be told, is left anywhere: that its machine is gone"
    parser.add_argument("--attest", metavar="RUN", help=words)
    parser.add_argument("--yes", action="store_true", help="with --attest: you have read what it means")


def run(args: argparse.Namespace, context: Context) -> int:
    attested = _attested(args, context) if args.attest is not None else None
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        if attested is not None:
            session.submit({"verb": "reconcile", "resume": False})  # what can be told is told first
            session.submit(attested)
            context.out.note(f"Recorded: {attested['by']} attests that nothing of run {attested['run']} is left.")
        answer = session.submit({"verb": "reconcile", "resume": args.wait})
        print_verdicts(context.out, answer["verdicts"], answer.get("total"))
        told = {verdict["attempt"] for verdict in answer["verdicts"] if verdict["verdict"] != "cannot_tell"}
        return _wait(context, session, interrupts, told) if args.wait else 0


def _attested(args: argparse.Namespace, context: Context) -> dict[str, Any]:
    """What is asked for, once the person has said so. Raises Conflict where they did not."""
    if not context.begun:
        raise nothing_yet(context.workspace)
    with context.reader() as reader:
        number = run_number(reader, args.attest)
    if not args.yes:
        raise Conflict(
            "not_confirmed",
            f"Nothing was recorded of run {number}.",
            MEANS.format(run=number),
            f"If that is so: actum reconcile --attest {number} --yes",
        )
    return {"verb": "attest", "run": number, "by": getpass.getuser()}


def print_verdicts(out: Output, verdicts: Sequence[Mapping[str, Any]], total: int | None = None) -> None:
    """One object a verdict for programs; for people what was left, what was seen, what was done.

    `total` is how many there are, where not all of them fit into one answer.
    """
    if total is not None and total > len(verdicts):
        out.note(f"The first {len(verdicts)} of {total} verdicts. `actum runs` shows every run.")
    if out.json:
        for verdict in verdicts:
            out.document("reconcile", verdict)
        return
    from actum_desktop import wording

    for verdict in verdicts:
        words = wording.verdict(verdict)
        attempt = f", attempt {verdict['n']}" if int(verdict.get("n", 1)) > 1 else ""
        head = out.toned(f"Run {verdict['run']}{attempt}", "strong")
        out.say(f"{head}  {out.toned(plain(words.word), _TONES.get(words.tone, ''))}")
        for line in words.evidence:
            out.say("  " + out.toned(plain(line), "faint"))
        out.say("  " + "; ".join(plain(part) for part in (words.done, words.after) if part) + ".")
    if not verdicts:
        out.say("Nothing was left open.")


def _wait(context: Context, session: Session, interrupts: Interrupts, told: set[str]) -> int:
    left = _Left(context, told)
    session.follow([], lambda: left.settled() or interrupts.count > 0, lambda news: left.hear())
    if not left.settled():
        context.out.note("Left. The work goes on; `actum reconcile --wait` comes back to it.")
        return EXIT_INTERRUPTED
    session.finish_left_exports()
    if left.held:
        runs = ", ".join(str(run) for run in left.held)
        context.out.note(f"Held: what became of run {runs} cannot be told from here. `actum alerts` says what is waited for.")
        return EXIT_CANNOT_TELL
    context.out.note("All runs are closed.")
    return 0


class _Left:
    """What is still open. Attributes: held (runs of which nothing can be told, once settled).

    `told` are attempts that have just got another verdict than “cannot tell”: a hold that is still on record for one of them
    is that of an earlier look, until it is taken back or some time has passed.
    """

    def __init__(self, context: Context, told: set[str]) -> None:
        self.held: tuple[int, ...] = ()
        self._told = told
        self._until = time.monotonic() + limits.HOLD_BELIEVED_S
        self._context = context
        self._settled = False
        self._read_at = 0.0

    def hear(self) -> None:
        self._read_at = 0.0

    def settled(self) -> bool:
        """Whether nothing is open but holds; reads at most twice a second unless something changed."""
        if time.monotonic() - self._read_at >= limits.CLIENT_READ_EVERY_S:
            self._read_at = time.monotonic()
            with self._context.reader() as reader:
                rows = reader.attempt_rows(open_only=True)
            holds = [row for row in rows if row.contact is Contact.CANNOT_TELL]
            self._told &= {row.attempt for row in holds} if time.monotonic() < self._until else set()
            self.held = tuple(sorted({row.run for row in holds if row.attempt not in self._told}))
            self._settled = len(holds) == len(rows) and not self._told
            if not self._settled:
                open_runs = sorted({row.run for row in rows})
                self._context.out.progress(f"{len(open_runs)} open: run {', '.join(map(str, open_runs[:8]))}")
        return self._settled
