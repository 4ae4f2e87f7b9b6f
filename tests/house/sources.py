"""What the house rules read: the tracked files of the repository, and the syntax trees of our own modules."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "actum"
DESKTOP = ROOT / "desktop" / "actum_desktop"
TESTS = ROOT / "tests"


@lru_cache(maxsize=1)
def tracked() -> tuple[Path, ...]:
    """Every file under version control that is there, as paths relative to the root."""
    shown = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    paths = (Path(name) for name in shown.decode().split("\0") if name)
    return tuple(path for path in paths if (ROOT / path).is_file())


def modules(*folders: Path) -> Iterator[Path]:
    """The Python files below `folders`, absolute, in order."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


def place(path: Path, line: int = 0) -> str:
    """`core/actum/limits.py:12`, as editors open it."""
    relative = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return f"{relative}:{line}" if line else relative


def dotted(node: ast.AST) -> str:
    """`os.kill` for the expression of that name; "" for anything that is not a plain dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def imported_names(path: Path) -> dict[str, str]:
    """Local name → full dotted name, for every import in the file."""
    names: dict[str, str] = {}
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def imported_modules(path: Path) -> set[str]:
    """Full name of every module, or member of a module, that the file imports."""
    plain = {a.name for node in nodes(path) if isinstance(node, ast.Import) for a in node.names}
    return plain | set(imported_names(path).values())


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call by a plain dotted name, with the name as its import spells it (`from os import kill` → os.kill)."""
    names = imported_names(path)
    for node in nodes(path):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            head, _, rest = name.partition(".")
            if head in names:
                name = names[head] + (f".{rest}" if rest else "")
            yield name, node
