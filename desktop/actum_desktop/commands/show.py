"""`actum show RUN`: everything about one run. Exit 0 whatever its status."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from actum_desktop.commands.context import Context, run_number
from actum_desktop.commands.output import plain

_UNSUCCESSFUL = frozenset({"FAILED", "START_FAILED", "TIMEOUT", "STOPPED"})


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")


def run(args: argparse.Namespace, context: Context) -> int:
    print_show(context, read_show(context, args.run))
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
    from actum_desktop.commands.account import print_account, print_unsuccessful

    print_account(out, show)
    _print_alerts(context, show)
    if show["status"] in _UNSUCCESSFUL and (folder := files_folder(context, show)):
        print_unsuccessful(out, show, folder)


def files_folder(context: Context, show: Mapping[str, Any]) -> str | None:
    """The folder with the files the newest attempt left, where there is one (R13)."""
    attempts = show.get("attempts") or ()
    if not attempts:
        return None
    folder = context.workspace.attempt_folder(int(show["run"]), int(attempts[-1]["n"])) / "staging"
    files = folder / "files"
    chosen = files if files.is_dir() else folder
    return str(chosen) if chosen.is_dir() else None


def _print_alerts(context: Context, show: Mapping[str, Any]) -> None:
    for alert in show.get("alerts") or ():
        from actum_desktop.commands.alerts import alert_words

        title, text = alert_words(alert)
        context.out.say()
        context.out.say(context.out.toned(plain(title), "warn"))
        if text:
            context.out.say(plain(text))
