"""`actum stop RUN [--wait]`: record a stop; with `--wait`, wait until the run is closed."""

from __future__ import annotations

import argparse

from actum_desktop.commands.context import Context, nothing_yet, run_number
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session
from actum_desktop.commands.watching import EXIT_INTERRUPTED, Ending, Watch, exit_code, wait_closed

_WORDS = {
    "accepted": "The stop of run {run} is recorded.",
    "finishing": "Run {run} is being published and finishes; the stop is recorded and forbids another attempt.",
    "closed": "Run {run} is closed already.",
}
EXIT_STOPPED = 6


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")
    parser.add_argument("--wait", action="store_true", help="wait until the run is closed and released")
    parser.add_argument("--insist", action="store_true", help="do not wait for the work to end by itself")


def run(args: argparse.Namespace, context: Context) -> int:
    if not context.begun:
        raise nothing_yet(context.workspace)
    with context.reader() as reader:
        number = run_number(reader, args.run)
    out = context.out
    body = {"verb": "stop", "run": number, "level": "insist" if args.insist else "ask"}
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        answer = session.submit(body)
        if not args.wait:
            if out.json:
                out.document("stop", answer)
            else:
                out.say(_WORDS[str(answer["answer"])].format(run=number))
            return 0
        out.note(_WORDS[str(answer["answer"])].format(run=number))
        return _wait(context, session, interrupts, number)


def _wait(context: Context, session: Session, interrupts: Interrupts, number: int) -> int:
    """0 when the run closed STOPPED; else as `run` answers. A Ctrl-C only ends the waiting."""
    from actum_desktop.commands.show import print_show

    with Watch(context, number) as watch:
        if wait_closed(session, watch, interrupts) is Ending.INTERRUPTED:
            context.out.note(f"The stop of run {number} stands. `actum show {number}` says how it goes.")
            return EXIT_INTERRUPTED
        print_show(context, watch.look())
        code = exit_code(watch.show)
        return 0 if code == EXIT_STOPPED else code
