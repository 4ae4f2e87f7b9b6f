"""`python -m tests.simulation`: live through many seeds, or through one exactly; print what was reached and found.

--seeds N [--first S] [--jobs J] [--minutes M]     N seeds, or as many as M minutes allow
--lines                                            line coverage of the supervisor by the simulation alone (one job)
--seed S [--trace]                                 one seed, exactly as ever; one that fails is shortened and told
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext

from tests import evidence
from tests.simulation.checks import Violation
from tests.simulation.coverage import Coverage
from tests.simulation.decisions import Step, shrink
from tests.simulation.reached import Reached, reached_by
from tests.simulation.world import World

BATCH_SEEDS = 100
EVIDENCE_SEEDS = 1_000  # fewer are a look, and no evidence
TOLD_EVERY_S = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, help="live through this one alone")
    parser.add_argument("--trace", action="store_true", help="with --seed: print every step")
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    if options.seed is not None:
        return one(options.seed, traced=options.trace)
    return many(options)


def batches(first: int, seeds: int) -> list[range]:
    end = first + seeds
    return [range(begin, min(begin + BATCH_SEEDS, end)) for begin in range(first, end, BATCH_SEEDS)]


def lived_through(work: list[range], jobs: int) -> Iterator[Reached]:
    """What each batch reached, as they are done. A worker that dies ends the whole with BrokenProcessPool."""
    if jobs == 1:
        yield from map(reached_by, work)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        try:
            yield from (done.result() for done in as_completed([pool.submit(reached_by, batch) for batch in work]))
        finally:
            pool.shutdown(cancel_futures=True)


def many(options: argparse.Namespace) -> int:
    begun, code = time.monotonic(), evidence.Code.now()
    told = begun
    until = begun + options.minutes * 60 if options.minutes else None
    total, coverage = Reached(), Coverage() if options.lines else None
    work = batches(options.first, options.seeds)
    with coverage or nullcontext():
        for reached in lived_through(work, options.jobs):
            total.add(reached)
            say(f"found: seed {seed}: {what}" for seed, what, _ in reached.found)
            if until is not None and time.monotonic() > until:
                break
            if time.monotonic() - told > TOLD_EVERY_S:
                told = time.monotonic()
                say([f"… {total.seeds:,} seeds in {told - begun:,.0f} s, found {len(total.found)}"])
    say(total.report())
    if coverage is not None:
        say(f"{name}: {lines}" for name, lines in coverage.missed().items() if lines)
        say([f"lines of the supervisor reached: {coverage.percent():.1f} %"])
    seconds = time.monotonic() - begun
    say([f"{seconds:,.0f} s, {total.seeds / seconds:.1f} seeds a second"])
    counts = {"seeds": total.seeds, "findings": len(total.found)}
    note, worth = f"seeds {options.first:,} and on", total.seeds >= EVIDENCE_SEEDS
    evidence.report("simulation", counts, seconds=seconds, code=code, note=note, extent=total.seeds, worth=worth)
    return 1 if total.found else 0


def one(seed: int, *, traced: bool) -> int:
    """One seed. A failing one is shortened: the fewest steps that still fail the same check are printed, with their trace."""
    failure, steps = lived(seed)
    if failure is None:
        say(replayed(seed, steps) if traced else [f"seed {seed}: {len(steps)} steps, every rule holds"])
        return 0
    say([f"seed {seed} fails after {len(steps)} steps: {failure}", "shortening …"])
    short = shrink(steps, lambda steps: same(lived(seed, steps)[0], failure))
    say([f"{len(short)} steps are enough:", *map(str, short), "", *replayed(seed, short)])
    return 1


def lived(seed: int, steps: Sequence[Step] | None = None) -> tuple[Exception | None, list[Step]]:
    """The failure of a seed (as drawn, or with these steps), and the steps it took."""
    world = World(seed)
    try:
        world.run(steps)
    except Exception as error:
        return error, world.steps
    return None, world.steps


def same(found: Exception | None, wanted: Exception) -> bool:
    if isinstance(found, Violation) and isinstance(wanted, Violation):
        return found.check == wanted.check
    return type(found) is type(wanted)


def replayed(seed: int, steps: Sequence[Step]) -> list[str]:
    world = World(seed, tracing=True)
    try:
        world.run(steps)
    except Exception as error:
        world.log.append(str(error))
    return world.log


def say(lines: Iterator[str] | list[str] | object) -> None:
    for line in lines:  # type: ignore[attr-defined]
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
