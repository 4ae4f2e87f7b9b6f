"""`actum results RUN`: metrics with their reasons, tables and files of a published result.

Where there is no result the command exits 3; the files an unsuccessful attempt left are named, and said to be no result
(R13). A missing value is a word with a reason, never 0 and never nothing (R15).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.errors import NotFound

from actum_desktop import measures
from actum_desktop.commands.context import Context, run_number, wrong_use
from actum_desktop.commands.output import Output, plain

if TYPE_CHECKING:
    from actum.results.browse import Page
    from actum.store.queries import Reader
    from actum.store.rows import ResultView

_ROWS = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run's number or id")
    parser.add_argument("--table", metavar="NAME", help="show the first rows of this table")
    parser.add_argument("--rows", type=int, default=_ROWS, metavar="N", help=f"so many of them; else {_ROWS}")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.rows < 1:
        raise wrong_use("--rows needs a whole number from 1.", "For example: actum results 17 --table returns --rows 50")
    with context.reader() as reader:
        number = run_number(reader, args.run)
        result = reader.result(number)
        if result is None:
            raise no_result(context, reader, number)
    if args.table is not None:
        return print_table(context, result, args.table, args.rows)
    print_result(context, result)
    return 0


def no_result(context: Context, reader: Reader, number: int) -> NotFound:
    """The refusal for a run without a result; names the files its attempt left, where there are any."""
    from actum.store.show import unverified_files

    attempt = reader.attempts(number)[-1]
    left = unverified_files(context.workspace.attempt_folder(number, attempt.n), attempt)
    what, why = f"Run {number} has no result.", f"It is {reader.run(number).status}."
    if left is None:
        return NotFound("no_result", what, why, f"`actum show {number}` says how it stands.")
    why += f" The files it left ({left['label']}) are in {left['folder']}."
    return NotFound("no_result", what, why, f"`actum logs {number}` shows its log.", unverified_files=left)


def print_result(context: Context, result: ResultView) -> None:
    out, path = context.out, context.workspace.path / result.path
    rows = verified_rows(path, result)
    document: dict[str, Any] = {
        "run": result.run,
        "id": result.id,
        "state": result.check.state if result.check else "unchecked",
        "reason": result.check.reason if result.check else "",
        "checked_at": _time(result.check.at_us if result.check else None),
        "committed_at": _time(result.committed_at_us),
        "path": str(path),
        "digest": result.digest,
        "metrics": [dict(metric) for metric in result.metrics],
        "tables": [{**table, "rows": table.get("rows", rows.get(str(table["name"])))} for table in result.tables],
        "files": [dict(file) for file in result.files],
    }
    if out.json:
        out.document("results", document)
        return
    from actum_desktop import wording

    badge = wording.result_badge(document)
    out.say(f"{out.toned(f'Run {result.run}', 'strong')}  {badge.word if badge else ''}")
    out.say(plain(path))
    _print_metrics(out, document["metrics"])
    _print_tables(out, document["tables"])
    _print_files(out, document["files"])


def _print_metrics(out: Output, metrics: Sequence[Mapping[str, Any]]) -> None:
    if metrics:
        out.say()
        out.rows(("METRIC", "VALUE", "UNIT", "FROM"), [metric_row(metric) for metric in metrics], right=(1,))


def metric_row(metric: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Name, value or status, unit, and what it rests on: observations, rule, reason."""
    available = metric.get("status", "available") == "available"
    status = str(metric.get("status", "")).replace("_", " ")
    observations = _observations(metric.get("observation_count"), metric.get("observations_needed"))
    reason = "" if available else str(metric.get("reason") or "no reason given").replace("_", " ")
    rests_on = [reason, observations, str(metric.get("rule") or "")]
    value = str(metric.get("value")).replace("-", "−", 1) if available else status
    return str(metric["name"]), value, str(metric.get("unit") or "") if available else "", ", ".join(filter(None, rests_on))


def _observations(count: int | None, needed: int | None) -> str:
    """`3 of 30 observations`."""
    if count is None:
        return ""
    of = count if needed is None else needed
    told = measures.count(count) if needed is None else f"{measures.count(count)} of {measures.count(needed)}"
    return f"{told} observation{'' if of == 1 else 's'}"


