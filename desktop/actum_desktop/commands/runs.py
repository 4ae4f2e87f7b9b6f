"""`actum runs`: the runs of this workspace, the newest first; one object a line with `--json`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.clock import passed_s, utc_us
from actum.errors import WrongUse
from actum.model.status import RunStatus

from actum_desktop.commands.context import Context, wrong_use

if TYPE_CHECKING:
    from actum.store.rows import RunListRow
    from actum.workspace import Workspace

_SHOWN = 50


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--limit", type=int, default=_SHOWN, metavar="N", help=f"at most so many; else {_SHOWN}")
    parser.add_argument("--before", type=int, metavar="RUN", help="only runs with a lower number, for the next page")
    parser.add_argument("--status", action="append", metavar="S", help="only runs of this status; may be repeated")
    parser.add_argument("--task", metavar="T", help="only runs of this task")
    parser.add_argument("--grep", dest="text", metavar="TEXT", help="only runs whose key or labels hold the text")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.limit < 1:
        raise wrong_use("--limit needs a whole number from 1.", "For example: actum runs --limit 100")
    statuses = [_status(text) for text in args.status] if args.status else None
    out = context.out
    if not context.begun:
        context.say_nothing_yet()
        return 0
    from actum.store.show import runs_document

    rows: list[RunListRow] = []
    with context.reader() as reader:
        before = args.before
        while len(rows) < args.limit:
            wanted = min(limits.PAGE_ROWS_MAX, args.limit - len(rows))
            page = reader.runs_page(before=before, limit=wanted, statuses=statuses, task=args.task, text=args.text)
            rows += page
            if len(page) < wanted:
                break
            before = page[-1].number
    if out.json:
        for row in rows:
            out.document("runs", runs_document(row, context.workspace))
        return 0
    from actum_desktop import measures, wording

    lines = [
        (
            str(row.number),
            wording.status(row.status, row.phase, row.released, contact=row.contact).word,
            f"{row.task} {row.task_version}",
            measures.when(row.created_at_us),
            measures.duration(_seconds(row)),
            wording.measure(measured(row, context.workspace)),
        )
        for row in rows
    ]
    out.rows(("RUN", "STATUS", "TASK", "ADMITTED", "TIME", ""), lines, right=(0, 4))
    note_unwatched(context, [row.number for row in rows if not row.released])
    if not rows:
        out.note("No runs match." if statuses or args.task or args.text else "No runs yet. `actum demo` makes one.")
    return 0


def note_unwatched(context: Context, open_runs: Sequence[int]) -> None:
    """Say so when runs are open and no supervisor lives: work goes on, but nothing is started, verified or published."""
    from actum.lock import held_by_someone

    if open_runs and held_by_someone(context.workspace) is False:
        context.out.note("Nobody supervises this workspace now. `actum reconcile --wait` goes on with what is open.")


def measured(row: RunListRow, ws: Workspace) -> dict[str, Any]:
    """What the second line of a run needs, without the ledger."""
    from actum.store.show import runs_document

    asked = row.stop_requested_at_us
    return {**runs_document(row, ws), "stop": None if asked is None else {"at": asked, "asked_at": asked}}


def _status(text: str) -> str:
    try:
        return RunStatus(text.upper().replace("-", "_")).value
    except ValueError:
        known = ", ".join(status.value for status in RunStatus)
        raise WrongUse("unknown_status", f"“{text}” is not a status.", f"There are: {known}.", "Choose one of them.") from None


def _seconds(row: RunListRow) -> float | None:
    """How long the run took, or has taken so far."""
    if row.started_at_us is None:
        return None
    active_s = (row.activity or {}).get("active_s")
    return passed_s(row.started_at_us, row.finished_at_us or utc_us(), active_s=active_s)
