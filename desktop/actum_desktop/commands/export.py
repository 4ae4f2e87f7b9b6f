"""`actum export`: write tables of published results to files, each read back and compared before it has its name (§8).

One table (`actum export RUN NAME`), whole or what `--where` and `--sort` leave of it, and of that `--rows`; or all tables of
many runs into a folder (`actum export RUN… --all-tables -o FOLDER`): each file has its own outcome, Ctrl-C leaves whole files
only, and the same command with `--skip-existing` writes those that are not there yet. `--on-success` writes what the task of a
run wants exported on success and is not there yet, as where its folder was full. Nothing is overwritten unasked.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum.errors import ActumError, Conflict, WrongUse
from actum.limits import QUERY_ROW_RANGES_MAX
from actum.model.identity import new_token

from actum_desktop import measures
from actum_desktop.commands.context import Context, nothing_yet, run_number, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.supervision import Session
from actum_desktop.models import batch
from actum_desktop.models.batch import Batch, Item

if TYPE_CHECKING:
    from actum.results.filtertext import FilterWrong
    from actum.store.queries import Reader

# format → the suffixes a path may have; the first is the one given to a path without a suffix
FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "parquet": (".parquet",),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "arrow": (".arrow", ".feather"),
    "xlsx": (".xlsx",),
}
PROFILES = ("data", "spreadsheet")
EXIT_CANCELLED = 130
EXIT_NOT_WRITTEN = 1
_ROW_DIGITS = 18


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="+", metavar="RUN [NAME]", help="a run and a table of it; or runs, with --all-tables")
    parser.add_argument("--all-tables", action="store_true", help="every table of every run named, into the folder of -o")
    parser.add_argument("--metrics", action="store_true", help="with --all-tables: the metrics too")
    parser.add_argument(
        "--on-success", action="store_true", help="what the task of this run exports on success, if not there yet"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="else by the suffix of -o, else csv (spreadsheet: xlsx)")
    parser.add_argument("--profile", choices=PROFILES, help="data: lossless; spreadsheet: for people; else by the format")
    parser.add_argument("--where", metavar="FILTER", help="only these rows, as typed into the table browser")
    parser.add_argument("--sort", metavar="COLUMN[:desc]", action="append", default=[], help="in this order; may be repeated")
    parser.add_argument("--rows", metavar="A-B,C", help="only these rows of that, counted from 1 in that order, as 1-100,205")
    parser.add_argument("-o", "--output", metavar="PATH", help="the file to write, or the folder; else the current folder")
    there = parser.add_mutually_exclusive_group()
    there.add_argument("--overwrite", action="store_true", help="replace an existing file")
    there.add_argument("--keep-both", action="store_true", help="write under the next free name")
    there.add_argument("--skip-existing", action="store_true", help="with --all-tables: leave out what is there whole")


def run(args: argparse.Namespace, context: Context) -> int:
    if not context.begun:
        raise nothing_yet(context.workspace)
    if args.on_success:
        return _on_success(args, context)
    form = chosen_format(args.format, None if args.all_tables else args.output, args.profile)
    profile = args.profile or ("spreadsheet" if form == "xlsx" else "data")
    if args.all_tables:
        return _many(args, context, form, profile)
    if args.metrics or args.skip_existing:
        raise wrong_use("--metrics and --skip-existing belong to --all-tables.", "actum export 17 18 --all-tables -o FOLDER")
    if len(args.targets) != 2:
        raise wrong_use("Name a run and a table, or say --all-tables.", "For example: actum export 17 returns")
    return _one(args, context, form, profile)


def _one(args: argparse.Namespace, context: Context, form: str, profile: str) -> int:
    name = args.targets[1]
    with context.reader() as reader:
        number = run_number(reader, args.targets[0])
        query = _query(args, context, reader, number, name) if args.where or args.sort or args.rows is not None else None
    item = Item(number, name, Path(target_path(name, form, args.output)), form, profile)
    body = item.body(_existing(args)) | ({"query": query} if query is not None else {})
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        try:
            answer = _submit(session, body, context)
        except Conflict as error:
            if error.code == "file_exists":
                error.remedy = "Name another file with -o, or say --overwrite, or --keep-both."
            raise
    out = context.out
    if out.json:
        out.document("export", answer)
        return 0
    _say(out, answer)
    return 0


def _on_success(args: argparse.Namespace, context: Context) -> int:
    chosen = (args.format, args.profile, args.output, args.where, args.sort, args.rows, args.metrics, args.all_tables)
    if any(chosen) or args.overwrite or args.keep_both or args.skip_existing or len(args.targets) != 1:
        raise wrong_use("--on-success takes one run; its task says the rest.", "For example: actum export 17 --on-success")
    with context.reader() as reader:
        number = run_number(reader, args.targets[0])
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        answer = session.submit({"verb": "deliver", "run": number}, repeatable=True)
    out = context.out
    if out.json:
        out.document("export_on_success", answer)
    else:
        out.say(f"Export on success into {plain(answer['folder'])}:")
        for path in answer["written"]:
            out.say(f"  there and compared: {plain(path)}")
        for each in answer["failed"]:
            out.say(f"  not written: {plain(each['table'])}. {plain(each['why'])}")
    return EXIT_NOT_WRITTEN if answer["failed"] else 0


def _many(args: argparse.Namespace, context: Context, form: str, profile: str) -> int:
    if args.where or args.sort or args.rows is not None:
        raise wrong_use("--where, --sort and --rows take one table.", "Export it by itself: actum export RUN NAME --where …")
    folder = Path(os.path.abspath(os.path.expanduser(args.output or ".")))
    if not folder.is_dir():
        if folder.exists():
            raise WrongUse("no_folder", f"“{folder.name}” is no folder.", f"{folder}.", "Name another folder.")
        raise WrongUse("no_folder", f"The folder “{folder.name}” does not exist.", f"{folder}.", "Make it first.")
    with context.reader() as reader:
        numbers = list(dict.fromkeys(run_number(reader, target) for target in args.targets))
        found = [_tables(context, reader, number) for number in numbers]
    chosen = [(number, tables, bool(args.metrics and metrics)) for number, tables, metrics in found]
    work = Batch(batch.plan(chosen, folder, form, profile), _existing(args), args.skip_existing)
    _check_room(folder, work)
    return _write_all(context, work)


def _check_room(folder: Path, work: Batch) -> None:
    """Before the first file; each file looks again for itself."""
    from actum.results.exportplace import need_room

    need_room(folder, work.size_bytes)


def _write_all(context: Context, work: Batch) -> int:
    """One file after the other; what fails does not stop the rest. Ctrl-C gives up the file under way and those after it."""
    out, interrupted = context.out, False
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        while (item := work.next()) is not None:
            out.progress(f"{work.count(batch.WRITTEN, batch.THERE, batch.FAILED) + 1} of {len(work.items)}: {item.path.name}")
            try:
                work.settle(_submit(session, item.body(work.existing), context), None)
            except KeyboardInterrupt:
                interrupted = True
                work.settle(None, ActumError("cancelled", "The export was cancelled."))
                work.cancel()
            except ActumError as error:
                work.settle(None, error)
    for each in work.items:
        if out.json:
            out.document("export_file", each.to_json())
    _tell(out, work)
    if interrupted:
        return EXIT_CANCELLED
    failed = next((item.error for item in work.items if item.error is not None), None)
    return 0 if failed is None else failed.exit_code


def _tell(out: Output, work: Batch) -> None:
    words = {batch.WRITTEN: "written", batch.THERE: "was there", batch.FAILED: "failed", batch.CANCELLED: "cancelled"}
    rows = []
    for item in work.items:
        answer = item.answer or {}
        why = item.error.what if item.error is not None and item.state == batch.FAILED else _kept(answer) if answer else ""
        figures = (measures.count(answer["rows"]), measures.size(answer["size_bytes"])) if answer else ("", "")
        rows.append((item.path.name, words.get(item.state, item.state), *figures, why))
    if not out.json:
        out.rows(("FILE", "OUTCOME", "ROWS", "SIZE", ""), rows, right=(2, 3))
    if left := work.count(batch.FAILED, batch.CANCELLED):
        out.note(f"{left} of {len(work.items)} are not written. The same command with --skip-existing writes those alone.")


def _submit(session: Session, body: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """One export; Ctrl-C has it given up before it is told on."""
    watch = new_token()
    try:
        return session.submit({**body, "watch": watch}, repeatable=False)
    except KeyboardInterrupt:
        here = session.here
        session.leave()
        if here:
            raise  # leaving has ended it
        with Interrupts() as again, Session(context.workspace, again, may_supervise=False) as other:
            other.submit({"verb": "cancel", "watch": watch})
        raise


def _existing(args: argparse.Namespace) -> str:
    return "replace" if args.overwrite else "keep_both" if args.keep_both else "refuse"


def _tables(context: Context, reader: Reader, number: int) -> tuple[int, list[dict[str, Any]], bool]:
    """(run, its tables, whether it has metrics). Raises NotFound for a run without a result."""
    from actum.results import browse

    from actum_desktop.commands.results import no_result

    result = reader.result(number)
    if result is None:
        raise no_result(context, reader, number)
    return number, browse.tables(context.workspace.path / result.path, result.published), bool(result.metrics)


def _filter_words(error: FilterWrong, text: str, columns: Sequence[Mapping[str, Any]]) -> WrongUse:
    """What is wrong with a filter, with its place and with what could stand there."""
    from actum_desktop.models import filterwords

    why = f"In “{text}”, at sign {error.start + 1}."
    remedy = _columns(columns)
    if error.reason != "no_column":
        remedy = "A filter is written like --where 'price > 200 and symbol = \"IBM\"'. " + remedy
    return WrongUse(error.code, filterwords.wrong(error, columns), why, remedy, reason=error.reason, start=error.start)


def _columns(columns: Sequence[Mapping[str, Any]]) -> str:
    return f"The columns are {measures.listed([str(item['name']) for item in columns])}."


def _query(args: argparse.Namespace, context: Context, reader: Reader, number: int, name: str) -> dict[str, Any]:
    """The question that --where, --sort and --rows ask, as the table browser asks it. Raises WrongUse, NotFound."""
    from actum.results import filtertext
    from actum.results.query import Order, Query, Table
    from actum.results.tables import readable

    from actum_desktop.commands.results import no_result

    result = reader.result(number)
    if result is None:
        raise no_result(context, reader, number)
    table = Table(readable(context.workspace.path / result.path, name, result.published).path)
    order = []
    for text in args.sort:
        column, _mark, direction = text.rpartition(":")
        if direction not in ("asc", "desc"):
            column, direction = text, "asc"
        if column not in table.kinds:
            remedy = _columns(table.described)
            raise WrongUse("no_column", f"The table has no column “{column[:80]}”.", "--sort names it.", remedy)
        order.append(Order(column, direction == "desc"))
    try:
        where = filtertext.parse(args.where, table.described) if args.where else None
    except filtertext.FilterWrong as error:
        raise _filter_words(error, args.where, table.described) from error
    return Query(where, tuple(order), rows=None if args.rows is None else row_ranges(args.rows)).to_json()


def row_ranges(text: str) -> tuple[tuple[int, int], ...]:
    """`1-100,205` as ranges of rows counted from 0, ascending, those that touch made one. Raises WrongUse."""
    found: list[tuple[int, int]] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        sound = all(each.isascii() and each.isdecimal() and len(each) <= _ROW_DIGITS for each in (first, last))
        if not sound or not 1 <= int(first) <= int(last):
            raise wrong_use(f"“{part.strip()[:80]}” names no rows.", "Rows are counted from 1, as --rows 1-100,205.")
        found.append((int(first) - 1, int(last) - 1))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    if len(merged) > QUERY_ROW_RANGES_MAX:
        raise wrong_use(f"--rows names {len(merged):,} runs of rows.", f"At most {QUERY_ROW_RANGES_MAX:,} can be told apart.")
    return tuple(merged)


def _say(out: Output, answer: Mapping[str, Any]) -> None:
    from actum_desktop.commands.results import by_authority
    from actum_desktop.models import losswords

    if answer.get("instead"):
        out.note(by_authority(str(answer["instead"]), answer["run"]))
    out.say(f"Written and compared: {plain(answer.get('path', ''))}")
    parts: Sequence[Mapping[str, Any]] = answer.get("parts") or ()
    fields = [
        ("Rows", measures.count(answer.get("rows"))),
        ("Size", measures.size(answer.get("size_bytes"))),
        ("Kept", _kept(answer)),
        ("sha256", answer.get("sha256")),
        ("Files", ", ".join(plain(part["file"]) for part in parts) or None),
        ("Beside it", answer.get("sidecar")),
    ]
    out.fields([(name, value) for name, value in fields if value is not None], indent="  ")
    for loss in answer.get("losses") or ():
        words, lossy = losswords.sentence(loss)
        out.say(f"    {'lost' if lossy else 'note'}: {plain(words)}")


def _kept(answer: Mapping[str, Any]) -> str:
    """Exact, or how many kinds of loss were named."""
    if answer.get("exact", True):
        return "every value, exactly"
    lost = [loss for loss in answer.get("losses") or () if loss.get("lossy")]
    return f"all but {len(lost)} named loss{'es' if len(lost) != 1 else ''}"


def chosen_format(stated: str | None, path: str | None, profile: str | None = None) -> str:
    """The format asked for, else the one the path's suffix names, else CSV, for a spreadsheet XLSX.

    Raises WrongUse for a suffix it does not know.
    """
    if stated:
        return stated
    suffix = os.path.splitext(path or "")[1].lower()
    if not suffix:
        return "xlsx" if profile == "spreadsheet" else "csv"
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise WrongUse(
        "unknown_format", f"“{suffix}” names no format.", f"There are: {', '.join(FORMATS)}.", "Say which with --format."
    )


def target_path(name: str, form: str, path: str | None) -> str:
    """Where to write, absolute against the current folder. A folder gets the table's name and the format's suffix."""
    suffix = FORMATS[form][0]
    plain_name = batch.file_name(name)
    if path is None:
        return os.path.abspath(plain_name + suffix)
    place = os.path.abspath(os.path.expanduser(path))
    return os.path.join(place, plain_name + suffix) if os.path.isdir(place) or path.endswith(os.sep) else place
