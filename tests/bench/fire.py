"""The window under fire against itself at rest, in one run: how late a timer of the GUI thread fires (underfire.py).

Each measurement is a run of the whole program, so the scenes of one run are measured together and told row by row. The rows
leave out how long the threads of the window waited for a core: on a machine with neighbours that is theirs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.harness import Comparison
from tests.house.sources import ROOT

SCENES = {
    "flood": "8 hosts reporting, 8 flooding frames, a coloured log at full speed, list and log scrolled",
    "search": "a text looked for in 100,000+ coloured lines, scrolled",
    "table": "20,000,000 rows scrolled while a log and frames flood",
}
P99_MS, MAX_MS = 16.0, 100.0


class Measured:
    """Runs of the program for one scene; each figure of a run is told once, and what is asked for again begins another."""

    def __init__(self, folder: Path, scene: str) -> None:
        self._folder, self._scene = folder, scene
        self._runs = 0
        self._told: set[str] = set()
        self._found: dict[str, dict[str, float]] = {}

    def rest(self, what: str) -> float:
        """Of the same run as the figure that is asked for next, but for the first one."""
        if not self._found:
            self._run()
        return self._found["idle"][what]

    def fire(self, what: str) -> float:
        if not self._found or what in self._told:
            self._run()
        self._told.add(what)
        return self._found[self._scene][what]

    def _run(self) -> None:
        self._runs += 1
        self._told.clear()
        folder = self._folder / f"{self._scene}-{self._runs}"
        folder.mkdir()
        command = [sys.executable, "-m", "tests.bench.underfire", str(folder), self._scene]
        shown = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout
        self._found = json.loads(shown.splitlines()[-1])


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    def row(measured: Measured, scene: str, what: str, reach: float, name: str) -> Comparison:
        return Comparison(
            f"{SCENES[scene]}: GUI timer, {name}",
            "ms",
            lambda: measured.fire(f"held_{what}"),
            lambda: measured.rest(f"held_{what}"),
            "the window at rest",
            f"≤ {reach:g} ms",
            lambda ms, _ratio: ms <= reach,
            rounds=1,
        )

    runs = {scene: Measured(folder, scene) for scene in SCENES}
    bounds = (("p99", P99_MS, "p99"), ("max", MAX_MS, "largest"))
    yield [row(measured, scene, *bound) for scene, measured in runs.items() for bound in bounds]
