"""`actum task add NAME --program PATH | --function FILE.py:NAME …`: a contract document out of options (§15, §16).

A function's contract is read by a child process that imports the file with the interpreter named; options stand over what
it says. Paths become absolute against the current folder; `{NAME}` in an argument is filled without a shell.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import plain
from actum_desktop.commands.supervision import Session

if TYPE_CHECKING:
    from actum.contracts.define import Definition

PARAM_HELP = "TYPE? may be left empty; choice[a,b] lists choices; for example prices:file window:integer=12"


# A word of the program's own may begin with a dash.
TAKES_ANY_WORD = ("--arg",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits, - _ .")
    work = parser.add_argument_group("the work (one of the two)")
    work.add_argument("--program", metavar="PATH", help="any program")
    work.add_argument("--function", metavar="FILE.py:NAME", help="a Python function")
    _several(work, "--arg", "args", "A", "an argument of the program; {NAME} is filled, without a shell")
    work.add_argument("--cwd", metavar="D", help="the folder it starts in; else its output folder")
    work.add_argument("--interpreter", metavar="PY", help="the Python of a function, 3.9 or newer")
    contract = parser.add_argument_group("the contract")
    contract.add_argument("--version", metavar="V", help="else 1")
    contract.add_argument("--title", metavar="TEXT", help="what people read")
    contract.add_argument("--description", metavar="TEXT", help="what it does")
    _several(contract, "--param", "params", "NAME:TYPE[=DEFAULT]", PARAM_HELP)
    _several(contract, "--output", "outputs", "PATTERN", "files to publish; else all")
    _several(contract, "--required", "required", "PATTERN", "files without which it is no result")
    policies = parser.add_argument_group("the policies")
    policies.add_argument("--timeout", metavar="2h", help="for the whole attempt")
    _several(policies, "--stage-timeout", "stages", "STAGE=10m", "for one stage")
    policies.add_argument("--stall-after", metavar="10m", help="warn after so long without progress; never ends anything")
    policies.add_argument("--grace", metavar="10s", help="between asking the work to end and ending it")
    policies.add_argument("--after-exit", choices=("wait", "end"), help="what becomes of children it leaves behind")
    export = parser.add_argument_group("export on success")
    export.add_argument("--export-to", metavar="DIR", help="write the tables of every result into this folder")
    export.add_argument("--export-name", metavar="NAME", help="else “{task} {run} {table}”; {date} too; never overwrites")
    _several(export, "--export-table", "export_tables", "TABLE", "a table to write; else all")
    export.add_argument("--export-format", metavar="F", help="csv (else this), json, jsonl, parquet, arrow, xlsx")
    export.add_argument("--export-profile", choices=("data", "spreadsheet"), help="else data")
    policies.add_argument("--retries", type=int, metavar="N", help="further attempts after a failure")


def _several(group: argparse._ArgumentGroup, option: str, name: str, shown: str, words: str) -> None:
    """An option that may be given more than once."""
    group.add_argument(option, dest=name, action="append", default=[], metavar=shown, help=words)


def run(args: argparse.Namespace, context: Context) -> int:
    from actum.contracts.define import define

    contract = define(definition(args), Path.cwd())
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        answer = session.submit({"verb": "task_add", "contract": contract})
    out = context.out
    if out.json:
        out.document("task_add", answer)
        return 0
    name = f"{plain(answer['task'])} {plain(answer['version'])}"
    out.say(f"Defined: {name}" if answer.get("created", True) else f"{name} is defined so already.")
    out.say(f"`actum task show {plain(answer['task'])}` shows it, `actum run {plain(answer['task'])}` runs it.")
    return 0


def definition(args: argparse.Namespace) -> Definition:
    """What the options say, as data."""
    from actum.contracts.define import Definition

    return Definition(
        name=args.name,
        program=args.program,
        function=args.function,
        arguments=tuple(args.args),
        cwd=args.cwd,
        interpreter=args.interpreter,
        outputs=tuple(args.outputs),
        required=tuple(args.required),
        parameters=tuple(args.params),
        title=args.title,
        version=args.version,
        description=args.description,
        timeout=args.timeout,
        stage_timeouts=tuple(args.stages),
        stall_after=args.stall_after,
        grace=args.grace,
        after_exit=args.after_exit,
        retries=args.retries,
        export_to=args.export_to,
        export_name=args.export_name,
        export_tables=tuple(args.export_tables),
        export_format=args.export_format,
        export_profile=args.export_profile,
    )
