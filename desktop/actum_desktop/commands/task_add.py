"""`actum task add NAME --program PATH | --function FILE.py:NAME …`: a contract document out of options (§15, §16).

A function's contract is read by a child process that imports the file with the interpreter named; options stand over what
it says. Paths become absolute against the current folder; `{NAME}` in an argument is filled without a shell.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actum.errors import NotFound, WrongUse

from actum_desktop.commands.context import Context, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import plain
from actum_desktop.commands.supervision import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits, - _ .")
    work = parser.add_argument_group("the work (one of the two)")
    work.add_argument("--program", metavar="PATH", help="any program")
    work.add_argument("--function", metavar="FILE.py:NAME", help="a Python function")
    work.add_argument("--arg", dest="args", action="append", metavar="A", help="an argument of the program; {NAME} is filled")
    work.add_argument("--cwd", metavar="D", help="the folder it starts in; else its output folder")
    work.add_argument("--interpreter", metavar="PY", help="the Python of a function, 3.9 or newer")
    contract = parser.add_argument_group("the contract")
    contract.add_argument("--version", metavar="V", help="else 1")
    contract.add_argument("--title", metavar="TEXT")
    contract.add_argument("--description", metavar="TEXT")
    contract.add_argument("--param", dest="params", action="append", metavar="NAME:TYPE[=DEFAULT]", help=PARAM_HELP)
    contract.add_argument("--output", dest="outputs", action="append", metavar="PATTERN", help="files to publish; else all")
    contract.add_argument("--required", action="append", metavar="PATTERN", help="files without which it is no result")
    policies = parser.add_argument_group("the policies")
    policies.add_argument("--timeout", metavar="2h", help="for the whole attempt")
    policies.add_argument("--stage-timeout", dest="stages", action="append", metavar="STAGE=10m", help="for one stage")
    policies.add_argument("--stall-after", metavar="10m", help="warn after so long without progress; never ends anything")
    policies.add_argument("--grace", metavar="10s", help="between asking the work to end and ending it")
    policies.add_argument("--after-exit", choices=("wait", "end"), help="what becomes of children it leaves behind")
    policies.add_argument("--retries", type=int, metavar="N", help="further attempts after a failure")


PARAM_HELP = "TYPE? may be left empty; choice[a,b] lists choices; for example prices:file window:integer=12"


def run(args: argparse.Namespace, context: Context) -> int:
    contract = contract_document(args)
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


def contract_document(args: argparse.Namespace) -> dict[str, Any]:
    """The whole contract the options describe, checked. Raises WrongUse, NotFound."""
    from actum.contracts.document import load

    if (args.program is None) == (args.function is None):
        raise wrong_use("A task is either a program or a function.", "Give --program PATH or --function FILE.py:NAME.")
    document = _program(args) if args.program is not None else _function(args)
    document["name"] = args.name
    for field in ("version", "title", "description", "outputs", "required"):
        if getattr(args, field) is not None:
            document[field] = getattr(args, field)
    given = [parameter(text) for text in args.params or ()]
    names = {one["name"] for one in given}
    document["parameters"] = [one for one in document.get("parameters", []) if one["name"] not in names] + given
    document["policies"] = {**document.get("policies", {}), **policies(args)}
    return load(document).to_json()


def parameter(text: str) -> dict[str, Any]:
    """One declaration out of `NAME:TYPE[=DEFAULT]`. A `?` after the type: it may be left empty. Raises WrongUse."""
    declared, has_default, default = text.partition("=")
    name, separator, kind = declared.partition(":")
    if not name or not separator or not kind:
        raise wrong_use(f"“{text}” declares no parameter.", "Write NAME:TYPE[=DEFAULT], for example window:integer=12.")
    document: dict[str, Any] = {"name": name, "title": name.replace("_", " ")}
    if kind.endswith("?"):
        kind, document["optional"] = kind[:-1], True
    if kind.endswith("]") and "[" in kind:
        kind, _, inside = kind[:-1].partition("[")
        document |= _inside(kind, inside, text)
    document["type"] = kind
    if has_default:
        document["default"] = default
    return document


def policies(args: argparse.Namespace) -> dict[str, Any]:
    """The policies that options state; what they leave out is not in it. Raises WrongUse."""
    stated: dict[str, Any] = {
        "deadline": args.timeout,
        "stage_deadlines": _stages(args.stages) if args.stages else None,
        "stall_after": args.stall_after,
        "grace": args.grace,
        "after_exit": args.after_exit,
        "retry": {"maximum": args.retries} if args.retries is not None else None,
    }
    if args.retries is not None and args.retries < 0:
        raise wrong_use("--retries needs a whole number from 0.", "For example: --retries 2")
    return {name: value for name, value in stated.items() if value is not None}


def _inside(kind: str, inside: str, text: str) -> dict[str, Any]:
    """What stands in brackets after a type: choices, a list's items, the file whose columns are meant."""
    if kind == "choice":
        return {"choices": [part.strip() for part in inside.split(",") if part.strip()]}
    if kind == "list":
        return {"items": {"type": inside}}
    if kind == "columns":
        return {"file": inside}
    remedy = "choice[a,b], list[integer] and columns[prices] do."
    raise wrong_use(f"“{text}” declares no parameter.", remedy, f"A {kind} takes no brackets.")


