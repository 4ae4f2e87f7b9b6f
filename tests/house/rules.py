"""Which tests name which rule of DESIGN §2. A name is a claim: that a test would fail without its rule is shown elsewhere,
by breaking the rule (`tests/simulation/planted.py`), and by nothing here.

A range names the rules in it. The simulation says its rules as ranges, and there one counts only where one of its checks
(`@at(…, rule)` in tests/simulation/rules) looks for that very rule.
"""

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
_CHECKED = re.compile(r'^@at\("\w+", "R(\d\d)"', re.MULTILINE)
SIMULATION = TESTS / "simulation"
OURS = ("rules.py", "test_generated.py")


def named_in_tests() -> dict[str, list[str]]:
    """Rule → test files that name it, relative to tests/, in order."""
    found: dict[str, list[str]] = {rule: [] for rule in RULES}
    for path in modules(TESTS):
        if not path.name.startswith("test_") or path.name in OURS:
            continue
        for number in named(text(path), checked_in_simulation() if path.is_relative_to(SIMULATION) else None):
            found[f"R{number:02}"].append(path.relative_to(TESTS).as_posix())
    return found


def named(words: str, checked: set[int] | None = None) -> set[int]:
    """The rules that a text names, one by one or as ranges; of ranges only those `checked`, where that is given."""
    ranges = _RANGE.findall(words)
    inside = {number for first, last in ranges for number in range(int(first), int(last) + 1)}
    alone = {int(number) for number in _NAMED.findall(_RANGE.sub("", words))}
    return alone | (inside if checked is None else inside & checked)


def checked_in_simulation() -> set[int]:
    """The rules that the checks of the simulated world look for."""
    return {int(number) for path in modules(SIMULATION / "rules") for number in _CHECKED.findall(text(path))}


def table() -> str:
    lines = ["| rule | what it promises | tests that name it (that they guard it is their claim) |", "|---|---|---|"]
    for rule, files in named_in_tests().items():
        names = ", ".join(f"`{file.removesuffix('.py')}`" for file in files)
        lines.append(f"| {rule} | {RULES[rule]} | {names} |")
    return "\n".join(lines)
