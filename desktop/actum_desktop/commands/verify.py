"""`actum verify RUN|--all|PATH`: check published results again, bytes and content (§8).

A run's result is checked by the supervisor, which records what holds now; a path is checked right here, without a workspace
and without writing anything. A package read that way proves what it contains, not whose it is.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import NotFound

from actum_desktop import measures
from actum_desktop.commands.context import Context, run_number, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.supervision import Session

if TYPE_CHECKING:
    from actum.store.queries import Reader

EXIT_CHECK_FAILED = 5
_READABLE = "readable"
_RUN = re.compile(r"#?[0-9]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="RUN|PATH", nargs="?", help="a run's number or id, or the folder of a package")
    parser.add_argument("--all", action="store_true", help="every published result of the workspace")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.all == (args.what is not None):
        raise wrong_use("Either one result or all are verified.", "Give RUN, PATH or --all.")
    if args.what is not None and not _RUN.fullmatch(args.what):
        return verify_path(context.out, args.what)
    with context.reader() as reader:
        runs = list(_published(reader)) if args.all else [run_number(reader, args.what)]
    return _verify_runs(context, runs)


def _verify_runs(context: Context, runs: list[int]) -> int:
    out, failed = context.out, 0
    if not runs:
        out.note("No result is published yet.")
        return 0
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        for position, number in enumerate(runs, start=1):
            out.progress(f"Verifying run {number}, {position} of {len(runs)}")
            answer = session.submit({"verb": "verify", "run": number})
            failed += answer["state"] != _READABLE
            _print(out, f"Run {number}", answer)
    if len(runs) > 1:
        out.note(f"{len(runs)} results verified, {failed} not as published.")
    return EXIT_CHECK_FAILED if failed else 0


def verify_path(out: Output, text: str) -> int:
    """Verify the package at a path. Raises NotFound when there is none."""
    from actum.results.report import Expected
    from actum.results.verify import verify

    path = Path(os.path.abspath(os.path.expanduser(text)))
    if not (path / "manifest.json").is_file():
        why = "The folder has no manifest.json." if path.is_dir() else "There is no such folder."
        raise NotFound("no_package", f"There is no result package at {path}.", why, "Name a run, or a folder below results/.")

    def tell(done: int, total: int, unit: str) -> None:
        out.progress(f"Verifying, {measures.size(done)} of {measures.size(total)}", news=False)

    report = verify(path, Expected(), tell)
    state = _READABLE if report.ok else "damaged"
    answer = {"path": str(path), "state": state, "reason": report.reason, "level": "content", "details": report.to_json()}
    _print(out, str(path), answer)
    if report.ok:
        out.note("Whose result it is was not checked: that is known in its workspace only.")
    return 0 if report.ok else EXIT_CHECK_FAILED


def _print(out: Output, name: str, answer: Mapping[str, Any]) -> None:
    if out.json:
        out.document("verify", answer)
        return
    from actum_desktop import wording

    badge = wording.result_badge({"state": answer["state"]})
    word = badge.word if badge else str(answer["state"])
    fine = answer["state"] == _READABLE
    out.say(f"{out.toned(plain(name), 'strong')}  {out.toned(word, 'ok' if fine else 'bad')}")
    report = answer.get("details") or {}
    for level in (report.get("bytes"), report.get("content")):
        if isinstance(level, Mapping):
            out.say("  " + level_line(level))
            for finding in level["findings"]:
                out.say("    " + plain(finding["message"]))
    if not report.get("bytes") and answer.get("reason"):
        out.say("  " + plain(answer["reason"]))
    if fine:
        out.say(out.toned("  It is what was published. That proves neither its source nor its formula.", "faint"))


def level_line(level: Mapping[str, Any]) -> str:
    """`content: 2 tables, 749 rows, as sealed`: what one level looked at and what came of it."""
    if level["level"] == "bytes":
        looked_at = f"{measures.count(level['files'])} files, {measures.size(level['size_bytes'])}"
    else:
        looked_at = f"{measures.count(level['files'])} tables, {measures.count(level['rows'])} rows"
    outcome = "as sealed" if level["ok"] else f"{measures.count(level['findings_total'])} not as sealed"
    return f"{level['level']}: {looked_at}, {outcome}"


def _published(reader: Reader) -> Iterator[int]:
    """The numbers of the runs that have a result, the newest first."""
    before: int | None = None
    while page := reader.runs_page(before=before, limit=limits.PAGE_ROWS_MAX, statuses=["SUCCEEDED"]):
        yield from (row.number for row in page if row.result_digest is not None)
        before = page[-1].number
