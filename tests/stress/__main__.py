"""`python -m tests.stress race [--rounds 200]` and `python -m tests.stress concurrent [--minutes 30]`: the long forms."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import tests.conftest  # noqa: F401 - the user's own folders are never touched
from tests import evidence
from tests.stress import concurrent, race

EVIDENCE_S = 300  # a shorter run is a look, and no evidence


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("what", choices=("race", "concurrent"))
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=30.0)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of some thousand programs compiles itself anew
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was done until then is reported
    code, begun = evidence.Code.now(), time.monotonic()
    complete = True
    with tempfile.TemporaryDirectory(prefix="actum-s", ignore_cleanup_errors=True) as name:
        if options.what == "race":
            counts, problems = race.main(options.rounds, Path(name))
            note = f"two apps and a command line race for one workspace, {counts['race rounds']} rounds"
            complete = counts["race rounds"] == options.rounds
        else:
            counts, problems = concurrent.main(options.minutes, Path(name))
            note = f"{concurrent.AT_ONCE} runs at once for {options.minutes:g} min while commands read"
    for problem in problems:
        sys.stdout.write(f"  {problem}\n")
    seconds = time.monotonic() - begun
    worth = seconds >= EVIDENCE_S
    extent = counts.get("race rounds", round(seconds))
    evidence.report(
        "stress",
        counts,
        seconds=seconds,
        code=code,
        note=note,
        part=options.what,
        complete=complete,
        extent=extent,
        worth=worth,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
