"""Sizes as a ratchet: files and functions stay short enough to be read in one go (STYLE)."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

from tests.house.sources import CORE, DESKTOP, ROOT, TESTS, modules, nodes, place, text

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

# What the program has reached; each may be lowered, never raised.
FILE_LINES_MEDIAN = 150
FILE_LINES_P90 = 350
FUNCTION_LINES_MEDIAN = 12
FUNCTION_LINES_P90 = 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_files() -> list[Path]:
    ours = [path for path in modules(CORE, DESKTOP) if path.name != "__init__.py"]
    return [path for path in ours if "versions" not in path.parts]  # migrations are written once and kept


def function_lines(function: Function) -> int:
    """Lines of a function without its docstring."""
    assert function.end_lineno is not None
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def functions(path: Path) -> list[tuple[str, int, int]]:
    found = (node for node in nodes(path) if isinstance(node, Function))
    return [(function.name, function.lineno, function_lines(function)) for function in found]


def test_no_file_is_longer_than_the_ceiling() -> None:
    everything = [*modules(CORE, DESKTOP, TESTS, ROOT / "packaging")]
    long = [f"{place(path)}: {n} lines" for path in everything if (n := len(text(path).splitlines())) > FILE_LINES_MAX]
    message = f"Over {FILE_LINES_MAX} lines. Split the file along a seam a reader would expect (one verb, one concern):\n"
    assert not long, message + "\n".join(long)


def test_no_function_is_longer_than_the_ceiling() -> None:
    long = [
        f"{place(path, line)} {name}: {lines} lines"
        for path in modules(CORE, DESKTOP, TESTS, ROOT / "packaging")
        if "versions" not in path.parts  # a migration is one long list, written once
        for name, line, lines in functions(path)
        if lines > FUNCTION_LINES_MAX
    ]
    message = f"Over {FUNCTION_LINES_MAX} lines. Give each step a function that is named for what it does:\n"
    assert not long, message + "\n".join(long)


def test_files_and_functions_stay_short_as_a_rule() -> None:
    files = sorted(len(text(path).splitlines()) for path in source_files())
    lengths = sorted(lines for path in source_files() for _, _, lines in functions(path))
    reached = {
        "median of files": (statistics.median(files), FILE_LINES_MEDIAN),
        "p90 of files": (files[len(files) * 9 // 10], FILE_LINES_P90),
        "median of functions": (statistics.median(lengths), FUNCTION_LINES_MEDIAN),
        "p90 of functions": (lengths[len(lengths) * 9 // 10], FUNCTION_LINES_P90),
    }
    grown = [f"{what}: {now} lines, was at most {most}" for what, (now, most) in reached.items() if now > most]
    assert not grown, "The program as a whole has grown longer pieces. Shorten the newest ones:\n" + "\n".join(grown)


def test_a_docstring_does_not_count() -> None:
    module = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n')
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert function_lines(function) == 3
