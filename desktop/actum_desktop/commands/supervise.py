"""`actum supervise [--until-idle]`: supervise without a window, until told to leave or until nothing is left to do.

Leaving never ends work: hosts go on, and the next supervisor takes them up. `--keep-paused` is for a supervisor that another
one leaves behind: what a person has not resumed stays paused, and is no reason to stay.
"""

from __future__ import annotations

import argparse
import signal
import time
from typing import TYPE_CHECKING

from actum import clock, limits
from actum.errors import Busy
from actum.model.status import Phase

from actum_desktop.commands.connection import reach
from actum_desktop.commands.context import Context
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import plain
from actum_desktop.commands.supervision import left_to_do, take_charge
from actum_desktop.commands.watching import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from actum.lock import Lock

    from actum_desktop.controller.events import Update
    from actum_desktop.controller.headless import Headless

_LOOK_EVERY_S = 0.5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--until-idle", action="store_true", help="leave when nothing is open any more")
    parser.add_argument("--keep-paused", action="store_true", help=argparse.SUPPRESS)


def run(args: argparse.Namespace, context: Context) -> int:
    with Interrupts(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as interrupts:
        lock = acquire(context, interrupts, patient=args.until_idle)
        if lock is None:
            context.out.note("Another supervisor is alive; this one is not needed.")
            return EXIT_INTERRUPTED if interrupts.count else 0
        while True:
            code, gave_way = _supervise(args, context, interrupts, lock)
            lock = take_again(context, interrupts, gave_way) if gave_way else None
            if lock is None:
                return code
            context.out.note("Nobody came; supervising again.")


def acquire(context: Context, interrupts: Interrupts, *, patient: bool) -> Lock | None:
    """The workspace lock. A patient call waits for whoever is about to leave, and gets None where somebody stays.

    Raises Busy for an impatient one while another supervisor lives.
    """
    from actum.lock import Lock
    from actum.workspace import create_folders

    create_folders(context.workspace)
    end = time.monotonic() + limits.LOCK_WAIT_S
    while True:
        lock = Lock.try_acquire(context.workspace)
        if lock is not None or interrupts.count:
            return lock
        if not patient:
            _refuse_beside_the_living(context)
        if time.monotonic() > end:
            if patient:
                return None
            raise Busy(
                "lock_held",
                "The workspace lock is held.",
                "Its holder does not answer.",
                "Try again; `actum doctor` says more.",
            )
        time.sleep(0.1)


def take_again(context: Context, interrupts: Interrupts, epoch: int) -> Lock | None:
    """The lock that was given up for a successor after `epoch`, if nobody has it for TAKE_OVER_FREE_S; None once the successor
    has opened its epoch and holds it (P21), or has come and gone and left nothing open.

    Whoever asked may have died on its way in: then work would end with nobody to take its result.
    """
    from actum.generation import read_generation
    from actum.lock import Lock, held_by_someone

    free_since = time.monotonic()
    end = free_since + limits.LOCK_WAIT_S
    while not interrupts.count:
        found, now = read_generation(context.workspace), time.monotonic()
        came = found is not None and found.epoch > epoch
        if held_by_someone(context.workspace) is not False:
            free_since = now
            if came or now > end:
                return None
        elif now - free_since >= limits.TAKE_OVER_FREE_S:
            if came and not _something_open(context):
                return None
            if (lock := Lock.try_acquire(context.workspace)) is not None:
                return lock
        time.sleep(0.1)
    return None


def _something_open(context: Context) -> bool:
    with context.reader() as reader:
        return bool(reader.attempt_rows(open_only=True))


def _refuse_beside_the_living(context: Context) -> None:
    client = reach(context.workspace)
    if client is None:
        return
    with client:
        pid = client.supervisor.get("pid")
    raise Busy(
        "supervised_already",
        "This workspace has a supervisor already.",
        f"It is process {pid}." if pid else "",
        "Use it: commands reach it by themselves.",
    )


def _supervise(args: argparse.Namespace, context: Context, interrupts: Interrupts, lock: Lock) -> tuple[int, int]:
    """Supervise until it is time to leave; the exit code, and the epoch that gave way to a successor (0: none did)."""
    headless = take_charge(context.workspace, lock)
    try:
        if not args.keep_paused:
            headless.submit({"verb": "resume_queue", "only_after_crash": True})
        epoch = headless.controller.supervisor.epoch
        context.out.note(f"Supervising {plain(context.workspace.path)}, epoch {epoch}.")
        if headless.controller.supervisor.held:
            context.out.note("The queue is paused: no waiting run starts until it is resumed in the window.")
        idle = _Idle(context, headless, epoch, keep_paused=args.keep_paused)

        def done() -> bool:
            interrupts.heard_elsewhere = headless.interrupted + headless.terminated
            left = interrupts.count > 0 or bool(headless.retired)
            return left or (args.until_idle and idle.long_enough())

        headless.run_until(done, _Telling(context).hear)
        if headless.retired:
            context.out.note(f"Supervising no longer: {plain(headless.retired)}.")
    finally:
        headless.leave()
    return (EXIT_INTERRUPTED if headless.interrupted else 0), epoch if headless.handed_over else 0


class _Idle:
    """Whether there has been nothing to do for long enough to leave."""

    def __init__(self, context: Context, headless: Headless, epoch: int, *, keep_paused: bool) -> None:
        self._context = context
        self._headless = headless
        self._epoch = epoch
        self._keep_paused = keep_paused
        self._looked_at = 0.0
        self._idle_since: float | None = None

    def long_enough(self) -> bool:
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_EVERY_S:
            self._looked_at = now
            if not self._nothing_to_do():
                self._idle_since = None
            elif self._idle_since is None:
                self._idle_since = now
        return self._idle_since is not None and now - self._idle_since >= limits.IDLE_LINGER_S

    def _nothing_to_do(self) -> bool:
        if not self._headless.controller.deliveries.begun:
            return False
        if self._headless.is_idle() or self._only_held():
            return True
        return self._keep_paused and left_to_do(self._context.workspace, self._epoch) is None

    def _only_held(self) -> bool:
        """A person paused the queue, and nothing but waiting runs is there: no reason to stay."""
        supervisor = self._headless.controller.supervisor
        waiting = all(m.row.pair.phase is Phase.QUEUED and not m.doing for m in supervisor.machines.values())
        return supervisor.held and waiting and not supervisor.retrying


class _Telling:
    """One line on standard error each time a run changes its status."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._told: dict[int, str] = {}

    def hear(self, update: Update) -> None:
        if not update.changes.runs:
            return
        from actum_desktop import wording

        with self._context.reader() as reader:
            rows = reader.run_rows(update.changes.runs)
        for row in sorted(rows, key=lambda row: row.number):
            word = wording.status(row.status, row.phase, row.released, contact=row.contact).word
            if self._told.get(row.number) != word:
                self._told[row.number] = word
                self._context.out.note(f"{clock.rfc3339(clock.utc_us())}  Run {row.number}  {word}")
