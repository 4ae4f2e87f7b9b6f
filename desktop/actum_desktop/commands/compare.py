"""`actum compare RUN RUN…`: runs side by side, the first being what the others are compared with.

Parameters come first, and of them those that differ (`--all`: every one). A metric without a value has its word and its
reason in place of it (R15); differences are exact decimals. Says which runs are not like for like, and why.
"""

from __future__ import annotations

import argparse

from actum.results.comparison import Comparison, MetricCell, Row, compare, subject

from actum_desktop import measures
from actum_desktop.commands.context import Context, run_number
from actum_desktop.commands.output import Output

_KINDS = {
    "input": "read other bytes",
    "code": "ran other code",
    "environment": "ran in another environment",
    "version": "is of another version of the task",
    "task": "is of another task",
}
_DIGEST_SHOWN = 12
_DIGESTS = frozenset({"code", "environment"})


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help="numbers or ids; the others are compared with the first")
    parser.add_argument("--all", action="store_true", help="show what is equal as well")


def run(args: argparse.Namespace, context: Context) -> int:
    from actum.store.show import show_document

    with context.reader() as reader:
        subjects = []
        for named in args.runs:
            number = run_number(reader, named)
            contract = reader.run(number).contract
            subjects.append(subject(show_document(reader, context.workspace, number), contract))
    found = compare(subjects)
    if context.out.json:
        context.out.document("compare", found.to_json())
    else:
        _print(context.out, found, everything=args.all)
    return 0


def _print(out: Output, found: Comparison, *, everything: bool) -> None:
    heads = ("", *(f"RUN {run}" for run in found.runs))
    for name, rows in (("PARAMETERS", found.parameters), ("INPUTS", found.inputs)):
        shown = [row for row in rows if everything or row.differs]
        differ = sum(row.differs for row in rows)
        out.say(out.toned(f"{name}  {differ} of {len(rows)} differ{'s' if differ == 1 else ''}", "strong"))
        if shown:
            out.rows(heads, [_line(row, short=name == "INPUTS") for row in shown])
        out.say()
    out.say(out.toned(f"METRICS  difference to run {found.runs[0]}", "strong"))
    metrics = [row for row in found.metrics if everything or row.differs or len(found.metrics) <= 20]
    if metrics:
        out.rows(heads, [(_titled(row.title, row.unit), *(_metric(cell, row.unit) for cell in row.cells)) for row in metrics])
    else:
        out.say("None of these runs has a metric." if not found.metrics else "All metrics are equal.")
    out.say()
    circumstances = [row for row in found.circumstances if everything or row.differs or row.name == "duration_s"]
    if circumstances:
        out.rows(heads, [_line(row, short=row.name in _DIGESTS) for row in circumstances])
    for other in found.unlike:
        kinds = measures.listed([_KINDS[kind] for kind in other.kinds])
        out.note(f"Run {other.run} is not like for like with run {found.runs[0]}: it {kinds}.")


def _titled(title: str, unit: str) -> str:
    return f"{title}, {unit}" if unit else title


def _line(row: Row, *, short: bool) -> tuple[str, ...]:
    def shown(cell: str | None) -> str:
        if cell is None:
            return measures.DASH
        if row.name == "duration_s":
            return measures.duration(float(cell))
        return f"{cell[:_DIGEST_SHOWN]}…" if short and len(cell) > _DIGEST_SHOWN else cell

    return (row.title, *(shown(cell) for cell in row.cells))


def _metric(cell: MetricCell, unit: str) -> str:
    """A value stands under its row's unit; one in another says so itself."""
    if cell.value is None:
        reason = (cell.reason or "no reason given").replace("_", " ")
        counted = "" if cell.observations is None else f" ({measures.count(cell.observations)})"
        return measures.DASH if cell.status == "absent" else f"{cell.status.replace('_', ' ')}: {reason}{counted}"
    value = cell.value.replace("-", "−", 1)
    if (cell.unit or "") != unit:
        value += f" {cell.unit or '(no unit)'}"
    if cell.difference is None:
        return value
    sign = "−" if cell.difference.startswith("-") else "+"
    return f"{value}  {sign}{cell.difference.lstrip('-')}"
