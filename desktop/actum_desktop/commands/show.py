"""`actum show RUN`: everything about one run. Exit 0 whatever its status."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from actum_desktop.commands.context import Context, run_number
from actum_desktop.commands.output import plain
from actum_desktop.commands.runs import note_unwatched


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")


def run(args: argparse.Namespace, context: Context) -> int:
    show = read_show(context, args.run)
    print_show(context, show)
    if not context.out.json:
        note_unwatched(context, [] if show["released"] else [show["run"]])
    return 0


def read_show(context: Context, text: str) -> Mapping[str, Any]:
    """The document of §16 for the run that `text` names. Raises NotFound."""
    from actum.store.show import show_document

    with context.reader() as reader:
        return show_document(reader, context.workspace, run_number(reader, text))


def print_show(context: Context, show: Mapping[str, Any]) -> None:
    """The document for programs; the account for people."""
    out = context.out
    if out.json:
        out.document("show", show)
        return
    from actum_desktop.commands.account import print_account, print_unverified

    print_account(out, show)
    _print_alerts(context, show)
    if show.get("unverified_files"):
        print_unverified(out, show["unverified_files"])


def _print_alerts(context: Context, show: Mapping[str, Any]) -> None:
    for alert in show.get("alerts") or ():
        from actum_desktop.commands.alerts import alert_words

        title, text = alert_words(alert)
        context.out.say()
        context.out.say(context.out.toned(plain(title), "warn"))
        if text:
            context.out.say(plain(text))
