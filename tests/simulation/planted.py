"""`python -m tests.simulation.planted [NAME …]`: plant each defect in turn, and print after how many seeds it was caught.

A defect is planted by an import hook in a process of its own: the module is compiled from its source with the one line
changed, and nothing is written anywhere. There seeds are lived through until a check complains; then the same seeds again
with every check switched off, in which nothing may be found, neither by a check nor by an exception. A defect of a real port
is left to the contract tests instead, and one beside this world to the test it names, in a copy of the program (guards.py),
where that test has to pass as long as nothing is planted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.abc
import importlib.machinery
import io
import json
import subprocess
import sys
import tempfile
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.simulation.defects import LIVED, Defect
from tests.simulation.guarded import ELSEWHERE, GUARDED

if TYPE_CHECKING:
    from tests.simulation.guards import Copy

DEFECTS = (*LIVED, *GUARDED)
ROOT = Path(__file__).parents[2]
SEEDS_MAX = 400


@dataclass(frozen=True, slots=True)
class Caught:
    """`seeds` lived through until `check` complained (None: it never did); `accident` = what was found without checks."""

    name: str
    seeds: int
    check: str | None
    rule: str | None
    what: str
    accident: str | None


class Planter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the one module of a defect from its changed source."""

    def __init__(self, defect: Defect) -> None:
        self.path = ROOT / defect.source
        self.name = ".".join(defect.source.with_suffix("").parts[1:])
        self.source = defect.changed(self.path.read_text(encoding="utf-8"))

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=str(self.path))

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def catch(defect: Defect, seeds_max: int, first: int = 0) -> Caught:
    """Plant it in this process, which has not imported the module yet, and live through seeds."""
    for name in [name for name in sys.modules if name.startswith(("actum.model", "actum.supervise", "actum.ipc"))]:
        del sys.modules[name]  # what the table of defects brought in
    planter = Planter(defect)
    sys.meta_path.insert(0, planter)
    if defect.contract:
        return left_to_contracts(defect)
    from tests.simulation.checks import Violation
    from tests.simulation.world import World

    def aimed(seed: int, *, armed: bool) -> Exception | None:
        world = World(seed, armed=armed)
        world.aim(defect.aim)
        try:
            world.run()
        except Exception as error:
            return error
        return None

    found: Violation | None = None
    accident = None
    for seed in range(first, first + seeds_max):
        error = aimed(seed, armed=True)
        if isinstance(error, Violation):
            found = error
            break
        if error is not None:
            accident = f"{type(error).__name__}: {error}"
            break
    for again in range(first, seed + 1):
        error = aimed(again, armed=False)
        accident = accident or (error and f"{type(error).__name__}: {error}")
    check, rule = (found.check, found.rule) if found is not None else (None, None)
    return Caught(defect.name, seed + 1 - first, check, rule, str(found or "never caught"), accident)


def left_to_contracts(defect: Defect) -> Caught:
    """Run the contract tests of this port, which have to fail."""
    import pytest

    tests = str(Path(__file__).with_name("test_contracts.py"))
    with contextlib.redirect_stdout(io.StringIO()):
        failed = pytest.main(["-q", "-x", "-p", "no:randomly", tests, "-k", f"test_{defect.contract}_"])
    caught = failed is pytest.ExitCode.TESTS_FAILED
    check = f"the contract of {defect.contract}" if caught else None
    return Caught(defect.name, 0, check, defect.rule, f"pytest: {failed}", None)


def catch_apart(name: str, seeds_max: int = SEEDS_MAX, first: int = 0) -> Caught:
    """`catch` in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "tests.simulation.planted",
        "--child",
        name,
        "--seeds",
        str(seeds_max),
        "--first",
        str(first),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Caught(**json.loads(done.stdout))


def left_to_guard(defect: Defect, copy: Copy, *, unchanged: bool = True) -> Caught:
    """Run its guard in the copy, which has to fail; and, with `unchanged`, before it is planted, where it has to pass."""
    before = copy.run(defect.guard) if unchanged else None
    accident = f"its guard does not pass: {before.words}" if before is not None and not before.passed else None
    with copy.planted(defect):
        verdict = copy.run(defect.guard)
    return Caught(defect.name, 0, defect.guard if verdict.failed else None, defect.rule, verdict.words, accident)


def told(caught: Caught, defect: Defect) -> str:
    accident = "nothing" if caught.accident is None else f"ACCIDENT {caught.accident[:60]}"
    if defect.guard:
        verdict = f"by {caught.check}" if caught.check else f"NOT by {defect.guard}: {caught.what}"
        return f"{defect.rule:4} {defect.name:66} {verdict} unchanged: {accident}"
    verdict = f"after {caught.seeds:4} seeds by {caught.check}" if caught.check else f"NOT in {caught.seeds} seeds"
    return f"{defect.rule:4} {defect.name:66} {verdict:72} without checks: {accident}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.planted", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=SEEDS_MAX)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    chosen = [defect for defect in DEFECTS if not options.names or defect.name in options.names or defect.rule in options.names]
    if options.child:
        caught = catch(chosen[0], options.seeds, options.first)
        sys.stdout.write(json.dumps({name: getattr(caught, name) for name in Caught.__slots__}))
        return 0
    missed = 0
    from tests.simulation.guards import Copy  # here, for a child plants before it imports

    with tempfile.TemporaryDirectory(prefix="actum-planted") as folder:
        copy = Copy.made(Path(folder)) if any(defect.guard for defect in chosen) else None
        for defect in chosen:
            if copy is not None and defect.guard:
                caught = left_to_guard(defect, copy)
            else:
                caught = catch_apart(defect.name, options.seeds, options.first)
            missed += caught.check is None or caught.accident is not None
            sys.stdout.write(f"{told(caught, defect)}\n")
            sys.stdout.flush()
    for name, where in ELSEWHERE.items() if not options.names else ():
        sys.stdout.write(f"{name:4} not planted: {where}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
