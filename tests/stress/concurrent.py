"""Twenty runs at once for as long as it is told, while command lines read: nobody meets a locked database, all succeed."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from actum.store.queries import Reader

from tests.helpers.zookeeper import Den, Keeper

AT_ONCE = 20
PATIENCE_S = 300  # twenty trees at once, perhaps at the lowest priority
LOCKED = ("database is locked", "database table is locked", "workspace_busy")
READING = (("runs", "-n", "20"), ("alerts",), ("tasks",), ("doctor",))


@dataclass
class Found:
    """Attributes: runs (status → count), reads (command lines that read meanwhile), problems."""

    runs: Counter[str] = field(default_factory=Counter)
    reads: int = 0
    problems: list[str] = field(default_factory=list)


def concurrent(folder: Path, seconds: float, at_once: int = AT_ONCE, steps: int = 20) -> Found:
    """Keep `at_once` runs going for `seconds`, then let them end, and look at everything that was said."""
    found = Found()
    keeper = Keeper(folder, slots=at_once, patience_s=PATIENCE_S)
    try:
        end = time.monotonic() + seconds
        open_dens: list[Den] = []
        begun = 0
        while time.monotonic() < end or open_dens or begun < at_once:
            open_dens = _still_open(keeper, open_dens, found)
            while len(open_dens) < at_once and (time.monotonic() < end or begun < at_once):
                open_dens.append(keeper.release("worker", steps + begun % 7))
                begun += 1
            _read(keeper, found)
        told = keeper.actum("audit")
        if told.returncode != 0:
            found.problems.append(f"the audit ended with {told.returncode}: {told.stdout[-500:]}")
    finally:
        keeper.close()
    found.problems += _said_locked(folder)
    found.problems += [f"{count} runs ended {status}" for status, count in found.runs.items() if status != "SUCCEEDED"]
    return found


def _still_open(keeper: Keeper, dens: list[Den], found: Found) -> list[Den]:
    with Reader(keeper.ws) as reader:
        open_runs = {row.run for row in reader.attempt_rows(open_only=True)}
    for den in dens:
        if den.run not in open_runs:
            found.runs[den.shown()["status"]] += 1
    return [den for den in dens if den.run in open_runs]


def _read(keeper: Keeper, found: Found) -> None:
    words = READING[found.reads % len(READING)]
    told = keeper.actum(*words)
    found.reads += 1
    if told.returncode != 0 or any(word in told.stdout + told.stderr for word in LOCKED):
        found.problems.append(f"{words[0]} ended with {told.returncode}: {told.stderr[-300:]}")


def _said_locked(folder: Path) -> list[str]:
    """Every log of the supervisor and of each host that names a locked database."""
    logs = [folder / "supervise.log", *folder.glob("workspace/attempts/*/*/host.log")]
    return [
        f"{path.relative_to(folder)} names a locked database"
        for path in logs
        if path.exists() and any(word in path.read_text(errors="replace") for word in LOCKED)
    ]


def main(minutes: float, folder: Path) -> tuple[dict[str, int], list[str]]:
    """Counts for the evidence, and what was found."""
    found = concurrent(folder, minutes * 60)
    total = sum(found.runs.values())
    sys.stdout.write(
        f"concurrent: {AT_ONCE} at once for {minutes:g} min: {total} runs {dict(found.runs)}, "
        f"{found.reads} commands that read; {len(found.problems)} problems\n"
    )
    counts = {"runs": total, "commands that read": found.reads, "findings": len(found.problems)}
    return counts, found.problems
