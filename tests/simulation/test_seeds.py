"""The real supervisor in the simulated world: a fixed number of seeds, every check at every step (R01–R12, R16–R18)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.simulation import faults
from tests.simulation.checks import CHECKS, Violation, at
from tests.simulation.decisions import Step, shrink
from tests.simulation.reached import reached_by
from tests.simulation.world import World

SEEDS = 1_000
PARTS = 10
RULES = {f"R{number:02}" for number in range(1, 13)} | {"R16", "R17", "R18"}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_rule_holds_at_every_step_and_all_settles(part: int) -> None:
    """A seed that fails is shortened and told by `python -m tests.simulation --seed SEED`."""
    reached = reached_by(range(part, SEEDS, PARTS))
    assert not reached.found, reached.found[0]


def test_many_jobs_reach_what_one_does() -> None:
    """The long run's `--jobs 2`, through its command: the same seeds, the same sums."""
    command = [sys.executable, "-m", "tests.simulation", "--first", "40", "--seeds", "101", "--jobs"]
    alone, together = (subprocess.run([*command, jobs], check=True, capture_output=True, text=True).stdout for jobs in "12")
    assert alone.startswith("101 schedules, 26,260 steps"), alone
    assert together.splitlines()[:2] == alone.splitlines()[:2]


def test_every_rule_has_its_checks() -> None:
    assert {check.rule for check in CHECKS.values()} >= RULES


def test_a_seed_replays_exactly() -> None:
    first, again = World(11, tracing=True).run(), World(11, tracing=True).run()
    assert first.log == again.log
    assert len(first.log) > 200
    relived = World(11, tracing=True).run(first.steps)
    assert relived.log == first.log, "its decisions alone are the seed"


def test_steps_that_the_world_does_not_offer_are_passed_over() -> None:
    steps = [Step(1, "app 7: commit", 1), Step(1, "fault: kill app", 2), Step(1, "host 3/1", 3)]
    assert [step.action for step in World(3).run(steps).steps] == ["fault: kill app"]


def test_a_failing_seed_is_shrunk_to_what_it_takes() -> None:
    """Two steps of a hundred matter; both are found, and nothing else is kept."""
    steps = [Step(number, f"step {number}", 0) for number in range(100)]
    wanted = {"step 17", "step 71"}
    assert [step.action for step in shrink(steps, lambda some: wanted <= {step.action for step in some})] == sorted(wanted)


def test_a_check_can_be_switched_off_by_its_name_and_by_its_rule() -> None:
    @at("spawn", "R99")
    def nothing_is_ever_launched(ledger: object, row: object, count: int) -> str:
        return "a launch"

    seed = 1_000
    try:
        with pytest.raises(Violation, match="R99"):
            World(seed).run()
        World(seed, off=frozenset({"nothing_is_ever_launched"})).run()
        World(seed, off=frozenset({"R99"})).run()
        World(seed, armed=False).run()
    finally:
        check = CHECKS.pop("nothing_is_ever_launched")
        from tests.simulation import checks

        checks._AT["spawn"].remove(check)


def test_the_world_is_not_empty() -> None:
    """Every fault strikes, every check looks, every ending and most arrows are reached."""
    reached = reached_by(range(1_000, 1_060))
    assert not reached.found, reached.found[0]
    assert {f"fault: {name}" for name in faults.FAULTS} == set(reached.struck)
    assert {"SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "START_FAILED"} <= set(reached.endings)
    assert len(reached.idle_checks()) < 4, reached.idle_checks()
    assert len(reached.triples) >= 22, reached.missed_arrows()
    assert len(reached.rows) >= 10, reached.missed_rows()
