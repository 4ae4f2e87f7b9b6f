"""`actum pack RUN|FOLDER [-o PATH]`: a published result as one file, which others can read and verify (§8)."""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actum.errors import Conflict, NotFound
from actum.results.pack import SUFFIX, make

from actum_desktop import measures
from actum_desktop.commands.context import Context, nothing_yet, run_number
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.supervision import Session
from actum_desktop.commands.verify import RUN_WORDS


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="RUN|FOLDER", help="a run's number or id, or the folder of a result package")
    parser.add_argument("-o", "--output", metavar="PATH", help="the file to write; else TASK-RUN.actumpack in this folder")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")


def run(args: argparse.Namespace, context: Context) -> int:
    out = context.out
    if RUN_WORDS.fullmatch(args.what):
        if not context.begun:
            raise nothing_yet(context.workspace)
        with context.reader() as reader:
            number = run_number(reader, args.what)
            path = target(args.output, f"{reader.run(number).task}-{number}")
        body = {"verb": "pack", "run": number, "path": path, "overwrite": args.overwrite}
        with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
            made: dict[str, Any] = answered(lambda: session.submit(body, repeatable=False))
    else:
        folder = Path(os.path.abspath(os.path.expanduser(args.what)))
        if not (folder / "manifest.json").is_file():
            raise NotFound("no_package", f"There is no result package at {folder}.", remedy="Name a run, or its folder.")
        path = target(args.output, folder.name)
        told = functools.partial(_tell, out)
        made = answered(lambda: make(folder, Path(path), told, overwrite=args.overwrite))
    if out.json:
        out.document("pack", made)
        return 0
    out.say(f"Packed: {plain(made['path'])}")
    out.fields(
        [
            ("Files", measures.count(made["files"])),
            ("Size", measures.size(made["size_bytes"])),
            ("digest", made["manifest_sha256"]),
        ],
        indent="  ",
    )
    out.note("Tell its reader the digest by another way: `actum verify FILE --digest DIGEST` then shows that it is this one.")
    return 0


def _tell(out: Output, done: int, total: int, unit: str) -> None:
    out.progress("Packing", news=False)


def answered(write: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `write` made. Raises Conflict(file_exists) with the words of the command line for what can be done."""
    try:
        return write()
    except Conflict as error:
        if error.code == "file_exists":
            error.remedy = "Name another file with -o, or say --overwrite to replace this one."
        raise


def target(path: str | None, name: str) -> str:
    """Where to write, absolute; a folder gets the result's own name."""
    if path is None:
        return os.path.abspath(name + SUFFIX)
    place = os.path.abspath(os.path.expanduser(path))
    return os.path.join(place, name + SUFFIX) if os.path.isdir(place) or path.endswith(os.sep) else place
