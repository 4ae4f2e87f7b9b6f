"""`actum demo`: the sample task from its start to exported tables, with its ledger, and what to try next."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum.errors import NotFound

from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.run import request, warn_of_place, watch_to_the_end
from actum_desktop.commands.supervision import Session

TASK, TABLE = "return-and-risk", "returns"
FORMATS = ("csv", "parquet", "json")
_NAMES_TRIED_COUNT = 10_000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="DIR", help="where the exports go; else exports/ of the workspace")
    parser.add_argument("--symbol", default="AAPL", metavar="S", help="the symbol to compute; else AAPL")


def run(args: argparse.Namespace, context: Context) -> int:
    out, sample = context.out, sample_file()
    out.note(f"Workspace  {plain(context.workspace.path)}")
    out.note(f"Sample     {plain(sample)} (real monthly prices, 2000 to 2010; its source is named beside it)")
    warn_of_place(context)
    body = request(TASK, None, {"prices": str(sample), "symbol": args.symbol}, None, ["demo"])
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        number = int(session.submit(body)["run"])
        code = watch_to_the_end(context, session, interrupts, number)
        if code != 0:
            return code
        exports = export_all(context, session, number, args.output)
    if not out.json:
        _print_results(context, number)
        _print_exports(out, exports)
        _print_next(context, number)
    return 0


def sample_file() -> Path:
    """The prices that ship with the program. Raises NotFound."""
    from actum_desktop.i18n import resources

    path = resources() / "samples" / "stocks.csv"
    if not path.is_file():
        raise NotFound("no_sample", "The sample data is missing.", f"{path} is not there.", "Install Actum again.")
    return path


def export_all(context: Context, session: Session, number: int, folder: str | None) -> list[Mapping[str, Any]]:
    """The table in every format, under names that are still free."""
    place = Path(os.path.abspath(os.path.expanduser(folder))) if folder else context.workspace.exports
    place.mkdir(parents=True, exist_ok=True)
    answers: list[Mapping[str, Any]] = []
    for form in FORMATS:
        path = free_name(place, f"{TABLE}-run-{number}", f".{form}")
        body = {"verb": "export", "run": number, "name": TABLE, "format": form, "profile": "data"}
        context.out.progress(f"Exporting {path.name}")
        answer = session.submit({**body, "path": str(path), "overwrite": False}, repeatable=False)
        answers.append(answer)
        if context.out.json:
            context.out.document("export", answer)
    return answers


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """`stem.suffix` in `folder`, or the first of `stem-2.suffix`, `stem-3.suffix`, … that does not exist."""
    path = folder / f"{stem}{suffix}"
    for position in range(2, _NAMES_TRIED_COUNT):
        if not os.path.lexists(path):
            break
        path = folder / f"{stem}-{position}{suffix}"
    return path


def _print_results(context: Context, number: int) -> None:
    from actum_desktop.commands.results import print_result

    with context.reader() as reader:
        result = reader.result(number)
    if result is not None:
        context.out.say()
        print_result(context, result)


def _print_exports(out: Output, exports: Sequence[Mapping[str, Any]]) -> None:
    out.say()
    out.say(out.toned("Exported, read back and compared", "strong"))
    for answer in exports:
        out.say(f"  {plain(answer['path'])}")


def _print_next(context: Context, number: int) -> None:
    out = context.out
    name = "actum" if context.is_default else f"actum --workspace {shlex.quote(str(context.workspace.path))}"
    out.say()
    out.say(out.toned("What to try next", "strong"))
    for command, words in (
        (f"{name} facts {number}", "all fourteen facts, with who saw what"),
        (f"{name} verify {number}", "check the published result again"),
        (f"{name} run demo-steps --detach", "a longer run without this terminal; then kill its supervisor with"),
        ("", "kill -9 (`actum doctor` names the process). The work goes on;"),
        (f"{name} reconcile --wait", "takes it up again: nothing computes twice, nothing is lost"),
        (name, "the window"),
    ):
        out.say(f"  {command:<34}  {words}")
