"""The catalogue of fault points and the points in the code are the same list (§5)."""

from __future__ import annotations

import ast
import re
from collections import Counter

from actum import faults

from tests.house.sources import CORE, DESKTOP, calls, modules, place

FAULTS = CORE / "faults.py"


def passages() -> tuple[Counter[str], list[str]]:
    """Catalogued names and unknown ones passed in the code, and places where no name can be read.

    A name may be put together from a part that the caller gives: then it stands for every catalogued name it fits.
    """
    passed: Counter[str] = Counter()
    unreadable = []
    for path in modules(CORE, DESKTOP):
        for name, call in calls(path):
            if path == FAULTS or not (name.endswith("faults.point") or name == "actum.faults.point"):
                continue
            argument = call.args[0] if call.args else None
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                passed[argument.value] += 1
            elif isinstance(argument, ast.JoinedStr):
                fitting = [known for known in faults.CATALOGUE if _pattern(argument).fullmatch(known)]
                passed.update(fitting)
                unreadable += [] if fitting else [place(path, call.lineno)]
            else:
                unreadable.append(place(path, call.lineno))
    return passed, unreadable


def _pattern(name: ast.JoinedStr) -> re.Pattern[str]:
    parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[a-z_.]+" for part in name.values)
    return re.compile("".join(parts))


def test_the_catalogue_is_declared_in_one_place() -> None:
    """`python -m actum.faults` lists what faults.py declares, and imports nothing else."""
    found = [
        place(path, call.lineno)
        for path in modules(CORE, DESKTOP)
        for name, call in calls(path)
        if path != FAULTS and name.startswith("actum.faults.") and ("CATALOGUE" in name or name.endswith(".catalogue"))
    ]
    assert not found, "Declare these points in core/actum/faults.py instead:\n" + "\n".join(found)


def test_every_passage_is_catalogued() -> None:
    passed, unreadable = passages()
    assert not unreadable, "Name the fault point with a plain string, so that it can be listed:\n" + "\n".join(unreadable)
    unknown = sorted(set(passed) - set(faults.CATALOGUE))
    assert not unknown, "Declare these in core/actum/faults.py, saying where they stand:\n" + "\n".join(unknown)


def test_every_catalogued_point_is_passed() -> None:
    passed, _ = passages()
    idle = sorted(set(faults.CATALOGUE) - set(passed))
    assert not idle, "No code passes these points. Pass each on its side of the operation, or take it out:\n" + "\n".join(idle)


def test_every_point_says_where_it_stands() -> None:
    bare = [name for name, where in faults.CATALOGUE.items() if len(where) < 10]
    assert not bare, f"Give these a phrase that says where they stand: {bare}"
