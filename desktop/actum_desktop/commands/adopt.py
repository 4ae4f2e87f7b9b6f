"""`actum adopt RUN`: take up what a run sealed and nobody published, as a new run that begins at verification (R03).

The old run keeps its status. Asking twice is one run: the second time it is shown, not made again.
"""

from __future__ import annotations

import argparse

from actum_desktop.commands.context import Context, nothing_yet, run_number
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.run import watch_to_the_end
from actum_desktop.commands.supervision import Session

_SEALED_BY = {
    "manifest": "Its host left a valid manifest and no outcome, so the manifest's digest was recorded by nobody at the time.",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the number or id of the run that ended without a result")
    parser.add_argument("--attempt", type=int, metavar="N", help="which of its attempts; else the newest that left a package")
    parser.add_argument(
        "--detach", action="store_true", help="return when the new run is recorded; a supervisor without a window stays"
    )


def run(args: argparse.Namespace, context: Context) -> int:
    if not context.begun:
        raise nothing_yet(context.workspace)
    with context.reader() as reader:
        number = run_number(reader, args.run)
    out = context.out
    body = {"verb": "adopt", "run": number, "attempt": args.attempt}
    with Interrupts() as interrupts, Session(context.workspace, interrupts, may_supervise=not args.detach) as session:
        answer = session.submit(body)
        new, adopted = int(answer["run"]), answer["adopted"]
        if args.detach and out.json:
            out.document("adopt", answer)
            return 0
        if answer.get("created", True):
            out.note(f"Run {new} adopts attempt {adopted['n']} of run {adopted['run']} and begins at verification.")
            why = _SEALED_BY.get(str(answer.get("sealed_by")))
            if why:
                out.note(why)
        else:
            out.note(f"Run {new} has adopted attempt {adopted['n']} of run {adopted['run']} already; nothing new was started.")
        if args.detach:
            out.say(f"`actum show {new}` says how it goes.")
            return 0
        return watch_to_the_end(context, session, interrupts, new)
