"""`actum task show NAME`: what a task runs, what it asks for, what it promises, and its policies."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from typing import Any

from actum_desktop.commands.catalogue import contract_of
from actum_desktop.commands.context import Context
from actum_desktop.commands.output import Output, plain


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of the task")
    parser.add_argument("--task-version", metavar="V", help="a version of it; else the newest")


def run(args: argparse.Namespace, context: Context) -> int:
    contract = contract_of(context, args.name, args.task_version)
    out = context.out
    if out.json:
        out.document("task_show", {"task": contract["name"], "version": contract["version"], "contract": contract})
        return 0
    _print(out, contract)
    return 0


def _print(out: Output, contract: Mapping[str, Any]) -> None:
    out.say(f"{out.toned(plain(contract['name']), 'strong')} {plain(contract['version'])}  {plain(contract.get('title', ''))}")
    if contract.get("description"):
        out.paragraphs(str(contract["description"]))
    out.say()
    out.fields(
        [
            ("Runs", work_text(contract["work"])),
            ("Publishes", ", ".join(contract.get("outputs") or ["*"])),
            ("Requires", ", ".join(contract.get("required") or ()) or None),
            ("Tables", ", ".join(table["name"] for table in contract.get("tables") or ()) or None),
            ("Metrics", ", ".join(metric["name"] for metric in contract.get("metrics") or ()) or None),
        ]
    )
    parameters = contract.get("parameters") or ()
    if parameters:
        out.say()
        out.rows(("PARAMETER", "TYPE", "DEFAULT", ""), [parameter_row(one) for one in parameters])
    out.say()
    out.fields(_policies(contract.get("policies") or {}))


def work_text(work: Mapping[str, Any]) -> str:
    """What is run, as a person would type it; for reading only, no shell ever sees it."""
    if work["kind"] == "program":
        return shlex.join([work["program"], *work.get("arguments", ())])
    if work["kind"] == "function":
        return f"{work['file']}:{work['function']} with {work['interpreter']}"
    return f"built in: {work['name']}"


def parameter_row(parameter: Mapping[str, Any]) -> tuple[str, str, str, str]:
    kind = str(parameter["type"])
    if parameter.get("choices"):
        kind = " | ".join(str(choice) for choice in parameter["choices"])
    default = parameter.get("default")
    shown = "required" if parameter.get("required") else "–" if default is None else str(default)
    unit = f" (in {parameter['unit']})" if parameter.get("unit") else ""
    words = [f"{parameter.get('title') or parameter['name']}{unit}", str(parameter.get("help") or "")]
    return str(parameter["name"]), kind, shown, ": ".join(word for word in words if word)


def _policies(policies: Mapping[str, Any]) -> list[tuple[str, object]]:
    stages = ", ".join(f"{stage} {limit}" for stage, limit in (policies.get("stage_deadlines") or {}).items())
    retry = policies.get("retry") or {}
    return [
        ("Time limit", policies.get("deadline") or "none"),
        ("Stage limits", stages or None),
        ("Warns after", policies.get("stall_after")),
        ("Grace", policies.get("grace")),
        ("Children left", "waited for" if policies.get("after_exit", "wait") == "wait" else "ended"),
        ("Retries", retry.get("maximum", 0)),
    ]
