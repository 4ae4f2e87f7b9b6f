"""`actum facts RUN`: each fact with its time, attempt, method and observer; one object a line with `--json`."""

from __future__ import annotations

import argparse

from actum_desktop.commands.context import Context
from actum_desktop.commands.output import plain
from actum_desktop.commands.show import read_show


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")


def run(args: argparse.Namespace, context: Context) -> int:
    show = read_show(context, args.run)
    out = context.out
    if out.json:
        for fact in show["facts"]:
            out.document("facts", {"run": show["run"], **fact})
        return 0
    from actum_desktop import wording

    attempts = show["attempts"]
    for attempt in attempts:
        if len(attempts) > 1:
            out.say(out.toned(f"Attempt {attempt['n']}", "strong"))
        for line in wording.facts_lines(show, attempt["attempt"]):
            out.say(plain(line))
    if not show["facts"]:
        out.say("No fact is on record yet.")
    return 0
