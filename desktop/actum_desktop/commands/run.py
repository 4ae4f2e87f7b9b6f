"""`actum run`: admit one run, wait until it is closed, print its ledger (§16).

The key is made before the first try, so whatever is lost on the way, one command line is one run (R05). The first Ctrl-C
detaches, the second stops the run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actum import limits
from actum.errors import WrongUse
from actum.model.identity import new_token

from actum_desktop.commands.context import Context, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.supervision import Session
from actum_desktop.commands.watching import EXIT_INTERRUPTED, Ending, Watch, exit_code, wait_or_detach


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="the name of the task")
    parser.add_argument("--task-version", metavar="V", help="a version of it; else the newest")
    parser.add_argument(
        "--set",
        dest="pairs",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one parameter; NAME.PART for a part of a record",
    )
    parser.add_argument("--params", metavar="FILE", help="parameters as a JSON object in a file, or - for standard input")
    parser.add_argument("--key", metavar="K", help="the same key with the same parameters is the same run")
    parser.add_argument("--label", dest="labels", action="append", default=[], metavar="TEXT", help="a label of the run")
    parser.add_argument(
        "--detach", action="store_true", help="return when the run is recorded; a supervisor without a window stays"
    )


def run(args: argparse.Namespace, context: Context) -> int:
    parameters = given_parameters(args.pairs, args.params)
    body = request(args.task, args.task_version, parameters, args.key, args.labels)
    out = context.out
    warn_of_place(context)
    with Interrupts() as interrupts, Session(context.workspace, interrupts, may_supervise=not args.detach) as session:
        answer = session.submit(body)
        number = int(answer["run"])
        if args.detach:
            out.document("run", answer) if out.json else out.say(
                f"Run {number} is recorded. `actum show {number}` says how it goes."
            )
            return 0
        if not answer.get("created", True):
            out.note(f"The key names run {number}, which exists already; nothing new was started.")
        return watch_to_the_end(context, session, interrupts, number)


def warn_of_place(context: Context) -> None:
    """A network or synced folder is no refusal, but it is said (§11)."""
    from actum.workspace import folder_warnings

    for warning in folder_warnings(context.workspace):
        context.out.note(warning)
    output = os.environ.get("ACTUM_OUTPUT", "")
    if output and Path(output).is_relative_to(context.workspace.path):
        context.out.note(
            "This command is part of a run of the same workspace. It waits while that run holds the last slot; "
            "`--detach` does not wait."
        )


def watch_to_the_end(context: Context, session: Session, interrupts: Interrupts, number: int) -> int:
    """Wait for the run, print what `show` prints, and return its exit code."""
    from actum_desktop.commands import show as show_verb

    session.asked_for.append(number)
    with Watch(context, number) as watch:
        back = f"`actum show {number}` says how it goes, `actum stop {number}` ends it."
        if wait_or_detach(session, watch, interrupts, back=back) is Ending.INTERRUPTED:
            return EXIT_INTERRUPTED
        show_verb.print_show(context, watch.look())
        return exit_code(watch.show)


def request(
    task: str, version: str | None, parameters: Mapping[str, Any], key: str | None, labels: Sequence[str]
) -> dict[str, Any]:
    """The body of a run command. Raises WrongUse when the parameters are too large for one frame."""
    if not task.strip():
        raise wrong_use("The name of a task is needed.", "`actum tasks` lists them.")
    size = len(json.dumps(parameters, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if size > limits.PARAMETERS_BYTES_MAX:
        raise WrongUse(
            "parameters_too_long",
            "The parameters are too long to be sent.",
            f"They take {size} bytes; {limits.PARAMETERS_BYTES_MAX} are allowed.",
            "Use a file input: put the values into a file and give its path.",
        )
    if key is not None and not key.strip():
        raise wrong_use("An empty key names nothing.", "Leave --key out, and a random key is made.")
    return {
        "verb": "run",
        "task": task,
        "version": version,
        "parameters": dict(parameters),
        "base": os.getcwd(),
        "key": key or new_token(),
        "trigger": "command",
        "labels": list(labels),
        "rerun_of": None,
    }


def given_parameters(pairs: Sequence[str], file: str | None) -> dict[str, Any]:
    """The parameters of `--params`, then those of `--set` over them. Values of --set are text. Raises WrongUse."""
    parameters = _from_file(file) if file else {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        parts = name.split(".")
        if not separator or not all(parts):
            raise wrong_use(f"“{pair}” is not a parameter.", "Write NAME=VALUE, for example --set window=12.")
        place = parameters
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                raise wrong_use(f"“{part}” in “{pair}” is a value already, not a record.", "Give it once.")
            place = inner
        place[parts[-1]] = value
    return parameters


def _from_file(file: str) -> dict[str, Any]:
    """A JSON object; numbers with a point stay text, so no digit is lost. Raises WrongUse."""
    bound = 4 * limits.PARAMETERS_BYTES_MAX
    try:
        if file == "-":
            text = sys.stdin.read(bound)
        else:
            with open(file, encoding="utf-8") as stream:
                text = stream.read(bound)
        document = json.loads(text, parse_float=str, parse_constant=_no_constant)
    except OSError as error:
        raise WrongUse(
            "params_unreadable",
            f"The parameters in {file} cannot be read.",
            f"{error.strerror}.",
            "Name a readable file, or - for standard input.",
        ) from error
    except ValueError as error:
        raise WrongUse(
            "params_not_json", f"The parameters in {file} are no JSON object.", f"{error}.", 'For example: {"window": 12}'
        ) from error
    if not isinstance(document, dict):
        raise WrongUse("params_not_json", f"The parameters in {file} are no JSON object.", "", 'For example: {"window": 12}')
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")
