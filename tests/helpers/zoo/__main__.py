"""`python -m tests.helpers.zoo --heavy [--only headless|window] [NAME…]`: the animals at full size, each judged, a line each.

First under a headless supervisor, then under a real window that shows the run of each; there one animal of each class lives
too, and the calls of the program that held the GUI thread over 0.1 s are counted (how long a thing takes on a busy machine is
told, never judged). What is not as stated is a finding and the end is 1; the evidence is of kind process, part zoo.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import tests.conftest  # noqa: F401 - the user's own folders are never touched
from tests import evidence
from tests.helpers.animals import ANIMALS, INVALID, REJECTED, TERABYTE, TOLD_MIB_MAX, Animal, findings
from tests.helpers.zookeeper import Den, Keeper

LISTED_MIB_MAX = 128  # in a host that lists 100,000 files; what they are called is most of it
ROWS_MIB_MAX = 256  # in the supervising process, which writes as many rows
WINDOW_MIB = 160  # what a window with its pages takes beside what a headless supervisor does
PATIENCE_S = 3_600

HEAVY: dict[str, Animal] = {
    "1 GiB in one line": Animal("longline", (1024,)),
    "10,000,000 lines": Animal("chatter", (10_000_000,)),
    "100,000 files": Animal("ants", (100_000,), host_mib_max=LISTED_MIB_MAX, app_mib_max=ROWS_MIB_MAX),
    "100,001 files": Animal("ants", (100_001,), **REJECTED, says="The work left 100,001 files", host_mib_max=LISTED_MIB_MAX),
    "300 children a second for a minute": Animal("sparks", (300, 60)),
    "1 GiB of progress messages": Animal("flood", (1024, "progress"), host_mib_max=TOLD_MIB_MAX),
    "64 MiB of records": Animal("flood", (64, "record"), host_mib_max=TOLD_MIB_MAX),
    "1 GiB of one metric": Animal("flood", (1024, "metric"), host_mib_max=TOLD_MIB_MAX),
    "1 GiB of notes": Animal(
        "flood", (1024, "big"), **INVALID, says="longer than 33,554,432 bytes in all", host_mib_max=TOLD_MIB_MAX
    ),
    "a sparse terabyte": Animal("hollow", (TERABYTE,), **REJECTED, says="a sparse file of 1,000,000,000,000 bytes"),
}
# One of each class: what will not end, what leaves others behind, what breaks, what talks nonsense, what leaves litter, …
CLASSES = (
    "ignores SIGTERM", "halted with SIGSTOP", "comet", "daemon, ended", "daemon at a deadline", "orphan that holds the output",
    "short-lived children", "segmentation fault", "beyond its memory limit", "ten thousand lines and gone", "gibberish",
    "stammered messages", "flood of progress", "flood of records", "FIFO", "names with line ends", "climbing table",
    "deletes its attempt folder", "forged success", "sparse terabyte with a limit", "folders without a bottom",
    "ten thousand files",
)  # fmt: skip


class Tally:
    """What was judged so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter({"animals": 0, "stalls": 0, "findings": 0})

    def tell(self, name: str, den: Den, found: list[str], seconds: float, stalls: list[tuple[str, float]] | None) -> None:
        """A line for the animal, and one for each finding."""
        self.counts.update(animals=1, findings=len(found), stalls=len(stalls or ()))
        memory = f"host {den.host_mib:.0f} MiB, app {den.keeper.memory_mib():.0f} MiB"
        say(f"{name}: {seconds:.0f} s, {memory}{_stalled(stalls)}; {'; '.join(found) or 'as stated'}; {den.words()}")

    def missed(self, name: str, error: AssertionError) -> None:
        """A line for an animal that did not come to its end."""
        self.counts.update(animals=1, findings=1)
        say(f"{name}: {error}")


def _stalled(stalls: list[tuple[str, float]] | None) -> str:
    if stalls is None:
        return ""
    if not stalls:
        return ", no stall"
    place, longest = max(stalls, key=lambda stall: stall[1])
    return f", {len(stalls)} stalls of the window, up to {longest:.2f} s in {place}"


def main(words: list[str]) -> int:
    """Runs the animals named, or all. 1 where one of them did not end as stated."""
    parser = argparse.ArgumentParser(prog="python -m tests.helpers.zoo", description=__doc__)
    parser.add_argument("--heavy", action="store_true", required=True)
    parser.add_argument("--only", choices=("headless", "window"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {'; '.join((*HEAVY, *CLASSES))}")
    options = parser.parse_args(words)
    if unknown := sorted(set(options.names) - {*HEAVY, *CLASSES}):
        parser.error(f"there is no {unknown[0]}")
    code, begun, tally = evidence.Code.now(), time.monotonic(), Tally()
    if options.only != "window":
        headless(tally, [name for name in options.names or HEAVY if name in HEAVY])
    if options.only != "headless":
        window(tally, options.names or [*HEAVY, *CLASSES])
    whole = not options.names and not options.only
    note = "hostile work at full size, headless" + ("" if options.only == "headless" else " and under a window")
    seconds, worth = time.monotonic() - begun, not options.names
    evidence.report("process", tally.counts, seconds=seconds, code=code, part="zoo", complete=whole, note=note, worth=worth)
    say(", ".join(f"{number:,} {word}" for word, number in tally.counts.items()))
    return 1 if tally.counts["findings"] else 0


def headless(tally: Tally, names: list[str]) -> None:
    for name in names:  # a supervisor each: the most that it took is of this animal
        with tempfile.TemporaryDirectory(prefix="actum-zoo-", ignore_cleanup_errors=True) as folder:
            try:
                alone(tally, name, Path(folder))
            except AssertionError as error:  # what did not come about; the others are tried all the same
                tally.missed(name, error)


def alone(tally: Tally, name: str, folder: Path) -> None:
    """One animal under a headless supervisor of its own. Raises AssertionError where it does not come to an end."""
    keeper = Keeper(folder, patience_s=120)
    try:
        animal, begun = HEAVY[name], time.monotonic()
        den = keeper.release(animal.name, *animal.words, **animal.contract)
        shown = den.closed(PATIENCE_S)
        tally.tell(name, den, findings(den, animal, shown), time.monotonic() - begun, None)
    finally:
        keeper.close()


def window(tally: Tally, names: list[str]) -> None:
    from tests.helpers.zoowindow import WindowKeeper  # late: what runs headless needs no Qt

    with tempfile.TemporaryDirectory(prefix="actum-zoo-", ignore_cleanup_errors=True) as folder:
        keeper = WindowKeeper(Path(folder))
        try:
            for name in names:
                stated = HEAVY[name] if name in HEAVY else ANIMALS[name]
                animal, begun = replace(stated, app_mib_max=ROWS_MIB_MAX + WINDOW_MIB), time.monotonic()
                keeper.stalls.clear()
                try:
                    den = keeper.release(animal.name, *animal.words, **animal.contract)
                    shown = keeper.live(den, stopped=animal.stopped, timeout_s=PATIENCE_S)
                except AssertionError as error:
                    tally.missed(f"window: {name}", error)
                    continue
                told = findings(den, animal, shown)
                tally.tell(f"window: {name}", den, told, time.monotonic() - begun, list(keeper.stalls))
        finally:
            keeper.close()


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
