"""The tests themselves: they wait for conditions, skip with a reason, and mock nothing of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.sources import TESTS, calls, modules, place

WAITING = TESTS / "helpers" / "waiting.py"
WORK = {TESTS / "helpers" / "work", TESTS / "helpers" / "zoo"}  # programs that tests give Actum to run; to sleep is their job


def sleeps(path: Path) -> list[str]:
    names = ("time.sleep", "PySide6.QtTest.QTest.qWait", "PySide6.QtTest.QTest.qSleep", "asyncio.sleep")
    return [place(path, call.lineno) for name, call in calls(path) if name in names or name == "qtbot.wait"]


def skips(path: Path) -> list[str]:
    """Skips and expected failures that give no reason, and every xfail that is not strict."""
    found = []
    for name, call in calls(path):
        reasons = [k.value for k in call.keywords if k.arg == "reason"]
        if name == "pytest.skip":
            reasons += call.args[:1]
        elif name not in ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "pytest.importorskip"):
            continue
        if not reasons or any(isinstance(r, ast.Constant) and len(str(r.value)) < 10 for r in reasons):
            found.append(place(path, call.lineno))
    for decorator in (d for node in ast.walk(ast.parse(path.read_text())) for d in getattr(node, "decorator_list", [])):
        if ast.unparse(decorator) in ("pytest.mark.skip", "pytest.mark.xfail"):
            found.append(place(path, decorator.lineno))
    return found


def test_no_test_sleeps() -> None:
    found = [line for path in modules(TESTS) if path != WAITING and WORK.isdisjoint(path.parents) for line in sleeps(path)]
    assert not found, "Wait for the condition: tests.helpers.waiting.wait_until(…):\n" + "\n".join(found)


def test_every_skip_says_why() -> None:
    found = [line for path in modules(TESTS) for line in skips(path)]
    assert not found, "Say in reason= what is missing and what would make the test run:\n" + "\n".join(found)


def test_nothing_of_ours_is_mocked() -> None:
    found = [
        place(path, call.lineno)
        for path in modules(TESTS)
        for name, call in calls(path)
        if name.startswith(("unittest.mock.", "mock.", "mocker."))
    ]
    assert not found, "Join two real ends, or pass the part in by the constructor:\n" + "\n".join(found)


@pytest.mark.parametrize("source", ["import time\ntime.sleep(1)", "from time import sleep as s\ns(1)", "qtbot.wait(5)"])
def test_a_sleep_is_seen(tmp_path: Path, source: str) -> None:
    (tmp_path / "tried.py").write_text(source)
    assert sleeps(tmp_path / "tried.py")


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\n@pytest.mark.skip\ndef f(): ...",
        "import pytest\npytest.skip()",
        "import pytest\n@pytest.mark.skipif(True, reason='later')\ndef f(): ...",
    ],
)
def test_a_skip_without_a_reason_is_seen(tmp_path: Path, source: str) -> None:
    (tmp_path / "tried.py").write_text(source)
    assert skips(tmp_path / "tried.py")
