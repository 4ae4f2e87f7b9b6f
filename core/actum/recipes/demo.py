"""Three small jobs to try the program on: one that works, one that stalls and one that fails, both on purpose."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from actum.recipes import columns
from actum.sdk import Context, task

STEPS = 10
STEPS_PER_S = 5


@task(title="Twenty seconds of work", version="1")
def steps(ctx: Context, seconds: int = 20) -> None:
    """Steady progress for `seconds`, in three stages."""
    total = seconds * STEPS_PER_S
    started = time.monotonic()
    rows: list[tuple[int, str, datetime]] = []
    for number, stage in _stages(total):
        if not rows or rows[-1][1] != stage:
            ctx.stage(stage, total)
            ctx.log.info("Stage %s begins.", stage)
        ctx.check_stop()
        time.sleep(max(0.0, started + number / STEPS_PER_S - time.monotonic()))
        rows.append((number, stage, datetime.now(UTC)))
        ctx.progress(number, total, "steps")
    ctx.table("steps", rows, columns.STEPS)
    ctx.metric("steps", len(rows), observations=len(rows))


def _stages(total: int) -> list[tuple[int, str]]:
    """Every step's number, from 1 up, and its stage: a fifth loads, a fifth writes."""
    load, write = total // 5, total - total // 5
    return [(n, "load" if n <= load else "compute" if n <= write else "write") for n in range(1, total + 1)]


@task(title="Stalls on purpose", version="1")
def stall(ctx: Context) -> None:
    """Three steps of ten, then none until it is stopped."""
    _three_steps(ctx)
    ctx.log.info("From here on nothing moves, on purpose. Stop the run to go on.")
    while True:
        ctx.check_stop()
        time.sleep(0.2)


@task(title="Fails on purpose", version="1")
def fails(ctx: Context) -> None:
    """Three steps of ten, then an error."""
    _three_steps(ctx)
    raise RuntimeError("this job fails on purpose, to show what a failure looks like")


def _three_steps(ctx: Context) -> None:
    ctx.stage("compute", STEPS)
    for number in (1, 2, 3):
        ctx.check_stop()
        time.sleep(0.5)
        ctx.progress(number, STEPS, "steps")
