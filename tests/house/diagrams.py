"""Draws the tables of the code as text: statuses, arrows, reconciliation, modules, commands."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from actum.model.status import PAIRS, RELEASING, Pair, Phase, arrows
from actum.supervise.reconcile import ROWS, Row
from actum_desktop.commands.parser import VERBS

from tests.house.sources import CORE, DESKTOP, ROOT, modules, tree


def _node(pair: Pair) -> str:
    return f"{pair.status}_{pair.phase}"


def statuses() -> str:
    """A mermaid state diagram. Double-ringed ends are closed pairs; those that release the slot say so."""
    lines = ["```mermaid", "stateDiagram-v2", "    direction TB"]
    for pair in PAIRS:
        note = "<br/>released" if pair in RELEASING else ""
        lines.append(f'    state "{pair.status}<br/>{pair.phase}{note}" as {_node(pair)}')
    first = next(pair for pair in PAIRS if pair.phase is Phase.QUEUED)
    lines.append(f"    [*] --> {_node(first)}")
    ways: dict[tuple[Pair, Pair], list[str]] = {}
    for before, event, target in arrows():
        ways.setdefault((before, target), []).append(event.value)
    lines += [f"    {_node(b)} --> {_node(t)} : {', '.join(events)}" for (b, t), events in ways.items()]
    lines += [f"    {_node(pair)} --> [*]" for pair in PAIRS if pair.phase is Phase.CLOSED]
    return "\n".join([*lines, "```"])


def arrow_table() -> str:
    """The same arrows as a table, for readers without a drawing."""
    lines = ["| status / phase | event | next | releases |", "|---|---|---|---|"]
    for before, event, target in arrows():
        releases = "yes" if target in RELEASING and before not in RELEASING else ""
        lines.append(f"| {before} | {event} | {target} | {releases} |")
    return "\n".join(lines)


def _words(values: Iterable[str]) -> str:
    return ", ".join(sorted(str(value) for value in values)) or "any"


def _evidence(row: Row) -> str:
    parts = {"host": row.host, "outcome": row.outcome, "tree": row.tree, "claim": row.claim, "package": row.package}
    return "; ".join(f"{name} {_words(values)}" for name, values in parts.items() if values) or "any"


def reconciliation() -> str:
    """§6 as the code has it; the first matching row counts."""
    lines = ["| # | status | phase | released | evidence | action |", "|---|---|---|---|---|---|"]
    for row in ROWS:
        released = {None: "any", True: "yes", False: "no"}[row.released]
        statuses = _words(status.value for status in row.statuses)
        phases = _words(phase.value for phase in row.phases)
        lines.append(f"| {row.number} | {statuses} | {phases} | {released} | {_evidence(row)} | {row.action} |")
    return "\n".join(lines)


def _sentence(path: Path) -> str:
    docstring = ast.get_docstring(tree(path)) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def modules_map() -> str:
    """Every module with its first sentence, by package."""
    lines: list[str] = []
    paths = [path for path in modules(CORE, DESKTOP) if "versions" not in path.parts]
    by_package = sorted(paths, key=lambda path: (path.parent.as_posix(), path.name != "__init__.py", path.name))
    for folder, members in groupby(by_package, key=lambda path: path.parent):
        lines += ["", f"**{folder.relative_to(ROOT).as_posix()}**", ""]
        for path in members:
            name = "(package)" if path.name == "__init__.py" else path.stem
            lines.append(f"- `{name}` {_sentence(path)}")
    return "\n".join(lines)


def commands() -> str:
    lines = ["| command | what it does |", "|---|---|", "| `actum` | open the window |"]
    lines += [f"| `actum {name}` | {summary} |" for name, (_, summary) in VERBS.items()]
    return "\n".join(lines)
