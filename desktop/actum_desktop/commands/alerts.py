"""`actum alerts`: what needs attention now; with `--all`, what did."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from actum_desktop import measures
from actum_desktop.commands.context import Context
from actum_desktop.commands.output import plain

_TONES = {"bad": "bad", "warning": "warn", "info": "accent"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="closed ones too")


def run(args: argparse.Namespace, context: Context) -> int:
    out = context.out
    if not context.begun:
        context.say_nothing_yet()
        return 0
    with context.reader() as reader:
        alerts = reader.alerts(open_only=not args.all)
    if out.json:
        from actum.store.show import alert_document

        for alert in alerts:
            out.document("alerts", alert_document(alert))
        return 0
    for alert in alerts:
        title, text = alert_words({"code": alert.code, "data": alert.data})
        number = f"Run {alert.run}  " if alert.run is not None else ""
        ended = f", went away {measures.when(alert.cleared_at_us)}" if alert.cleared_at_us is not None else ""
        out.say(out.toned(plain(title), _TONES.get(alert.severity, "")))
        out.say(f"  {number}{measures.when(alert.opened_at_us)}{ended}")
        if text:
            out.say(f"  {plain(text)}")
    if not alerts:
        out.say("Nothing needs you.")
    return 0


def alert_words(alert: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the text of an alert."""
    from actum_desktop import wording

    return wording.warning(str(alert.get("code", "")), alert.get("data") or {})
