"""R02: one statement writes attempt.status and one run.status; nothing else sets a status, and nothing is forced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import CORE, DESKTOP, dotted, modules, nodes, place

TABLES = ("attempt", "run")
COLUMNS = {"status", "phase", "released"}


def chain_table(call: ast.Call) -> str:
    """The table of `update(table).where(…).values(…)` or `table.update()…`; "" for any other chain."""
    node: ast.AST = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "update" and not node.args:
            return dotted(node.func.value).rpartition(".")[2]
        if node.func.attr == "update" and node.args and dotted(node.func.value) in ("sa", "sqlalchemy"):
            return dotted(node.args[0]).rpartition(".")[2]
        node = node.func.value
    if isinstance(node, ast.Call) and dotted(node.func) == "update" and node.args:
        return dotted(node.args[0]).rpartition(".")[2]
    return ""


def values_written(call: ast.Call) -> set[str]:
    names = {keyword.arg for keyword in call.keywords if keyword.arg}
    for argument in [*call.args, *(keyword.value for keyword in call.keywords if not keyword.arg)]:
        if isinstance(argument, ast.Dict):
            for key in argument.keys:
                if isinstance(key, ast.Constant):
                    names.add(str(key.value))
                elif key is not None:
                    names.add(dotted(key).rpartition(".")[2])
    return names


def sql_text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    return ""


def status_writers(path: Path) -> Iterator[tuple[str, str]]:
    """(table, place) of every statement in `path` that writes a status of one of the two tables."""
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values":
            table = chain_table(node)
            if table in TABLES and "status" in values_written(node):
                yield table, place(path, node.lineno)
        match = re.search(r"\bUPDATE\s+\"?(attempt|run)\"?\s+SET\b(.*?)(\bWHERE\b|$)", sql_text(node), re.I | re.S)
        if match and re.search(r"\bstatus\s*=", match[2]):
            yield match[1].lower(), place(path, getattr(node, "lineno", 0))


def all_writers() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {table: [] for table in TABLES}
    for path in modules(CORE, DESKTOP):
        if "versions" not in path.parts:
            for table, where in status_writers(path):
                found[table].append(where)
    return found


@pytest.mark.parametrize("table", TABLES)
def test_r02_exactly_one_statement_writes_the_status(table: str) -> None:
    found = all_writers()[table]
    assert len(found) == 1, (
        f"{len(found)} statements write {table}.status; there is one, and it looks the arrow up in model/status.py. "
        f"Send the store a Change with an Arrow instead:\n" + "\n".join(found)
    )


def test_r02_nothing_sets_a_status_and_nothing_is_forced() -> None:
    found = []
    for path in modules(CORE / "model", CORE / "store", CORE / "supervise", DESKTOP / "controller"):
        for node in nodes(path):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                for target in targets:
                    if isinstance(target, ast.Attribute) and target.attr in COLUMNS:
                        found.append(f"{place(path, node.lineno)} assigns .{target.attr}")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
                if any(argument.arg == "force" for argument in arguments):
                    found.append(f"{place(path, node.lineno)} {node.name} takes a force flag")
                if re.fullmatch(r"(set|force)_(status|phase|released)", node.name):
                    found.append(f"{place(path, node.lineno)} {node.name} is a setter")
    assert not found, "A status changes by an event looked up in model/status.py, and never otherwise:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ("update(attempt).where(x).values(status='FAILED')", "attempt"),
        ("update(schema.attempt).values({'status': 1})", "attempt"),
        ("run.update().where(a).values(status=b)", "run"),
        ("sa.update(tables.run).values(status=b)", "run"),
        ("text('UPDATE attempt SET contact=1, status = ? WHERE id=1')", "attempt"),
        ("f'update run set status={x} where id={y}'", "run"),
    ],
)
def test_r02_every_way_of_writing_is_seen(tmp_path: Path, source: str, table: str) -> None:
    path = tmp_path / "tried.py"
    path.write_text(source)
    assert table in {found for found, _ in status_writers(path)}


def test_r02_a_condition_on_the_status_is_not_a_write(tmp_path: Path) -> None:
    path = tmp_path / "tried.py"
    path.write_text("text('UPDATE attempt SET contact=1 WHERE status = ?')\nupdate(attempt).values(contact=1)")
    assert not list(status_writers(path))
