"""The fault matrix, generated from the catalogue: every point × every action × every scenario that passes the point (§5).

A first flight of each scenario without any fault tells which points it passes and how often. Points that are passed
several times are struck at the first and at the last passage. A case counts only if its fault really struck: the trace of
the passages says so; a kill also needs somebody to kill.
"""

from __future__ import annotations

import signal
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from actum.faults import CATALOGUE

from tests.faults import checks
from tests.faults.scenarios import SCENARIOS, Flight, Stage

KILLS = ("kill-app", "kill-host", "kill-work", "kill-all")
ERRORS = ("error=ENOSPC", "error=EIO", "error=EACCES")
STORE_ERRORS = ("error=SQLITE_BUSY", "error=SQLITE_FULL")
DELAY = "delay=1500"
CASES_PER_STAGE = 12
ELSEWHERE = {
    "begins": ("store.epoch.", "generation."),
    "exports": ("helper.", "controller.helper.", "store.commit."),
    "rejected": ("store.commit.",),
    "robbed": ("spool.restored.", "spool.foreign."),
}
# A spool that is gone with its host, or the work's forged outcome that no host is there to set aside, proves nothing, for ever:
# the run holds until a person attests (§6 row 14), and that is no end a case could wait for. tests/faults/rare.py strikes them.
HELD_FOR_EVER = {
    ("spool.restored.rename.before", "kill-host"),
    ("spool.restored.rename.before", "kill-all"),
    ("spool.restored.rename.after", "kill-host"),
    ("spool.restored.rename.after", "kill-all"),  # the work may have forged it before it is killed
    ("spool.foreign.rename.before", "kill-host"),
    ("spool.foreign.rename.before", "kill-all"),
}

# Points that no run passes, and the test that kills there; with every other action they are struck by tests/faults/rare.py.
STRUCK_ELSEWHERE = {
    "store.backup.rename.before": "tests/faults/test_rare_points.py",
    "store.backup.rename.after": "tests/faults/test_rare_points.py",
    "store.copy.before": "tests/faults/test_rare_points.py",
    "store.copy.after": "tests/faults/test_rare_points.py",
    "store.restored.before": "tests/faults/test_rare_points.py",
    "store.restored.after": "tests/faults/test_rare_points.py",
    "controller.handover.before": "tests/process/test_take_over.py",
    "controller.handover.after": "tests/process/test_take_over.py",
    **dict.fromkeys(
        ("pack.fsync.before", "pack.fsync.after", "pack.rename.before", "pack.rename.after"), "tests/faults/test_rare_points.py"
    ),
    **dict.fromkeys(("rebuild.rename.before", "rebuild.rename.after"), "tests/faults/test_rare_points.py"),
}

# Nothing that the system could refuse stands at these points: they mark what is on record, what was heard, what is held.
WITHOUT_OPERATION = ("fact.", "lock.", "controller.helper.", "controller.handover.", "host.ended.", "host.ack.")
STORE_OPERATIONS = ("store.commit.", "store.epoch.", "store.create.", "store.copy.", "store.restored.")
# Passed as often as time goes by: the first passage stands for all.
PERIODIC = ("spool.state.", "spool.tree.", "controller.send.")


@dataclass(frozen=True, slots=True)
class Case:
    scenario: str
    point: str
    nth: int
    action: str

    def __str__(self) -> str:
        return f"{self.scenario:9} {self.point}#{self.nth}:{self.action}"

    @property
    def fault(self) -> str:
        return f"{self.point}#{self.nth}:{self.action}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case gave. `reached`: struck | nobody (the point was passed, but nobody of that role lived) | not reached."""

    case: Case
    reached: str
    found: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Passing:
    """How a point is passed when nothing goes wrong: how often, and who may be killed at the first and last passage."""

    often: int
    alive: dict[int, frozenset[str]]  # passage → roles


Passages = dict[str, dict[str, Passing]]  # scenario → point → …


def actions(point: str) -> tuple[str, ...]:
    """What the matrix does at a point."""
    errors = () if point.startswith(WITHOUT_OPERATION) else ERRORS
    store = STORE_ERRORS if point.startswith(STORE_OPERATIONS) else ()
    return (*KILLS, *errors, *store, DELAY)


def passed(trace: Path) -> dict[str, Passing]:
    """What a flight without faults passed. Of a point passed by several processes, the one that passes it most counts."""
    lines = [line.split() for line in trace.read_text().splitlines()] if trace.exists() else []
    places: dict[str, dict[str, list[int]]] = {}
    for place, (point, pid) in enumerate(lines):
        places.setdefault(point, {}).setdefault(pid, []).append(place)
    host = _between(places, "controller.spawn.after", max(_places(places, "host.terminal.after"), default=-1))
    gone = [*_places(places, "host.ended.before"), *_places(places, "processes.signal.after")]
    work = _between(places, "host.spawn.after", min(gone, default=0) - 1)
    found = {}
    for point, by_pid in places.items():
        most = max(by_pid.values(), key=len)
        roles = {
            nth: frozenset({"app"} | {role for role, life in (("host", host), ("work", work)) if most[nth - 1] in life})
            for nth in {1, len(most)}
        }
        found[point] = Passing(len(most), roles)
    return found


