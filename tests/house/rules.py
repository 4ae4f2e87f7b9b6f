"""Which tests guard which rule of DESIGN §2: rule numbers are collected from the tests that name them."""

from __future__ import annotations

import re

from tests.house.sources import TESTS, modules, text

RULES = {
    "R01": "SUCCEEDED only after the fourteen facts, each committed before the effect of the next step",
    "R02": "every status change is a conditional update; one statement writes it; no force",
    "R03": "terminal is final; late messages are shown and change nothing",
    "R04": "nothing is acknowledged before it is committed",
    "R05": "same key and same request: the same run; another request: a conflict",
    "R06": "a slot is free only at released",
    "R07": "no process is signalled but by proven identity",
    "R08": "work is ended only by a user, a declared deadline or limit, or as the rest of a dead tree",
    "R09": "every leftover gets a verdict before a new run starts; cannot tell is a verdict",
    "R10": "progress stays under 100 % until the reference is committed",
    "R11": "every bound is in limits.py, has a stated behaviour, and is tested at and above",
    "R12": "progress may be replaced; decisions, facts and records are never",
    "R13": "results are read through published manifests only; other files are labelled",
    "R14": "one authority per table; every other format is derived and compared",
    "R15": "a missing metric has a status and a reason, never 0 or NaN",
    "R16": "history and availability are stored and shown apart",
    "R17": "inputs are frozen once per run, by copy or by pin",
    "R18": "a crash at any instruction leaves a state from which reconciliation converges",
    "R19": "names, parameters, log lines and cells are data",
    "R20": "everything works with the network off",
}

_NAMED = re.compile(r"(?<![A-Za-z0-9])[Rr](0[1-9]|1[0-9]|20)(?![0-9])")
_RANGE = re.compile(r"\bR(\d\d)[–-]R(\d\d)\b")
OURS = ("rules.py", "test_generated.py")


def named_in_tests() -> dict[str, list[str]]:
    """Rule → test files that name it, relative to tests/, in order."""
    found: dict[str, list[str]] = {rule: [] for rule in RULES}
    for path in modules(TESTS):
        if not path.name.startswith("test_") or path.name in OURS:
            continue
        numbers = {int(number) for number in _NAMED.findall(text(path))}
        for first, last in _RANGE.findall(text(path)):
            numbers |= set(range(int(first), int(last) + 1))
        for number in numbers:
            found[f"R{number:02}"].append(path.relative_to(TESTS).as_posix())
    return found


def table() -> str:
    lines = ["| rule | what it promises | tests that name it |", "|---|---|---|"]
    for rule, files in named_in_tests().items():
        names = ", ".join(f"`{file.removesuffix('.py')}`" for file in files)
        lines.append(f"| {rule} | {RULES[rule]} | {names} |")
    return "\n".join(lines)
