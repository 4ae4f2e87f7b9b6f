"""`actum tasks`: the tasks of this workspace and the built-in ones."""

from __future__ import annotations

import argparse

from actum_desktop.commands.context import Context


def arguments(parser: argparse.ArgumentParser) -> None:
    """`actum tasks` takes no arguments of its own."""


def run(args: argparse.Namespace, context: Context) -> int:
    from actum_desktop.commands.catalogue import known_tasks

    out = context.out
    tasks = known_tasks(context)
    if out.json:
        for task in tasks:
            out.document("tasks", task.to_json())
        return 0
    out.rows(
        ("TASK", "VERSION", "KIND", "TITLE"),
        [(task.name, task.version, task.kind, task.title) for task in tasks],
    )
    return 0
