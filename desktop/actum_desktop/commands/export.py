"""`actum export RUN NAME`: write one table of a published result to a file, read back and compared (§8)."""

from __future__ import annotations

import argparse
import os

from actum.errors import WrongUse

from actum_desktop import measures
from actum_desktop.commands.context import Context, nothing_yet, run_number
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import plain
from actum_desktop.commands.supervision import Session

# format → the suffixes a path may have; the first is the one given to a path without a suffix
FORMATS: dict[str, tuple[str, ...]] = {"csv": (".csv",), "parquet": (".parquet",), "json": (".json",)}
PROFILES = ("data", "spreadsheet")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")
    parser.add_argument("name", metavar="NAME", help="the table; `actum results RUN` lists them")
    parser.add_argument("--format", choices=tuple(FORMATS), help="else by the suffix of -o, else csv")
    parser.add_argument("--profile", choices=PROFILES, default="data", help="data: lossless; spreadsheet: for people")
    parser.add_argument("-o", "--output", metavar="PATH", help="the file to write; else NAME in the current folder")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")


def run(args: argparse.Namespace, context: Context) -> int:
    if not context.begun:
        raise nothing_yet(context.workspace)
    with context.reader() as reader:
        number = run_number(reader, args.run)
    form = chosen_format(args.format, args.output)
    body = {
        "verb": "export",
        "run": number,
        "name": args.name,
        "format": form,
        "profile": args.profile,
        "path": target_path(args.name, form, args.output),
        "overwrite": args.overwrite,
    }
    out = context.out
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        answer = session.submit(body, repeatable=False)
    if out.json:
        out.document("export", answer)
        return 0
    out.say(f"Written and compared: {plain(answer.get('path', body['path']))}")
    out.fields(
        [
            ("Rows", measures.count(answer.get("rows"))),
            ("Size", measures.size(answer.get("size_bytes"))),
            ("sha256", answer.get("sha256")),
            ("Beside it", answer.get("sidecar")),
        ],
        indent="  ",
    )
    return 0


def chosen_format(stated: str | None, path: str | None) -> str:
    """The format asked for, else the one the path's suffix names, else CSV. Raises WrongUse for a suffix it does not know."""
    if stated:
        return stated
    suffix = os.path.splitext(path or "")[1].lower()
    if not suffix:
        return "csv"
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise WrongUse(
        "unknown_format", f"“{suffix}” names no format.", f"There are: {', '.join(FORMATS)}.", "Say which with --format."
    )


def target_path(name: str, form: str, path: str | None) -> str:
    """Where to write, absolute against the current folder. A folder gets the table's name and the format's suffix."""
    suffix = FORMATS[form][0]
    plain_name = "".join("_" if character in '/\\:*?"<>|' or ord(character) < 32 else character for character in name)
    if path is None:
        return os.path.abspath(plain_name + suffix)
    place = os.path.abspath(os.path.expanduser(path))
    return os.path.join(place, plain_name + suffix) if os.path.isdir(place) or path.endswith(os.sep) else place
