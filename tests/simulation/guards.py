"""A defect planted in a copy of the program, where the one test that guards against it has to fail.

For what runs in processes of its own (host, helper, command) or in the real store: core, desktop, resources and tests are
copied to a temporary folder, the one line is changed there, and pytest runs the guard there with the copy first on
PYTHONPATH. The host is started by the place of `actum`, helpers and commands inherit the path; so all of them are the copy's.
A guard has *failed* only if its own call did, by an assertion: what cannot be collected, set up or imported proves nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from actum.processes import identity, terminate

from tests.helpers.leaks import marked
from tests.helpers.waiting import wait_until
from tests.simulation.defects import Defect

ROOT = Path(__file__).parents[2]
PARTS = ("core", "desktop", "resources", "tests")
GUARD_S_MAX = 240  # the slowest guards wait in vain for a minute before they say so
ASSERTED = ("AssertionError", "assert ", "Failed: DID NOT RAISE")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a guard: passed, failed (by its own assertion), or neither; `words` say why."""

    passed: bool
    failed: bool
    words: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the program and its tests at `folder`."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Copy:
        for part in PARTS:  # with what was compiled of it, which saves each process a second
            shutil.copytree(ROOT / part, folder / part, ignore=_other_compiled)
        shutil.copy2(ROOT / "pyproject.toml", folder)
        return cls(folder)

    @contextmanager
    def planted(self, defect: Defect) -> Iterator[None]:
        """With the one line changed."""
        path = self.folder / defect.source
        source = path.read_text(encoding="utf-8")
        path.write_text(defect.changed(source), encoding="utf-8")
        _forget_compiled(path)
        try:
            yield
        finally:
            path.write_text(source, encoding="utf-8")
            _forget_compiled(path)

    def run(self, guard: str) -> Verdict:
        """Run one test of the copy."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-evidence", f"--junitxml={report}", guard]
        with subprocess.Popen(
            command, cwd=self.folder, env=self._environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                said, _ = process.communicate(timeout=GUARD_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                said, _ = process.communicate()
            _end_what_is_left(process.pid)
        if not report.exists():
            return Verdict(False, False, f"pytest ended {process.returncode}: {said[-2000:]}")
        return _verdict(report, process.returncode)

    def _environment(self) -> dict[str, str]:
        """This process's, without what belongs to the pytest that may be running here."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "ACTUM_", "PYTHON"))}
        return {**kept, "PYTHONPATH": os.pathsep.join(str(self.folder / part) for part in PARTS[:3])}


def _other_compiled(folder: str, names: list[str]) -> list[str]:
    """Compiled files of other interpreters, and tests as pytest rewrote them, are not copied."""
    return [name for name in names if name.endswith(".pyc") and not name.endswith(f".{sys.implementation.cache_tag}.pyc")]


def _forget_compiled(path: Path) -> None:
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _verdict(report: Path, code: int) -> Verdict:
    """What the report says; an error of set-up or collection is told before any failure."""
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    told = [(kind.tag, str(kind.get("message"))) for case in cases for kind in case]
    words = "; ".join(message.splitlines()[0] for _, message in told if message)
    failures = [message for tag, message in told if tag == "failure"]
    if cases and not told and code == 0:
        return Verdict(True, False, f"{len(cases)} passed")
    failed = code == 1 and len(failures) == 1 and failures[0].startswith(ASSERTED)
    return Verdict(False, failed, words or f"pytest ended {code}")


def _end_what_is_left(owner: int) -> None:
    """A guard that failed may have left hosts and work: ended by identity."""

    def none_left() -> bool:
        left = [found for pid in marked(owner) if (found := identity.of(pid)) is not None]
        return not [each for each in left if terminate.signal(each, signal.SIGKILL) == "sent"]

    wait_until(none_left, what="the end of what a guard left")
