"""R07: no process is signalled on the strength of a pid, a group or a name; one module signals, by proven identity."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.sources import CORE, DESKTOP, TESTS, calls, modules, nodes, place

TERMINATE = CORE / "processes" / "terminate.py"
FAULTS = CORE / "faults.py"
# Helpers are attached children of the controller: Qt has not reaped them, so their pid is theirs.
OWN_CHILDREN = DESKTOP / "controller" / "helpers.py"

BARE = {"os.kill", "os.killpg", "signal.pidfd_send_signal", "signal.pthread_kill", "signal.siginterrupt"}
METHODS = {"kill", "terminate", "send_signal", "killpg"}
BY_NAME = {"pkill", "killall", "taskkill", "fuser"}

REMEDY = (
    "Signal through actum.processes.terminate.signal(identity, signum): it opens the pidfd, checks the identity, then "
    "signals (R07). A pid, a group or a name may belong to another process by now:\n"
)


def findings(path: Path) -> list[str]:
    found = []
    named = {id(call): name for name, call in calls(path)}
    for node in nodes(path):
        if not isinstance(node, ast.Call):
            continue
        name = named.get(id(node), "")
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in BARE or (name == "signal.raise_signal" and path != FAULTS):
            found.append(f"{place(path, node.lineno)} calls {name}")
        elif method in METHODS and not name.startswith("actum.") and path != OWN_CHILDREN:
            found.append(f"{place(path, node.lineno)} calls .{method}()")
    return found + by_name(path)


def by_name(path: Path) -> list[str]:
    return [
        f"{place(path, node.lineno)} names {node.value!r}"
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(" ")[0] in BY_NAME
    ]


def test_r07_only_terminate_signals() -> None:
    found = [line for path in modules(CORE, DESKTOP) if path != TERMINATE for line in findings(path)]
    assert not found, REMEDY + "\n".join(found)


def test_r07_tests_end_nothing_by_name() -> None:
    found = [line for path in modules(TESTS) if path != Path(__file__) for line in by_name(path)]
    assert not found, "End what the test started by its own handle, never by a name:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.kill(1, 9)\n",
        "from os import kill\nkill(1, 9)\n",
        "import os as o\no.killpg(1, 9)\n",
        "import signal\nsignal.pidfd_send_signal(3, 9)\n",
        "import signal\nsignal.raise_signal(9)\n",
        "process.terminate()\n",
        "self.process.kill()\n",
        "run(['pkill', 'python'])\n",
        "run('killall python')\n",
    ],
)
def test_r07_each_way_round_is_seen(tmp_path: Path, source: str) -> None:
    (tmp_path / "tried.py").write_text(source)
    assert findings(tmp_path / "tried.py")
