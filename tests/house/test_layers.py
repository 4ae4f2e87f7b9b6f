"""The layers of DESIGN §14 hold: import-linter's contracts, and proof that our own kind of contract can fail."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from grimp import ImportGraph

from tests.house.only_contract import OnlyContract
from tests.house.sources import DESKTOP, ROOT, imported_names, modules, nodes, place

THREADS_AND_PROCESSES = {"QProcess", "QThread", "QLocalServer", "QLocalSocket"}


def test_the_import_contracts_of_pyproject_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    message = "A layer is crossed (see [tool.importlinter] in pyproject.toml for what each package may import):\n"
    assert shown.returncode == 0, message + shown.stdout[shown.stdout.find("Contracts") :] + shown.stderr


def graph_of(*imports: tuple[str, str]) -> ImportGraph:
    graph = ImportGraph()
    for name in {name for pair in imports for name in pair}:
        graph.add_module(name, is_squashed=not name.startswith("ours"))
    for importer, imported in imports:
        graph.add_import(importer=importer, imported=imported)
    return graph


def contract(**options: list[str]) -> OnlyContract:
    return OnlyContract("tried", {}, {"source_modules": ["ours.host"], **options})


@pytest.mark.parametrize(
    ("imports", "broken"),
    [
        ([("ours.host.main", "ours.errors"), ("ours.host.main", "json")], []),
        ([("ours.host.main", "ours.store")], ["ours.host.main -> ours.store"]),
        ([("ours.host.main", "pyarrow")], ["ours.host.main -> pyarrow"]),
        ([("ours.host.main", "socket")], ["ours.host.main -> socket"]),
        (
            [("ours.host.main", "ours.errors"), ("ours.errors", "ours.store"), ("ours.store", "sqlalchemy")],
            ["ours.host.main -> ours.errors -> ours.store", "ours.host.main -> ours.errors -> ours.store -> sqlalchemy"],
        ),
        ([("ours.other", "ours.store")], ["ours.host: no such package; the contract guards nothing"]),
    ],
)
def test_a_contract_by_allowance_sees_direct_and_indirect_imports(imports: list[tuple[str, str]], broken: list[str]) -> None:
    graph = graph_of(*imports)
    if any(name.startswith("ours.host") for pair in imports for name in pair):
        graph.add_module("ours.host")
    tried = contract(allowed_modules=["ours.errors"], allowed_external=["stdlib"], refused_external=["socket"])
    check = tried.check(graph, verbose=False)
    assert (check.kept, check.metadata["broken"]) == (not broken, broken)


def test_only_the_controller_touches_processes_threads_and_the_local_server() -> None:
    crossed = []
    for path in modules(DESKTOP):
        if path.is_relative_to(DESKTOP / "controller"):
            continue
        used = {name.rpartition(".")[2] for name in imported_names(path).values() if name.startswith("PySide6.")}
        used |= {getattr(node, "attr", "") for node in nodes(path)}
        crossed += [f"{place(path)} uses {name}" for name in sorted(used & THREADS_AND_PROCESSES)]
    assert not crossed, (
        "Only actum_desktop/controller touches processes, threads and the local server (§14). Ask the bridge for it "
        "with a command, or use QThreadPool for a bounded read:\n" + "\n".join(crossed)
    )


def test_no_signal_carries_a_bare_number() -> None:
    """PySide6 does not check Signal(int): None becomes 0, 2.9 becomes 2, 2**40 overflows (STYLE habit 9)."""
    wrong = []
    for path in modules(DESKTOP):
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Signal":
                kinds = {getattr(argument, "id", getattr(argument, "value", "")) for argument in node.args}
                if kinds & {"int", "float", "bool"}:
                    wrong.append(place(path, node.lineno))
    assert not wrong, "Declare Signal(object) and emit one frozen dataclass (controller/events.py):\n" + "\n".join(wrong)


def test_nothing_but_a_slot_quits_the_application() -> None:
    """`signal.connect(app.quit)` runs in the thread of the signal, and from another thread than the GUI's it deadlocks."""
    wrong = []
    for path in modules(DESKTOP):
        for node in nodes(path):
            is_connect = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "connect"
            if is_connect and any(getattr(argument, "attr", "") in ("quit", "exit") for argument in node.args):
                wrong.append(place(path, node.lineno))
    assert not wrong, "Connect a slot of a QObject in the GUI thread, and quit there:\n" + "\n".join(wrong)