def _places(places: dict[str, dict[str, list[int]]], point: str) -> list[int]:
    return [place for each in places.get(point, {}).values() for place in each]


def _between(places: dict[str, dict[str, list[int]]], first: str, last: int) -> range:
    begun = _places(places, first)
    return range(begun[0], last + 1) if begun and last >= 0 else range(0)


def generate(passages: Passages) -> Iterator[Case]:
    """Every case there is."""
    for scenario in SCENARIOS:
        for point in CATALOGUE:
            passing = passages[scenario].get(point)
            if passing is None or (scenario in ELSEWHERE and point in passages["succeeds"] and not _again(scenario, point)):
                continue
            last = passing.often if not point.startswith(PERIODIC) else 1
            for nth in sorted({1, last}):
                yield from (
                    Case(scenario, point, nth, action)
                    for action in actions(point)
                    if _somebody(action, passing.alive[nth]) and (point, action) not in HELD_FOR_EVER
                )


def _somebody(action: str, alive: frozenset[str]) -> bool:
    return action not in KILLS or action == "kill-all" or action.removeprefix("kill-") in alive


def _again(scenario: str, point: str) -> bool:
    """Points that also a run passes are struck again only where another thing is at stake: a first opening, an export."""
    return point.startswith(ELSEWHERE[scenario])


class Worker:
    """Does cases one after another; a workspace serves CASES_PER_STAGE of them, or until something is wrong in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stage: Stage | None = None

    def baseline(self, scenario: str) -> dict[str, Passing]:
        """The points a scenario passes when nothing goes wrong. Raises AssertionError if it goes wrong."""
        stage = self._stage_for(scenario)
        flight = Flight(stage, f"{scenario}-plain")
        trace = self._trace(stage, flight)
        flight.fault = f"trace={trace}"
        self._fly(flight, scenario)
        found = checks.violations(flight, scenario, DELAY, struck=False)
        assert not found, f"{scenario} without any fault: {found} in {stage.folder}"
        return passed(trace)

    def judge(self, case: Case) -> Verdict:
        stage = self._stage_for(case.scenario)
        flight = Flight(stage, f"case-{stage.case}")
        trace = self._trace(stage, flight)
        flight.fault = f"trace={trace},{case.fault}"
        try:
            self._fly(flight, case.scenario)
            seen = reached(case, trace, flight)
            found = checks.violations(flight, case.scenario, case.action, struck=seen == "struck")
        except Exception as error:
            seen, found = reached(case, trace, flight), [f"{type(error).__name__}: {error}", traceback.format_exc()]
        if found:
            stage.kill_leftovers()
            self._stage = None
        return Verdict(case, seen, tuple(found), stage.folder)

    def close(self) -> None:
        if self._stage is not None:
            self._stage.kill_leftovers()

    def _stage_for(self, scenario: str) -> Stage:
        fresh = scenario == "begins" or self._stage is None or self._stage.case >= CASES_PER_STAGE
        if fresh:
            self.close()
            self._stage = Stage(Path(tempfile.mkdtemp(prefix="stage-", dir=self._folder)))
            if scenario != "begins":
                assert self._stage.define_task().returncode == 0
        assert self._stage is not None
        self._stage.case = CASES_PER_STAGE if scenario == "begins" else self._stage.case + 1
        return self._stage

    @staticmethod
    def _trace(stage: Stage, flight: Flight) -> Path:
        return stage.folder / f"{flight.key}.passed"

    @staticmethod
    def _fly(flight: Flight, scenario: str) -> None:
        SCENARIOS[scenario](flight)
        flight.go_on()


def reached(case: Case, trace: Path, flight: Flight) -> str:
    """Whether the fault of a case struck; `Verdict.reached`."""
    lines = [line.split(" ", 2) for line in trace.read_text().splitlines()] if trace.exists() else []
    done = [line[2] for line in lines if line[0] == case.point and len(line) == 3]
    if case.action not in done:
        return "not reached"
    killed = any(word.startswith("killed") for word in done) or -signal.SIGKILL in flight.codes.values()
    if case.action in KILLS and not killed:  # a helper that kills its app dies with it before it can say so
        return "nobody"
    return "struck"


def unpassed(passages: Passages) -> list[str]:
    """Catalogued points that no scenario passes."""
    return sorted(point for point in CATALOGUE if not any(point in points for points in passages.values()))


def chosen(cases: Iterable[Case], point: str | None, action: str | None, scenario: str | None) -> list[Case]:
    """The cases that a person asked for."""

    def wanted(case: Case) -> bool:
        at = point is None or case.point == point or (point.endswith("*") and case.point.startswith(point[:-1]))
        return at and action in (None, case.action) and scenario in (None, case.scenario)

    return [case for case in cases if wanted(case)]