def _stages(pairs: Sequence[str]) -> dict[str, str]:
    stages = {}
    for pair in pairs:
        name, separator, duration = pair.rpartition("=")
        if not separator or not name:
            raise wrong_use(f"“{pair}” is no limit of a stage.", "Write STAGE=DURATION, for example load=10m.")
        stages[name] = duration
    return stages


def _program(args: argparse.Namespace) -> dict[str, Any]:
    if args.interpreter is not None:
        raise wrong_use("--interpreter goes with --function.", "For a script: --program python3 --arg script.py")
    work = {"kind": "program", "program": _executable(args.program), "arguments": args.args or [], "cwd": _folder(args.cwd)}
    return {"work": work}


def _function(args: argparse.Namespace) -> dict[str, Any]:
    from actum.contracts.extract import extract

    file, separator, function = args.function.rpartition(":")
    if not separator or not file or not function.isidentifier():
        raise wrong_use(f"“{args.function}” names no function.", "Write FILE.py:NAME, for example report.py:monthly.")
    if args.args:
        raise wrong_use("--arg goes with --program.", "Leave --arg out.", "A function gets its parameters by name.")
    path = Path(os.path.abspath(os.path.expanduser(file)))
    if not path.is_file():
        raise NotFound("no_such_file", f"There is no file {path}.", "", "Name the Python file that holds the function.")
    interpreter = _executable(args.interpreter) if args.interpreter else default_interpreter()
    document = dict(extract(path, function, interpreter))
    work = {"kind": "function", "file": str(path), "function": function, "interpreter": interpreter, "cwd": _folder(args.cwd)}
    return {**document, "work": work}


def default_interpreter() -> str:
    """The Python of the active virtual environment, else the one that runs Actum, else the first on PATH. Raises NotFound."""
    active = os.environ.get("VIRTUAL_ENV")
    if active and (python := shutil.which("python", path=os.path.join(active, "bin"))):
        return python
    if not getattr(sys, "frozen", False) and sys.executable:
        return sys.executable
    found = shutil.which("python3")
    if found is None:
        raise NotFound("no_interpreter", "No Python was found for the function.", "", "Name one with --interpreter.")
    return os.path.abspath(found)


def _executable(text: str) -> str:
    """An absolute path; a bare word is looked for on PATH. Links are kept: a virtual environment's Python is one."""
    expanded = os.path.expanduser(text)
    found = os.path.abspath(expanded) if os.sep in text else shutil.which(expanded)
    if found is None or not os.path.isfile(found):
        raise NotFound("no_such_program", f"There is no program “{text}”.", "", "Give its path, for example ./report.sh.")
    if not os.access(found, os.X_OK):
        raise WrongUse(
            "not_executable", f"{found} may not be executed.", "", f"`chmod +x {found}`, or run it by its interpreter."
        )
    return os.path.abspath(found)


def _folder(text: str | None) -> str | None:
    if text is None:
        return None
    path = os.path.abspath(os.path.expanduser(text))
    if not os.path.isdir(path):
        raise NotFound("no_such_folder", f"There is no folder {path}.", "", "Make it first, or leave --cwd out.")
    return path
