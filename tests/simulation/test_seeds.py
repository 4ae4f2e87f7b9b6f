"""The real supervisor in the simulated world: a fixed number of seeds, every rule checked at every step (R01–R09, R12, R18)."""

from __future__ import annotations

import pytest

from tests.simulation.world import World

SEEDS = 50
PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_every_rule_holds_at_every_step_and_all_settles(part: int) -> None:
    """A seed that fails is lived through again by `python -m tests.simulation --first SEED --seeds 1 --trace`."""
    for seed in range(part, SEEDS, PARTS):
        World(seed).run()


def test_a_seed_replays_exactly() -> None:
    first, again = World(11).run(), World(11).run()
    assert first.log == again.log
    assert len(first.log) > 200


def test_the_world_is_not_empty() -> None:
    """Faults, stops, retries and every ending are really reached."""
    worlds = [World(seed).run() for seed in range(1000, 1020)]
    said = "\n".join(line for world in worlds for line in world.log)
    for word in ("fault: kill app", "fault: kill host", "StopAsked", "RevokeClaim", "EndTree", "Launch 1/2"):
        assert word in said, word
    endings = {str(run.status) for world in worlds for run in world.store.runs.values()}
    assert {"SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "START_FAILED"} <= endings
    assert sum(len(world.ledger.triples) for world in worlds) > 100
