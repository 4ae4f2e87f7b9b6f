"""What a host costs while its work runs: resident memory against a bare interpreter, and its share of one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actum.workspace import Workspace

from tests.bench.harness import Comparison
from tests.bench.supervised import program, supervised
from tests.helpers.waiting import wait_until

WATCH_S = 5.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def host_pid(ws: Workspace, run: int) -> int:
    claim = ws.attempt_folder(run, 1) / "spool" / "claim"
    wait_until(claim.exists, 30, "the host's claim")
    return int(json.loads(claim.read_text())["identity"]["pid"])


def resident_mb(pid: int) -> float:
    """Proportional set size: memory shared with other interpreters counts by its share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no Pss of {pid}")


def cpu_percent(pid: int) -> float:
    """Of one core, over WATCH_S."""

    def ticks() -> int:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before, began = ticks(), time.monotonic()
    wait_until(lambda: time.monotonic() - began >= WATCH_S, WATCH_S + 1)
    return (ticks() - before) / TICKS_PER_S / (time.monotonic() - began) * 100


@contextmanager
def prepare(folder: Path) -> Iterator[list[Comparison]]:
    with supervised(folder, program("rest", "/bin/sleep", "600"), slots=1) as ours:
        run = ours.run("rest")
        pid = host_pid(ours.ws, run)
        command = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as bare:
            wait_until(lambda: b"-S" in Path(f"/proc/{bare.pid}/cmdline").read_bytes())
            yield [
                Comparison(
                    "memory of a host",
                    "MB",
                    lambda: resident_mb(pid),
                    lambda: resident_mb(bare.pid),
                    "bare python -I -S",
                    "≤ 20 MB",
                    lambda ours, ratio: ours <= 20,
                    rounds=3,
                ),
                Comparison(
                    "processor share of a host",
                    "%",
                    lambda: cpu_percent(pid),
                    lambda: cpu_percent(bare.pid) or 0.0,
                    "bare python -I -S, waiting",
                    "≤ 1 % of a core",
                    lambda ours, ratio: ours <= 1,
                    rounds=2,
                ),
            ]
            assert bare.stdin is not None
            bare.stdin.close()
        ours.ask({"verb": "stop", "run": run, "level": "insist"})
        outcome = ours.ws.attempt_folder(run, 1) / "spool" / "outcome.json"
        wait_until(outcome.exists, 60, "the end of the work")
