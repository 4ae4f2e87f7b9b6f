"""`python -m tests.simulation --seeds N [--first S] [--trace]`: live through many seeds; print what was reached and found."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from contextlib import nullcontext

from tests.simulation.coverage import Coverage
from tests.simulation.world import World


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trace", action="store_true", help="print every step of the last seed")
    parser.add_argument("--lines", action="store_true", help="print which lines of the supervisor were not reached (slow)")
    options = parser.parse_args()
    coverage = Coverage() if options.lines else None
    begun = time.monotonic()
    endings: Counter[str] = Counter()
    triples: Counter[tuple[str, str, str]] = Counter()
    found: list[tuple[int, str]] = []
    world = None
    for seed in range(options.first, options.first + options.seeds):
        world = World(seed)
        try:
            with coverage or nullcontext():
                world.run()
        except Exception as error:  # a violation, or the supervisor itself failed
            line = traceback.extract_tb(error.__traceback__)[-1]
            found.append((seed, f"{type(error).__name__} {error} ({line.name})"))
        endings.update(str(run.status) for run in world.store.runs.values())
        triples.update(world.ledger.triples)
    if options.trace and world is not None:
        sys.stdout.write("\n".join(world.log) + "\n")
    for kind, count in Counter(what.split(" (")[0][:100] for _, what in found).most_common(30):
        seeds = [seed for seed, what in found if what.startswith(kind)][:6]
        sys.stdout.write(f"{count:6}  {kind}  seeds {seeds}\n")
    if coverage is not None:
        for name, lines in coverage.missed().items():
            sys.stdout.write(f"{name}: {lines}\n")
        sys.stdout.write(f"lines of the supervisor reached: {coverage.percent():.1f} %\n")
    seconds = time.monotonic() - begun
    sys.stdout.write(f"{options.seeds} seeds in {seconds:.1f} s; runs {dict(endings)}; {len(triples)} arrows reached\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
