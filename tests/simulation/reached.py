"""What a number of seeds reached and found: arrows, rows of §4 and §6, endings, faults, checks; and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from actum.model.status import arrows
from actum.supervise.reconcile import ROWS

from tests.simulation.checks import CHECKS, Violation
from tests.simulation.world import World

# Arrows that no supervisor asks for: each with the reason.
NEVER_ASKED = {
    ("STOPPING", "CLEANING_UP", "stop_asked"): "two stops are one: the first is on record already",
    ("RUNNING", "COMPUTING", "outcome_sealed"): "computation_ended is a fact of its own and comes first",
    ("RUNNING", "SEALING", "deadline_passed"): "deadlines run up to computation_ended only (R08)",
}
# Rows of §6 for attempts that are closed: no machine stands for them, so they are matched where they show themselves.
CLOSED_ROWS = {
    2: "SUCCEEDED is closed: a host that still says hello is dismissed by the server's end (P13)",
    3: "SUCCEEDED is closed: the sweep over results looks (tests/process/test_reconcile_results.py)",
    8: "released is closed: a host that still says hello is dismissed, a sealed package is offered for adoption",
}
# Rows of §6 for which there is nothing to look for.
UNLOOKED_ROWS = (1, 7)


@dataclass(slots=True)
class Reached:
    """Sums over seeds. `found` holds (seed, what, check); `lines` the lines of the supervisor reached, by file."""

    seeds: int = 0
    steps: int = 0
    triples: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    rows: Counter[int] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    looked: Counter[str] = field(default_factory=Counter)
    found: list[tuple[int, str, str]] = field(default_factory=list)

    def live(self, seed: int, off: frozenset[str] = frozenset()) -> None:
        """Live through one seed and note what came of it."""
        world = World(seed, off=off)
        try:
            world.run()
        except Violation as violation:
            self.found.append((seed, str(violation), violation.check))
        except Exception as error:  # the supervisor itself failed: a real one would retire
            self.found.append((seed, f"{type(error).__name__}: {error}", type(error).__name__))
        self.seeds += 1
        self.steps += len(world.steps)
        self.triples.update(world.ledger.triples)
        self.rows.update(world.ledger.rows)
        self.looked.update(world.ledger.looked)
        self.endings.update(str(run.status) for run in world.store.runs.values())
        self.struck.update(step.action for step in world.steps if step.action.startswith("fault"))

    def add(self, other: Reached) -> None:
        self.seeds += other.seeds
        self.steps += other.steps
        for name in ("triples", "rows", "endings", "struck", "looked"):
            getattr(self, name).update(getattr(other, name))
        self.found += other.found

    # What it says

    @property
    def possible(self) -> set[tuple[str, str, str]]:
        return {(pair.status.value, pair.phase.value, event.value) for pair, event, _ in arrows()}

    def missed_rows(self) -> list[int]:
        """Rows of §6 that a machine could match and none did."""
        numbers = {row.number for row in ROWS} - CLOSED_ROWS.keys() - set(UNLOOKED_ROWS)
        return sorted(numbers - self.rows.keys())

    def missed_arrows(self) -> list[tuple[str, str, str]]:
        return sorted(self.possible - self.triples.keys() - NEVER_ASKED.keys())

    def idle_checks(self) -> list[str]:
        """Checks that never had anything to look at."""
        return sorted(CHECKS.keys() - self.looked.keys() - {"every_arrow_is_in_the_table"})

    def report(self) -> Iterable[str]:
        yield f"{self.seeds:,} schedules, {self.steps:,} steps of trouble; runs ended {dict(self.endings.most_common())}"
        yield f"(status, phase, event): {len(self.triples)} of {len(self.possible)} arrows of §4 reached"
        for arrow in sorted(self.possible - self.triples.keys()):
            yield f"    not reached: {' / '.join(arrow)}  {NEVER_ASKED.get(arrow, '')}"
        yield f"rows of §6 matched by a look: {dict(sorted(self.rows.items()))}"
        yield f"    rows {UNLOOKED_ROWS} need no look; not reached: {self.missed_rows() or 'none'}"
        for number, why in CLOSED_ROWS.items():
            yield f"    row {number}: {why}"
        idle = self.idle_checks() or "none"
        yield f"{len(CHECKS)} checks looked {sum(self.looked.values()):,} times; without anything to look at: {idle}"
        yield f"faults: {dict(self.struck.most_common())}"
        yield f"found: {len(self.found)}"
        for check, count in Counter(check for _, _, check in self.found).most_common():
            seeds = [seed for seed, _, name in self.found if name == check]
            what = next(what for _, what, name in self.found if name == check)
            yield f"    {count:6} × {what[:160]}  seeds {seeds[:6]}"


def reached_by(seeds: Iterable[int]) -> Reached:
    """What these seeds reach: the work of one process of many, which is why it stands in a module that can be imported."""
    reached = Reached()
    for seed in seeds:
        reached.live(seed)
    return reached
