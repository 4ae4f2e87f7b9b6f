"""`python -m tests.helpers.zoo --heavy [NAME…]`: the animals at full size, with times and memory, a line each."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import tests.conftest  # noqa: F401 - the user's own folders are never touched
from tests.helpers.zookeeper import Den, Keeper

# name → animal, its words
HEAVY: dict[str, tuple[str, tuple[object, ...]]] = {
    "1 GiB in one line": ("longline", (1024,)),
    "10,000,000 lines": ("chatter", (10_000_000,)),
    "100,000 files": ("ants", (100_000,)),
    "100,001 files": ("ants", (100_001,)),
    "300 children a second for a minute": ("sparks", (300, 60)),
    "1 GiB of progress messages": ("flood", (1024, "progress")),
    "64 MiB of records": ("flood", (64, "record")),
    "1 GiB of one metric": ("flood", (1024, "metric")),
    "1 GiB of notes": ("flood", (1024, "big")),
    "a sparse terabyte": ("hollow", (10**12,)),
}


def main(words: list[str]) -> int:
    """Runs the animals named, or all."""
    if words[:1] != ["--heavy"] or not set(words[1:]) <= set(HEAVY):
        sys.stderr.write(f"usage: python -m tests.helpers.zoo --heavy [NAME…]; names: {'; '.join(HEAVY)}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="actum-zoo-", ignore_cleanup_errors=True) as folder:
        keeper = Keeper(Path(folder))
        try:
            keeper.release("idler").closed()
            for name in words[1:] or HEAVY:
                animal, arguments = HEAVY[name]
                begun = time.monotonic()
                den = keeper.release(animal, *arguments)
                den.closed(timeout_s=3_600)
                tell(name, den, time.monotonic() - begun)
        finally:
            keeper.close()
    return 0


def tell(name: str, den: Den, seconds: float) -> None:
    shown = den.shown()
    memory = f"host {den.host_mib:.0f} MiB, app {den.keeper.memory_mib():.0f} MiB"
    code = (shown["failure"] or {}).get("code", "")
    left = f"LEFT: {den.strays()}" if den.strays() else "nothing left"
    sys.stdout.write(f"{name}: {seconds:.0f} s, {shown['status']} {code}, {memory}, {left}; {den.words()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