def _print_tables(out: Output, tables: Sequence[Mapping[str, Any]]) -> None:
    if tables:
        out.say()
        rows = [(str(t["name"]), measures.count(t.get("rows")), ", ".join(_columns(t))) for t in tables]
        out.rows(("TABLE", "ROWS", "COLUMNS"), rows, right=(1,))


def _print_files(out: Output, files: Sequence[Mapping[str, Any]]) -> None:
    if files:
        out.say()
        rows = [
            (str(f["name"]), str(f.get("role") or ""), measures.size(f.get("size")), str(f.get("sha256"))[:12]) for f in files
        ]
        out.rows(("FILE", "ROLE", "SIZE", "SHA256"), rows, right=(2,))


def _columns(table: Mapping[str, Any]) -> list[str]:
    """The names of a table's columns without the companions that hold reasons."""
    columns = table.get("columns") or table.get("schema") or ()
    names = [str(column["name"] if isinstance(column, Mapping) else column) for column in columns]
    return [name for name in names if not name.endswith("__reason")]


def verified_rows(package: Path, result: ResultView) -> dict[str, int]:
    """Table → the rows that were counted when it was verified; empty where the package cannot be read now."""
    from actum.results import manifest
    from actum.results.tables import read_derived

    try:
        derived = read_derived(package, result.published)
        return {str(file["table"]): int(file["rows"]) for file in derived["files"]}
    except (OSError, manifest.NotAPackage, KeyError, TypeError, ValueError):
        return {}


_BY_AUTHORITY = {
    "absent": "Read from the authority: there is no quicker copy.",
    "missing": "Read from the authority: the quicker copy is missing. `actum verify {run} --rebuild` makes it again.",
    "damaged": "Read from the authority: the quicker copy is damaged. `actum verify {run} --rebuild` makes it again.",
    "forbidden": "Read from the authority: the quicker copy may not be read.",
}


def by_authority(why: str, run: int) -> str:
    """What is said where rows are not those of the quicker copy; `why` as `tables.Readable` says it."""
    return _BY_AUTHORITY[why].format(run=run)


def print_table(context: Context, result: ResultView, name: str, count: int) -> int:
    """The first rows of one table, of a file whose bytes are as published. Raises NotFound, CheckFailed, StorageFailed."""
    from actum.contracts.tables import REASON_SUFFIX
    from actum.results.browse import TableBrowser
    from actum.results.durable import action

    names = [str(table["name"]) for table in result.tables]
    if name not in names:
        known = f"It has: {', '.join(names)}." if names else "It has no tables."
        what = f"The result of run {result.run} has no table “{name}”."
        raise NotFound("no_such_table", what, known, f"`actum results {result.run}` lists what it has.")

    package = context.workspace.path / result.path
    with action("reading the table"), TableBrowser(package, name, result.published, check=True) as browser:
        page = browser.page(0, count)
    if browser.read.instead is not None:
        context.out.note(by_authority(browser.read.instead, result.run))
    titles = [str(column["name"]) for column in page.columns]
    out = context.out
    if out.json:
        for row in page.rows:
            out.document("results_row", {"run": result.run, "table": name, "row": dict(zip(titles, row, strict=True))})
        return 0
    kept = [position for position, title in enumerate(titles) if not title.endswith(REASON_SUFFIX)]
    cells = [[shown_cell(page, number, position) for position in kept] for number in range(len(page.rows))]
    out.rows([titles[position] for position in kept], cells)
    if page.total > len(page.rows):
        out.note(f"The first {len(page.rows)} of {measures.count(page.total)} rows. `actum export` writes them all.")
    return 0


def shown_cell(page: Page, row: int, column: int) -> str:
    """The text of a cell, or why it is missing (R15)."""
    from actum.contracts.metrics import reason_of
    from actum.results.browse import NO_REASON

    cell = page.rows[row][column]
    if cell is not None:
        return cell
    reason = reason_of(page.reasons.get((row, column), NO_REASON))
    word = reason.word.replace("_", " ")
    return word if reason.observations is None else f"{word}: {_observations(reason.observations, reason.needed)}"


def _time(us: int | None) -> str | None:
    from actum.clock import rfc3339

    return None if us is None else rfc3339(us)
