"""`actum settings [NAME [VALUE]]`: what is set for this workspace; with a value, sets it. Everything takes effect at once.

`--default` goes back to what Actum does by itself. Look and language are the window's, and set there.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from actum import settings
from actum.errors import NotFound

from actum_desktop.commands.context import Context, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session

SET_HERE = sorted(set(settings.KNOWN) - {"queue_paused"})  # that one is `actum queue`


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="one setting; left out: all of them")
    parser.add_argument("value", nargs="?", metavar="VALUE", help="a whole number, true or false; left out: only say")
    parser.add_argument("--default", action="store_true", help="go back to the default")


def run(args: argparse.Namespace, context: Context) -> int:
    name = None if args.name is None else args.name.replace("-", "_")
    if name is not None and name not in SET_HERE:
        what, why = f"There is no setting “{args.name}”.", f"Known: {', '.join(SET_HERE)}."
        raise NotFound("unknown_setting", what, why, "`actum settings` lists them; `actum queue` pauses the queue.")
    if args.default and (name is None or args.value is not None):
        what = "--default goes with the name of a setting, and without a value."
        raise wrong_use(what, "For example: actum settings slots --default")
    if name is not None and (args.value is not None or args.default):
        value = settings.KNOWN[name].default if args.default else _read(args.value)
        settings.check(name, value)
        with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
            session.submit({"verb": "set_setting", "name": name, "value": value})
    return _say(context, name)


def _read(text: str) -> Any:
    """A value as a person writes it: digits may be grouped, yes and no are true and false."""
    word = text.strip().lower()
    if word in ("yes", "on"):
        return True
    if word in ("no", "off"):
        return False
    try:
        return json.loads(word.replace("_", "").replace(",", ""))
    except ValueError:
        return text


def _say(context: Context, name: str | None) -> int:
    with context.reader() as reader:
        values = reader.settings()
    names = SET_HERE if name is None else [name]
    if context.out.json:
        for each in names:
            known = settings.KNOWN[each]
            told = {"name": each, "value": values[each], "default": known.default, "title": known.title}
            context.out.document("settings", told)
        return 0
    shown = [(each, _text(values[each]), _text(settings.KNOWN[each].default), settings.KNOWN[each].title) for each in names]
    context.out.rows(("SETTING", "VALUE", "DEFAULT", "WHAT IT DOES"), shown, right=(1, 2))
    return 0


def _text(value: Any) -> str:
    return json.dumps(value)
