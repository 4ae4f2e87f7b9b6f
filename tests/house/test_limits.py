"""R11: every bound stands in limits.py, is used by the program, and is named in the tests at and above it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from actum import limits

from tests.house.sources import CORE, DESKTOP, TESTS, modules, nodes, text

LIMITS = CORE / "limits.py"
UNTESTED = TESTS / "house" / "limits_untested.txt"  # a ratchet: it may only become shorter
UNITS = {
    "BYTES", "S", "MS", "US", "ROWS", "CHARS", "MAX", "MIN", "DEFAULT", "PERCENT", "LINES", "FILES", "REQUESTS",
    "TRIES", "SECONDS", "DIGITS", "DAYS", "COUNT", "COLUMNS", "FACTOR", "HZ", "PIXELS", "PX", "FRAMES", "ENTRIES",
    "PROCESSES", "RECORDS", "POINTS", "THREADS", "DEPTH", "NAMES", "SLOTS", "ITEMS", "PAGES", "RUNS", "SEGMENTS",
    "S_MAX", "MEMBERS", "APART", "BITS",
}  # fmt: skip


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    return tuple(name for name in vars(limits) if name.isupper() and not name.startswith("_"))


def used_in(paths: list) -> set[str]:  # type: ignore[type-arg]
    found: set[str] = set()
    for path in paths:
        for node in nodes(path):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, (ast.ImportFrom,)):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.Name):
                found.add(node.id)
    return found


def untested() -> set[str]:
    lines = text(UNTESTED).splitlines() if UNTESTED.exists() else []
    return {line.split("#")[0].strip() for line in lines} - {""}


def test_r11_every_limit_is_used() -> None:
    used = used_in([path for path in modules(CORE, DESKTOP) if path != LIMITS])
    built_on = set(re.findall(r"=.*\b([A-Z][A-Z_]+)\b", text(LIMITS)))
    idle = sorted(set(names()) - used - built_on)
    assert not idle, "No code keeps these bounds. Use each where it bounds something, or take it out:\n" + "\n".join(idle)


def test_r11_every_limit_is_named_in_a_test() -> None:
    named = used_in([path for path in modules(TESTS) if not path.is_relative_to(TESTS / "house")])
    bare = sorted(set(names()) - named - untested())
    assert not bare, "Add a test at the bound and one just above it, naming limits.<NAME>:\n" + "\n".join(bare)


def test_r11_the_list_of_untested_limits_only_shrinks() -> None:
    named = used_in([path for path in modules(TESTS) if not path.is_relative_to(TESTS / "house")])
    settled = sorted(untested() & named | untested() - set(names()))
    assert not settled, f"These have a test now, or are gone. Take them out of {UNTESTED.name}:\n" + "\n".join(settled)


def test_r11_a_limit_says_its_unit() -> None:
    bare = [name for name in names() if not UNITS & set(name.split("_"))]
    assert not bare, "End the name with its unit (FRAME_BYTES_MAX, RECONCILE_EVERY_S):\n" + "\n".join(bare)


def test_r11_bounds_stand_nowhere_else() -> None:
    found = []
    for path in modules(CORE, DESKTOP):
        if path == LIMITS:
            continue
        for node in nodes(path):
            if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.BinOp)):
                for target in node.targets:
                    name = getattr(target, "id", "")
                    if re.fullmatch(r"_?[A-Z][A-Z0-9_]*_(MAX|LIMIT|TIMEOUT_S|MAXIMUM)", name):
                        found.append(f"{path.name}:{node.lineno} {name}")
    assert not found, "A bound belongs into core/actum/limits.py, with its behaviour and its tests:\n" + "\n".join(found)
