"""The rules as checks: before and after each commit, at each effect, in each state, and when all is quiet again.

A check that fails raises `Violation`, which names the rule. With `Ledger.armed` False none does, which shows that it is the
checks that find a planted defect, not an accident of the world.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from actum.model.changes import Change
from actum.model.facts import FACTS, POSITION, FactName
from actum.model.run import AttemptRow
from actum.model.status import TERMINAL, AttemptEvent, Pair, Phase, Status

from tests.simulation.files import Folder, Machine


class Violation(AssertionError):
    """A rule was broken."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


@dataclass(slots=True)
class Ledger:
    """What the commits are held against: the machine and the folders as they truly are.

    `triples` counts (status, phase, event) reached; `rows` the rows of §6.
    """

    machine: Machine
    folders: dict[str, Folder]
    armed: bool = True
    unsure: set[str] = field(default_factory=set)  # attempts of which an answer of the store was lost
    triples: dict[tuple[str, str, str], int] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)

    def violation(self, rule: str, what: str) -> NoReturn:
        raise Violation(rule, what)

    def check(self, holds: bool, rule: str, what: str) -> None:
        if self.armed and not holds:
            self.violation(rule, what)

    def change(self, before: AttemptRow, request: Change, target: Pair) -> None:
        """Before a change is written."""
        newest = max((POSITION[name] for name in before.facts), default=-1)
        for fact in request.facts:
            if fact.name in before.facts:
                self.check(before.attempt in self.unsure, "R01", f"{fact.name} is established twice")
                continue
            self.check(POSITION[fact.name] > newest, "R01", f"{fact.name} comes after {FACTS[newest]}")
            self.check("method" in fact.evidence, "R01", f"{fact.name} names no method")
            newest = POSITION[fact.name]
        final = before.pair.status in TERMINAL
        self.check(not final or target.status is before.pair.status, "R03", f"{before.pair} became {target}")
        if request.arrow is None:
            return
        key = (before.pair.status.value, before.pair.phase.value, request.arrow.event.value)
        self.triples[key] = self.triples.get(key, 0) + 1
        if request.arrow.event is not AttemptEvent.STOP_ASKED:
            self._arrow(before, request, target)

    def _arrow(self, before: AttemptRow, request: Change, target: Pair) -> None:
        folder = self.folders.get(before.attempt)
        outcome = (folder.outcome or {}) if folder is not None else {}
        lost = request.columns.get("failure_code") in ("host_lost", "launch_lost", "start_deadline")
        if lost and target.status in (Status.FAILED, Status.START_FAILED):
            sealed = outcome.get("kind") == "sealed"
            self.check(not sealed, "P08", f"sealed work is recorded as {request.columns['failure_code']}")
        if target.status is Status.START_FAILED and target.phase is Phase.CLEANING_UP:
            claimed = folder is not None and (folder.claim or {}).get("by") == "host"
            self.check(not claimed, "P01", "START_FAILED, and the host holds its claim")
        if target.status is Status.SUCCEEDED:
            self._success(before, request, folder)

    def _success(self, before: AttemptRow, request: Change, folder: Folder | None) -> None:
        names = {*before.facts, *(fact.name for fact in request.facts)}
        self.check(names == set(FACTS), "R01", f"SUCCEEDED without {sorted(set(FACTS) - names)}")
        self.check(folder is not None and folder.published is not None, "R01", "SUCCEEDED, and no package is published")
        self.check(folder is not None and folder.published_durable, "P11", "SUCCEEDED before the package is durable")
        self.check(request.result is not None, "R01", "SUCCEEDED without a result row")

    def changed(self, before: AttemptRow, row: AttemptRow, request: Change) -> None:
        """After a change was written: what the row now claims must be true of the machine."""
        if row.pair.status is Status.STOPPED:
            self.check(row.stop_requested_at_us is not None, "R08", "STOPPED, and nobody asked for it")
        if FactName.HOST_EXITED in row.facts and FactName.HOST_EXITED not in before.facts:
            folder = self.folders[row.attempt]
            late = (folder.claim or {}).get("by") == "supervisor"  # it can do nothing but leave
            self.check(late or folder.alive_held_by is None, "R01", "host_exited, and the host holds its lock")
        if FactName.TREE_GONE in row.facts and FactName.TREE_GONE not in before.facts:
            self.check(not self.machine.living(row.attempt, "work", "daemon"), "R07", "tree_gone, and a process lives")
        if row.released and not before.released:
            self.check(not self.machine.living(row.attempt, "work", "daemon"), "R06", "released, and a process lives")

    def state(self, rows: list[AttemptRow], slots: int) -> None:
        """In every state."""
        taken = [row for row in rows if not row.released and row.pair.phase is not Phase.QUEUED]
        self.check(len(taken) <= slots, "R06", f"{len(taken)} attempts hold {slots} slots")
        computing: dict[int, int] = {}
        for row in rows:
            folder = self.folders.get(row.attempt)
            busy = bool(self.machine.living(row.attempt, "work", "daemon"))
            computing[row.run] = computing.get(row.run, 0) + busy
            self.check(computing[row.run] <= 1, "R18", f"two attempts of run {row.run} compute at once")
            self.check(not (busy and row.released), "R06", f"{row.run}/{row.n} is released, and a process lives")
            if row.pair.status in (Status.STOPPED, Status.FAILED, Status.TIMEOUT) and folder is not None:
                lost = folder.published is not None and not folder.touched
                self.check(not lost, "R18", f"{row.pair.status}, and its package is published")
