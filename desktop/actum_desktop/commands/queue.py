"""`actum queue [pause|resume]`: whether waiting runs start; without a word, what holds now.

A pause is a person's word: it is kept, and only a person lifts it. Running work goes on.
"""

from __future__ import annotations

import argparse

from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session

_VERBS = {"pause": "pause_queue", "resume": "resume_queue"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", nargs="?", choices=sorted(_VERBS), metavar="pause|resume", help="left out: only say")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.word is not None:
        with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
            session.submit({"verb": _VERBS[args.word]})
    return _say(context)


def _say(context: Context) -> int:
    with context.reader() as reader:
        paused = bool(reader.settings()["queue_paused"])
        waiting = sum(1 for row in reader.attempt_rows(open_only=True) if row.pair.status == "CREATED")
    if context.out.json:
        context.out.document("queue", {"paused": paused, "waiting": waiting})
    elif paused:
        context.out.say(f"The queue is paused; {_runs(waiting)} until `actum queue resume`.")
    else:
        context.out.say(f"The queue is open; {_runs(waiting)} for a slot.")
    return 0


def _runs(waiting: int) -> str:
    return f"{waiting} {'run waits' if waiting == 1 else 'runs wait'}"
