"""R11: every bound stands in limits.py, is used by the program, and is named in the tests at and above it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from actum import limits

from tests.house.sources import CORE, DESKTOP, TESTS, calls, modules, nodes, place, text

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


def named_in(paths: list) -> set[str]:  # type: ignore[type-arg]
    """What `used_in` finds, and the names that monkeypatch.setattr(…, "NAME", small) replaces."""
    found = used_in(paths)
    for path in paths:
        for _, call in calls(path):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "setattr":
                found.update(str(word.value) for word in call.args if isinstance(word, ast.Constant))
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
    named = named_in([path for path in modules(TESTS) if not path.is_relative_to(TESTS / "house")])
    bare = sorted(set(names()) - named - untested())
    assert not bare, "Add a test at the bound and one just above it, naming limits.<NAME>:\n" + "\n".join(bare)


def test_r11_the_list_of_untested_limits_only_shrinks() -> None:
    named = named_in([path for path in modules(TESTS) if not path.is_relative_to(TESTS / "house")])
    settled = sorted(untested() & named | untested() - set(names()))
    assert not settled, f"These have a test now, or are gone. Take them out of {UNTESTED.name}:\n" + "\n".join(settled)


def test_r11_a_limit_says_its_unit() -> None:
    bare = [name for name in names() if not UNITS & set(name.split("_"))]
    assert not bare, "End the name with its unit (FRAME_BYTES_MAX, RECONCILE_EVERY_S):\n" + "\n".join(bare)


BOUND = re.compile(r"_?[A-Z][A-Z0-9_]*_((BYTES|ROWS|LINES|CHARS|S|MS|ENTRIES|REQUESTS|CACHE|CACHED|QUEUE)_MAX|LIMIT|TIMEOUT_S)")
OWN_BOUNDS = (CORE / "sdk",)  # imports nothing of ours


def test_r11_bounds_stand_nowhere_else() -> None:
    found = []
    for path in modules(CORE, DESKTOP):
        if path == LIMITS or any(path.is_relative_to(folder) for folder in OWN_BOUNDS):
            continue
        for node in nodes(path):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if targets and isinstance(node.value, (ast.Constant, ast.BinOp)):
                found += [f"{place(path, node.lineno)} {n}" for t in targets if BOUND.fullmatch(n := getattr(t, "id", ""))]
    assert not found, "A bound belongs into core/actum/limits.py, with its behaviour and its tests:\n" + "\n".join(found)


def test_r11_no_cache_is_without_a_bound() -> None:
    """`functools.cache` and maxsize=None keep what they are given for ever; a function without arguments keeps one thing."""
    found = []
    for path in modules(CORE, DESKTOP):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.kwonlyargs):
                found += [place(path, d.lineno) for d in node.decorator_list if ast.unparse(d) in UNBOUNDED]
    assert not found, "Give the cache a bound from limits.py, as lru_cache(maxsize=limits.…_CACHED_MAX):\n" + "\n".join(found)


UNBOUNDED = {"cache", "functools.cache", "lru_cache(maxsize=None)", "functools.lru_cache(maxsize=None)", "lru_cache(None)"}
