"""The command line as arguments: one parser a verb, errors as `WrongUse` instead of an exit from within.

`VERBS` is the table of verbs: name → (module, one line of help). A verb's module is imported when it is called, and not
before: `actum --help` and a wrong verb import none.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol, cast

from actum import __version__
from actum.errors import WrongUse

from actum_desktop.commands.context import Context

VERBS: dict[str, tuple[str, str]] = {
    "run": ("run", "run a task, wait until the run is closed, print its ledger"),
    "runs": ("runs", "list runs, the newest first"),
    "show": ("show", "one run: status, ledger, attempts, inputs"),
    "facts": ("facts", "the facts of a run with their evidence"),
    "logs": ("logs", "what the work of a run printed"),
    "stop": ("stop", "end the work of a run"),
    "adopt": ("adopt", "take up what a run sealed and nobody published, as a new run"),
    "results": ("results", "the metrics, tables and files of a run"),
    "compare": ("compare", "runs side by side: parameters, metrics, and whether they are like for like"),
    "verify": ("verify", "check a published result again"),
    "pack": ("pack", "make a published result one file, for others to read and verify"),
    "export": ("export", "write tables of results to files, whole or filtered"),
    "tasks": ("tasks", "list tasks"),
    "task show": ("task_show", "one task: its parameters, outputs and policies"),
    "task add": ("task_add", "define a task from a program or a Python function"),
    "alerts": ("alerts", "what needs attention"),
    "reconcile": ("reconcile", "look at everything that was left open and give each a verdict"),
    "queue": ("queue", "pause or resume the start of waiting runs"),
    "settings": ("settings", "what is set for this workspace, and setting it"),
    "supervise": ("supervise", "supervise without a window"),
    "audit": ("audit", "check the workspace against itself"),
    "doctor": ("doctor", "what Actum finds on this machine"),
    "demo": ("demo", "run the sample task from start to exported tables"),
}


class Verb(Protocol):
    """What a verb's module offers."""

    def arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace, context: Context) -> int: ...


@dataclass(frozen=True, slots=True)
class Call:
    """One command line, taken apart. `verb` is None for the bare `actum`, which opens the window."""

    verb: str | None
    args: argparse.Namespace
    run: Callable[[argparse.Namespace, Context], int] | None = None


class HelpAsked(Exception):
    """`--help` or `--version`: the text to print; the exit code is 0."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of printing and leaving."""

    def error(self, message: str) -> NoReturn:
        usage = self.format_usage().removeprefix("usage: ").strip()
        raise WrongUse(
            "wrong_use",
            f"{message[:1].upper()}{message[1:]}.",
            f"Usage: {' '.join(usage.split())}",
            f"`{self.prog} --help` explains.",
        )

    def print_help(self, file: object = None) -> None:
        raise HelpAsked(self.format_help())


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether `--json` stands among the words, before any `--`: known before parsing, so that parsing errors obey it."""
    known = list(words[: words.index("--")] if "--" in words else words)
    return "--json" in known


def parse(words: Sequence[str]) -> Call:
    """Take one command line apart. Raises WrongUse, HelpAsked."""
    common, rest = _common(words)
    if not rest:
        return Call(None, common)
    verb, arguments = _verb(rest)
    module_name, summary = VERBS[verb]
    module = cast(Verb, importlib.import_module(f"actum_desktop.commands.{module_name}"))
    parser = Parser(prog=f"actum {verb}", description=f"{summary[:1].upper()}{summary[1:]}.", allow_abbrev=False)
    _add_common(parser)
    module.arguments(parser)
    args = parser.parse_args(_joined(arguments, getattr(module, "TAKES_ANY_WORD", ())))
    args.json = args.json or common.json
    args.workspace = args.workspace or common.workspace
    return Call(verb, args, module.run)


def _joined(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """`--arg -x` as `--arg=-x`: the word after one of `options` is its value, whatever it looks like."""
    rest, joined = list(words), []
    while rest:
        word = rest.pop(0)
        joined.append(f"{word}={rest.pop(0)}" if word in options and rest else word)
    return joined


def _common(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options before the verb, and the rest."""
    common = argparse.Namespace(json=False, workspace=None)
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, separator, value = word.partition("=")
        if word == "--json":
            common.json = True
        elif name == "--workspace":
            if not separator and not rest:
                raise WrongUse("wrong_use", "--workspace needs a folder.", "", "For example: actum --workspace ~/actum runs")
            common.workspace = value if separator else rest.pop(0)
        elif word in ("-h", "--help"):
            raise HelpAsked(_overview())
        elif word == "--version":
            raise HelpAsked(f"actum {__version__}\n")
        else:
            raise WrongUse("wrong_use", f"Actum has no option {word}.", "", "`actum --help` lists verbs and options.")
    return common, rest


def _verb(rest: list[str]) -> tuple[str, list[str]]:
    """The verb, which may be two words, and its arguments."""
    pair = " ".join(rest[:2])
    if pair in VERBS:
        return pair, rest[2:]
    if rest[0] in VERBS:
        return rest[0], rest[1:]
    group = [name for name in VERBS if name.startswith(rest[0] + " ")]
    if group:
        if any(word in ("-h", "--help") for word in rest[1:]):
            raise HelpAsked("".join(f"{f'actum {name}':22}{VERBS[name][1]}\n" for name in group))
        raise WrongUse(
            "wrong_use",
            f"“{rest[0]}” needs a second word.",
            f"There are: {', '.join(group)}.",
            f"`actum {rest[0]} --help` explains.",
        )
    import difflib  # late: of use only where a verb is misspelt

    near = difflib.get_close_matches(rest[0], VERBS, n=1)
    remedy = f"Did you mean `actum {near[0]}`?" if near else "`actum --help` lists the verbs."
    raise WrongUse("wrong_use", f"Actum has no verb “{rest[0]}”.", "", remedy)


def _add_common(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("everywhere")
    group.add_argument("--json", action="store_true", help="print JSON objects, one a line, instead of text")
    group.add_argument("--workspace", metavar="DIR", help="the workspace; else ACTUM_HOME, else yours")


def _overview() -> str:
    verbs = "".join(f"  {name:12}{summary}\n" for name, (_, summary) in VERBS.items())
    return (
        "usage: actum [--workspace DIR] [--json] [VERB …]\n\n"
        "Is this work really done, and how do we know?\n"
        "Without a verb the window opens. `actum VERB --help` explains a verb.\n\n"
        f"verbs:\n{verbs}\n"
        "everywhere:\n"
        "  --json          print JSON objects, one a line, instead of text\n"
        "  --workspace DIR the workspace; else ACTUM_HOME, else yours\n"
        "  --version       print the version\n\n"
        "exit codes: 0 done; 1 the run failed or timed out; 2 wrong use; 3 not found; 4 conflict; 5 a check failed;\n"
        "6 stopped; 7 cannot tell; 8 workspace unusable; 75 busy, try again; 130 interrupted\n"
    )
